/* Changes of one part of a point: the split of a dimension, the order of a level, the axes of its spatial loops, or what it keeps.
 * A part takes a small step or is drawn anew (mapspace/map_moves.c and map_draw.c do the same with mappings). None promises
 * legality, and a point may stay as it is. */
#ifndef SX_CORE_STEPS_H
#define SX_CORE_STEPS_H

#include "core/moves.h"

/* Gives the loops of a dimension at some slots, where it had none, random places and axes. */
SX_HD void sx_core_place_loops(const sx_core_space *c, sx_core_rng *rng, int d, uint64_t slots,
                               sx_compact_level *point) {
    uint32_t bit = 1u << d;
    for (int slot = 0; slots; slot++, slots >>= SX_CORE_BITS) {
        if (!(slots & 1)) continue;
        sx_compact_level *at = &point[c->level_of[slot]];
        uint32_t others = sx_compact_loops_at(c, point, slot) & ~bit;
        if (c->temporal >> slot & 1)
            at->order = sx_compact_put_loop(c, at->order, (unsigned)d, others,
                                            sx_core_below(rng, 1 + (uint32_t)sx_core_bits(others)));
        else
            at->on_x ^= (uint16_t)(sx_core_next(rng) & bit);
    }
}

/* Moves a prime of a dimension, or draws a split of it. */
SX_HD void sx_core_change_split(const sx_core_space *c, const sx_core_splits *splits, sx_core_rng *rng,
                                bool redraw, int d, sx_compact_level *point) {
    uint64_t *word = sx_compact_words(c, point), before = sx_compact_used(c, word, d);
    sx_compact_step step;
    if (redraw) {
        sx_core_pick_split(c, splits, rng, d, word);
        sx_core_place_loops(c, rng, d, sx_compact_used(c, word, d) & ~before, point);
    } else if (sx_compact_draw_step(c, rng, point, d, &step)) {
        sx_compact_take_step(c, point, d, &step);
    }
}

/* Moves a loop of a level to another place among the others, or shuffles all. */
SX_HD void sx_core_change_order(const sx_core_space *c, sx_core_rng *rng, bool redraw, int s,
                                sx_compact_level *point) {
    uint32_t loops = sx_compact_loops_at(c, point, c->temporal_slot[s]), n = (uint32_t)sx_core_bits(loops);
    if (n < 2) return;
    if (redraw) {
        point[s].order = sx_compact_shuffled(c, rng);
        return;
    }
    uint32_t bit = sx_core_random_bit(rng, loops), own = 0, place = sx_core_below(rng, n - 1);
    unsigned d = (unsigned)sx_core_low(bit);
    for (uint64_t order = point[s].order; (order & 15) != d; order >>= 4) own += loops >> (order & 15) & 1;
    point[s].order = sx_compact_put_loop(c, point[s].order, d, loops & ~bit, place < own ? place : place + 1);
}

/* Turns a spatial loop of a level to the other axis, or lays all on any. */
SX_HD void sx_core_change_axes(const sx_core_space *c, sx_core_rng *rng, bool redraw, int s,
                               sx_compact_level *point) {
    uint32_t loops = sx_compact_loops_at(c, point, c->spatial_slot[s]) & c->free_x[s];
    if (loops)
        point[s].on_x ^=
            (uint16_t)(redraw ? (uint32_t)sx_core_next(rng) & loops : sx_core_random_bit(rng, loops));
}

/* Keeps a tensor at a level or no longer, or draws what it keeps. */
SX_HD void sx_core_change_keeps(const sx_core_space *c, sx_core_rng *rng, bool redraw, int s,
                                sx_compact_level *point) {
    uint32_t may = c->model.level[s].may;
    point[s].keep ^= (uint8_t)(redraw ? (uint32_t)sx_core_next(rng) & may : sx_core_random_bit(rng, may));
}

/* Changes a random part of a point. */
SX_HD void sx_core_change(const sx_core_space *c, const sx_core_splits *splits, sx_core_rng *rng, bool redraw,
                          sx_compact_level *point) {
    const uint32_t n_dims = (uint32_t)sx_core_bits(c->sized), n_levels = (uint32_t)SX_CORE_SPACE_LEVELS(c),
                   n_planar = (uint32_t)sx_core_bits(c->planar);
    uint32_t part = sx_core_below(rng, n_dims + n_levels + n_planar + (uint32_t)sx_core_bits(c->choosing));
    if (part < n_dims)
        sx_core_change_split(c, splits, rng, redraw, sx_core_low(sx_core_bit(c->sized, part)), point);
    else if ((part -= n_dims) < n_levels)
        sx_core_change_order(c, rng, redraw, (int)part, point);
    else if ((part -= n_levels) < n_planar)
        sx_core_change_axes(c, rng, redraw, sx_core_low(sx_core_bit(c->planar, part)), point);
    else
        sx_core_change_keeps(c, rng, redraw, sx_core_low(sx_core_bit(c->choosing, part - n_planar)), point);
}

#endif
