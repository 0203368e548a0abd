/* Compact points on a GPU: draws from all of a space, and the children of a population by the core's operators and repair. Every
 * random number follows from a seed and some counters, whoever asks for it. */
#ifndef SX_GPU_POINTS_H
#define SX_GPU_POINTS_H

#include "gpu/module.h"

#include "core/repair.h"
#include "core/uniform.h"

SX_HD sx_compact_level *sx_gpu_levels(sx_gpu_point *point) {
    return (sx_compact_level *)(void *)point->word;
}
SX_HD const sx_compact_level *sx_gpu_levels_of(const sx_gpu_point *point) {
    return (const sx_compact_level *)(const void *)point->word;
}

/* Prepares a thread's memory for points. */
SX_HD void sx_gpu_begin_points(const sx_core_space *c, sx_core_work *w) {
    for (int v = 0; v < SX_CORE_RECORD_TENSORS; v++)
        for (int s = 0; s < SX_CORE_RECORD_LEVELS; s++) w->own.records[v][s].n = 0;
    w->listing.answer[0].n = 0;
    sx_core_begin(c, w);
}

/* The value of a legal point that the state is ready for; infinite where it is not covered. */
SX_HD double sx_gpu_value_of(const sx_gpu_image *p, const sx_core_space *c, sx_core_work *w,
                             const sx_gpu_point *point) {
    sx_core_score score;
    if (!sx_core_finish_point(c, w, sx_gpu_levels_of(point), &score)) return INFINITY;
    return sx_gpu_value(p, score.energy, score.cycles);
}

/* Draws a point, number `index` of a seed's sequence: all splits, axes, orders and sets of kept tensors are equally likely. False
 * where it cannot be legal. */
SX_HD bool sx_gpu_draw_point(const sx_core_space *c, uint64_t seed, uint64_t index, sx_gpu_point *out) {
    sx_core_rng rng = sx_gpu_stream(seed, 0, index);
    sx_compact_level *point = sx_gpu_levels(out);
    for (int i = 0; i < SX_GPU_POINT; i++) out->word[i] = 0;
    if (!sx_core_draw_keeps(c, &rng, point)) return false;
    for (int d = 0; d < (int)c->model.n_dims; d++)
        if (!sx_compact_spread_dim(c, &rng, d, sx_compact_words(c, point))) return false;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        point[s].parallel = (uint16_t)((1u << c->model.n_dims) - 1);
        if (c->spread >> s & 1) point[s].on_x = (uint16_t)(sx_core_next(&rng) >> 48);
    }
    sx_compact_shuffle(c, &rng, point);
    for (uint32_t left = c->ruled; left; left &= left - 1) {
        int s = sx_core_low(left);
        point[s].order = sx_compact_rule_order(c, s, point[s].order);
    }
    return true;
}

/* Draws and scores a point; infinite where it is not legal or not covered. */
SX_HD double sx_gpu_try_point(const sx_gpu_image *p, const sx_core_space *c, sx_core_work *w, uint64_t seed,
                              uint64_t index, sx_gpu_point *out) {
    if (!sx_gpu_draw_point(c, seed, index, out)) return INFINITY;
    if (!sx_core_check_point(c, w, sx_gpu_levels_of(out))) return INFINITY;
    return sx_gpu_value_of(p, c, w, out);
}

/* The better of two random members of an island. */
SX_HD uint32_t sx_gpu_tournament(const sx_gpu_member *island, sx_core_rng *rng) {
    uint32_t a = sx_core_below(rng, SX_GPU_ISLAND), b = sx_core_below(rng, SX_GPU_ISLAND);
    return island[b].value < island[a].value ? b : a;
}

/* Makes a child of parents that win tournaments, crossed half of the time, mutated and repaired, and sets its value. As long as no
 * parent is legal, children are drawn. */
SX_HD void sx_gpu_breed(const sx_gpu_image *p, const sx_core_space *c, sx_core_work *w,
                        const sx_core_chances *chances, const sx_gpu_member *island, sx_core_rng *rng,
                        sx_gpu_member *child) {
    uint32_t a = sx_gpu_tournament(island, rng), b = sx_gpu_tournament(island, rng);
    sx_compact_level *point = sx_gpu_levels(&child->point);
    child->point = island[a].point;
    if (island[a].value < INFINITY) {
        uint64_t random = sx_core_next(rng);
        int axis = (int)(random >> 1 & 3), d = sx_compact_random_dim(c, rng);
        if (random & 1 && island[b].value < INFINITY)
            sx_compact_take(c, axis, d, sx_gpu_levels_of(&island[b].point), point);
        sx_compact_mutate(c, rng, chances, point);
    } else {
        for (int i = 0; i < SX_GPU_POINT; i++) child->point.word[i] = 0;
        sx_compact_random(c, rng, point);
    }
    child->value =
        sx_core_repair_point(c, w, rng, point) ? sx_gpu_value_of(p, c, w, &child->point) : INFINITY;
}

/* The first of an island's best members. */
SX_HD uint32_t sx_gpu_best_member(const sx_gpu_member *island) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < SX_GPU_ISLAND; i++)
        if (island[i].value < island[best].value) best = i;
    return best;
}

/* The first of its worst members. */
SX_HD uint32_t sx_gpu_worst_member(const sx_gpu_member *island) {
    uint32_t worst = 0;
    for (uint32_t i = 1; i < SX_GPU_ISLAND; i++)
        if (island[i].value > island[worst].value) worst = i;
    return worst;
}

#endif
