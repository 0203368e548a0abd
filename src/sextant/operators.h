/* The operators of a graph as a table: each layer once, with what its nodes compute, read and write, and sums over all of
 * them. Elements, not bytes: widths are those of the tensors. docs/llm.md has the rules. */
#ifndef SX_OPERATORS_H
#define SX_OPERATORS_H

#include "sextant/graph.h"

/* One layer. Counts are those of one of its nodes with all repetitions of its einsum. */
typedef struct sx_operator {
    char name[SX_NAME_SIZE]; /* of the layer */
    size_t node;             /* the first of its nodes */
    uint64_t count, repeat;  /* nodes, and how often each runs its einsum */
    bool vector;             /* no einsum */
    uint64_t macs, useful_macs;
    uint64_t weights;       /* elements of weights that are read: of experts, those that are hit */
    uint64_t reads, writes; /* elements of other tensors, states of einsums included */
    uint64_t state_reads, state_writes; /* elements of states */
    uint64_t elements, rows, columns;   /* of a vector operator */
    double weight_bytes, state_read_bytes, state_write_bytes, read_bytes, write_bytes;
} sx_operator;

/* Sums over all nodes. */
typedef struct sx_operator_totals {
    uint64_t parameters, active_parameters;  /* of the network; without a run, elements of weights */
    uint64_t macs, useful_macs, weight_macs; /* weight_macs: of products with weights */
    uint64_t weights_read, state_reads, state_writes;
    uint64_t vector_elements, vector_reads, vector_writes;
    uint64_t einsums, layers, vector_ops; /* runs of einsums; layers that are einsums; nodes that are none */
    uint64_t state_per_token;             /* elements that a token adds to states */
    uint64_t state_held;                  /* elements that states hold after the run */
    uint64_t experts_hit;                 /* of a layer; 0: there are no experts */
    double weights_read_bytes, weights_held_bytes, state_read_bytes, state_write_bytes, state_held_bytes;
} sx_operator_totals;

typedef struct sx_operators {
    size_t n;
    sx_operator *op; /* in the order of their first nodes */
    sx_operator_totals totals;
} sx_operators;

/* The operators of a graph that passes sx_graph_check; freed with sx_operators_fini. Nodes that only rename elements
 * (reshape), or join tensors that can be written where they are wanted (concat), are left out. */
SX_MUST_USE sx_status sx_graph_operators(const sx_graph *graph, sx_operators *out);
void sx_operators_fini(sx_operators *operators);

#endif
