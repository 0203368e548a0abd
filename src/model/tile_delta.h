/* How a child's tile of one tensor moves from visit to visit, with exact factors. */
#ifndef SX_MODEL_TILE_DELTA_H
#define SX_MODEL_TILE_DELTA_H

#include "model/model.h"

/* The steps of a tile: between two consecutive visits one loop advances and all loops inside it start again.
 * As Timeloop samples only the first two iterations of every loop, the tile then moves by f(j) = move_j -
 * (sum of move_i over the loops i inside j), whatever their bounds (docs/model.md, sections 2 and 8).
 *
 * Loops inside the first one on a solo dimension are near: their steps may leave a part of the tile in place,
 * or lead to where a neighbour was. That loop and all outside it move the tile clear of itself and of its
 * siblings: with s_0 < s_1 < ... the steps of the loops on that dimension, each at least twice the one
 * before, s_j minus all inner ones is at least s_0, which is the extent of all siblings together. */
typedef struct sx_tile_delta {
    const sx_shape *shape;
    const sx_loop *loop; /* temporal loops outside the tile, innermost first */
    const uint64_t *suffix;
    int n_loops, n_near;
    bool always; /* a tile is fetched anew at every visit (no temporal reuse) */
    uint64_t words;
    int64_t extent[SX_MAX_RANKS];
    bool still[MAX_LOOPS];       /* near loops: f(j) is 0 */
    uint64_t fetched[MAX_LOOPS]; /* near loops: words of the tile at step j that were not in it before */
    int64_t f[MAX_LOOPS][SX_MAX_RANKS]; /* near loops: in the mixed ranks, 0 in the others */
} sx_tile_delta;

/* Describes the motion of the tile that children of a level hold of a tensor that is not plain. */
void sx_tile_delta_init(sx_tile_delta *delta, const sx_model *model, const sx_nest *nest, int level,
                        int tensor, bool always);

/* The words fetched over all visits. */
uint64_t sx_tile_delta_volume(const sx_tile_delta *delta);

/* Words that a neighbour at the displacement `need` had at the visit before they are fetched. */
typedef struct sx_tile_delta_key {
    int64_t need[SX_MAX_RANKS];
    uint64_t words;
} sx_tile_delta_key;

/* As sx_tile_delta_volume, but splits off the words that a neighbour at a displacement within `span` had at
 * the visit before: lists them by displacement, returns how many there are, and *rest is what has no key. */
int sx_tile_delta_keys(const sx_tile_delta *delta, const int64_t *span, sx_tile_delta_key key[MAX_LOOPS],
                       uint64_t *rest);

#endif
