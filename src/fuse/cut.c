/* The cut at the exchange memory (docs/fusion.md, "Whole machines"). */
#include "fuse/cut.h"

#include "base/status.h"
#include "ir/arch.h"
#include "ir/law.h"
#include "sextant/all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Why a level cannot be the exchange memory; NULL where it can. */
static const char *unfit_level(const sx_arch *arch, int level) {
    const sx_storage *s = &arch->level[level];
    if (level == arch->n_levels - 1) return "is the outermost level, where nothing fused is exchanged";
    if (level != arch->n_levels - 2) return "is not next to the outermost level";
    if (s->instances != 1) return "has several instances, which share no tensor";
    if (s->transparent) return "keeps no tensor";
    if (s->entries == SX_UNLIMITED) return "has no size";
    if (s->banks) return "is divided by banks";
    return NULL;
}

sx_status sx_cut_level(const sx_arch *arch, const char *name, int *out) {
    int level = arch->n_levels - 2;
    if (sx_sparse_active(&arch->sparse))
        return sx_error_new(SX_ERR_INPUT,
                            "--fuse: %s has hardware for zeros, and fused mappings are counted dense",
                            arch->name);
    if (arch->n_levels < 2)
        return sx_error_new(SX_ERR_INPUT, "--fuse: %s has one level; there is no memory on chip", arch->name);
    if (arch->n_levels == SX_MAX_LEVELS)
        return sx_error_new(SX_ERR_INPUT, "--fuse: %s has %d levels, of which fused mappings need one more",
                            arch->name, arch->n_levels);
    for (int s = 0; name && s < arch->n_levels; s++)
        if (strcmp(arch->level[s].name, name) == 0) level = s, name = NULL;
    if (name)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--exchange: %s has no level '%s'", arch->name, name),
                             "the exchange memory is the one inside the outermost: %s",
                             arch->level[arch->n_levels - 2].name);
    const char *why = unfit_level(arch, level);
    if (why)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "--fuse: the level %s of %s %s", arch->level[level].name, arch->name,
                         why),
            "tensors are exchanged in the level inside the outermost one, which must be a single "
            "memory of a given size");
    *out = level;
    return SX_OK;
}

uint64_t sx_cut_capacity(const sx_arch *arch, int exchange) {
    return (uint64_t)sx_usable_words(&arch->level[exchange]);
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

void sx_cut_arch(const sx_arch *arch, int exchange, const sx_cut *cut, sx_arch *out) {
    *out = *arch;
    sx_storage *memory = &out->level[exchange];
    if (cut->occupied) {
        double taken = ceil((double)cut->occupied * memory->multiple_buffering);
        memory->entries = taken < (double)memory->entries ? memory->entries - (uint64_t)taken : 1;
    }
    if (!cut->resident) return;
    out->n_levels++;
    for (int s = out->n_levels - 1; s > exchange + 1; s--) out->level[s] = arch->level[s - 1];
    set_residence(arch, exchange, &out->level[exchange + 1]);
    if (out->level[exchange + 2].law) out->level[exchange + 1].law = out->level[exchange + 2].law;
    for (int s = 0; s < out->n_levels; s++)
        if (out->level[s].power_gated_at > exchange) out->level[s].power_gated_at++;
}

/* Forbids a level to keep tensors. */
static void bypass_tensors(sx_level_limits *level, unsigned tensors) {
    level->must_keep &= (uint8_t)~tensors;
    level->must_bypass |= (uint8_t)tensors;
}

void sx_cut_constraints(const sx_constraints *from, int exchange, const sx_cut *cut, sx_constraints *out) {
    *out = *from;
    if (!cut->resident) return;
    const unsigned all = (1u << from->n_tensors) - 1, stay = cut->resident;
    const sx_level_limits free_level = {.split = -1};
    out->n_levels++;
    for (int s = out->n_levels - 1; s > exchange + 1; s--) out->level[s] = from->level[s - 1];
    sx_level_limits *residence = &out->level[exchange + 1], *outermost = residence + 1;
    *residence = free_level;
    residence->temporal = outermost->temporal;
    for (int d = 0; d < from->n_dims; d++) {
        residence->spatial.min[d] = 1;
        residence->spatial.max[d] = SX_MAX_DIM_SIZE;
    }
    memset(&outermost->temporal, 0, sizeof outermost->temporal);
    for (int d = 0; d < from->n_dims; d++) outermost->temporal.min[d] = outermost->temporal.max[d] = 1;
    residence->must_keep = (uint8_t)stay;
    residence->must_bypass = (uint8_t)(all & ~stay);
    residence->rmw_first_update = cut->found;
    bypass_tensors(outermost, stay);
    bypass_tensors(&out->level[exchange], stay);
    outermost->min_utilization = 0;
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

sx_score sx_cut_score(const sx_problem *problem, const sx_arch *cut_arch, int exchange, const sx_cut *cut,
                      const sx_cost *cost) {
    const sx_storage *memory = &cut_arch->level[exchange];
    sx_score score = sx_cost_score(cost);
    double rate[2] = {0}, slow = 1, leakage = 0;
    if (!cut->resident) return score;
    add_rates(problem, cut_arch, exchange, cost, rate);
    add_rates(problem, cut_arch, exchange + 1, cost, rate);
    if (memory->read_bandwidth < rate[0]) slow = fmin(slow, memory->read_bandwidth / rate[0]);
    if (memory->write_bandwidth < rate[1]) slow = fmin(slow, memory->write_bandwidth / rate[1]);
    if (memory->shared_bandwidth < rate[0] + rate[1])
        slow = fmin(slow, memory->shared_bandwidth / (rate[0] + rate[1]));
    double cycles = ceil((double)cost->compute_cycles / slow);
    if (is_timed(cut_arch, exchange)) score.latency = fmax(score.latency, cycles);
    if (cycles <= score.cycles) return score;
    for (int s = 0; s < cut_arch->n_levels; s++) leakage += cost->level[s].leakage_pj;
    score.energy_pj += leakage * (cycles / score.cycles - 1);
    score.utilization *= score.cycles / cycles;
    score.cycles = cycles;
    return score;
}
