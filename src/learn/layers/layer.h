/* Kinds of layers: forward beside backward, in a file each. They work on any rows, in a net or without one. */
#ifndef SX_LEARN_LAYERS_LAYER_H
#define SX_LEARN_LAYERS_LAYER_H

#include "learn/net.h"
#include "sextant/rng.h"

/* One call of a layer, on rows of a batch. */
typedef struct sx_nn_call {
    const sx_nn_layer *layer;
    sx_matrix_engine *engine;
    size_t rows;
    const float *parameter;
    const float *x; /* rows x inputs */
    float *y;       /* rows x outputs; backward only reads it */

    /* backward alone */
    const float *dy;
    float *dx, *d_parameter; /* overwritten; NULL: not wanted */
    bool x_masks;            /* dx is not wanted where x is 0 */

    /* graph networks alone */
    struct sx_nn_level
        *level; /* the graph of the inputs; pooling fills in the next, unpooling goes to the one before */
    const float *skip;                 /* unpool: what is added */
    float *d_skip;                     /* the gradient of that: unpool writes it, pool adds it */
    struct sx_nn_attention *attention; /* what attention keeps from forward to backward */
    bool *failed;                      /* set where memory is out */
} sx_nn_call;

typedef struct sx_nn_type {
    const char *name;
    bool on_graphs;    /* needs a graph */
    bool from_outputs; /* backward reads y but not x, so that y may replace x */
    size_t (*n_parameters)(size_t inputs, size_t outputs); /* NULL: none */
    void (*initialise)(const sx_nn_layer *layer, float *parameter, sx_nn_init init,
                       sx_rng *rng); /* NULL: none */
    void (*forward)(const sx_nn_call *call);
    void (*backward)(const sx_nn_call *call);
} sx_nn_type;

extern const sx_nn_type sx_nn_dense, sx_nn_relu, sx_nn_tanh, sx_nn_sigmoid, sx_nn_softmax, sx_nn_layer_norm,
    sx_nn_attention_layer, sx_nn_pool, sx_nn_unpool;

/* Draws weights of inputs x outputs. */
void sx_nn_draw_weights(float *weight, size_t inputs, size_t outputs, sx_nn_init init, sx_rng *rng);

/* The gradients of weights and inputs of y = x W, whose weights are the first parameters of a call, from those of y; where
 * the call wants them. */
void sx_nn_backward_product(const sx_nn_call *call, const float *dy);

/* The type of a kind. */
const sx_nn_type *sx_nn_type_of(sx_nn_kind kind);

#endif
