/* A network: layers to be mapped one by one, each with how often it occurs. It is what a graph computes
 * without its edges: the nodes that are einsums, those of one layer as one. */
#ifndef SX_NETWORK_H
#define SX_NETWORK_H

#include "sextant/graph.h"

typedef struct sx_layer {
    char name[SX_NAME_SIZE];
    uint64_t count; /* how often the network runs this very computation (once per head, for attention) */
    sx_problem problem;
} sx_layer;

typedef struct sx_network {
    char name[SX_NAME_SIZE];
    size_t n_layers;
    sx_layer *layer;
} sx_network;

void sx_network_fini(sx_network *network);

/* The layers of a graph, in the order of their first nodes, each counted as often as its nodes repeat its
 * einsum. A problem is called GRAPH/LAYER. An error where the graph breaks a rule or has no einsum. *out is
 * freed with sx_network_fini. */
SX_MUST_USE sx_status sx_graph_network(const sx_graph *graph, sx_network *out);

/* The layer of that name, NULL where there is none. */
const sx_layer *sx_network_layer(const sx_network *network, const char *name);

/* How many layers there are that differ in more than their names (those of dimensions and tensors count,
 * since constraints and buffers go by them); first[i], where not NULL, is the index of the first layer that
 * is the same computation as layer i. */
size_t sx_network_distinct(const sx_network *network, size_t *first);

/* What a network of the catalog is made for. */
typedef struct sx_network_options {
    uint32_t batch;     /* 0: 1 */
    bool training;      /* the weight-update computation of every layer instead of its inference */
    uint32_t bits;      /* of an element of every tensor; 0: 8 */
    bool training_step; /* inference, weight update and data gradient of every layer */
} sx_network_options;

/* Inference of one input, elements of 8 bits. */
void sx_network_options_init(sx_network_options *options);

/* A network of the catalog; a length in words may follow the name of one that reads text, as in
 * bert-base-128. options may be NULL. *out is freed with sx_network_fini. */
SX_MUST_USE sx_status sx_catalog_network(const char *name, const sx_network_options *options,
                                         sx_network *out);

/* The graph of which that network is the layers; freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_catalog_graph(const char *name, const sx_network_options *options, sx_graph *out);

#endif
