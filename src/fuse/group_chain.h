/* Chains of layers in a graph, and the rows that each makes in a step of a group. */
#ifndef SX_FUSE_GROUP_CHAIN_H
#define SX_FUSE_GROUP_CHAIN_H

#include "fuse/group.h"

/* A layer of a chain: tensors of its einsum, and dimensions along the loops (-1: none). */
typedef struct sx_chain_link {
    size_t step;
    const sx_problem *problem;
    const sx_graph_operand *operand;
    int out, in, other; /* in: what the layer before wrote; of the first layer, what has rows */
    int row_out;        /* rank of the graph's tensor */
    int row;            /* dimension of rows */
    int channel;        /* dimension of the channel loop: of the output, or of the last layer summed over */
    uint32_t stride, reach, pad; /* of the window over rows */
    uint32_t rows_in, rows_out;  /* of the graph's tensors; rows_in of the first layer: 0 where it has none */
} sx_chain_link;

typedef struct sx_layer_chain {
    const sx_exchange *exchange;
    int n;
    double heads;
    sx_chain_link link[SX_MAX_GROUP];
    uint32_t channels; /* of the channel loop; 1: there is none */
    bool one_pass;     /* a softmax runs by slices of it: every row has a running maximum and sum */
} sx_layer_chain;

/* Finds the chain of n einsums from a step on; false where they are none, or a loop over rows is not possible. */
bool sx_layer_chain_find(const sx_exchange *exchange, size_t first, int n, sx_layer_chain *out);

/* The rows of tensors 0 to n that the steps of a loop over the last one's rows make and keep. */
enum { SX_MAX_ROW_KINDS = 8 };
typedef struct sx_row_schedule {
    uint32_t steps;
    struct {
        int n_kinds;
        uint32_t rows[SX_MAX_ROW_KINDS], times[SX_MAX_ROW_KINDS]; /* made in a step, in how many steps */
        uint32_t tile, made, kept; /* most rows needed in a step, made in a step, kept between steps */
        uint32_t total;            /* rows made in all steps */
    } tensor[SX_MAX_GROUP + 1];
} sx_row_schedule;

/* The loops of a group, and what is held on chip while they run. */
typedef struct sx_group_choice {
    sx_group_window window;
    uint32_t tile, slices; /* rows of the last tensor in a step; channel steps */
    uint32_t inner; /* rows in a step of a second loop over rows, inside the channels; 0: there is none */
    unsigned
        held; /* layers whose other operand is held on chip, a mask; with two loops over rows, by slices */
    bool holds_in;   /* what the first layer reads by rows is held, too */
    unsigned second; /* layers whose output, between them and the next, is in the second memory, a mask */
} sx_group_choice;

/* Makes the group of a chain with these loops, which may take more than there is of the exchange memory. *possible is
 * false where it has too many different steps. */
SX_MUST_USE sx_status sx_fuse_group_make(const sx_layer_chain *chain, sx_inner *inner,
                                         const sx_group_choice *choice, sx_fuse_group *out, bool *possible);

/* The rows of steps of `tile` rows, or of steps of `inner` rows inside of them, between which rows are always retained (0: no
 * such). False where there are more different steps than can be told apart. */
bool sx_row_schedule_make(const sx_layer_chain *chain, uint32_t tile, uint32_t inner, sx_group_window window,
                          sx_row_schedule *out);

#endif
