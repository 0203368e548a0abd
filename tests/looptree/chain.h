/* A chain of layers with windows (convolutions, depthwise ones, additions) that run in steps of common loops over rows,
 * columns and channels, on DRAM and one memory on chip. docs/fusion.md has the rules. */
#ifndef SX_LOOPTREE_CHAIN_H
#define SX_LOOPTREE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define SX_MAX_CHAIN 8 /* layers */

typedef enum sx_chain_kind { SX_CHAIN_CONV, SX_CHAIN_DEPTHWISE, SX_CHAIN_ADD } sx_chain_kind;
typedef enum sx_chain_axis { SX_CHAIN_ROW, SX_CHAIN_COLUMN, SX_CHAIN_CHANNEL } sx_chain_axis;

/* What becomes of a tensor's words when an iteration of a loop ends. */
typedef enum sx_chain_keep {
    SX_CHAIN_RETAIN,    /* those that a later iteration needs stay */
    SX_CHAIN_RECOMPUTE, /* they are dropped, and made again */
    SX_CHAIN_FULL,      /* the first iteration makes all that any needs, and all of it stays */
} sx_chain_keep;

typedef struct sx_chain_layer {
    sx_chain_kind kind;
    int window[2], stride[2], dilation[2], pad[2]; /* rows, columns */
    int channels;                                  /* of the output */
    int source;       /* of an addition: the tensor that is added; -1: one from outside of the chain */
    int weight_depth; /* loops above its weights */
} sx_chain_layer;

/* Tensor 0 is the input, tensor l the output of layer l, counted from 1. */
typedef struct sx_chain {
    int extent[3]; /* of tensor 0: rows, columns, channels */
    int n_layers, n_loops;
    sx_chain_layer layer[SX_MAX_CHAIN];
    struct {
        sx_chain_axis axis;
        int tile;
    } loop[3];
    sx_chain_keep keep[SX_MAX_CHAIN + 1][3]; /* by tensor and loop */
    int sliced;   /* tensors 1 to that are cut by the channel loop; 0: no such loop */
    bool spills;  /* sums of the last tensor go to DRAM and come back */
    bool rereads; /* an addition of tensor 0 reads it again from DRAM */
} sx_chain;

typedef struct sx_chain_count {
    uint64_t operations[SX_MAX_CHAIN + 1]; /* by layer, from 1 */
    uint64_t weight_reads[SX_MAX_CHAIN + 1];
    uint64_t input_reads, other_reads, sum_reads,
        writes;    /* DRAM: tensor 0, added from outside, spilled sums, output */
    uint64_t peak; /* words on chip */
} sx_chain_count;

typedef enum sx_chain_verdict {
    SX_CHAIN_OK,
    SX_CHAIN_BAD_LOOPS, /* an axis has two loops, or a tile is below 1 */
    SX_CHAIN_NO_MEMORY,
} sx_chain_verdict;

/* Rows, columns and channels of tensor m. */
void sx_chain_shape(const sx_chain *chain, int m, int *extent);

/* Counts what a chain does on its loops and choices. */
sx_chain_verdict sx_chain_evaluate(const sx_chain *chain, sx_chain_count *count);

#endif
