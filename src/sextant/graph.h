/* A graph: the operations of a network, the tensors between them, and which tensors each operation reads and
 * writes. Everything is plain data in four arrays that belong to the graph; nodes, tensors, operands and
 * einsums are known by their index. docs/graph.md has the meaning and the file format. */
#ifndef SX_GRAPH_H
#define SX_GRAPH_H

#include "sextant/problem.h"

#include <stddef.h>

#define SX_NO_INDEX SIZE_MAX
#define SX_MAX_PART_RANKS 4 /* ranks of a tensor that can be used in part */

/* What a node computes. */
typedef enum sx_op_kind {
    SX_OP_EINSUM,       /* sums of products: has an einsum */
    SX_OP_POOL,         /* the largest or the mean of a window: has an einsum for its index space */
    SX_OP_ELEMENT_WISE, /* a function of one element of each tensor read; extents of 1 are broadcast */
    SX_OP_SOFTMAX,      /* along one rank */
    SX_OP_NORM,         /* a normalisation along one rank */
    SX_OP_CONCAT,       /* the tensors read, one after the other along one rank */
    SX_OP_RESHAPE,      /* the same elements under other ranks: moves no data */
    SX_OP_OTHER,        /* anything else; shapes are not checked */
    SX_N_OP_KINDS,
} sx_op_kind;

/* The name of a kind, such as "element-wise"; NULL past the last. */
const char *sx_op_kind_name(sx_op_kind kind);

/* A tensor. One that no node writes is an input of the graph, or a weight; one that no node reads is an
 * output. A state survives the run, as a cache of keys does: nodes read what earlier runs left in it and write
 * parts of it. */
typedef struct sx_graph_tensor {
    char name[SX_NAME_SIZE];
    bool weight;   /* the same for every run of the graph, so that it may stay in a memory */
    bool output;   /* wanted outside of the graph although a node reads it */
    bool state;    /* survives the run; any number of nodes write it */
    uint32_t bits; /* of an element */
    uint64_t held; /* elements of a state that stay after the run; 0: all */
    size_t n_ranks;
    uint64_t extent[SX_MAX_RANKS];
} sx_graph_tensor;

/* The part of a rank that an operand uses: of every `block` elements (0: of the extent, or of a repetition's share of
 * it) those from `offset` on, `length` of them; a length of 0 is the whole rank. */
typedef struct sx_graph_part {
    uint64_t offset, length, block;
} sx_graph_part;

/* A tensor as a node uses it. In a node without an einsum all after `part` is zero, except split, which is
 * -1. In a node with one, operand v is the einsum's tensor v, and the ranks of the two are related: rank g of
 * the graph's tensor consists of n_of[g] ranks of the einsum's tensor, outermost first, which are listed in
 * `rank` for g = 0, 1, ... The graph's tensor has neither padding nor what a window does not reach: with
 * before[g] and after[g] elements of padding at its ends, it is as long as the einsum's ranks span, or longer
 * by less than the stride. */
typedef struct sx_graph_operand {
    size_t tensor;
    bool written;
    sx_graph_part part[SX_MAX_PART_RANKS]; /* of ranks 0 to SX_MAX_PART_RANKS - 1 */
    uint64_t of;  /* with split: repetitions use some of this many shares, as of experts; 0: all of them */
    int8_t split; /* the rank whose outermost part tells repetitions apart; -1: all use the same elements */
    uint8_t n_of[SX_MAX_RANKS], rank[SX_MAX_RANKS];
    uint32_t before[SX_MAX_RANKS], after[SX_MAX_RANKS];
} sx_graph_operand;

/* What a node does where its tensors do not say it; 0: by the tensors. */
typedef struct sx_graph_counts {
    uint64_t useful;        /* multiply-accumulates that reach a result: those of a causal triangle */
    uint64_t elements, row; /* of a node without an einsum: elements worked on, and those of a row */
    uint64_t reads;         /* elements read, weights and states apart */
    uint64_t state_reads, state_writes; /* elements of states that an earlier or later run shares */
} sx_graph_counts;

