#include "support/random_nouns.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

/* A name of letters, digits and underscores, made different by its number. */
static void simple_name(sx_rng *rng, unsigned number, bool letter, char *name) {
    static const char *const words[] = {"k",  "null",  "no", "Yes", "N",  "coef_",
                                        "x_", "width", "_",  "inf", "e1_"};
    memset(name, 0, SX_NAME_SIZE);
    if (letter)
        name[0] = (char)('A' + number);
    else
        snprintf(name, SX_NAME_SIZE, "%s%c", words[sx_rng_below(rng, 11)], 'a' + (int)number);
}

/* Any printable name; `spaces` says whether it may hold spaces and commas. */
static void any_name(sx_rng *rng, unsigned number, bool spaces, char *name) {
    static const char *const words[] = {
        "DRAM", "#",   "-", "0x1", "*a",  "&a", "!t",       "[",   "{a}", "\"q\"", "'q'",
        "%",    "@",   "`", "a:",  "|",   ">",  "\xc3\xbc", "\\n", "~",   "1e3",   "\xf0\x9f\x8c\x8d",
        "?x",   "<<<", "=", "-1",  "true"};
    const char *word = words[sx_rng_below(rng, sizeof words / sizeof words[0])];
    memset(name, 0, SX_NAME_SIZE);
    if (chance(rng, 50))
        snprintf(name, SX_NAME_SIZE, "L%u", number);
    else if (spaces && chance(rng, 30))
        snprintf(name, SX_NAME_SIZE, "%s, : # %u", word, number);
    else
        snprintf(name, SX_NAME_SIZE, "%s%u", word, number);
}

/* Mostly small, seldom anything. */
static uint32_t random_size(sx_rng *rng) {
    if (chance(rng, 90)) return (uint32_t)sx_rng_range(rng, 1, 24);
    return (uint32_t)sx_rng_range(rng, 1, SX_MAX_DIM_SIZE);
}

static void random_tensor(sx_rng *rng, const sx_problem *problem, sx_tensor *tensor) {
    tensor->n_ranks =
        (uint8_t)(chance(rng, 90) ? sx_rng_range(rng, 1, 4) : sx_rng_range(rng, 1, SX_MAX_RANKS));
    for (int r = 0; r < tensor->n_ranks; r++)
        for (int64_t terms = sx_rng_range(rng, 1, 3); terms > 0; terms--) {
            int32_t coef = chance(rng, 60) ? 1 : (int32_t)sx_rng_range(rng, -4, 4);
            if (chance(rng, 5)) coef = (int32_t)sx_rng_range(rng, -SX_MAX_COEF, SX_MAX_COEF);
            tensor->coef[r][sx_rng_below(rng, problem->n_dims)] = coef ? coef : 1;
        }
}

/* A problem that may break a rule by being too large. */
static void draft_problem(sx_rng *rng, sx_problem *p) {
    memset(p, 0, sizeof *p);
    bool letters = chance(rng, 50);
    if (chance(rng, 80)) any_name(rng, 0, true, p->name);
    p->n_dims = (uint8_t)sx_rng_range(rng, 1, chance(rng, 80) ? 7 : SX_MAX_DIMS);
    p->n_tensors = (uint8_t)(chance(rng, 60) ? 3 : sx_rng_range(rng, 2, SX_MAX_TENSORS));
    for (unsigned d = 0; d < p->n_dims; d++) {
        simple_name(rng, d, letters, p->dim_name[d]);
        p->size[d] = random_size(rng);
    }
    for (unsigned v = 0; v < p->n_tensors; v++) {
        any_name(rng, v, false, p->tensor[v].name);
        random_tensor(rng, p, &p->tensor[v]);
        if (chance(rng, 20)) p->tensor[v].bits = (uint8_t)sx_rng_range(rng, 1, SX_MAX_ELEMENT_BITS);
    }
    p->tensor[sx_rng_below(rng, p->n_tensors)].output = true;
}

