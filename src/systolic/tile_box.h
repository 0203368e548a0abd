/* A box of tiles: first-level tiles of each loop, all combinations of them, each with every second-level tile
 * that divides it. The searches over padded sizes and over divisors visit such boxes. */
#ifndef SX_SYSTOLIC_TILE_BOX_H
#define SX_SYSTOLIC_TILE_BOX_H

#include "sextant/navigator.h"
#include "systolic/objective_value.h"

typedef struct sx_tile_box {
    const uint32_t *t1[SX_MAX_SYSTOLIC_LOOPS];
    size_t n[SX_MAX_SYSTOLIC_LOOPS];
} sx_tile_box;

/* The result of searching boxes. */
typedef struct sx_tile_find {
    double best;     /* the best value; at first the cutoff */
    uint64_t looked; /* evaluations of the model */
    bool found;      /* something better was found: `point` */
    sx_systolic_point point;
} sx_tile_find;

/* Finds the best legal point of a design in a box; false where the worker was stopped, or memory is out
 * (*failed). Exactly the best that trying all points would find: left out are only those that cannot be
 * legal, cannot be better than what was found, or cost the same as others. */
bool sx_tile_box_search(const sx_systolic_objective_value *objective, uint32_t design, const sx_tile_box *box,
                        sx_worker *worker, sx_tile_find *find, bool *failed);

/* A product that stops at 2^48: a run can add up many such counts. */
uint64_t sx_tile_times(uint64_t a, uint64_t b);

#endif
