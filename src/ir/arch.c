#include "ir/arch.h"

#include "base/status.h"
#include "ir/law.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Words per cycle, and what a word counts at most: beyond these, cycles would not fit their counter. */
#define LEAST_BANDWIDTH 1e-9
#define MOST_SCALE 1e9

void sx_storage_init(sx_storage *level) {
    memset(level, 0, sizeof *level);
    level->technology = SX_SRAM;
    level->instances = level->mesh_x = level->mesh_y = 1;
    level->entries = SX_UNLIMITED;
    level->word_bits = 16;
    level->block_size = level->cluster_size = 1;
    level->multiple_buffering = 1;
    level->read_bandwidth = level->write_bandwidth = level->shared_bandwidth = INFINITY;
    level->reduction_supported = true;
    level->power_gated_at = -1;
}

void sx_compute_init(sx_compute *compute) {
    memset(compute, 0, sizeof *compute);
    compute->instances = compute->mesh_x = compute->mesh_y = 1;
    compute->word_bits = 16;
    compute->gated_energy = compute->skipped_energy = -1;
}

sx_arch *sx_arch_copy(const sx_arch *arch) {
    sx_arch *copy = malloc(sizeof *copy);
    if (copy) *copy = *arch;
    return copy;
}

int sx_arch_level(const sx_arch *arch, const char *name) {
    for (int s = 0; s < arch->n_levels; s++)
        if (strcmp(arch->level[s].name, name) == 0) return s;
    return -1;
}

uint64_t sx_arch_fanout_x(const sx_arch *arch, int level) {
    uint64_t inner = level ? arch->level[level - 1].mesh_x : arch->compute.mesh_x;
    return inner / arch->level[level].mesh_x;
}

uint64_t sx_arch_fanout_y(const sx_arch *arch, int level) {
    uint64_t inner = level ? arch->level[level - 1].mesh_y : arch->compute.mesh_y;
    return inner / arch->level[level].mesh_y;
}

/* Whether a tensor of a problem is in a list of names. */
static bool is_named(const char (*names)[SX_NAME_SIZE], int n, const sx_problem *problem, int tensor) {
    for (int i = 0; i < n; i++)
        if (sx_problem_tensor(problem, names[i]) == tensor) return true;
    return false;
}

uint8_t sx_arch_keep_mask(const sx_arch *arch, int level, const sx_problem *problem) {
    const sx_storage *s = &arch->level[level];
    if (s->transparent) return 0;
    unsigned mask = 0;
    for (int v = 0; v < problem->n_tensors; v++) {
        bool keep = s->n_keeps == 0 || is_named(s->keeps, s->n_keeps, problem, v);
        if (is_named(s->bypasses, s->n_bypasses, problem, v)) keep = false;
        if (keep) mask |= 1u << v;
    }
    return (uint8_t)mask;
}

double sx_pat_sram(double kilobytes, double width_bits) {
    return (1 + (kilobytes - 0.5) * 5 / 99.5) * width_bits / 16;
}

double sx_pat_dram(double width_bits) {
    return 200 * width_bits / 16;
}

double sx_pat_mac(double word_bits) {
    return (word_bits / 16) * (word_bits / 16);
}

/* Instances fill their mesh, and stay countable. */
static sx_status check_mesh(const char *name, uint64_t instances, uint64_t x, uint64_t y) {
    const uint64_t limit = (uint64_t)1 << 31;
    if (instances < 1 || instances > limit)
        return sx_error_new(SX_ERR_LIMIT, "'%s' has %llu instances; 1 to 2^31 are allowed", name,
                            (unsigned long long)instances);
    if (x < 1 || y < 1 || x > limit || y > limit || x * y != instances)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' has %llu instances on a mesh of %llu x %llu",
                                          name, (unsigned long long)instances, (unsigned long long)x,
                                          (unsigned long long)y),
                             "instances must be meshX * meshY");
    return SX_OK;
}

static sx_status check_number(const char *level, const char *what, double value, double low) {
    if (value >= low) return SX_OK; /* false for NaN */
    return sx_error_new(SX_ERR_INPUT, "'%s': %s is %g; it must be at least %g", level, what, value, low);
}

