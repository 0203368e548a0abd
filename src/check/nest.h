/* The loops of one mapping, the tiles that they make, and whether the machine has room for them. */
#ifndef SX_CHECK_NEST_H
#define SX_CHECK_NEST_H

#include "check/cost.h"

/* Every loop has two iterations or more, and all of them together fewer than 2^62. */
enum { SX_CHECK_LOOPS = 64 };

typedef struct sx_check_loop {
    int64_t n;    /* iterations, two or more */
    int64_t step; /* of the dimension, per iteration */
    int dim;
} sx_check_loop;

/* Loops are listed from the innermost outward, level by level. Those of level s begin at first_...[s]. */
typedef struct sx_check_nest {
    int first_temporal[SX_MAX_LEVELS + 1], first_spatial[SX_MAX_LEVELS + 1];
    sx_check_loop temporal[SX_CHECK_LOOPS], spatial[SX_CHECK_LOOPS];
    int64_t spread[SX_MAX_LEVELS][2];            /* children of an instance on X and Y */
    int64_t used[SX_MAX_LEVELS];                 /* instances in use */
    int64_t extent[SX_MAX_LEVELS][SX_MAX_DIMS];  /* of the tile of an instance */
    int64_t tile[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* its elements */
    int64_t spread_tile[SX_MAX_LEVELS]
                       [SX_MAX_TENSORS]; /* elements that the children of an instance span together */
    int64_t steps; /* iterations of all temporal loops that a compute unit has work in */
    bool
        remainders; /* factors do not all divide: tiles are the largest, those at the end of a dimension are cut */
} sx_check_nest;

/* The elements of a tensor's box around a tile of these extents. */
int64_t sx_check_box(const sx_problem *problem, int tensor, const int64_t *extent);

/* The words of a level that elements of a tensor take. */
int64_t sx_check_words(const sx_check_level *level, const sx_tensor *tensor, int64_t elements);

/* Lays out the loops of a mapping and holds them against the machine; where it is not legal, `doubt` says why. */
sx_check_legality sx_check_nest_build(const sx_check_case *c, const sx_mapping *mapping, sx_check_nest *out,
                                      sx_check_doubt *doubt);

#endif
