/* Ranks of a problem's tensors. */
#ifndef SX_IR_RANK_H
#define SX_IR_RANK_H

#include "sextant/problem.h"

#include <stdlib.h>

/* Whether a dimension is in a rank of a tensor. */
static inline bool sx_tensor_has(const sx_tensor *tensor, int dim) {
    for (int r = 0; r < tensor->n_ranks; r++)
        if (tensor->coef[r][dim] != 0) return true;
    return false;
}

/* How many places a rank of a tensor spans, where the problem's dimensions have the given extents. */
static inline uint64_t sx_rank_extent(const sx_problem *problem, int tensor, int rank,
                                      const uint32_t *extent) {
    uint64_t places = 1;
    for (int d = 0; d < problem->n_dims; d++)
        places += (uint64_t)llabs((long long)problem->tensor[tensor].coef[rank][d]) * (extent[d] - 1u);
    return places;
}

#endif