static sx_status check_finite(const char *level, const char *what, double value) {
    SX_TRY(check_number(level, what, value, 0));
    if (value <= 1e30) return SX_OK;
    return sx_error_new(SX_ERR_INPUT, "'%s': %s is %g, which is not a usable number", level, what, value);
}

static sx_status check_numbers(const sx_storage *s) {
    const char *n = s->name;
    SX_TRY(check_number(n, "word-bits", s->word_bits, 1));
    SX_TRY(check_number(n, "block-size", s->block_size, 1));
    SX_TRY(check_number(n, "cluster-size", s->cluster_size, 1));
    SX_TRY(check_number(n, "multiple-buffering", s->multiple_buffering, 1e-6));
    SX_TRY(check_finite(n, "multiple-buffering", s->multiple_buffering));
    SX_TRY(check_number(n, "min-utilization", s->min_utilization, 0));
    if (s->min_utilization > 1)
        return sx_error_new(SX_ERR_INPUT, "'%s': min-utilization is %g; it must be between 0 and 1", n,
                            s->min_utilization);
    const double bandwidth[] = {s->read_bandwidth, s->write_bandwidth, s->shared_bandwidth};
    for (int i = 0; i < 3; i++)
        if (!(bandwidth[i] > 0))
            return sx_error_new(SX_ERR_INPUT, "'%s': a bandwidth is %g; it must be above 0", n, bandwidth[i]);
    for (int i = 0; i < 3; i++)
        if (bandwidth[i] < LEAST_BANDWIDTH)
            return sx_error_new(SX_ERR_LIMIT,
                                "'%s': a bandwidth is %g; it must be at least %g words per cycle", n,
                                bandwidth[i], LEAST_BANDWIDTH);
    SX_TRY(check_finite(n, "the read energy", s->read_energy));
    SX_TRY(check_finite(n, "the fill energy", s->fill_energy));
    SX_TRY(check_finite(n, "the update energy", s->update_energy));
    SX_TRY(check_finite(n, "the leakage", s->leak_energy));
    SX_TRY(check_finite(n, "addr-gen-energy", s->addr_gen_energy));
    SX_TRY(check_finite(n, "energy-per-hop", s->energy_per_hop));
    SX_TRY(check_finite(n, "router-energy", s->router_energy));
    SX_TRY(check_finite(n, "the area", s->area));
    if (s->fill_latency >> 48 || s->drain_latency >> 48)
        return sx_error_new(SX_ERR_LIMIT, "'%s': a network latency is beyond 2^48 cycles", n);
    for (int i = 0; i < s->n_scales; i++)
        if (!(s->bandwidth_scale[i].scale >= 0 && s->bandwidth_scale[i].scale <= MOST_SCALE))
            return sx_error_new(SX_ERR_INPUT, "'%s': a bandwidth scale is %g; it must be between 0 and %g", n,
                                s->bandwidth_scale[i].scale, MOST_SCALE);
    return SX_OK;
}

/* The numbers for sparse tensors. */
static sx_status check_metadata(const sx_storage *s) {
    const sx_metadata_store *m = &s->metadata;
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            SX_TRY(check_finite(s->name, "the energy of a gated or skipped access", m->data_energy[kind][a]));
            SX_TRY(check_finite(s->name, "the energy of metadata", m->metadata_energy[kind][a]));
        }
    SX_TRY(check_finite(s->name, "the decompression energy", m->decompression_energy));
    SX_TRY(check_finite(s->name, "the compression energy", m->compression_energy));
    if (m->depth >> 40)
        return sx_error_new(SX_ERR_LIMIT, "'%s': the metadata storage is deeper than 2^40", s->name);
    return SX_OK;
}

