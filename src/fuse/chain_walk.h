/* The steps of a chain, tensor by tensor: what chain_evaluate.c counts. */
#ifndef SX_FUSE_CHAIN_WALK_H
#define SX_FUSE_CHAIN_WALK_H

#include "fuse/chain.h"

static inline int sx_min_int(int a, int b) {
    return a < b ? a : b;
}
static inline int sx_max_int(int a, int b) {
    return a > b ? a : b;
}

/* Rows or columns from low to below high; none where low is not below high. */
typedef struct sx_interval {
    int low, high;
} sx_interval;

static inline int sx_interval_length(sx_interval v) {
    return v.low < v.high ? v.high - v.low : 0;
}

/* Words of a tensor in one step. */
typedef struct sx_chain_words {
    uint64_t made;                  /* 0: its layer does not run */
    uint64_t before, during, after; /* on chip before the step makes some, then, and kept after it */
} sx_chain_words;

typedef struct sx_chain_walk {
    sx_chain
        turned; /* the chain, with rows for columns where its first loop over positions is one over columns */
    const sx_chain *chain;           /* `turned` */
    int n_steps, count[3];           /* steps, and iterations of each loop */
    int row, column, channel;        /* the loop of an axis; -1: none */
    int n_rows, n_columns, n_slices; /* iterations of these */
    int sums;                        /* the tensor that the channel loop adds up; 0: none */
    int foreign;                     /* the layer that adds a tensor read from DRAM; 0: none */
    int extent[SX_MAX_CHAIN + 1][2], channels[SX_MAX_CHAIN + 1];
    int width[SX_MAX_CHAIN + 1];             /* columns that are needed at all */
    bool uneven;                             /* two layers need other columns of one tensor */
    sx_chain_words *words[SX_MAX_CHAIN + 1]; /* by step */
} sx_chain_walk;

/* Whether a layer reads tensor m while it is on chip. */
bool sx_chain_uses(const sx_chain_walk *w, int layer, int m);

/* What a layer reads of tensor m, along an axis, to make an interval. */
sx_interval sx_chain_footprint(const sx_chain_walk *w, int layer, int m, int axis, sx_interval made);

/* The smallest interval with both. */
sx_interval sx_interval_hull(sx_interval a, sx_interval b);

/* Channels of slice k of the channel loop. */
int sx_chain_slice(const sx_chain_walk *w, int k);

/* The slice of the channel loop that a step is in; 0 where there is none. */
int sx_chain_slice_of(const sx_chain_walk *w, int step);

/* The iteration that a step is in of the `depth` outermost loops together: 0, 1, ... up to their product. */
int sx_chain_prefix(const sx_chain_walk *w, int step, int depth);

/* Walks the steps of a chain; freed with sx_chain_walk_fini, whatever the verdict. */
sx_chain_verdict sx_chain_walk_init(sx_chain_walk *w, const sx_chain *chain);
void sx_chain_walk_fini(sx_chain_walk *w);

/* Fill in the words of all tensors: with loops over rows and channels, and over rows and columns. */
sx_chain_verdict sx_chain_walk_rows(sx_chain_walk *w);
sx_chain_verdict sx_chain_walk_columns(sx_chain_walk *w);

#endif
