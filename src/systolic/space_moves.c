/* Changing points of the space of systolic designs. */
#include "systolic/space.h"

#include <string.h>

enum { STEPS = 8 }; /* of a loop's tiles, each to a neighbour */

static const sx_systolic_space *systolic_of(const sx_space *space) {
    return (const sx_systolic_space *)space;
}

void sx_systolic_snap(const sx_systolic_space *space, sx_systolic_point *point) {
    for (int d = 0; d < space->n_loops; d++) {
        const sx_systolic_tile_set *set = &space->tiles[d];
        if (!sx_systolic_tile_in(set, point->t1[d]))
            point->t1[d] = sx_systolic_tile_nearest(set, point->t1[d]);
        point->t2[d] = sx_systolic_inner_nearest(set, point->t1[d], point->t2[d]);
    }
}

void sx_systolic_redraw(const sx_space *base, sx_rng *rng, size_t gene, void *at) {
    const sx_systolic_space *space = systolic_of(base);
    sx_systolic_point *point = at;
    if (space->genes[gene].axis == SX_AXIS_DESIGN) {
        point->design = space->open_list[sx_rng_below(rng, space->n_open)];
        return;
    }
    int d = space->genes[gene].which;
    const sx_systolic_tile_set *set = &space->tiles[d];
    sx_pair_of_tiles pair = sx_systolic_tile_pair(set, sx_rng_below(rng, set->before[set->n]));
    point->t1[d] = pair.t1;
    point->t2[d] = pair.t2;
}

void sx_systolic_take(const sx_space *base, size_t gene, const void *from, void *at) {
    const sx_systolic_space *space = systolic_of(base);
    const sx_systolic_point *other = from;
    sx_systolic_point *point = at;
    int d = space->genes[gene].which;
    if (space->genes[gene].axis == SX_AXIS_DESIGN) {
        point->design = other->design;
        return;
    }
    point->t1[d] = other->t1[d];
    point->t2[d] = other->t2[d];
}

/* The neighbour of a first-level tile in its set; t1 itself where there is none. */
static uint32_t next_tile(const sx_systolic_tile_set *set, uint32_t t1, bool larger) {
    size_t at = sx_systolic_tile_find(set, t1);
    if (larger) return at + 1 < set->n ? set->t1[at + 1] : t1;
    return at > 0 ? set->t1[at - 1] : t1;
}

/* Step number `step` of a loop's tiles; false where it leads nowhere. Two steps each: another t1; another t2
 * of the same t1; as many PEs with another t2; another number of PEs with the same t2. */
static bool take_step(const sx_systolic_space *space, int d, unsigned step, sx_systolic_point *point) {
    const sx_systolic_tile_set *set = &space->tiles[d];
    uint32_t t1 = point->t1[d], t2 = point->t2[d], pes = t1 / t2;
    bool larger = step & 1;
    uint64_t next = t1;
    uint32_t inner = t2;
    if (step < 2) {
        next = next_tile(set, t1, larger);
        inner = sx_systolic_inner_nearest(set, (uint32_t)next, t2);
    } else if (step < 4) {
        inner = sx_systolic_inner_next(set, t1, t2, larger);
    } else if (step < 6) {
        inner = larger ? t2 + 1 : t2 - 1;
        next = (uint64_t)pes * inner;
    } else {
        next = (uint64_t)(larger ? pes + 1 : pes - 1) * t2;
    }
    if (next < 1 || inner < 1 || next > UINT32_MAX || (next == t1 && inner == t2)) return false;
    if (!sx_systolic_tile_in(set, (uint32_t)next) || !sx_systolic_inner_in(set, (uint32_t)next, inner))
        return false;
    point->t1[d] = (uint32_t)next;
    point->t2[d] = inner;
    return true;
}

void sx_systolic_nudge(const sx_space *base, sx_rng *rng, size_t gene, void *point) {
    const sx_systolic_space *space = systolic_of(base);
    if (space->genes[gene].axis == SX_AXIS_DESIGN) {
        sx_systolic_redraw(base, rng, gene, point);
        return;
    }
    unsigned first = (unsigned)sx_rng_below(rng, STEPS);
    for (unsigned i = 0; i < STEPS; i++)
        if (take_step(space, space->genes[gene].which, (first + i) % STEPS, point)) return;
}

bool sx_systolic_neighbour(const sx_space *base, const void *from, size_t index, void *out) {
    const sx_systolic_space *space = systolic_of(base);
    sx_systolic_point point;
    for (int d = 0; d < space->n_loops; d++)
        for (unsigned step = 0; step < STEPS; step++) {
            memcpy(&point, from, sizeof point);
            if (!take_step(space, d, step, &point) || index-- > 0) continue;
            memcpy(out, &point, sizeof point);
            return true;
        }
    if (index + 1 >= space->n_open) return false;
    memcpy(&point, from, sizeof point);
    size_t at = 0;
    while (at < space->n_open && space->open_list[at] != point.design) at++;
    point.design = space->open_list[index < at ? index : index + 1];
    memcpy(out, &point, sizeof point);
    return true;
}
