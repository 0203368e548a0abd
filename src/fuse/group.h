/* Groups: layers of a graph that run in steps of common loops, so that tensors between them stay in an exchange memory by
 * tiles, each tensor in the first or the second one. Each layer reads what the one before wrote. The loops are over rows (a rank
 * of the last tensor that all others have, through windows or not) and, inside, over channels (a rank of the first tensors that
 * the last layer sums over); inside of these there may be a second loop over rows. */
#ifndef SX_FUSE_GROUP_H
#define SX_FUSE_GROUP_H

#include "fuse/exchange.h"
#include "fuse/inner.h"

enum { SX_MAX_GROUP = 5 }; /* layers */

/* What becomes of rows that windows of two steps share. */
typedef enum sx_group_window { SX_GROUP_RETAIN, SX_GROUP_RECOMPUTE } sx_group_window;

/* A tensor from outside of the group, which each step reads or which is held in the exchange memory. */
typedef struct sx_group_move {
    size_t step; /* whose layer uses it */
    size_t
        value; /* it needs no move where that is in the exchange memory; SX_NO_INDEX: a weight or an input */
    sx_score score; /* of moving it once between the outermost memory and the exchange memory */
    double weight;  /* as sx_inner_weight says */
    double bytes;
} sx_group_move;

/* One layer on one size of tile: how often it runs and how it is cut. */
typedef struct sx_group_run {
    size_t step;
    uint64_t problem; /* of sx_inner.problem */
    uint32_t rows;    /* of the layer's output that a run makes */
    double times;
    sx_cut cut; /* without what stays whole: of that, tensors and words are added */
} sx_group_run;

enum { SX_MAX_GROUP_RUNS = 40, SX_MAX_GROUP_MOVES = SX_MAX_GROUP + 2 };

typedef struct sx_fuse_group {
    size_t first, last; /* steps */
    int n_layers;
    size_t step[SX_MAX_GROUP];
    size_t inside[SX_MAX_GROUP]; /* values between the layers: of the first n_layers - 1 */
    sx_group_window window;
    char row[SX_NAME_SIZE], channel[SX_NAME_SIZE]; /* dimensions of the last layer that the loops go over */
    uint32_t tile, row_steps, slices; /* rows of the last tensor in a step; steps; channel steps */
    uint32_t inner, inner_steps; /* of a second loop over rows, inside the channels; 0 and 1: there is none */
    unsigned held;               /* layers whose other operand is held on chip, a mask */
    bool one_pass;               /* a softmax runs by slices */
    bool holds_in;               /* what the first layer reads by rows is held, too */
    unsigned
        second; /* values between the layers whose tiles are in the second memory, a mask over `inside` */
    size_t in, other[SX_MAX_GROUP]; /* tensors of the graph: what the first layer reads, the other operands */
    double heads;                   /* repetitions of all layers, one after the other */
    uint64_t tile_words[SX_MAX_GROUP]; /* of the values between layers, at most */
    uint32_t rows_kept[SX_MAX_GROUP],
        rows_again[SX_MAX_GROUP]; /* between steps; made more than once, in all */
    uint64_t peak, peak_second;   /* words of the exchange memories, without what stays whole */
    int n_runs, n_moves;
    sx_group_run run[SX_MAX_GROUP_RUNS];
    sx_group_move move[SX_MAX_GROUP_MOVES];
} sx_fuse_group;

/* Adds the groups that begin with a step to a vector of sx_fuse_group; `windows` is a mask of sx_group_window; nested: also those
 * with two loops over rows. */
SX_MUST_USE sx_status sx_groups_list(const sx_exchange *exchange, sx_inner *inner, size_t step,
                                     unsigned windows, bool nested, sx_vector *out);

#endif
