/* What of a graph may stay in the exchange memory: the nodes in the order in which they run, and the values that pass
 * between them. A value is one or more tensors that are together on chip or in the outermost memory: what
 * a node that is no einsum makes of a tensor (an activation function, a pool, an addition to what was
 * computed last) takes the place of that tensor. */
#ifndef SX_FUSE_EXCHANGE_H
#define SX_FUSE_EXCHANGE_H

#include "sextant/network.h"

#include "sextant/arch.h"

/* The most steps that are taken together. */
enum { SX_EXCHANGE_SPAN = 16, SX_NO_SLOT = 255 };

/* What a plan may do with a value. */
typedef enum sx_exchange_choice {
    SX_EXCHANGE_FREE,   /* as is best */
    SX_EXCHANGE_OUT,    /* to the outermost memory */
    SX_EXCHANGE_STAY,   /* in an exchange memory */
    SX_EXCHANGE_FIRST,  /* in the first one */
    SX_EXCHANGE_SECOND, /* in the second one */
} sx_exchange_choice;

typedef struct sx_exchange_value {
    size_t tensor;      /* of the graph: the first of it */
    size_t first, last; /* steps: the one that makes it, the last that reads it */
    const char *reason; /* why it cannot stay whole; NULL: it can */
    bool by_tiles;      /* tiles of it may stay, in a group */
    bool second_tiles;  /* also in the second memory */
    sx_exchange_choice choice;
    uint8_t slot; /* of the states of a plan; those that are alive within SX_EXCHANGE_SPAN steps differ */
    uint8_t second_slot; /* where it may also stay in the second memory; else SX_NO_SLOT */
} sx_exchange_value;

/* What a step takes of the vector unit with all its tensors in the outermost memory; zeros: nothing. */
typedef struct sx_vector_step {
    double operations, compute_cycles; /* compute_cycles: of the lanes alone */
    double energy, cycles, bytes;      /* bytes: to and from the outermost memory */
    double passes;                     /* how often what it reads is read */
} sx_vector_step;

typedef struct sx_exchange_step {
    size_t node;                  /* of the graph */
    size_t layer;                 /* of the network; SX_NO_INDEX: no einsum */
    sx_vector_step vector;        /* of one that is no einsum */
    double repeat;                /* how often the layer runs */
    size_t value[SX_MAX_TENSORS]; /* of an einsum's tensors; SX_NO_INDEX: none */
} sx_exchange_step;

typedef struct sx_exchange {
    const sx_graph *graph;
    const sx_network *network;
    const sx_arch *arch;
    int level; /* the exchange memory */
    uint64_t capacity;
    int second; /* the second one; -1: there is none */
    uint64_t second_capacity;
    uint64_t reserved; /* of it, for nothing: plans are those of a smaller memory */
    bool latency_tile; /* latencies are those of the tile pipeline */
    bool one_pass;     /* a softmax may run by slices, with running maxima and sums */
    size_t n_steps, n_values;
    sx_exchange_step *step;
    sx_exchange_value *value;
    size_t *value_of;       /* of each tensor of the graph; SX_NO_INDEX: none */
    uint64_t *words;        /* of value v in step s, at [s * n_values + v]: words of the exchange memory */
    uint64_t *second_words; /* the same of the second one */
} sx_exchange;

/* Finds the steps and values of a graph, of which `network` are the layers; both and the architecture are borrowed. The nodes
 * run in `order` (n_nodes numbers; NULL: the graph's own). *out is freed with sx_exchange_fini, also after an error. */
SX_MUST_USE sx_status sx_exchange_init(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                                       int level, int second, const size_t *order, sx_exchange *out);
void sx_exchange_fini(sx_exchange *exchange);

/* Lets the values of these tensors (names with commas) stay and all others not. An error where the graph has no such
 * tensor, or it cannot stay. */
SX_MUST_USE sx_status sx_exchange_force(sx_exchange *exchange, const char *tensors);

/* Whether a value must stay on chip whole. */
static inline bool sx_exchange_must_stay(const sx_exchange_value *value) {
    return value->choice >= SX_EXCHANGE_STAY;
}

/* The words of a value in a step; 0 where it is not alive. */
static inline uint64_t sx_exchange_words(const sx_exchange *exchange, size_t step, size_t value) {
    return exchange->words[step * exchange->n_values + value];
}

#endif
