/* The cut at the exchange memory (docs/fusion.md, "Whole machines"). */
#include "fuse/cut.h"

#include "base/status.h"
#include "ir/arch.h"
#include "ir/law.h"
#include "sextant/all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_WORDS (UINT64_C(1) << 62)

/* Why a level cannot be an exchange memory; NULL where it can. */
static const char *unfit_level(const sx_arch *arch, int level, bool second) {
    const sx_storage *s = &arch->level[level];
    if (level == arch->n_levels - 1) return "is the outermost level, where nothing fused is exchanged";
    if (!second && level != arch->n_levels - 2) return "is not next to the outermost level";
    if (second && level >= arch->n_levels - 2) return "is not inside the first exchange memory";
    if (s->instances != 1) return "has several instances, which share no tensor";
    if (s->transparent) return "keeps no tensor";
    if (s->entries == SX_UNLIMITED) return "has no size";
    if (s->banks) return "is divided by banks";
    return NULL;
}

/* Finds a level by the first `length` characters of a name. */
static sx_status find_level(const sx_arch *arch, const char *name, size_t length, bool second, int *out) {
    int level = 0;
    while (level < arch->n_levels &&
           (strncmp(arch->level[level].name, name, length) != 0 || arch->level[level].name[length]))
        level++;
    if (level == arch->n_levels)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--exchange: %s has no level '%.*s'", arch->name, (int)length, name),
            "the exchange memory is the one inside the outermost: %s", arch->level[arch->n_levels - 2].name);
    const char *why = unfit_level(arch, level, second);
    if (why)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "--fuse: the level %s of %s %s", arch->level[level].name, arch->name,
                         why),
            second ? "a second exchange memory is a single memory of a given size inside the first"
                   : "tensors are exchanged in the level inside the outermost one, which must be a single "
                     "memory of a given size");
    *out = level;
    return SX_OK;
}

sx_status sx_cut_levels(const sx_arch *arch, const char *names, int *out, int *second) {
    *second = -1;
    if (sx_sparse_active(&arch->sparse))
        return sx_error_new(SX_ERR_INPUT,
                            "--fuse: %s has hardware for zeros, and fused mappings are counted dense",
                            arch->name);
    if (arch->n_levels < 2)
        return sx_error_new(SX_ERR_INPUT, "--fuse: %s has one level; there is no memory on chip", arch->name);
    if (!names) names = arch->level[arch->n_levels - 2].name;
    const size_t length = strcspn(names, ",");
    const bool two = names[length] == ',';
    if (arch->n_levels + two >= SX_MAX_LEVELS)
        return sx_error_new(SX_ERR_INPUT, "--fuse: %s has %d levels, of which fused mappings need %s more",
                            arch->name, arch->n_levels, two ? "two" : "one");
    SX_TRY(find_level(arch, names, length, false, out));
    return two ? find_level(arch, names + length + 1, strlen(names + length + 1), true, second) : SX_OK;
}

uint64_t sx_cut_capacity(const sx_arch *arch, int exchange) {
    const double words = sx_usable_words(&arch->level[exchange]);
    return words < (double)MOST_WORDS ? (uint64_t)words : MOST_WORDS; /* more than any tensor has */
}

/* The exchange memory as what stays in it sees it. */
static void set_residence(const sx_arch *arch, int exchange, sx_storage *out) {
    *out = arch->level[exchange];
    snprintf(out->name, sizeof out->name, "%.50s-resident", arch->level[exchange].name);
    out->entries = SX_UNLIMITED;
    out->multiple_buffering = 1;
    out->min_utilization = out->leak_energy = out->area = 0;
    out->power_gated_at = -1;
    out->fill_latency = out->drain_latency = 0;
}

/* Makes a level move any number of words in a cycle. */
static void free_ports(sx_storage *level) {
    level->read_bandwidth = level->write_bandwidth = level->shared_bandwidth = INFINITY;
}

/* Takes words of a memory away. */
static void occupy_memory(sx_storage *memory, uint64_t words) {
    if (!words) return;
    double taken = ceil((double)words * memory->multiple_buffering);
    memory->entries = taken < (double)memory->entries ? memory->entries - (uint64_t)taken : 1;
}

void sx_cut_arch(const sx_arch *arch, int exchange, const sx_cut *cut, sx_arch *out) {
    *out = *arch;
    occupy_memory(&out->level[exchange], cut->occupied);
    occupy_memory(&out->level[cut->second_level], cut->occupied_second);
    if (cut->resident) {
        out->n_levels++;
        for (int s = out->n_levels - 1; s > exchange + 1; s--) out->level[s] = arch->level[s - 1];
        set_residence(arch, exchange, &out->level[exchange + 1]);
        if (cut->free_port) free_ports(&out->level[exchange + 1]);
        if (out->level[exchange + 2].law) out->level[exchange + 1].law = out->level[exchange + 2].law;
        for (int s = 0; s < out->n_levels; s++)
            if (out->level[s].power_gated_at > exchange) out->level[s].power_gated_at++;
    }
    if (cut->second) set_residence(arch, cut->second_level, &out->level[out->n_levels++]);
}

/* Forbids a level to keep tensors. */
static void bypass_tensors(sx_level_limits *level, unsigned tensors) {
    level->must_keep &= (uint8_t)~tensors;
    level->must_bypass |= (uint8_t)tensors;
}

/* Forbids loops of a level. */
static void forbid_loops(sx_level_limits *level, int n_dims) {
    memset(&level->temporal, 0, sizeof level->temporal);
    for (int d = 0; d < n_dims; d++) level->temporal.min[d] = level->temporal.max[d] = 1;
}

