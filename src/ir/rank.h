/* Ranks of a problem's tensors. */
#ifndef SX_IR_RANK_H
#define SX_IR_RANK_H

#include "sextant/problem.h"

#include <stdlib.h>

/* How many places a rank of a tensor spans, where the problem's dimensions have the given extents. */
static inline uint64_t sx_rank_extent(const sx_problem *problem, int tensor, int rank,
                                      const uint32_t *extent) {
    uint64_t places = 1;
    for (int d = 0; d < problem->n_dims; d++)
        places += (uint64_t)llabs((long long)problem->tensor[tensor].coef[rank][d]) * (extent[d] - 1u);
    return places;
}

#endif