static sx_status check_level(const sx_arch *arch, int index) {
    const sx_storage *s = &arch->level[index];
    if (!memchr(s->name, 0, SX_NAME_SIZE) || !s->name[0])
        return sx_error_new(SX_ERR_INPUT, "storage level %d has no name", index + 1);
    if (sx_arch_level(arch, s->name) != index || strcmp(s->name, arch->compute.name) == 0)
        return sx_error_new(SX_ERR_INPUT, "two levels are called '%s'", s->name);
    SX_TRY(check_mesh(s->name, s->instances, s->mesh_x, s->mesh_y));
    const char *inner = index ? arch->level[index - 1].name : arch->compute.name;
    uint64_t x = index ? arch->level[index - 1].mesh_x : arch->compute.mesh_x;
    uint64_t y = index ? arch->level[index - 1].mesh_y : arch->compute.mesh_y;
    if (x % s->mesh_x || y % s->mesh_y)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT,
                         "the mesh of '%s' (%llu x %llu) does not divide the mesh of '%s' (%llu x %llu)",
                         s->name, (unsigned long long)s->mesh_x, (unsigned long long)s->mesh_y, inner,
                         (unsigned long long)x, (unsigned long long)y),
            "every instance must have the same number of children in X and in Y; give meshX where it is "
            "missing");
    if (s->power_gated_at < -1 || s->power_gated_at >= (int)arch->n_levels)
        return sx_error_new(SX_ERR_INPUT, "'%s' is power-gated at a level that does not exist", s->name);
    if (s->n_keeps > SX_MAX_TENSORS || s->n_bypasses > SX_MAX_TENSORS || s->n_scales > SX_MAX_TENSORS)
        return sx_error_new(SX_ERR_LIMIT, "'%s' names more than %d tensors", s->name, SX_MAX_TENSORS);
    SX_TRY(check_metadata(s));
    SX_TRY(sx_law_check(arch, index));
    return check_numbers(s);
}

/* Whether the words of all formats fit the metadata storages. */
static sx_status check_widths(const sx_arch *arch) {
    const sx_sparse *sparse = &arch->sparse;
    uint32_t bits[2];
    for (int i = 0; i < sparse->n_formats; i++) {
        const sx_tensor_format *f = &sparse->format[i];
        const sx_storage *s = &arch->level[f->level];
        for (int r = 0; r < f->n_ranks; r++)
            if (!sx_rank_bits(&s->metadata, &sparse->rank[f->first + r], bits))
                return sx_error_new(SX_ERR_INPUT,
                                    "'%s': a rank has words wider than its metadata storage of %u bits",
                                    s->name, s->metadata.width);
    }
    return SX_OK;
}

sx_status sx_vector_unit_check(const sx_vector_unit *unit) {
    if (!(unit->lanes > 0 && unit->lanes <= 1e15))
        return sx_error_new(SX_ERR_INPUT, "the vector unit has %g lanes; it must have more than 0",
                            unit->lanes);
    SX_TRY(check_finite("vector", "the energy", unit->energy));
    SX_TRY(check_finite("vector", "'exp'", unit->exp));
    if (unit->passes == 1 || unit->passes == 3) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the vector unit has %u passes", (unsigned)unit->passes),
                         "3: softmax reads a long row three times; 1: it is online and reads it once less");
}

sx_status sx_arch_check(const sx_arch *arch) {
    if (arch->n_levels < 1 || arch->n_levels > SX_MAX_LEVELS)
        return sx_error_new(SX_ERR_LIMIT, "the architecture has %d storage levels; 1 to %d are allowed",
                            arch->n_levels, SX_MAX_LEVELS);
    if (!memchr(arch->compute.name, 0, SX_NAME_SIZE) || !arch->compute.name[0])
        return sx_error_new(SX_ERR_INPUT, "the architecture has no compute unit");
    SX_TRY(
        check_mesh(arch->compute.name, arch->compute.instances, arch->compute.mesh_x, arch->compute.mesh_y));
    SX_TRY(check_number(arch->compute.name, "word-bits", arch->compute.word_bits, 1));
    SX_TRY(check_finite(arch->compute.name, "the compute energy", arch->compute.energy));
    SX_TRY(check_finite(arch->compute.name, "the area", arch->compute.area));
    if (arch->cycle_seconds != 0 &&
        !(arch->cycle_seconds >= SX_MIN_CYCLE && arch->cycle_seconds <= SX_MAX_CYCLE))
        return sx_error_new(SX_ERR_INPUT, "a cycle takes %g s, which is not a usable number",
                            arch->cycle_seconds);
    if (!(arch->compute.gated_energy <= 1e30 && arch->compute.skipped_energy <= 1e30))
        return sx_error_new(SX_ERR_INPUT, "'%s': the energy of a gated or skipped compute is not usable",
                            arch->compute.name);
    if (arch->vector.lanes != 0) SX_TRY(sx_vector_unit_check(&arch->vector));
    for (int s = 0; s < arch->n_levels; s++) SX_TRY(check_level(arch, s));
    SX_TRY(sx_sparse_check(&arch->sparse, arch->n_levels));
    return check_widths(arch);
}