typedef struct sx_graph_node {
    char name[SX_NAME_SIZE];
    char layer[SX_NAME_SIZE]; /* nodes of one layer compute the same, each on tensors of its own */
    sx_op_kind kind;
    char function[SX_NAME_SIZE]; /* of an element, a window or a normalisation: add, gelu, max; "": none */
    int axis;                    /* the rank of softmax, norm and concat; -1 for other kinds */
    uint64_t repeat;          /* how often the node runs its einsum, each time on another part of tensors */
    size_t einsum;            /* of an einsum or a pool, else SX_NO_INDEX */
    size_t first, n_operands; /* its operands */
    sx_graph_counts counts;
} sx_graph_node;

/* What a graph is one run of: a phase of a language model. All zero: nothing is known. */
typedef struct sx_graph_run {
    char phase[16]; /* "prefill", "decode", "forward", "encode" */
    uint64_t batch, tokens,
        context;                /* sequences; new tokens of each; tokens of each that states hold before */
    uint64_t parameters;        /* of the network, those that no tensor holds (biases) too */
    uint64_t active_parameters; /* of those, the ones a token uses */
} sx_graph_run;

/* What of a network is not mapped, where a file has more operators than the graph can tell. */
typedef struct sx_unmapped {
    uint64_t operators, of; /* of: all, mapped ones too; 0: nothing is known */
    uint64_t unknown;       /* of `operators`, those whose work is not known */
    double share;           /* of the operations of all operators whose work is known */
} sx_unmapped;

/* All zero is an empty graph. Arrays are made and grown by the functions below. */
typedef struct sx_graph {
    char name[SX_NAME_SIZE];
    size_t n_nodes, n_tensors, n_operands, n_einsums;
    sx_graph_node *node;
    sx_graph_tensor *tensor;
    sx_graph_operand *operand;
    sx_problem *einsum; /* no two are equal; they have no names */
    sx_graph_run run;
    sx_unmapped unmapped;
} sx_graph;

void sx_graph_fini(sx_graph *graph);

/* A tensor used as it is: rank g of the graph's tensor is rank g of the einsum's, for n_ranks ranks. */
sx_graph_operand sx_graph_whole(size_t tensor, bool written, size_t n_ranks);

/* Appends a tensor or a node with its operands; *index, where not NULL, becomes its index. The node's
 * operands are copied, and so is its einsum (NULL: none), unless the graph has it; node->einsum, first and
 * n_operands are not read. Nothing is checked but memory. */
SX_MUST_USE sx_status sx_graph_add_tensor(sx_graph *graph, const sx_graph_tensor *tensor, size_t *index);
SX_MUST_USE sx_status sx_graph_add_node(sx_graph *graph, const sx_graph_node *node, const sx_problem *einsum,
                                        const sx_graph_operand *operand, size_t n_operands, size_t *index);

/* Refuses a graph that breaks a rule: empty or repeated names; a weight that is written; a tensor that two nodes write, unless
 * it is a state, the parts are apart, or the later one updates what it reads; shapes that do not fit; a cycle;
 * nodes of one layer with different einsums; indices and counts out of range; tensors that no node uses. */
SX_MUST_USE sx_status sx_graph_check(const sx_graph *graph);

/* The index of the node or tensor of that name, SX_NO_INDEX where there is none. */
size_t sx_graph_find_node(const sx_graph *graph, const char *name);
size_t sx_graph_find_tensor(const sx_graph *graph, const char *name);

/* How many elements a tensor has. */
uint64_t sx_graph_words(const sx_graph_tensor *tensor);

/* For each tensor the node that writes it (the last one, where several do), SX_NO_INDEX where none does and for states,
 * which come from outside. */
void sx_graph_producers(const sx_graph *graph, size_t *producer);

/* All nodes, each after those whose outputs it reads, otherwise in the order of the graph. An error where
 * nodes wait for each other. */
SX_MUST_USE sx_status sx_graph_order(const sx_graph *graph, size_t *order);

#endif