/* The limits of a level that keeps what stays, and nothing else. */
static void keep_residents(const sx_constraints *from, unsigned stay, unsigned found, sx_level_limits *out) {
    *out = (sx_level_limits){.split = -1};
    for (int d = 0; d < from->n_dims; d++) {
        out->spatial.min[d] = 1;
        out->spatial.max[d] = SX_MAX_DIM_SIZE;
    }
    out->must_keep = (uint8_t)stay;
    out->must_bypass = (uint8_t)(((1u << from->n_tensors) - 1) & ~stay);
    out->rmw_first_update = (uint8_t)(found & stay);
}

void sx_cut_constraints(const sx_arch *arch, const sx_constraints *from, int exchange, const sx_cut *cut,
                        sx_constraints *out) {
    const unsigned all = (1u << from->n_tensors) - 1, on_chip = (unsigned)cut->resident | cut->second;
    *out = *from;
    if (cut->occupied && cut->occupied >= sx_cut_capacity(arch, exchange))
        bypass_tensors(&out->level[exchange], all);
    if (cut->occupied_second && cut->occupied_second >= sx_cut_capacity(arch, cut->second_level))
        bypass_tensors(&out->level[cut->second_level], all);
    if (cut->resident) {
        out->n_levels++;
        for (int s = out->n_levels - 1; s > exchange + 1; s--) out->level[s] = out->level[s - 1];
        sx_level_limits *residence = &out->level[exchange + 1], *outermost = residence + 1;
        keep_residents(from, cut->resident, cut->found, residence);
        residence->temporal = outermost->temporal;
        forbid_loops(outermost, from->n_dims);
        bypass_tensors(outermost, cut->resident);
        bypass_tensors(&out->level[exchange], cut->resident);
        outermost->min_utilization = 0;
    }
    if (!cut->second) return;
    for (int s = cut->second_level; s < out->n_levels; s++) bypass_tensors(&out->level[s], cut->second);
    out->level[out->n_levels - 1].must_keep |= (uint8_t)(all & ~on_chip);
    sx_level_limits *residence = &out->level[out->n_levels++];
    keep_residents(from, cut->second, cut->found, residence);
    forbid_loops(residence, from->n_dims);
}

/* Words per cycle that a level moves: read, and filled or updated. */
static void add_rates(const sx_problem *problem, const sx_arch *arch, int level, const sx_cost *cost,
                      double rate[2]) {
    const sx_storage *s = &arch->level[level];
    double cycles = (double)cost->compute_cycles;
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_cost_tensor *t = &cost->level[level].tensor[v];
        double scale = (double)sx_element_bits(s, &problem->tensor[v]) / s->word_bits;
        for (int i = 0; i < s->n_scales; i++)
            if (sx_problem_tensor(problem, s->bandwidth_scale[i].tensor) == v)
                scale *= s->bandwidth_scale[i].scale;
        rate[0] += (double)t->reads / cycles * scale;
        rate[1] += (double)(t->fills + t->updates) / cycles * scale;
    }
}

/* Whether the bandwidth of the exchange memory has a part in the latency: no array stands for it, and no bus of a law. */
static bool is_timed(const sx_arch *arch, int exchange) {
    const sx_law *own = sx_arch_law(arch, exchange);
    for (int s = exchange + 1; s < arch->n_levels; s++) {
        const sx_law *law = sx_arch_law(arch, s);
        if (law && law->n_array) return false;
    }
    return !own || !(own->load_bus > 0 || own->n_array);
}

/* The share of its speed that a memory allows which has two levels, for tiles and for what stays. */
static double shared_speed(const sx_problem *problem, const sx_arch *arch, int memory, int residence,
                           const sx_cost *cost) {
    const sx_storage *s = &arch->level[memory];
    double rate[2] = {0}, slow = 1;
    add_rates(problem, arch, memory, cost, rate);
    add_rates(problem, arch, residence, cost, rate);
    if (s->read_bandwidth < rate[0]) slow = fmin(slow, s->read_bandwidth / rate[0]);
    if (s->write_bandwidth < rate[1]) slow = fmin(slow, s->write_bandwidth / rate[1]);
    if (s->shared_bandwidth < rate[0] + rate[1]) slow = fmin(slow, s->shared_bandwidth / (rate[0] + rate[1]));
    return slow;
}

sx_score sx_cut_score(const sx_problem *problem, const sx_arch *cut_arch, int exchange, const sx_cut *cut,
                      const sx_cost *cost) {
    sx_score score = sx_cost_score(cost);
    double slow = 1, leakage = 0;
    if ((!cut->resident && !cut->second) || cut->free_port) return score;
    if (cut->resident) slow = shared_speed(problem, cut_arch, exchange, exchange + 1, cost);
    if (cut->second)
        slow = fmin(slow, shared_speed(problem, cut_arch, cut->second_level, cut_arch->n_levels - 1, cost));
    double cycles = ceil((double)cost->compute_cycles / slow);
    if (is_timed(cut_arch, exchange)) score.latency = fmax(score.latency, cycles);
    if (cycles <= score.cycles) return score;
    for (int s = 0; s < cut_arch->n_levels; s++) leakage += cost->level[s].leakage_pj;
    score.energy_pj += leakage * (cycles / score.cycles - 1);
    score.utilization *= score.cycles / cycles;
    score.cycles = cycles;
    return score;
}
