/* Operators on compact points: draws, steps, and what one point takes over from another. Results need not be legal. */
#ifndef SX_CORE_MOVES_H
#define SX_CORE_MOVES_H

#include "core/space.h"

/* The part of a factor that is spatial where it may be so much at most: the exponents of its largest divisor. */
SX_HD void sx_compact_divide(const sx_core_space *c, int d, const uint8_t *total, double most, uint8_t *out) {
    int first = c->first_word[d], n = c->first_word[d + 1] - first;
    uint8_t at[SX_CORE_PRIMES] = {0};
    double whole = 1, best = 1;
    for (int k = 0; k < n; k++) {
        whole *= c->power[first + k][total[k]];
        out[k] = 0;
    }
    if (whole <= most) {
        for (int k = 0; k < n; k++) out[k] = total[k];
        return;
    }
    for (;;) {
        int k = 0;
        double product = 1;
        while (k < n && k < SX_CORE_PRIMES && at[k] == total[k]) at[k++] = 0;
        if (k == n || k == SX_CORE_PRIMES) return;
        at[k]++;
        for (int i = 0; i < n; i++) product *= c->power[first + i][at[i]];
        if (product > most || product <= best) continue;
        best = product;
        for (int i = 0; i < n; i++) out[i] = at[i];
    }
}

/* Gives a dimension's factors at a level to its slots: spatial as far as a divisor fits. */
SX_HD void sx_compact_split_level(const sx_core_space *c, int d, int s, uint64_t *word) {
    int n = c->first_word[d + 1] - c->first_word[d], across = c->spatial_slot[s], along = c->temporal_slot[s];
    uint8_t total[SX_CORE_PRIMES], spatial[SX_CORE_PRIMES] = {0};
    for (int k = 0; k < n; k++)
        total[k] = (uint8_t)(sx_compact_exponent(word[k], across) + sx_compact_exponent(word[k], along));
    sx_compact_divide(c, d, total, c->most[d][across], spatial);
    for (int k = 0; k < n; k++)
        word[k] = (word[k] & ~(sx_compact_field(across) | sx_compact_field(along))) |
                  (uint64_t)spatial[k] << SX_CORE_BITS * across |
                  (uint64_t)(total[k] - spatial[k]) << SX_CORE_BITS * along;
}

/* Makes factors at a level spatial as far as a divisor fits, where their dimension is parallel, and temporal otherwise; of the
 * dimensions in a mask. */
SX_HD_CALL void sx_compact_respread_level(const sx_core_space *c, sx_compact_level *point, uint32_t dims,
                                          int s) {
    uint64_t *word = sx_compact_words(c, point);
    const int across = c->spatial_slot[s], along = c->temporal_slot[s];
    const uint64_t spatial = sx_compact_field(across), here = spatial | sx_compact_field(along);
    for (uint32_t left = dims & ~point[s].parallel; left; left &= left - 1) {
        int d = sx_core_low(left);
        for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++) {
            uint64_t moved = word[k] & spatial;
            word[k] += (moved << SX_CORE_BITS * (along - across)) - moved;
        }
    }
    for (uint32_t left = dims & point[s].parallel; left; left &= left - 1) {
        int d = sx_core_low(left);
        uint64_t any = 0;
        for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++) any |= word[k] & here;
        if (any) sx_compact_split_level(c, d, s, word + c->first_word[d]);
    }
}

/* The same at all levels. */
SX_HD void sx_compact_respread(const sx_core_space *c, sx_compact_level *point, uint32_t dims) {
    for (uint32_t left = c->spread; left; left &= left - 1)
        sx_compact_respread_level(c, point, dims, sx_core_low(left));
}

/* Draws the primes of a dimension anew, each at a random level. */
SX_HD_CALL void sx_compact_draw_split(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point,
                                      int d) {
    uint64_t *word = sx_compact_words(c, point);
    const uint32_t n_levels = (uint32_t)SX_CORE_SPACE_LEVELS(c);
    for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++) {
        uint64_t drawn = 0, random = 0;
        for (int i = 0; i < c->multiplicity[k]; i++, random >>= 16) {
            if (i % 4 == 0) random = sx_core_next(rng);
            drawn += sx_compact_one(c->temporal_slot[sx_core_share(random, 0, n_levels)]);
        }
        word[k] = drawn;
    }
    sx_compact_respread(c, point, 1u << d);
}

