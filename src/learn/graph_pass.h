/* What a pass over a graph network has besides its activations. */
#ifndef SX_LEARN_GRAPH_PASS_H
#define SX_LEARN_GRAPH_PASS_H

#include "learn/graph.h"
#include "learn/layers/layer.h"

typedef struct sx_nn_graph_pass sx_nn_graph_pass;

/* Refuses a net whose pools and unpools do not match. */
SX_MUST_USE sx_status sx_nn_graph_pass_new(const sx_nn *net, const sx_nn_graph *graph,
                                           SX_OWN sx_nn_graph_pass **out);
void sx_nn_graph_pass_free(SX_TAKE sx_nn_graph_pass *pass);

/* The rows of a layer's inputs; i = the number of layers: of the last one's outputs. */
size_t sx_nn_graph_rows(const sx_nn_graph_pass *pass, size_t i);

/* Sets the graph's part of a layer's call; returns the pool whose inputs it adds, SX_NN_MAX_LAYERS: none. */
size_t sx_nn_graph_call(sx_nn_graph_pass *pass, size_t i, sx_nn_call *call);

#endif
