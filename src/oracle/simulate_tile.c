/* Tiles as boxes of words, and how a mapping spreads over space. */
#include "oracle/simulate.h"

sx_sim_box sx_sim_project(const sx_problem *problem, int tensor, const int64_t *start, const int64_t *end) {
    const sx_tensor *t = &problem->tensor[tensor];
    sx_sim_box box = {0};
    for (int r = 0; r < t->n_ranks; r++) {
        for (int d = 0; d < problem->n_dims; d++) {
            int64_t coef = t->coef[r][d], first = coef * start[d], last = coef * (end[d] - 1);
            box.low[r] += coef < 0 ? last : first;
            box.high[r] += coef < 0 ? first : last;
        }
        box.high[r]++;
    }
    return box;
}

sx_sim_box sx_sim_whole(const sx_problem *problem, int tensor) {
    int64_t start[SX_MAX_DIMS] = {0}, end[SX_MAX_DIMS];
    for (int d = 0; d < problem->n_dims; d++) end[d] = problem->size[d];
    return sx_sim_project(problem, tensor, start, end);
}

uint64_t sx_sim_words(const sx_sim_box *box, int n_ranks) {
    uint64_t words = 1;
    for (int r = 0; r < n_ranks; r++) words *= (uint64_t)(box->high[r] - box->low[r]);
    return words;
}

uint64_t sx_sim_tile(const sx_sim_case *sim, int level, int tensor) {
    int64_t start[SX_MAX_DIMS] = {0}, end[SX_MAX_DIMS];
    for (int d = 0; d < sim->problem->n_dims; d++) {
        int64_t size = sim->problem->size[d], extent = 1;
        for (int s = 0; s <= level && extent < size; s++)
            extent *= (int64_t)sim->mapping->level[s].spatial[d] * sim->mapping->level[s].temporal[d];
        end[d] = extent < size ? extent : size;
    }
    sx_sim_box box = sx_sim_project(sim->problem, tensor, start, end);
    return sx_sim_words(&box, sim->problem->tensor[tensor].n_ranks);
}

/* a * b, no more than 2^62: enough to be beyond every mesh. */
static uint64_t capped_product(uint64_t a, uint64_t b) {
    const uint64_t cap = (uint64_t)1 << 62;
    return a > cap / b ? cap : a * b;
}

void sx_sim_axes(const sx_mapping_level *m, int n_dims, uint64_t *x, uint64_t *y) {
    *x = *y = 1;
    for (int i = 0; i < n_dims; i++) {
        uint64_t *side = i < m->split ? x : y;
        *side = capped_product(*side, m->spatial[m->spatial_order[i]]);
    }
    if (m->x_part) {
        uint32_t rows = m->spatial[m->spatial_order[m->split - 1]] / m->x_part;
        *x /= rows;
        *y = capped_product(*y, rows);
    }
}

uint64_t sx_sim_instances(const sx_mapping *mapping, int level, uint64_t *x, uint64_t *y) {
    *x = *y = 1;
    for (int s = level + 1; s < mapping->n_levels; s++) {
        const sx_mapping_level *m = &mapping->level[s];
        uint64_t used_x, used_y;
        sx_sim_axes(m, mapping->n_dims, &used_x, &used_y);
        *x = capped_product(*x, used_x);
        *y = capped_product(*y, used_y);
    }
    return capped_product(*x, *y);
}