/* A random dimension, more often the larger ones: in proportion to the bits of its size. */
SX_HD int sx_compact_random_dim(const sx_core_space *c, sx_core_rng *rng) {
    return c->n_weights ? c->weighted_dim[sx_core_below(rng, c->n_weights)] : 0;
}

/* Swaps two places of an order. */
SX_HD uint64_t sx_compact_swap_places(uint64_t order, uint32_t a, uint32_t b) {
    uint64_t differ = (order >> 4 * a ^ order >> 4 * b) & 15;
    return order ^ differ << 4 * a ^ differ << 4 * b;
}

/* Swaps two places of one level's order. */
SX_HD void sx_compact_swap_order(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    uint64_t random = sx_core_next(rng);
    uint32_t s = sx_core_share(random, 0, (uint32_t)SX_CORE_SPACE_LEVELS(c)), n = c->model.n_dims;
    point[s].order =
        sx_compact_swap_places(point[s].order, sx_core_share(random, 16, n), sx_core_share(random, 32, n));
}

/* Makes a dimension parallel at a level, or no longer, or turns it to the other axis. */
SX_HD void sx_compact_change_parallel(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    if (!c->spread) return;
    sx_compact_level *at = &point[sx_core_low(sx_core_random_bit(rng, c->spread))];
    uint32_t all = (1u << c->model.n_dims) - 1, set = at->parallel;
    uint64_t random = sx_core_next(rng);
    bool turn = c->planar >> (at - point) & 1 && set && (random & 1);
    bool remove = set == all || (set && (random & 2));
    uint16_t bit = (uint16_t)sx_core_random_bit(rng, turn || remove ? set : all & ~set);
    if (turn)
        at->on_x ^= bit;
    else
        at->parallel ^= bit;
    sx_compact_respread(c, point, c->sized);
}

/* What a word has at a level, both slots together, moved to where it is temporal. */
SX_HD uint64_t sx_compact_total(const sx_core_space *c, uint64_t word, int s) {
    uint64_t total = sx_compact_exponent(word, c->temporal_slot[s]);
    if (c->spatial_slot[s] >= 0) total += sx_compact_exponent(word, c->spatial_slot[s]);
    return total;
}

/* A word without what it has at a level. */
SX_HD uint64_t sx_compact_without(const sx_core_space *c, uint64_t word, int s) {
    word &= ~sx_compact_field(c->temporal_slot[s]);
    return c->spatial_slot[s] >= 0 ? word & ~sx_compact_field(c->spatial_slot[s]) : word;
}

/* Swaps all factors of two levels. */
SX_HD void sx_compact_swap_levels(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    uint64_t *word = sx_compact_words(c, point), random = sx_core_next(rng);
    int a = (int)sx_core_share(random, 0, (uint32_t)SX_CORE_SPACE_LEVELS(c));
    int b = (int)sx_core_share(random, 16, (uint32_t)SX_CORE_SPACE_LEVELS(c));
    for (uint32_t k = 0; k < c->n_words && a != b; k++) {
        uint64_t at_a = sx_compact_total(c, word[k], a), at_b = sx_compact_total(c, word[k], b);
        word[k] = sx_compact_without(c, sx_compact_without(c, word[k], a), b) |
                  at_a << SX_CORE_BITS * c->temporal_slot[b] | at_b << SX_CORE_BITS * c->temporal_slot[a];
    }
    sx_compact_respread(c, point, c->sized);
}

/* Keeps a tensor at a level, or no longer. */
SX_HD void sx_compact_change_keep(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    if (!c->choosing) return;
    int s = sx_core_low(sx_core_random_bit(rng, c->choosing));
    point[s].keep ^= (uint8_t)sx_core_random_bit(rng, c->model.level[s].may);
}

/* Makes dimension d, in an order, loop number `place` of those in a mask and itself: they keep the places that they hold together,
 * so that dimensions without a loop stay where they are. */
