/* The oracle's view of what is legal. */
#include "oracle/simulate.h"

#include <math.h>

static sx_verdict make_verdict(sx_reason reason, int level, int tensor, int dim, double have, double limit) {
    return (sx_verdict){reason, (int8_t)level, (int8_t)tensor, (int8_t)dim, have, limit};
}

static const sx_verdict legal = {SX_LEGAL, -1, -1, -1, 0, 0};

static bool is_permutation(const uint8_t *order, int n) {
    uint32_t seen = 0;
    for (int i = 0; i < n; i++) {
        if (order[i] >= n || (seen >> order[i] & 1)) return false;
        seen |= 1u << order[i];
    }
    return true;
}

static sx_verdict check_shape(const sx_sim_case *sim) {
    const sx_mapping *mapping = sim->mapping;
    sx_verdict bad = make_verdict(SX_BAD_SHAPE, -1, -1, -1, 0, 0);
    if (mapping->n_levels != sim->arch->n_levels || mapping->n_dims != sim->problem->n_dims ||
        mapping->n_tensors != sim->problem->n_tensors)
        return bad;
    for (int s = 0; s < mapping->n_levels; s++) {
        const sx_mapping_level *level = &mapping->level[s];
        if (!is_permutation(level->temporal_order, mapping->n_dims)) return bad;
        if (!is_permutation(level->spatial_order, mapping->n_dims)) return bad;
        if (level->split > mapping->n_dims) return bad;
        if (level->x_part) {
            uint32_t factor = level->split ? level->spatial[level->spatial_order[level->split - 1]] : 1;
            if (level->x_part < 2 || factor % level->x_part || factor / level->x_part < 2) return bad;
        }
    }
    return legal;
}

/* A dimension is covered by its factors, and no factor has an iteration that never happens. */
static sx_verdict check_factors(const sx_sim_case *sim, int d) {
    double size = sim->problem->size[d], step = 1;
    bool needless = false, splits = false; /* splits: some level has a dimension on both axes */
    for (int s = 0; s < sim->mapping->n_levels; s++) {
        const uint32_t factor[2] = {sim->mapping->level[s].spatial[d], sim->mapping->level[s].temporal[d]};
        splits |= sim->mapping->level[s].x_part != 0;
        for (int i = 0; i < 2; i++) {
            needless |= factor[i] > 1 && (factor[i] - 1) * step >= size;
            step *= factor[i];
        }
    }
    if (step < size || needless || (step > size && splits))
        return make_verdict(SX_FACTOR_PRODUCT, -1, -1, d, step, size);
    return legal;
}

static sx_verdict check_keep(const sx_sim_case *sim) {
    unsigned kept = 0;
    for (int s = 0; s < sim->arch->n_levels; s++) {
        for (int v = 0; v < sim->problem->n_tensors; v++)
            if (sim->arch->level[s].transparent && (sim->mapping->level[s].keep >> v & 1))
                return make_verdict(SX_KEEP_FORBIDDEN, s, v, -1, 0, 0);
        kept |= sim->mapping->level[s].keep;
    }
    for (int v = 0; v < sim->problem->n_tensors; v++)
        if (!(kept >> v & 1)) return make_verdict(SX_NOT_KEPT, -1, v, -1, 0, 0);
    return legal;
}

static sx_verdict check_mesh(const sx_sim_case *sim, int level) {
    const sx_arch *arch = sim->arch;
    uint64_t x, y, used = sx_sim_instances(sim->mapping, level, &x, &y);
    uint64_t mesh_x = level < 0 ? arch->compute.mesh_x : arch->level[level].mesh_x;
    uint64_t mesh_y = level < 0 ? arch->compute.mesh_y : arch->level[level].mesh_y;
    uint64_t instances = level < 0 ? arch->compute.instances : arch->level[level].instances;
    int name = level < 0 ? arch->n_levels : level;
    if (used > instances) return make_verdict(SX_INSTANCES, name, -1, -1, (double)used, (double)instances);
    if (x > mesh_x) return make_verdict(SX_MESH_X, name, -1, -1, (double)x, (double)mesh_x);
    if (y > mesh_y) return make_verdict(SX_MESH_Y, name, -1, -1, (double)y, (double)mesh_y);
    return legal;
}

static sx_verdict check_capacity(const sx_sim_case *sim, int s) {
    const sx_storage *level = &sim->arch->level[s];
    if (level->entries == SX_UNLIMITED) return legal;
    double room = floor((double)level->entries / level->multiple_buffering);
    double words = 0, largest = 0, banks = 0;
    int of = -1;
    for (int v = 0; v < sim->problem->n_tensors; v++) {
        if (!(sim->mapping->level[s].keep >> v & 1)) continue;
        const uint8_t bits = sim->problem->tensor[v].bits;
        double tile = (double)sx_sim_tile(sim, s, v);
        if (bits) tile = ceil(tile * bits / level->word_bits);
        words += tile;
        if (level->banks) banks += ceil(tile / (room / level->banks));
        if (tile > largest) largest = tile, of = v;
    }
    if (level->banks) {
        if (banks > level->banks)
            return make_verdict(SX_CAPACITY, s, of, -1, banks * (room / level->banks), room);
    } else if (words > room) {
        return make_verdict(SX_CAPACITY, s, of, -1, words, room);
    }
    if (words < room * level->min_utilization)
        return make_verdict(SX_UNDERUSED, s, -1, -1, words, room * level->min_utilization);
    return legal;
}

sx_verdict sx_sim_check(const sx_sim_case *sim) {
    sx_verdict found = check_shape(sim);
    for (int d = 0; d < sim->problem->n_dims && found.reason == SX_LEGAL; d++) found = check_factors(sim, d);
    if (found.reason == SX_LEGAL) found = check_keep(sim);
    if (found.reason == SX_LEGAL) found = check_mesh(sim, -1);
    for (int s = 0; s < sim->arch->n_levels && found.reason == SX_LEGAL; s++) {
        found = check_capacity(sim, s);
        if (found.reason == SX_LEGAL) found = check_mesh(sim, s);
    }
    return found;
}
