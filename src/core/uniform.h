/* Drawing legal points, all of them equally likely: keeps, splits, axes and orders are drawn uniformly, and what is not legal is
 * passed over (mapspace/map_likely.c does the same with mappings). Splits and keeps are drawn anew together as soon as an array or
 * a memory cannot hold them, before axes and orders are drawn. */
#ifndef SX_CORE_UNIFORM_H
#define SX_CORE_UNIFORM_H

#include "core/moves.h"
#include "core/point.h"

enum { SX_CORE_FACTOR_TRIES = 16 };

/* Draws what levels keep; false where a tensor is kept nowhere. */
SX_HD bool sx_core_draw_keeps(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    uint64_t random = c->choosing ? sx_core_next(rng) : 0;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++)
        point[s].keep = (uint8_t)(c->model.level[s].must | (random >> 8 * s & c->model.level[s].may));
    return sx_core_keeps_all(c, point);
}

/* Draws the splits of all dimensions, whose cells and loops the state then has; false where an array does not have the children. */
SX_HD bool sx_core_draw_splits(const sx_core_space *c, const sx_core_splits *splits, sx_core_work *w,
                               sx_core_rng *rng, sx_compact_level *point) {
    double used[SX_CORE_LEVELS_AT_MOST];
    uint64_t *word = sx_compact_words(c, point);
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) used[s] = 1;
    w->temporal = w->spatial = 0;
    for (int d = 0; d < (int)c->model.n_dims; d++) {
        size_t i = sx_core_pick_split(c, splits, rng, d, word);
        const sx_core_cell *row = w->own.row[d] = splits->cell[d] + i * (size_t)SX_CORE_SPACE_LEVELS(c);
        w->temporal |= splits->loops[d][i][0];
        w->spatial |= splits->loops[d][i][1];
        for (uint32_t left = c->spread; left; left &= left - 1) {
            int s = sx_core_low(left);
            used[s] *= row[s].spatial;
            if (used[s] > c->room[s][0] * c->room[s][1]) return false;
        }
    }
    return true;
}

#ifndef SX_CORE_GPU
/* Gives the first n dimensions splits by their numbers, and the others factors of 1, whose words stay; the state has their cells
 * and loops. */
SX_HD void sx_core_pick_splits(const sx_core_space *c, const sx_core_splits *splits, sx_core_work *w,
                               const uint32_t *number, int n, sx_compact_level *point) {
    uint64_t *word = sx_compact_words(c, point);
    w->temporal = w->spatial = 0;
    for (int d = 0; d < (int)c->model.n_dims; d++) {
        w->own.row[d] = w->ones;
        if (d >= n) continue;
        sx_core_set_split(c, splits, d, number[d], word);
        w->own.row[d] = splits->cell[d] + number[d] * (size_t)SX_CORE_SPACE_LEVELS(c);
        w->temporal |= splits->loops[d][number[d]][0];
        w->spatial |= splits->loops[d][number[d]][1];
    }
}
#endif

/* Whether levels can hold what a point keeps, whose cells the state has: the innermost are asked first. */
SX_HD bool sx_core_holds_tiles(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        sx_core_read_tiles(c, w, s);
        if (!sx_core_fits(&c->model, &w->st, s, point[s].keep)) return false;
    }
    return true;
}

/* Draws splits and keeps that fit; false where they did not in a number of draws. */
SX_HD bool sx_core_draw_factors(const sx_core_space *c, const sx_core_splits *splits, sx_core_work *w,
                                sx_core_rng *rng, sx_compact_level *point) {
    for (int i = 0; i < SX_CORE_FACTOR_TRIES; i++) {
        if (!sx_core_draw_keeps(c, rng, point) || !sx_core_draw_splits(c, splits, w, rng, point)) continue;
        if (!sx_core_holds_tiles(c, w, point)) continue;
        for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) w->st.nest.keep[s] = point[s].keep;
        return true;
    }
    return false;
}

/* Draws a point; whether it is legal, and the state then ready for sx_core_finish_point. */
SX_HD bool sx_core_draw_point(const sx_core_space *c, const sx_core_splits *splits, sx_core_work *w,
                              sx_core_rng *rng, sx_compact_level *point) {
    if (!sx_core_draw_factors(c, splits, w, rng, point)) return false;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        point[s].parallel = (uint16_t)sx_core_lane_of(w->spatial, s);
        point[s].on_x = (uint16_t)(c->spread >> s & 1 ? sx_core_next(rng) >> 48 : 0);
        point[s].banks[0] = point[s].banks[1] = point[s].banks[2] = 0;
    }
    sx_compact_shuffle(c, rng, point);
    sx_core_read_slots(c, w, point);
    return sx_core_set_array(&c->model, &w->st);
}

#endif
