/* Networks: layers one after another. A net holds the parameters in one block and does not change while it is used;
 * a pass is one thread's workspace on it: the activations and gradients of a batch. */
#ifndef SX_LEARN_NET_H
#define SX_LEARN_NET_H

#include "learn/matrix.h"

#include <stdint.h>

typedef enum sx_nn_kind {
    SX_NN_DENSE,   /* y = x W + b; W is inputs x outputs, then b */
    SX_NN_RELU,    /* max(x, 0) */
    SX_NN_TANH,    /* */
    SX_NN_SIGMOID, /* 1 / (1 + exp(-x)) */
    SX_NN_SOFTMAX, /* over a row */
    SX_NN_LAYER_NORM, /* a row minus its mean over its deviation, times gain, plus bias; the gains, then the biases */

    /* Layers of graph networks, whose rows are the nodes of a graph (learn/graph.h). */
    SX_NN_ATTENTION, /* y_i = b + the sum over neighbours j of a_ij (x W)_j, in SX_NN_HEADS heads; W, vectors of sources
                        and of targets, b */
    SX_NN_POOL,   /* the half of the nodes with the highest projections x p / |p|, times their sigmoids; p */
    SX_NN_UNPOOL, /* back to the nodes before the last pool that is open, plus that pool's inputs */
    SX_NN_KINDS
} sx_nn_kind;

enum {
    SX_NN_MAX_LAYERS = 64,
    SX_NN_MAX_WIDTH = 1 << 16,
    SX_NN_MAX_PARAMETERS = 1 << 28,
    SX_NN_MAX_ROWS = 1 << 24,
    SX_NN_HEADS = 4, /* of attention: its outputs are a multiple of that */
};

/* Whether a layer of a kind has as many outputs as it is told; others have as many as inputs. */
static inline bool sx_nn_widens(sx_nn_kind kind) {
    return kind == SX_NN_DENSE || kind == SX_NN_ATTENTION;
}

/* A layer and where its parameters are in the net's block. */
typedef struct sx_nn_layer {
    sx_nn_kind kind;
    uint32_t inputs, outputs; /* equal but where sx_nn_widens */
    size_t first, n_parameters;
} sx_nn_layer;

typedef struct sx_nn {
    uint32_t inputs, outputs, n_layers;
    sx_nn_layer *layer;
    size_t n_parameters;
    float *parameter; /* 64-byte aligned */
} sx_nn;

/* What sx_nn_new is told of a layer; `outputs` counts where sx_nn_widens. */
typedef struct sx_nn_plan {
    sx_nn_kind kind;
    uint32_t outputs;
} sx_nn_plan;

/* A net with all parameters 0. */
SX_MUST_USE sx_status sx_nn_new(uint32_t inputs, const sx_nn_plan *plan, size_t n_layers, SX_OWN sx_nn **out);
void sx_nn_free(SX_TAKE sx_nn *net);

/* A multilayer perceptron: width[0] inputs, then dense layers of the other widths, with `between` after each but the
 * last, and `last` after that one (SX_NN_KINDS: nothing). */
SX_MUST_USE sx_status sx_nn_new_mlp(const uint32_t *width, size_t n_widths, sx_nn_kind between,
                                    sx_nn_kind last, SX_OWN sx_nn **out);

/* A new net like another, with the same parameters. */
SX_MUST_USE sx_status sx_nn_copy(const sx_nn *net, SX_OWN sx_nn **out);

/* Whether two nets have the same layers. */
bool sx_nn_alike(const sx_nn *a, const sx_nn *b);

/* He: normal, variance 2 / inputs. Xavier: uniform, variance 2 / (inputs + outputs). */
typedef enum sx_nn_init { SX_NN_HE, SX_NN_XAVIER } sx_nn_init;

/* Draws the weights anew; biases become 0, gains 1. */
void sx_nn_initialise(sx_nn *net, sx_nn_init init, uint64_t seed);

/* net += share * (other - net), of every parameter: target networks. Both have the same layers. */
void sx_nn_blend(sx_nn *net, const sx_nn *other, float share);

/* A hash of the parameters' bits. */
uint64_t sx_nn_hash(const sx_nn *net);

typedef struct sx_nn_pass sx_nn_pass;

/* A workspace for up to `rows` rows; net and engine are borrowed and must outlive it. */
SX_MUST_USE sx_status sx_nn_pass_new(const sx_nn *net, sx_matrix_engine *engine, size_t rows,
                                     SX_OWN sx_nn_pass **out);
/* The same for a net with layers of graph networks; the graph has `rows` nodes and must outlive the pass. */
struct sx_nn_graph;
SX_MUST_USE sx_status sx_nn_pass_new_on(const sx_nn *net, sx_matrix_engine *engine,
                                        const struct sx_nn_graph *graph, SX_OWN sx_nn_pass **out);
void sx_nn_pass_free(SX_TAKE sx_nn_pass *pass);

/* The outputs of n rows of inputs, n x outputs, in the pass until its next call. The inputs must stay until
 * sx_nn_backward. A row's outputs do not depend on the other rows, but for graph networks, of which n is the number of
 * nodes; of these, NULL where memory is out. */
const float *sx_nn_forward(sx_nn_pass *pass, const float *input, size_t n);

/* After sx_nn_forward: from the gradient with respect to the outputs, n x outputs, to that of the parameters, in the
 * order of the net's block, and that of the inputs, n x inputs; each is overwritten, NULL where it is not wanted. */
void sx_nn_backward(sx_nn_pass *pass, const float *output_gradient, float *parameter_gradient,
                    float *input_gradient);

#endif