SX_HD_CALL uint64_t sx_compact_put_loop(const sx_core_space *c, uint64_t order, unsigned d, uint32_t loops,
                                        uint32_t place) {
    const uint32_t placed = loops | 1u << d, others = placed & ~(1u << d);
    uint64_t out = 0, next = order;
    for (uint32_t i = 0; i < c->model.n_dims; i++, order >>= 4) {
        uint64_t other = order & 15;
        if (placed >> other & 1 && place-- == 0) {
            other = d;
        } else if (placed >> other & 1) {
            while (!(others >> (next & 15) & 1)) next >>= 4;
            other = next & 15;
            next >>= 4;
        }
        out |= other << 4 * i;
    }
    return out;
}

/* The slots at which a dimension has factors, as 1 at each. */
SX_HD uint64_t sx_compact_used(const sx_core_space *c, const uint64_t *word, int d) {
    uint64_t any = 0;
    for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++) any |= word[k];
    return sx_compact_lanes(any);
}

/* How many dimensions have a factor at each slot. */
SX_HD uint64_t sx_compact_crowd(const sx_core_space *c, const uint64_t *word) {
    uint64_t sum = 0;
    for (uint32_t d = 0; d < c->model.n_dims; d++) sum += sx_compact_used(c, word, (int)d);
    return sum;
}

/* The dimensions that have a factor at a slot. */
SX_HD uint32_t sx_compact_loops_at(const sx_core_space *c, const sx_compact_level *point, int slot) {
    const uint64_t *word = sx_compact_words_of(c, point);
    uint32_t loops = 0;
    for (uint32_t d = 0; d < c->model.n_dims; d++)
        for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++)
            loops |= (uint32_t)(sx_compact_exponent(word[k], slot) != 0) << d;
    return loops;
}

/* The factor of a dimension at a slot. */
SX_HD double sx_compact_factor(const sx_core_space *c, const uint64_t *word, int d, int slot) {
    double factor = 1;
    for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++)
        factor *= c->power[k][sx_compact_exponent(word[k], slot)];
    return factor;
}

/* Whether one more prime of a word fits at a slot. */
SX_HD bool sx_compact_takes(const sx_core_space *c, const uint64_t *word, int d, int k, int slot) {
    return (c->temporal & ~(uint32_t)c->capped[d]) >> slot & 1 ||
           sx_compact_factor(c, word, d, slot) * c->power[k][1] <= c->most[d][slot];
}

/* One prime of a dimension that goes from a slot to another. */
typedef struct sx_compact_step {
    int word, from, to;
    uint32_t place, places; /* of a loop that is new at its slot, among the others there */
} sx_compact_step;

/* The places that a new loop of a dimension has at a slot; crowd: the loops that are there. */
SX_HD uint32_t sx_compact_places(const sx_core_space *c, int d, int slot, uint64_t crowd) {
    if (c->temporal >> slot & 1) return 1 + sx_compact_exponent(crowd, slot);
    return c->free_x[c->level_of[slot]] >> d & 1 ? 2 : 1;
}

/* Draws a step of a dimension: all steps and places of a new loop are equally likely. False where there is none. */
SX_HD_CALL bool sx_compact_draw_step(const sx_core_space *c, sx_core_rng *rng, const sx_compact_level *point,
                                     int d, sx_compact_step *out) {
    const uint64_t *word = sx_compact_words_of(c, point);
    uint64_t used[SX_CORE_PRIMES], any = 0, crowd = sx_compact_crowd(c, word);
    uint32_t weight[SX_CORE_SLOTS][SX_CORE_PRIMES], places[SX_CORE_SLOTS], sum = 0;
    int first = c->first_word[d], n = c->first_word[d + 1] - first;
    for (int k = 0; k < n; k++) {
        any |= used[k] = sx_compact_lanes(word[first + k]);
        used[k] &= ~c->closed[d];
    }
    for (int to = 0; to < (int)c->n_slots; to++) {
        places[to] = any & sx_compact_one(to) ? 1 : sx_compact_places(c, d, to, crowd);
        for (int k = 0; k < n; k++) {
            uint64_t from = used[k] & ~sx_compact_one(to);
            bool takes = from && sx_compact_takes(c, word, d, first + k, to);
            sum += weight[to][k] = takes ? sx_compact_count(from) * places[to] : 0;
        }
    }
    if (!sum) return false;
    uint32_t left = sx_core_below(rng, sum);
    int to = 0, k = 0;
    while (left >= weight[to][k]) {
        left -= weight[to][k];
        if (++k == n) {
            k = 0;
            to++;
        }
    }
    out->word = first + k;
    out->to = to;
    out->places = places[to];
    out->place = left % places[to];
    out->from = sx_compact_slot(used[k] & ~sx_compact_one(to), left / places[to]);
    return true;
}

