/* Bringing compact points to legality by random small changes of the kind that helps, as mapspace/map_repair.c does with
 * mappings. The array first: a spatial loop turns to the other axis or gives a prime outward. Then one pass outward over
 * memories: while the tiles of a level do not fit, a random prime of its largest tensor moves outward, or, now and then and where
 * nothing can move, a tensor that need not be kept is not. Levels inside stay legal, as factors only leave them. */
#ifndef SX_CORE_REPAIR_H
#define SX_CORE_REPAIR_H

#include "core/moves.h"
#include "core/point.h"

enum { SX_CORE_CHANGES = 400, SX_CORE_DROP_ONE_IN = 8 };

/* A point at repair; dim: the dimension whose factors the last change has moved, -1: none. */
typedef struct sx_core_patient {
    const sx_core_space *c;
    sx_core_work *w;
    sx_core_rng *rng;
    sx_compact_level *point;
    int dim;
} sx_core_patient;

/* Slots from first to last, as a mask; with `temporal` the temporal ones only. */
SX_HD uint32_t sx_core_slots(const sx_core_space *c, int first, int last, bool temporal) {
    uint32_t mask = (2u << last) - (1u << first);
    return temporal ? mask & c->temporal : mask;
}

/* Gives a dimension's spatial loop that is new at a slot a random axis; temporal loops have their places in the level's order. */
SX_HD void sx_core_place_loop(sx_core_patient *r, int d, int slot) {
    const sx_core_space *c = r->c;
    int s = c->level_of[slot];
    sx_compact_level *at = &r->point[s];
    uint16_t bit = (uint16_t)(1u << d);
    if (c->temporal >> slot & 1 || sx_core_lane_of(r->w->spatial, s) & bit) return;
    at->parallel |= bit;
    if (c->free_x[s] & bit)
        at->on_x = (uint16_t)(sx_core_below(r->rng, 2) ? at->on_x & ~bit : at->on_x | bit);
}

/* Moves a random prime of a dimension from a slot to a random one of others; false where none can move. */
SX_HD bool sx_core_move_from(sx_core_patient *r, int d, int from, uint32_t to) {
    const sx_core_space *c = r->c;
    uint64_t *word = sx_compact_words(c, r->point);
    for (uint32_t left = to & ~(1u << from); left;) {
        int slot = sx_core_low(sx_core_random_bit(r->rng, left));
        uint32_t primes = 0;
        left &= ~(1u << slot);
        for (int k = c->first_word[d]; k < c->first_word[d + 1]; k++)
            if (sx_compact_exponent(word[k], from) && sx_compact_takes(c, word, d, k, slot))
                primes |= 1u << (k - c->first_word[d]);
        if (!primes) continue;
        uint32_t prime = primes & (primes - 1) ? sx_core_random_bit(r->rng, primes) : primes;
        sx_core_place_loop(r, d, slot);
        word[c->first_word[d] + sx_core_low(prime)] += sx_compact_one(slot) - sx_compact_one(from);
        r->dim = d;
        return true;
    }
    return false;
}

/* Moves some prime of one of the dimensions from one of the slots to another of the others, at random; false where none can
 * move. */
SX_HD_CALL bool sx_core_move_some(sx_core_patient *r, uint32_t dims, uint32_t from, uint32_t to) {
    const sx_core_space *c = r->c;
    const uint64_t *word = sx_compact_words(c, r->point);
    uint64_t used[SX_CORE_DIMS], sources = 0;
    uint32_t n = 0;
    for (uint32_t left = from; left; left &= left - 1) sources |= sx_compact_one(sx_core_low(left));
    for (uint32_t left = dims; left; left &= left - 1) {
        int d = sx_core_low(left);
        used[d] = sx_compact_used(c, word, d) & sources & ~c->closed[d];
        n += sx_compact_count(used[d]);
    }
    for (; n > 0; n--) {
        uint32_t k = sx_core_below(r->rng, n), left = dims, here;
        while (k >= (here = sx_compact_count(used[sx_core_low(left)]))) {
            k -= here;
            left &= left - 1;
        }
        int d = sx_core_low(left), slot = sx_compact_slot(used[d], k);
        if (sx_core_move_from(r, d, slot, to)) return true;
        used[d] &= ~sx_compact_one(slot);
    }
    return false;
}

