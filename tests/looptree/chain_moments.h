/* The moments of a chain: layers that run in steps, those put together in which the same weights are on chip. They
 * say what any choice of the weights' depths costs without another walk over the steps. */
#ifndef SX_LOOPTREE_CHAIN_MOMENTS_H
#define SX_LOOPTREE_CHAIN_MOMENTS_H

#include "looptree/chain_walk.h"

#include "base/vector.h"

typedef struct sx_chain_moment {
    int layer;        /* that runs */
    bool short_slice; /* the last slice of the channel loop, where it is smaller */
    uint32_t ran[4];  /* layers that run in the same iteration of the 0, 1, ... outermost loops, as masks */
    uint64_t words;   /* of tensors on chip, at most */
} sx_chain_moment;

typedef struct sx_chain_moments {
    int n_layers, n_loops;
    int loops[SX_MAX_CHAIN + 1];              /* that a layer has part in */
    uint64_t reads[SX_MAX_CHAIN + 1][4];      /* of a layer's weights, by depth */
    uint64_t weights[SX_MAX_CHAIN + 1][4][2]; /* words of them at a depth; in a short slice */
    sx_chain_count count;                     /* what does not depend on the weights' depths */
    sx_vector moment;                         /* sx_chain_moment */
} sx_chain_moments;

/* Collects the moments of a walk that is complete; false when memory is out. Freed with sx_chain_moments_fini, also then. */
bool sx_chain_moments_init(sx_chain_moments *moments, const sx_chain_walk *walk);
void sx_chain_moments_fini(sx_chain_moments *moments);

/* Words on chip at most, with the weights of layer l under depth[l] loops. */
uint64_t sx_chain_peak(const sx_chain_moments *moments, const int *depth);

#endif