/* Takes a step of a dimension. */
SX_HD void sx_compact_take_step(const sx_core_space *c, sx_compact_level *point, int d,
                                const sx_compact_step *step) {
    uint64_t *word = sx_compact_words(c, point);
    sx_compact_level *at = &point[c->level_of[step->to]];
    uint16_t bit = (uint16_t)(1u << d);
    if (c->temporal >> step->to & 1) {
        if (step->places > 1)
            at->order = sx_compact_put_loop(c, at->order, (unsigned)d,
                                            sx_compact_loops_at(c, point, step->to), step->place);
    } else {
        at->parallel |= bit;
        if (step->places > 1) at->on_x = (uint16_t)(step->place == 0 ? at->on_x | bit : at->on_x & ~bit);
    }
    word[step->word] += sx_compact_one(step->to) - sx_compact_one(step->from);
}

/* Moves one prime of a random dimension from a slot to another. */
SX_HD void sx_compact_shift(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    int d = sx_compact_random_dim(c, rng);
    sx_compact_step step;
    if (sx_compact_draw_step(c, rng, point, d, &step)) sx_compact_take_step(c, point, d, &step);
}

/* Draws the primes of a random dimension anew. */
SX_HD void sx_compact_redraw(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    sx_compact_draw_split(c, rng, point, sx_compact_random_dim(c, rng));
}

/* Does each of a mutation's changes with its chance. */
SX_HD void sx_compact_mutate(const sx_core_space *c, sx_core_rng *rng, const sx_core_chances *chances,
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
        sx_compact_redraw(c, rng, point);
}

/* A random order. */
SX_HD_CALL uint64_t sx_compact_shuffled(const sx_core_space *c, sx_core_rng *rng) {
    uint64_t order = c->natural, random = 0;
    for (uint32_t i = c->model.n_dims; i > 1; i--, random >>= 16) {
        if ((c->model.n_dims - i) % 4 == 0) random = sx_core_next(rng);
        order = sx_compact_swap_places(order, i - 1, sx_core_share(random, 0, i));
    }
    return order;
}

/* Shuffles the orders of all levels. */
SX_HD void sx_compact_shuffle(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) point[s].order = sx_compact_shuffled(c, rng);
}

/* Gives a dimension a split by its number in the list. */
SX_HD void sx_core_set_split(const sx_core_space *c, const sx_core_splits *splits, int d, uint32_t i,
                             uint64_t *word) {
    uint32_t first = c->first_word[d], words = c->first_word[d + 1] - first;
    const uint64_t *from = splits->word[d] + words * i;
    for (uint32_t k = 0; k < words; k++) word[first + k] = from[k];
}

/* Gives a dimension one of the listed splits, all equally likely; returns its number. */
SX_HD uint32_t sx_core_pick_split(const sx_core_space *c, const sx_core_splits *splits, sx_core_rng *rng,
                                  int d, uint64_t *word) {
    uint32_t n = splits->n[d], i = n > 1 ? sx_core_below(rng, n) : 0;
    sx_core_set_split(c, splits, d, i, word);
    return i;
}

/* Spreads the prime of a word over slots, 1 at each of which is in `lanes`: compositions of its exponent are equally likely. Going
 * through exponent and borders between slots one by one, the next is a border with the share that borders have of what is left. */
