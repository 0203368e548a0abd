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

/* How many parts points have, and part number i. */
SX_HD uint32_t sx_core_n_parts(const sx_core_space *c) {
    return (uint32_t)(sx_core_bits(c->sized) + SX_CORE_SPACE_LEVELS(c) + sx_core_bits(c->planar) +
                      sx_core_bits(c->choosing));
}
SX_HD sx_core_part sx_core_part_of(const sx_core_space *c, uint32_t i) {
    const uint32_t n_dims = (uint32_t)sx_core_bits(c->sized), n_levels = (uint32_t)SX_CORE_SPACE_LEVELS(c),
                   n_planar = (uint32_t)sx_core_bits(c->planar);
    if (i < n_dims) return (sx_core_part){SX_COMPACT_TILE, sx_core_low(sx_core_bit(c->sized, i))};
    if ((i -= n_dims) < n_levels) return (sx_core_part){SX_COMPACT_ORDER, (int)i};
    if ((i -= n_levels) < n_planar)
        return (sx_core_part){SX_COMPACT_PARALLEL, sx_core_low(sx_core_bit(c->planar, i))};
    return (sx_core_part){SX_COMPACT_KEEP, sx_core_low(sx_core_bit(c->choosing, i - n_planar))};
}

/* Changes a part of a point by a small step, or draws it anew. */
SX_HD void sx_core_change(const sx_core_space *c, const sx_core_splits *splits, sx_core_rng *rng, bool redraw,
                          sx_core_part part, sx_compact_level *point) {
    if (part.axis == SX_COMPACT_TILE)
        sx_core_change_split(c, splits, rng, redraw, part.which, point);
    else if (part.axis == SX_COMPACT_ORDER)
        sx_core_change_order(c, rng, redraw, part.which, point);
    else if (part.axis == SX_COMPACT_PARALLEL)
        sx_core_change_axes(c, rng, redraw, part.which, point);
    else
        sx_core_change_keeps(c, rng, redraw, part.which, point);
}

/* Takes over the split of a dimension from another point. Loops that are new get the axis they have there, and the place behind
 * the loops that lie inside of them there. */
SX_HD void sx_core_take_split(const sx_core_space *c, int d, const sx_compact_level *from,
                              sx_compact_level *to) {
    const uint32_t bit = 1u << d;
    uint64_t *word = sx_compact_words(c, to), before = sx_compact_used(c, word, d);
    for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++) word[k] = sx_compact_words_of(c, from)[k];
    uint64_t slots = sx_compact_used(c, word, d) & ~before;
    for (int slot = 0; slots; slot++, slots >>= SX_CORE_BITS) {
        int s = c->level_of[slot];
        if (!(slots & 1)) continue;
        if (!(c->temporal >> slot & 1)) {
            to[s].on_x ^= (uint16_t)((to[s].on_x ^ from[s].on_x) & bit);
            continue;
        }
        uint32_t others = sx_compact_loops_at(c, to, slot) & ~bit, inside = 0, place = 0, passed = 0;
        for (uint64_t order = from[s].order; (order & 15) != (unsigned)d; order >>= 4)
            inside |= 1u << (order & 15);
        inside &= sx_compact_loops_at(c, from, slot);
        for (uint32_t i = 0; i < c->model.n_dims; i++) {
            uint32_t loop = 1u << (to[s].order >> 4 * i & 15) & others;
            passed += loop != 0;
            if (loop & inside) place = passed;
        }
        to[s].order = sx_compact_put_loop(c, to[s].order, (unsigned)d, others, place);
    }
}

/* Puts the loops that two points both have at a level into the order of the other one, in the places they hold together. */
SX_HD void sx_core_take_order(const sx_core_space *c, int s, const sx_compact_level *from,
                              sx_compact_level *to) {
    const int slot = c->temporal_slot[s];
    if (to[s].order == from[s].order) return;
    uint32_t both = sx_compact_loops_at(c, to, slot) & sx_compact_loops_at(c, from, slot);
    uint64_t there = from[s].order, order = 0;
    for (uint32_t i = 0; i < c->model.n_dims; i++) {
        uint64_t d = to[s].order >> 4 * i & 15;
        if (both >> d & 1) {
            while (!(both >> (there & 15) & 1)) there >>= 4;
            d = there & 15;
            there >>= 4;
        }
        order |= d << 4 * i;
    }
    to[s].order = order;
}

/* Lays the spatial loops that two points both have at a level on the axes of the other one. */
SX_HD void sx_core_take_axes(const sx_core_space *c, int s, const sx_compact_level *from,
                             sx_compact_level *to) {
    const int slot = c->spatial_slot[s];
    uint32_t both = sx_compact_loops_at(c, to, slot) & sx_compact_loops_at(c, from, slot);
    to[s].on_x ^= (uint16_t)((to[s].on_x ^ from[s].on_x) & both);
}

/* Takes over a part of another point (mapspace/map_moves.c does the same with mappings). */
SX_HD void sx_core_take(const sx_core_space *c, sx_core_part part, const sx_compact_level *from,
                        sx_compact_level *to) {
    if (part.axis == SX_COMPACT_TILE)
        sx_core_take_split(c, part.which, from, to);
    else if (part.axis == SX_COMPACT_ORDER)
        sx_core_take_order(c, part.which, from, to);
    else if (part.axis == SX_COMPACT_PARALLEL)
        sx_core_take_axes(c, part.which, from, to);
    else
        to[part.which].keep = from[part.which].keep;
}

#endif
