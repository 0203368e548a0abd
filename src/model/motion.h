/* How a child's tile of one tensor moves from visit to visit, with exact factors. */
#ifndef SX_MODEL_MOTION_H
#define SX_MODEL_MOTION_H

#include "model/model.h"

/* The steps of a tile: between two consecutive visits one loop advances and all loops inside it start again.
 * As Timeloop samples only the first two iterations of every loop, the tile then moves by f(j) = move_j -
 * (sum of move_i over the loops i inside j), whatever their bounds (the specification's sections 3 and 9). */
typedef struct sx_motion {
    const sx_loop *loop; /* temporal loops outside the tile, innermost first */
    const uint64_t *suffix;
    int n_loops, n_ranks;
    bool always;   /* a tile is fetched anew at every visit (no temporal reuse) */
    bool overlaps; /* some step leaves a part of the tile in place */
    uint64_t words;
    int64_t extent[SX_MAX_RANKS];
    int64_t f[MAX_LOOPS][SX_MAX_RANKS];
    uint64_t fetched[MAX_LOOPS]; /* words of the tile at step j that were not in it before */
    bool still[MAX_LOOPS];       /* f(j) is 0 */
} sx_motion;

/* Describes the motion of the tile that children of a level hold of a tensor. */
void sx_motion_init(sx_motion *motion, const sx_model *model, const sx_nest *nest, int level, int tensor,
                    bool always);

/* The sum over all visits with step j of their weight: how often loop j advances. */
uint64_t sx_motion_steps(const sx_motion *motion, int j);

/* The words fetched over all visits. */
uint64_t sx_motion_volume(const sx_motion *motion);

/* A visit at step j: the displacement `need` at which a neighbour had the child's new words at the visit
 * before, if one could have. */
typedef struct sx_motion_key {
    int64_t need[SX_MAX_RANKS];
    uint64_t words; /* fetched over all visits with this displacement */
} sx_motion_key;

/* Memory that grows as needed. */
struct sx_motion_scratch {
    struct sx_motion_block *block;
    size_t room;
};

/* As sx_motion_volume, but splits off the words that a neighbour at a displacement within `span` had at the
 * visit before: fills up to `room` keys, returns their number, and *rest is what has no key. SIZE_MAX when
 * memory or room is out. */
size_t sx_motion_keys(const sx_motion *motion, const int64_t *span, sx_motion_scratch *scratch,
                      sx_motion_key *keys, size_t room, uint64_t *rest);

#endif