SX_HD uint64_t sx_compact_spread_word(sx_core_rng *rng, uint32_t exponent, uint64_t lanes) {
    uint32_t borders = lanes ? sx_compact_count(lanes) - 1 : 0;
    uint64_t word = 0, random = 0;
    for (uint32_t i = 0; exponent > 0; i++, random >>= 16) {
        if (i % 4 == 0) random = sx_core_next(rng);
        if (sx_core_share(random, 0, borders + exponent) < borders) {
            borders--;
            lanes &= lanes - 1;
        } else {
            word += lanes & (0u - lanes);
            exponent--;
        }
    }
    return word;
}

/* The primes of a word. */
SX_HD uint32_t sx_compact_primes(const sx_core_space *c, uint64_t word) {
    uint32_t n = 0;
    for (int slot = 0; slot < (int)c->n_slots; slot++) n += sx_compact_exponent(word, slot);
    return n;
}

/* The first slot whose factor of a dimension is larger than it may be, of those that are not fixed; -1: none. */
SX_HD int sx_compact_overfull(const sx_core_space *c, const uint64_t *word, int d) {
    uint32_t limited = ((1u << c->n_slots) - 1) & (~c->temporal | c->capped[d]);
    for (; limited; limited &= limited - 1) {
        int slot = sx_core_low(limited);
        if (!(c->closed[d] & sx_compact_one(slot)) && sx_compact_factor(c, word, d, slot) > c->most[d][slot])
            return slot;
    }
    return -1;
}

/* Draws a split of a dimension, all being equally likely; false where its factors were too large in a number of draws. */
SX_HD bool sx_compact_spread_dim(const sx_core_space *c, sx_core_rng *rng, int d, uint64_t *word) {
    const uint64_t open = SX_COMPACT_ONES & (sx_compact_one((int)c->n_slots) - 1) & ~c->closed[d];
    for (int tries = 0; tries < 64; tries++) {
        for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++)
            word[k] = c->fixed[k] + sx_compact_spread_word(
                                        rng, c->multiplicity[k] - sx_compact_primes(c, c->fixed[k]), open);
        if (sx_compact_overfull(c, word, d) < 0) return true;
    }
    return false;
}

/* Gives a prime of a word to the outermost slot that takes it, a temporal one if possible; false where none does. */
SX_HD bool sx_compact_give(const sx_core_space *c, int d, int k, uint64_t *word) {
    for (int spatial = 0; spatial < 2; spatial++)
        for (int slot = (int)c->n_slots - 1; slot >= 0; slot--) {
            if ((c->temporal >> slot & 1) == (uint32_t)spatial || !sx_compact_takes(c, word, d, k, slot))
                continue;
            word[k] += sx_compact_one(slot);
            return true;
        }
    return false;
}

/* Brings the factors of a dimension within the constraints: fixed ones are set, and primes go outward, where the point has too many
 * of them, or come from the outermost slots. False where no slot takes one. */
SX_HD_CALL bool sx_compact_settle_dim(const sx_core_space *c, int d, uint64_t *word) {
    for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++) {
        word[k] = (word[k] & ~(c->closed[d] * (SX_CORE_POWERS - 1))) | c->fixed[k];
        uint32_t n = sx_compact_primes(c, word[k]);
        for (int slot = (int)c->n_slots - 1; slot >= 0; slot--)
            for (; n > c->multiplicity[k] && !(c->closed[d] & sx_compact_one(slot)) &&
                   sx_compact_exponent(word[k], slot);
                 n--)
                word[k] -= sx_compact_one(slot);
        for (; n < c->multiplicity[k]; n++)
            if (!sx_compact_give(c, d, k, word)) return false;
    }
    for (int slot; (slot = sx_compact_overfull(c, word, d)) >= 0;) {
        int k = c->first_word[d];
        while (!sx_compact_exponent(word[k], slot)) k++;
        word[k] -= sx_compact_one(slot);
        if (!sx_compact_give(c, d, k, word)) return false;
    }
    return true;
}

/* Puts the dimensions of a level that have fixed places there. */
SX_HD uint64_t sx_compact_rule_order(const sx_core_space *c, int s, uint64_t order) {
    const uint32_t n = c->model.n_dims, fixed = c->inner[s] | c->outer[s];
    int place = sx_core_bits(c->inner[s]);
    uint64_t out = c->order[s];
    for (uint32_t i = 0; i < n; i++, order >>= 4)
        if (!(fixed >> (order & 15) & 1)) out |= (order & 15) << 4 * place++;
    return out;
}