const char *sx_arch_unpriced(const sx_arch *arch, int index) {
    for (int s = arch->n_levels - 1; s >= 0; s--)
        if (arch->level[s].unpriced && !arch->level[s].transparent && index-- == 0)
            return arch->level[s].name;
    return arch->compute.unpriced && index == 0 ? arch->compute.name : NULL;
}

double sx_usable_words(const sx_storage *level) {
    if (level->entries == SX_UNLIMITED) return INFINITY;
    return floor((double)level->entries / level->multiple_buffering);
}

double sx_element_words(const sx_storage *level, const sx_tensor *tensor, double elements) {
    if (sx_element_bits(level, tensor) == level->word_bits) return elements;
    return ceil(elements * tensor->bits / level->word_bits);
}

/* The width of one kind of a rank's words. */
static uint32_t word_width(const sx_metadata_store *store, uint32_t given) {
    if (given == SX_BITS_DEFAULT) return store->word_bits;
    if (given == 0 || given > store->width || store->width % given == 0) return given;
    uint64_t width = given;
    while (width < 2 * (uint64_t)given && store->width % width) width++;
    return (uint32_t)width;
}

bool sx_rank_bits(const sx_metadata_store *store, const sx_rank_format *rank, uint32_t bits[2]) {
    uint32_t metadata = rank->metadata_bits, payload = rank->payload_bits;
    if (rank->kind == SX_RANK_B && metadata == SX_BITS_DEFAULT) metadata = 1;
    if (rank->kind == SX_RANK_UB) metadata = payload = SX_BITS_DEFAULT;
    bits[0] = word_width(store, metadata);
    bits[1] = word_width(store, payload);
    return bits[0] <= store->width && bits[1] <= store->width;
}

#define DATA(kind, access) offsetof(sx_metadata_store, data_energy[kind][access])
#define METADATA(kind, access) offsetof(sx_metadata_store, metadata_energy[kind][access])

static const struct {
    const char *name;
    size_t offset;
} action_energies[] = {
    {"gated_read", DATA(SX_GATED, SX_READ)},
    {"gated_fill", DATA(SX_GATED, SX_FILL)},
    {"gated_update", DATA(SX_GATED, SX_UPDATE)},
    {"skipped_read", DATA(SX_SKIPPED, SX_READ)},
    {"skipped_fill", DATA(SX_SKIPPED, SX_FILL)},
    {"skipped_update", DATA(SX_SKIPPED, SX_UPDATE)},
    {"metadata_read", METADATA(SX_RANDOM, SX_READ)},
    {"metadata_fill", METADATA(SX_RANDOM, SX_FILL)},
    {"metadata_update", METADATA(SX_RANDOM, SX_UPDATE)},
    {"gated_metadata_read", METADATA(SX_GATED, SX_READ)},
    {"gated_metadata_fill", METADATA(SX_GATED, SX_FILL)},
    {"gated_metadata_update", METADATA(SX_GATED, SX_UPDATE)},
    {"skipped_metadata_read", METADATA(SX_SKIPPED, SX_READ)},
    {"skipped_metadata_fill", METADATA(SX_SKIPPED, SX_FILL)},
    {"skipped_metadata_update", METADATA(SX_SKIPPED, SX_UPDATE)},
    {"decompression", offsetof(sx_metadata_store, decompression_energy)},
    {"compression", offsetof(sx_metadata_store, compression_energy)},
};
enum { N_ACTION_ENERGIES = sizeof action_energies / sizeof action_energies[0] };

const char *sx_action_energy_name(size_t index) {
    return index < N_ACTION_ENERGIES ? action_energies[index].name : NULL;
}

double *sx_action_energy(sx_metadata_store *store, const char *name) {
    for (size_t i = 0; i < N_ACTION_ENERGIES; i++)
        if (strcmp(action_energies[i].name, name) == 0)
            return (double *)((char *)store + action_energies[i].offset);
    return NULL;
}