void sx_random_problem(sx_rng *rng, sx_problem *out) {
    for (sx_status status = SX_OK;; sx_status_free(status)) {
        draft_problem(rng, out);
        if (!(status = sx_problem_check(out))) return;
    }
}

/* A number that does not print nicely, or one that does. */
static double random_number(sx_rng *rng, double least) {
    if (chance(rng, 30)) return least + (double)sx_rng_below(rng, 100);
    if (chance(rng, 5)) return least + 5e-324;
    return least + ldexp(sx_rng_double(rng), (int)sx_rng_range(rng, -60, 60));
}

static double random_limit(sx_rng *rng) {
    return chance(rng, 50) ? INFINITY : random_number(rng, 1e-9);
}

static void random_names(sx_rng *rng, char (*names)[SX_NAME_SIZE], uint8_t *n) {
    *n = (uint8_t)(chance(rng, 70) ? 0 : sx_rng_range(rng, 1, SX_MAX_TENSORS));
    for (unsigned i = 0; i < *n; i++) any_name(rng, i, false, names[i]);
}

static void random_level(sx_rng *rng, int index, int n_levels, sx_storage *s) {
    any_name(rng, (unsigned)index, true, s->name);
    s->technology = chance(rng, 30) ? SX_DRAM : SX_SRAM;
    s->entries = chance(rng, 30) ? SX_UNLIMITED : 1 + sx_rng_below(rng, (uint64_t)1 << sx_rng_below(rng, 40));
    s->word_bits = (uint32_t)sx_rng_range(rng, 1, 64);
    s->block_size = (uint32_t)sx_rng_range(rng, 1, 16);
    s->cluster_size = s->technology == SX_DRAM ? 1 : (uint32_t)sx_rng_range(rng, 1, 4);
    s->banks = chance(rng, 20) ? (uint32_t)sx_rng_below(rng, 64) : 0;
    s->multiple_buffering = chance(rng, 70) ? 1 : 1 + sx_rng_double(rng);
    s->min_utilization = chance(rng, 70) ? 0 : sx_rng_double(rng);
    s->read_bandwidth = random_limit(rng);
    s->write_bandwidth = random_limit(rng);
    s->shared_bandwidth = random_limit(rng);
    s->read_energy = random_number(rng, 0);
    s->fill_energy = random_number(rng, 0);
    s->update_energy = random_number(rng, 0);
    s->leak_energy = random_number(rng, 0);
    s->addr_gen_energy = random_number(rng, 0);
    s->energy_per_hop = random_number(rng, 0);
    s->router_energy = random_number(rng, 0);
    s->fill_latency = sx_rng_below(rng, chance(rng, 20) ? (uint64_t)1 << 48 : 3);
    s->drain_latency = sx_rng_below(rng, 3);
    s->reduction_supported = chance(rng, 70);
    s->transparent = chance(rng, 10);
    s->power_gated_at = (int8_t)(chance(rng, 80) ? -1 : (int)sx_rng_below(rng, (uint64_t)n_levels));
    if (s->power_gated_at == index) s->power_gated_at = -1;
    random_names(rng, s->keeps, &s->n_keeps);
    random_names(rng, s->bypasses, &s->n_bypasses);
    s->n_scales = (uint8_t)(chance(rng, 80) ? 0 : sx_rng_range(rng, 1, SX_MAX_TENSORS));
    for (unsigned i = 0; i < s->n_scales; i++) {
        any_name(rng, i, false, s->bandwidth_scale[i].tensor);
        s->bandwidth_scale[i].scale = fmin(random_number(rng, 0), 1e9);
    }
}