/* The dimensions of a set of tensors. */
SX_HD uint32_t sx_core_dims_of(const sx_core_space *c, uint32_t tensors) {
    uint32_t dims = 0;
    for (int v = 0; v < SX_CORE_SPACE_TENSORS(c); v++)
        if (tensors >> v & 1) dims |= c->model.tensor[v].dims;
    return dims;
}

/* Turns a random one of a level's loops on one axis to the other, where that has room; false where it has none. */
SX_HD_CALL bool sx_core_turn_loop(sx_core_patient *r, int s, uint32_t dims, bool on_x) {
    const sx_core_space *c = r->c;
    double used = on_x ? r->w->st.slot_y[s] : r->w->st.slot_x[s], room = c->room[s][on_x];
    uint32_t fit = 0;
    for (uint32_t left = dims & c->free_x[s]; left; left &= left - 1)
        if (used * r->w->own.row[sx_core_low(left)][s].spatial <= room) fit |= left & (0u - left);
    if (!fit) return false;
    uint16_t bit = (uint16_t)sx_core_random_bit(r->rng, fit);
    r->point[s].on_x = (uint16_t)(on_x ? r->point[s].on_x & ~bit : r->point[s].on_x | bit);
    return true;
}

/* Makes the spatial loops of the first level that overflows its fan-out smaller. */
SX_HD bool sx_core_fix_array(sx_core_patient *r) {
    const sx_core_space *c = r->c;
    int last = (int)c->n_slots - 1;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        if (!(c->spread >> s & 1)) continue;
        bool on_x = r->w->st.slot_x[s] > c->room[s][0];
        if (!on_x && r->w->st.slot_y[s] <= c->room[s][1]) continue;
        const sx_core_loops *slot = &r->w->st.nest.slots[s];
        uint32_t dims = 0, from = 1u << c->spatial_slot[s];
        for (int i = on_x ? 0 : slot->n_x; i < (on_x ? slot->n_x : slot->n); i++)
            dims |= 1u << sx_core_loop(slot, i);
        if (sx_core_turn_loop(r, s, dims, on_x)) return true;
        if (sx_core_move_some(r, dims, from, sx_core_slots(c, c->temporal_slot[s], last, true)) ||
            sx_core_move_some(r, dims, from, sx_core_slots(c, 0, last, false)))
            return true;
        if (!(sx_core_lane_of(r->w->spatial, s) & c->free_x[s])) return false;
        r->point[s].on_x = (uint16_t)sx_core_next(r->rng);
        return true;
    }
    return false;
}

/* Reads a dimension's factors anew. */
SX_HD void sx_core_reread(sx_core_patient *r, int d) {
    const sx_core_space *c = r->c;
    const sx_core_row *row = sx_core_find_row(c, r->w, d, sx_compact_words(c, r->point) + c->first_word[d]);
    uint64_t lanes = (uint64_t)0x0101010101010101u << d;
    r->w->own.row[d] = row->cell;
    r->w->temporal = (r->w->temporal & ~lanes) | row->temporal;
    r->w->spatial = (r->w->spatial & ~lanes) | row->spatial;
}

/* Repairs the array; false where that fails. */
SX_HD bool sx_core_repair_array(sx_core_patient *r) {
    for (int i = 0; i < SX_CORE_CHANGES; i++) {
        r->dim = -1;
        if (!sx_core_fix_array(r)) return false;
        if (r->dim >= 0) sx_core_reread(r, r->dim);
        sx_core_read_slots(r->c, r->w, r->point);
        if (sx_core_set_array(&r->c->model, &r->w->st)) return true;
    }
    return false;
}

/* Makes the tile of a tensor at a level smaller, or gives up keeping something there. */
SX_HD bool sx_core_fix_capacity(sx_core_patient *r, int s, int tensor) {
    const sx_core_space *c = r->c;
    uint8_t *keep = &r->point[s].keep;
    uint32_t loose = (uint32_t)*keep & c->model.level[s].may, dims = c->model.tensor[tensor].dims;
    if (loose >> tensor & 1 && sx_core_below(r->rng, SX_CORE_DROP_ONE_IN) == 0) {
        *keep &= (uint8_t) ~(1u << tensor);
        return true;
    }
    int last = c->temporal_slot[s], top = (int)c->n_slots - 1;
    uint32_t inner = sx_core_slots(c, 0, last, false);
    uint32_t outer = last < top ? sx_core_slots(c, last + 1, top, true) : 0;
    if (sx_core_move_some(r, dims, inner, outer)) return true;
    if (sx_core_move_some(r, sx_core_dims_of(c, *keep), inner, outer)) return true;
    *keep &= (uint8_t) ~(loose & (0u - loose));
    return loose != 0 ||
           (last < top && sx_core_move_some(r, dims, inner, sx_core_slots(c, last + 1, top, false)));
}

