/* The steps of a chain, tensor by tensor: what chain_moments.c counts. */
#ifndef SX_LOOPTREE_CHAIN_WALK_H
#define SX_LOOPTREE_CHAIN_WALK_H

#include "looptree/chain.h"

static inline int sx_min_int(int a, int b) {
    return a < b ? a : b;
}
static inline int sx_max_int(int a, int b) {
    return a > b ? a : b;
}

/* Rows, columns or slices from low to below high; none where low is not below high. */
typedef struct sx_interval {
    int low, high;
} sx_interval;

static inline int sx_interval_length(sx_interval v) {
    return v.low < v.high ? v.high - v.low : 0;
}

/* Rows, columns and slices of channels; nothing where one of them is empty, which then all are. */
typedef struct sx_chain_box {
    sx_interval axis[3];
} sx_chain_box;

static inline bool sx_chain_box_is_empty(const sx_chain_box *box) {
    return box->axis[0].low >= box->axis[0].high;
}

/* Widens a box to the smallest one with both. */
void sx_chain_box_add(sx_chain_box *box, const sx_chain_box *more);

/* Words of a tensor in one step. */
typedef struct sx_chain_words {
    uint64_t made;                  /* 0: its layer does not run */
    uint64_t before, during, after; /* on chip before the step makes some, then, and kept after it */
} sx_chain_words;

typedef struct sx_chain_walk {
    const sx_chain *chain;
    int n_steps, count[3]; /* steps, and iterations of each loop */
    int group[4];          /* steps of an iteration of the 0, 1, ... outermost loops */
    int loop[3];           /* over an axis: its place; -1: none */
    int n_slices;          /* iterations of the channel loop */
    int sums;              /* the tensor that the channel loop adds up; 0: none */
    int foreign;           /* the layer that adds a tensor read from DRAM; 0: none */
    int extent[SX_MAX_CHAIN + 1][3];
    sx_chain_box *made[SX_MAX_CHAIN + 1];    /* by step */
    sx_chain_words *words[SX_MAX_CHAIN + 1]; /* by step */
} sx_chain_walk;

/* Whether a layer reads tensor m while it is on chip. */
bool sx_chain_uses(const sx_chain_walk *w, int layer, int m);

/* Channels of slice k of the channel loop. */
int sx_chain_slice(const sx_chain_walk *w, int k);

/* The slice of the channel loop that a step is in; 0 where there is none. */
int sx_chain_slice_of(const sx_chain_walk *w, int step);

/* The iteration that a step is in of the `depth` outermost loops together: 0, 1, ... up to their product. */
static inline int sx_chain_prefix(const sx_chain_walk *w, int step, int depth) {
    return step / w->group[depth];
}

/* The iteration of loop d that a step is in. */
static inline int sx_chain_iteration(const sx_chain_walk *w, int step, int d) {
    return step / w->group[d + 1] % w->count[d];
}

/* Whether the channel loop cuts tensor m. */
static inline bool sx_chain_is_sliced(const sx_chain_walk *w, int m) {
    return w->sums && m >= 1 && m < w->sums;
}

/* What step i needs of tensor m, given what is made of the tensors after it. */
sx_chain_box sx_chain_need(const sx_chain_walk *w, int m, int step);

/* Makes room for the walk of a chain, which then goes from its last tensor to the first; freed with sx_chain_walk_fini,
 * whatever the verdict. What becomes of tensors (chain->keep) may change until they are walked. */
sx_chain_verdict sx_chain_walk_init(sx_chain_walk *w, const sx_chain *chain);
void sx_chain_walk_fini(sx_chain_walk *w);

/* Finds the boxes of tensor m that the steps make, and its words, from those of the tensors after it; false when memory is
 * out. */
bool sx_chain_walk_tensor(sx_chain_walk *w, int m);

#endif