void sx_random_arch(sx_rng *rng, sx_arch *out) {
    memset(out, 0, sizeof *out);
    uint64_t x = 1, y = 1;
    out->n_levels = (uint8_t)sx_rng_range(rng, 1, chance(rng, 95) ? 4 : SX_MAX_LEVELS);
    if (chance(rng, 50)) any_name(rng, 99, true, out->name);
    for (int s = out->n_levels - 1; s >= 0; s--) {
        sx_storage *level = &out->level[s];
        sx_storage_init(level);
        random_level(rng, s, out->n_levels, level);
        level->mesh_x = x;
        level->mesh_y = y;
        level->instances = x * y;
        if (chance(rng, 60) && x * y < 1 << 20) x *= (uint64_t)sx_rng_range(rng, 1, 8);
        if (chance(rng, 40) && x * y < 1 << 20) y *= (uint64_t)sx_rng_range(rng, 1, 8);
    }
    sx_compute_init(&out->compute);
    any_name(rng, 50, true, out->compute.name);
    out->compute.mesh_x = x;
    out->compute.mesh_y = y;
    out->compute.instances = x * y;
    out->compute.word_bits = (uint32_t)sx_rng_range(rng, 1, 64);
    out->compute.energy = random_number(rng, 0);
    if (chance(rng, 30)) out->cycle_seconds = SX_MIN_CYCLE + sx_rng_double(rng) * 1e-6;
    for (int s = 0; s < out->n_levels; s++) out->level[s].area = chance(rng, 30) ? random_number(rng, 0) : 0;
    out->compute.area = chance(rng, 30) ? random_number(rng, 0) : 0;
}

/* A factor of what is left of a dimension: a divisor, or any number. */
static uint32_t random_factor(sx_rng *rng, uint32_t left, bool remainders) {
    if (chance(rng, 40)) return 1;
    uint32_t most = left < 64 || chance(rng, 5) ? left : 64;
    uint32_t factor = (uint32_t)sx_rng_range(rng, 1, most);
    while (!remainders && left % factor) factor--;
    return factor;
}

static void random_order(sx_rng *rng, uint8_t *order, unsigned n) {
    for (unsigned i = 0; i < n; i++) order[i] = (uint8_t)i;
    sx_rng_shuffle(rng, order, n);
}

void sx_random_mapping(sx_rng *rng, const sx_problem *problem, const sx_arch *arch, bool remainders,
                       sx_mapping *out) {
    uint32_t left[SX_MAX_DIMS];
    unsigned tensors = (1u << problem->n_tensors) - 1;
    sx_mapping_init(out, problem, arch);
    memcpy(left, problem->size, sizeof left);
    for (int s = 0; s < arch->n_levels; s++) {
        sx_mapping_level *level = &out->level[s];
        bool fanout = sx_arch_fanout_x(arch, s) * sx_arch_fanout_y(arch, s) > 1,
             last = s + 1 == arch->n_levels;
        for (unsigned d = 0; d < problem->n_dims; d++) {
            level->spatial[d] = fanout ? random_factor(rng, left[d], remainders) : 1;
            left[d] = (left[d] - 1) / level->spatial[d] + 1;
            level->temporal[d] = last ? left[d] : random_factor(rng, left[d], remainders);
            left[d] = (left[d] - 1) / level->temporal[d] + 1;
        }
        random_order(rng, level->temporal_order, problem->n_dims);
        level->keep = (uint8_t)(sx_rng_next(rng) & tensors);
        level->no_temporal_reuse = (uint8_t)(chance(rng, 10) ? sx_rng_next(rng) & tensors : 0);
        level->rmw_first_update = (uint8_t)(chance(rng, 10) ? sx_rng_next(rng) & tensors : 0);
        if (!fanout && chance(rng, 80)) continue;
        random_order(rng, level->spatial_order, problem->n_dims);
        level->split = (uint8_t)sx_rng_below(rng, problem->n_dims + 1u);
        uint32_t on_x = level->split ? level->spatial[level->spatial_order[level->split - 1]] : 1;
        if (on_x % 2 == 0 && on_x > 2) level->x_part = (uint16_t)(on_x / 2);
        level->no_multicast = (uint8_t)(chance(rng, 10) ? sx_rng_next(rng) & tensors : 0);
        level->no_link_transfer = (uint8_t)(chance(rng, 10) ? sx_rng_next(rng) & tensors : 0);
    }
}
