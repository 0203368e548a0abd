/* Graphs that the layers of graph networks work on, and the Graph U-Net. */
#ifndef SX_LEARN_GRAPH_H
#define SX_LEARN_GRAPH_H

#include "learn/net.h"

/* The neighbours of each node in ascending order, itself among them. */
typedef struct sx_nn_graph {
    size_t n;
    size_t *first; /* n + 1: where the neighbours of a node begin */
    uint32_t *neighbour;
} sx_nn_graph;

/* The graph of a given number of nodes and edges, each a pair of nodes, which are neighbours of each other. */
SX_MUST_USE sx_status sx_nn_graph_new(size_t n, const uint32_t (*edge)[2], size_t n_edges,
                                      SX_OWN sx_nn_graph **out);
void sx_nn_graph_free(SX_TAKE sx_nn_graph *graph);

/* A graph that pooling leaves of the one before; level 0 is the whole graph. */
typedef struct sx_nn_level {
    size_t n;
    size_t *first;
    uint32_t *neighbour;
    size_t room;    /* for neighbours */
    uint32_t *kept; /* n: the nodes of the level before */
    float *gate;    /* n: by which their rows were multiplied */
    double *score;  /* their projections; room for all nodes of the level before */
    uint32_t *mark; /* room for marks, as many */
} sx_nn_level;

/* What a layer of attention keeps from forward to backward. */
typedef struct sx_nn_attention {
    float *h;               /* rows x outputs: x W */
    float *dh;              /* the gradient of that; one for all layers */
    float *source, *target; /* rows x heads: terms of the scores */
    float *share;           /* neighbours x heads: a_ij */
    size_t room;            /* of shares */
} sx_nn_attention;

/* The rows that a pool leaves of n. */
static inline size_t sx_nn_pooled(size_t n) {
    return (n + 1) / 2;
}

/* Makes room for n shares; false when memory is out. */
bool sx_nn_attention_room(sx_nn_attention *attention, size_t n);

/* The Graph U-Net: attention on the whole graph, `depth` times pool and attention, as often unpool and attention, a
 * ReLU after each, and a dense layer at the end. */
SX_MUST_USE sx_status sx_nn_new_unet(uint32_t inputs, uint32_t width, unsigned depth, uint32_t outputs,
                                     SX_OWN sx_nn **out);

#endif