/* Lets a level from `first` on, as far out as possible, keep each tensor that none keeps; false where none may. */
SX_HD bool sx_core_house(sx_core_patient *r, int first) {
    const sx_core_space *c = r->c;
    uint32_t kept = 0;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) kept |= r->point[s].keep;
    for (uint32_t lost = c->model.all & ~kept; lost; lost &= lost - 1) {
        int s = SX_CORE_SPACE_LEVELS(c) - 1;
        uint32_t bit = lost & (0u - lost);
        while (s >= first && !(c->model.level[s].may & bit)) s--;
        if (s < first) return false;
        r->point[s].keep |= (uint8_t)bit;
    }
    return true;
}

/* Sets the words of the tiles up to a level that a dimension has part in. */
SX_HD void sx_core_reread_tiles(sx_core_patient *r, int d, int last) {
    SX_UNROLL
    for (int v = 0; v < SX_CORE_SPACE_TENSORS(r->c); v++)
        if (r->c->model.tensor[v].dims >> d & 1)
            for (int s = 0; s <= last; s++) sx_core_set_words(&r->c->model, &r->w->st, v, s);
}

/* The kept tensor with the largest tile at a level; -1: none. */
SX_HD int sx_core_largest(const sx_core_patient *r, int s) {
    int most = -1;
    for (int v = 0; v < SX_CORE_SPACE_TENSORS(r->c); v++)
        if (r->point[s].keep >> v & 1 && (most < 0 || r->w->st.words[v][s] > r->w->st.words[most][s]))
            most = v;
    return most;
}

/* Makes the tiles of a level fit, with no more than *left changes; false where that fails. */
SX_HD bool sx_core_repair_level(sx_core_patient *r, int s, int *left) {
    const sx_core_space *c = r->c;
    while (!sx_core_fits(&c->model, &r->w->st, s, r->point[s].keep)) {
        int most = sx_core_largest(r, s);
        r->dim = -1;
        if (most < 0 || (*left)-- == 0 || !sx_core_fix_capacity(r, s, most)) return false;
        if (r->dim < 0) {
            if (!sx_core_house(r, s + 1)) return false;
            continue;
        }
        sx_core_reread(r, r->dim);
        sx_core_reread_tiles(r, r->dim, s);
    }
    return true;
}

/* Notes in the point where spatial loops lie. */
SX_HD void sx_core_note_spatial(sx_core_patient *r) {
    for (uint32_t left = r->c->spread; left; left &= left - 1) {
        int s = sx_core_low(left);
        const sx_core_loops *slot = &r->w->st.nest.slots[s];
        unsigned loops = sx_core_lane_of(r->w->spatial, s), x = 0;
        for (int i = 0; i < slot->n_x; i++) x |= 1u << sx_core_loop(slot, i);
        r->point[s].parallel |= (uint16_t)loops;
        r->point[s].on_x = (uint16_t)((r->point[s].on_x & ~loops) | x);
    }
}

/* Repairs a point; false where that fails. The state is then ready for sx_core_finish_point. */
SX_HD bool sx_core_repair_point(const sx_core_space *c, sx_core_work *w, sx_core_rng *rng,
                                sx_compact_level *point) {
    sx_core_patient r = {c, w, rng, point, -1};
    int left = SX_CORE_CHANGES;
    if ((c->limited || c->ruled) && !sx_compact_settle(c, point)) return false;
    sx_core_read_rows(c, w, point);
    sx_core_read_slots(c, w, point);
    if (!sx_core_house(&r, 0)) return false;
    bool whole = sx_core_set_array(&c->model, &w->st);
    if (!whole && !sx_core_repair_array(&r)) return false;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        sx_core_read_tiles(c, w, s);
        if (sx_core_fits(&c->model, &w->st, s, point[s].keep)) continue;
        whole = false;
        if (!sx_core_repair_level(&r, s, &left)) return false;
    }
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) w->st.nest.keep[s] = point[s].keep;
    if (whole) return true;
    sx_core_read_slots(c, w, point);
    sx_core_note_spatial(&r);
    return sx_core_set_array(&c->model, &w->st);
}

#endif
