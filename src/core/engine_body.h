/* An engine: a file that defines SX_CORE_FIXED_LEVELS, _TENSORS and _WINDOW, or none of them, and SX_CORE_ENGINE, includes this
 * one. */
#include "core/engine.h"
#include "core/repair.h"

static void redraw(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    sx_compact_draw_split(c, rng, point, sx_compact_random_dim(c, rng));
}

static void draw(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    sx_compact_random(c, rng, point);
}

static void natural(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    sx_compact_natural(c, rng, point);
}

static void take(const sx_core_space *c, int axis, int dim, const sx_compact_level *from,
                 sx_compact_level *to) {
    sx_compact_take(c, axis, dim, from, to);
}

static void mutate(const sx_core_space *c, sx_core_rng *rng, const sx_core_chances *chances,
                   sx_compact_level *point) {
    uint64_t random = sx_core_next(rng);
    if ((random & 0xffff) < chances->order) sx_compact_swap_order(c, rng, point);
    if ((random >> 16 & 0xffff) < chances->parallel) sx_compact_change_parallel(c, rng, point);
    if ((random >> 32 & 0xffff) < chances->levels) sx_compact_swap_levels(c, rng, point);
    if (random >> 48 < chances->keep) sx_compact_change_keep(c, rng, point);
    random = sx_core_next(rng);
    if ((random & 0xffff) >= chances->tile) return;
    if ((random >> 16 & 0xffff) < chances->shift)
        sx_compact_shift(c, rng, point);
    else
        redraw(c, rng, point);
}

static void begin(const sx_core_space *c, sx_core_work *w) {
    sx_core_begin(c, w);
}

static bool check(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    return sx_core_check_point(c, w, point);
}

static bool repair(const sx_core_space *c, sx_core_work *w, sx_core_rng *rng, sx_compact_level *point) {
    return sx_core_repair_point(c, w, rng, point);
}

static bool finish(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point,
                   sx_core_score *score) {
    return sx_core_finish_point(c, w, point, score);
}

static int score(const sx_core_model *p, sx_core_work *w, const sx_core_nest *nest,
                 const sx_core_cell (*cell)[SX_CORE_LEVELS], sx_core_score *out) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    w->st.own = &w->own;
    w->own.listing = &w->listing;
    w->own.nest = *nest;
    for (uint32_t d = 0; d < p->n_dims; d++) w->own.row[d] = cell[d];
    return sx_core_score_nest(p, &w->st, w->charge, alone, out);
}

const sx_core_engine SX_CORE_ENGINE = {
    sizeof(sx_core_work), begin, draw, natural, redraw, take, mutate, check, repair, finish, score,
};