/* Brings a point within the constraints; false where that fails. */
SX_HD bool sx_compact_settle(const sx_core_space *c, sx_compact_level *point) {
    for (uint32_t left = c->ruled; left; left &= left - 1) {
        int s = sx_core_low(left);
        point[s].order = sx_compact_rule_order(c, s, point[s].order);
    }
    for (uint32_t left = c->limited; left; left &= left - 1)
        if (!sx_compact_settle_dim(c, sx_core_low(left), sx_compact_words(c, point))) return false;
    return true;
}

/* A random set of dimensions, of a random size from 1 to 5. */
SX_HD uint16_t sx_compact_draw_set(const sx_core_space *c, sx_core_rng *rng) {
    uint32_t n = c->model.n_dims, left = (1u << n) - 1, set = 0;
    for (uint32_t k = 1 + sx_core_below(rng, n < 5 ? n : 5); k > 0; k--) {
        uint32_t bit = sx_core_random_bit(rng, left);
        left &= ~bit;
        set |= bit;
    }
    return (uint16_t)set;
}

/* A point that keeps all it may, with orders, parallel dimensions and primes at random. */
SX_HD void sx_compact_random(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        const sx_core_level *level = &c->model.level[s];
        point[s].keep = (uint8_t)(level->must | level->may);
        point[s].parallel = c->spread >> s & 1 ? sx_compact_draw_set(c, rng) : 0;
        point[s].on_x = (uint16_t)sx_core_next(rng);
        point[s].banks[0] = point[s].banks[1] = point[s].banks[2] = 0;
    }
    sx_compact_shuffle(c, rng, point);
    for (uint32_t d = 0; d < c->model.n_dims; d++) sx_compact_draw_split(c, rng, point, (int)d);
}

/* A point that keeps all it may, with all primes at the outermost level, natural orders, and the output's dimensions parallel
 * wherever there is an array. */
SX_HD void sx_compact_natural(const sx_core_space *c, sx_core_rng *rng, sx_compact_level *point) {
    uint64_t *word = sx_compact_words(c, point);
    uint32_t output = 0;
    int top = SX_CORE_SPACE_LEVELS(c) - 1;
    for (int v = 0; v < SX_CORE_SPACE_TENSORS(c); v++)
        if (c->model.tensor[v].output) output = c->model.tensor[v].dims;
    for (int s = 0; s <= top; s++) {
        const sx_core_level *level = &c->model.level[s];
        point[s].order = c->natural;
        point[s].keep = (uint8_t)(level->must | level->may);
        point[s].parallel = (uint16_t)(c->spread >> s & 1 ? output : 0);
        point[s].on_x = (uint16_t)sx_core_next(rng);
        point[s].banks[0] = point[s].banks[1] = point[s].banks[2] = 0;
    }
    for (uint32_t k = 0; k < c->n_words; k++)
        word[k] = (uint64_t)c->multiplicity[k] << SX_CORE_BITS * c->temporal_slot[top];
    sx_compact_respread(c, point, c->sized);
}

/* What a point takes over from another: the factors of one dimension, all orders, all parallel dimensions, or all that is
 * kept. */
enum { SX_COMPACT_TILE, SX_COMPACT_ORDER, SX_COMPACT_PARALLEL, SX_COMPACT_KEEP };

SX_HD void sx_compact_take(const sx_core_space *c, int axis, int d, const sx_compact_level *from,
                           sx_compact_level *to) {
    if (axis == SX_COMPACT_TILE) {
        for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++)
            sx_compact_words(c, to)[k] = sx_compact_words_of(c, from)[k];
        sx_compact_respread(c, to, 1u << d);
        return;
    }
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        if (axis == SX_COMPACT_ORDER) to[s].order = from[s].order;
        if (axis == SX_COMPACT_KEEP) to[s].keep = from[s].keep;
        if (axis == SX_COMPACT_PARALLEL) {
            to[s].parallel = from[s].parallel;
            to[s].on_x = from[s].on_x;
        }
    }
    if (axis == SX_COMPACT_PARALLEL) sx_compact_respread(c, to, c->sized);
}

#endif
