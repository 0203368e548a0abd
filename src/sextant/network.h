/* A network: layers to be mapped one by one, each with how often it occurs. It is what a graph computes
 * without its edges: the nodes that are einsums, those of one layer as one. */
#ifndef SX_NETWORK_H
#define SX_NETWORK_H

#include "sextant/graph.h"

/* What a tensor of a layer is in its network, for widths by role. */
typedef enum sx_operand_role {
    SX_OPERAND_UNKNOWN,
    SX_OPERAND_WEIGHT,
    SX_OPERAND_STATE,
    SX_OPERAND_INPUT,
    SX_OPERAND_OUTPUT,
    SX_N_OPERAND_ROLES,
} sx_operand_role;

typedef struct sx_layer {
    char name[SX_NAME_SIZE];
    uint64_t count; /* how often the network runs this very computation (once per head, for attention) */
    sx_problem problem;
    uint8_t role[SX_MAX_TENSORS]; /* sx_operand_role of each tensor of the problem */
} sx_layer;

typedef struct sx_network {
    char name[SX_NAME_SIZE];
    size_t n_layers;
    sx_layer *layer;
    sx_unmapped unmapped;
} sx_network;

void sx_network_fini(sx_network *network);

/* The layers of a graph, in the order of their first nodes, each counted as often as its nodes repeat its
 * einsum. A problem is called GRAPH/LAYER. An error where the graph breaks a rule or has no einsum. *out is
 * freed with sx_network_fini. */
SX_MUST_USE sx_status sx_graph_network(const sx_graph *graph, sx_network *out);

/* What the tensor of an operand is: what an einsum writes is an output, also where it is a part of a state. */
sx_operand_role sx_graph_role(const sx_graph *graph, const sx_graph_operand *operand);

/* The layer of that name, NULL where there is none. */
const sx_layer *sx_network_layer(const sx_network *network, const char *name);

/* How many layers there are that differ in more than their names (those of dimensions and tensors count,
 * since constraints and buffers go by them); first[i], where not NULL, is the index of the first layer that
 * is the same computation as layer i. */
size_t sx_network_distinct(const sx_network *network, size_t *first);

/* The run of a language model: the first tokens together, or more of them after a context; of other networks the only
 * one, or of those with two parts the first. */
typedef enum sx_phase {
    SX_PHASE_ANY, /* what the network has: prefill of a language model, forward of others */
    SX_PHASE_PREFILL,
    SX_PHASE_DECODE,
    SX_PHASE_FORWARD,
    SX_PHASE_ENCODE,
    SX_N_NETWORK_PHASES,
} sx_phase;

/* Attention over latents (MLA): as products with the latents themselves, or of keys and values made from them. */
typedef enum sx_mla { SX_MLA_BY_PHASE, SX_MLA_ABSORBED, SX_MLA_EXPANDED } sx_mla;

/* The name of a phase, such as "decode"; NULL for SX_PHASE_ANY and past the last. */
const char *sx_phase_name(sx_phase phase);

/* What a network of the catalog is made for. All zero is inference of one input. */
typedef struct sx_network_options {
    uint32_t batch;     /* 0: 1 */
    bool training;      /* the weight-update computation of every layer instead of its inference */
    uint32_t bits;      /* of an element of every tensor; 0: 8 */
    bool training_step; /* inference, weight update and data gradient of every layer */
    sx_phase phase;
    uint64_t
        tokens; /* new ones of each sequence; 0: 1 to decode, else 2,048 or as many as there are positions */
    uint64_t context; /* tokens of each sequence that were there before, with has_context */
    bool has_context; /* false: 0, and to decode 4,096 or one less than there are positions */
    bool all_logits;  /* logits of all new tokens, not of the last one of each sequence */
    bool balanced;    /* tokens spread over as many experts as there can be, not over the expected number */
    uint64_t experts_hit; /* 0: by the rule */
    sx_mla mla;
    bool both;        /* prefill, and decode after it, as one network: phase is SX_PHASE_ANY */
    bool causal_skip; /* keys that a query does not see take no time */
} sx_network_options;

/* A network of the catalog; a length in words may follow the name of one that reads text, as in
 * bert-base-128. options may be NULL. *out is freed with sx_network_fini. */
SX_MUST_USE sx_status sx_catalog_network(const char *name, const sx_network_options *options,
                                         sx_network *out);

/* Whether a network of the catalog is described by a configuration of sizes, so that phases and tokens apply to it. */
bool sx_catalog_has_phases(const char *name);

/* The graph of which that network is the layers; freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_catalog_graph(const char *name, const sx_network_options *options, sx_graph *out);

#endif
