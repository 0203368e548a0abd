#include "mappers/tiling.h"

#include "mapspace/map_choices.h"
#include "model/model.h"

#include <string.h>

/* Writes the axes into the point, and puts it in order. */
static void write_axes(const sx_tiling *t) {
    for (int s = 0; s < t->space->arch->n_levels; s++)
        if (t->space->spatial_slot[s] >= 0) sx_map_set_layout(t->space, s, t->x[s], t->point);
    sx_map_normalize(t->space, t->point);
}

/* Writes the factors of a dimension into the point. */
static void write_dim(const sx_tiling *t, int d) {
    sx_map_set_factors(t->space, d, t->factor[d], t->point);
    write_axes(t);
}

void sx_tiling_write(const sx_tiling *t) {
    for (int d = 0; d < t->space->problem->n_dims; d++)
        sx_map_set_factors(t->space, d, t->factor[d], t->point);
    write_axes(t);
}

/* Whether the point is legal. */
static bool is_legal(const sx_tiling *t) {
    return t->space->space.type->check(&t->space->space, t->point) == 0;
}

bool sx_tiling_begin(sx_tiling *t, sx_rng *rng) {
    const sx_map_space *space = t->space;
    int last = space->n_slots - 1;
    space->space.type->draw(&space->space, rng, t->point);
    for (int s = 0; s < space->arch->n_levels; s++) {
        t->x[s] = space->fixed_x[s];
        unsigned free = t->bare ? 0 : space->free_keep[s];
        if (!space->banked[s]) sx_map_level(t->point, s)->keep = (uint8_t)(space->fixed_keep[s] | free);
    }
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint64_t all = 1, size = space->problem->size[d];
        for (int i = 0; i < last; i++) {
            t->factor[d][i] = space->min[d][i] > 1 ? space->min[d][i] : 1;
            all *= t->factor[d][i];
        }
        t->factor[d][last] = (uint32_t)(all <= size ? size / all : 1);
        if (all > size || size % all || t->factor[d][last] > space->max[d][last])
            sx_factors_draw(space->factors[d], rng, t->factor[d]);
        write_dim(t, d);
    }
    return is_legal(t);
}

bool sx_tiling_move(sx_tiling *t, int d, uint32_t prime, int from, int to) {
    const sx_map_space *space = t->space;
    uint32_t *factor = t->factor[d];
    unsigned x = t->x[space->slot[to].level];
    if (factor[from] % prime || factor[from] / prime < space->min[d][from] ||
        (uint64_t)factor[to] * prime > space->max[d][to])
        return false;
    memcpy(t->saved, t->point, space->space.point_size);
    factor[from] /= prime;
    factor[to] *= prime;
    write_dim(t, d);
    if (is_legal(t)) return true;
    factor[from] *= prime;
    factor[to] /= prime;
    t->x[space->slot[to].level] = x;
    memcpy(t->point, t->saved, space->space.point_size);
    return false;
}

void sx_tiling_fill_axis(sx_tiling *t, int level, int d, bool on_x) {
    const sx_map_space *space = t->space;
    int slot = space->spatial_slot[level];
    unsigned x = t->x[level];
    uint32_t before = t->factor[d][slot];
    if (space->free_x[level] >> d & 1) t->x[level] = (x & ~(1u << d)) | (unsigned)on_x << d;
    for (int i = space->n_primes[d] - 1; i >= 0; i--)
        while (sx_tiling_move(t, d, space->prime[d][i], space->n_slots - 1, slot)) continue;
    if (t->factor[d][slot] == before) t->x[level] = x;
}

void sx_tiling_fill(sx_tiling *t, int level, const uint8_t *prefer) {
    for (int i = 0; i < t->space->problem->n_dims; i++) {
        int d = prefer[i];
        sx_tiling_fill_axis(t, level, d, i != 1);
        if (i > 1 && t->factor[d][t->space->spatial_slot[level]] == 1)
            sx_tiling_fill_axis(t, level, d, false);
    }
}

void sx_tiling_hold(sx_tiling *t, int level, int tensor) {
    uint8_t *order = sx_map_level(t->point, level)->temporal_order;
    for (unsigned pass = 0; pass < 2; pass++)
        for (int d = 0; d < t->space->problem->n_dims; d++)
            if ((t->space->model->shape[tensor].dims >> d & 1) == pass) *order++ = (uint8_t)d;
}

double sx_tiling_spread(const sx_tiling *t) {
    double used = 1;
    for (int i = 0; i < t->space->n_slots; i++)
        for (int d = 0; t->space->slot[i].spatial && d < t->space->problem->n_dims; d++)
            used *= t->factor[d][i];
    return used;
}

bool sx_tiling_rescue(sx_run *run, const char *stream, uint64_t number, void *point) {
    sx_rng rng = sx_rng_stream(sx_run_seed(run), stream, number);
    uint64_t rejected = 0;
    bool legal = sx_space_draw_legal(sx_run_space(run), &rng, point, &rejected);
    sx_run_reject(run, rejected);
    sx_outcome outcome;
    if (!legal || sx_run_evaluate(run, point, 1, &outcome) != 1 || outcome.reason) return false;
    sx_run_drawn(run);
    return true;
}
