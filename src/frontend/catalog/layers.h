/* Layers of neural networks as einsums. The tensors are called Outputs, Weights and Inputs, since
 * architectures with a buffer per tensor go by these names. */
#ifndef SX_FRONTEND_CATALOG_LAYERS_H
#define SX_FRONTEND_CATALOG_LAYERS_H

#include "sextant/problem.h"

/* A convolution: of a batch of n, c input and k output channels (of each group), p x q outputs and an r x s
 * filter. A fully connected layer has p = q = r = s = 1. A convolution over a volume has z planes of outputs and
 * a filter of t planes, else both are 0. Groups, strides and dilations of 0 are 1. */
typedef struct sx_conv {
    uint32_t n, c, k, p, q, r, s;
    uint32_t groups;
    uint32_t stride_p, stride_q, dilation_r, dilation_s;
    uint32_t z, t, stride_z, dilation_t;
} sx_conv;

/* The einsum of a convolution, by its groups one of
 *   Outputs[N,K,Q,P]   += Weights[C,K,R,S]   * Inputs[N,C,R+P,S+Q]       one group
 *   Outputs[N,D,Q,P]   += Weights[D,R,S]     * Inputs[N,D,R+P,S+Q]       groups of one channel (depthwise)
 *   Outputs[N,G,K,Q,P] += Weights[G,C,K,R,S] * Inputs[N,G,C,R+P,S+Q]     other groups
 * with the strides before P and Q and the dilations before R and S; over a volume with a last rank Z of Outputs, T of
 * Weights and T+Z of Inputs. A filter of 1 x 1 and a fully connected
 * layer keep all dimensions, so that one set of constraints fits a whole network. */
SX_MUST_USE sx_status sx_layer_conv(const sx_conv *conv, const char *name, sx_problem *out);

/* The index space of a pool: a depthwise convolution without weights,
 *   Outputs[N,D,Q,P] += Inputs[N,D,R+P,S+Q]. */
SX_MUST_USE sx_status sx_layer_pool(const sx_conv *window, const char *name, sx_problem *out);

/* The convolution that computes the gradient of a convolution's weights: see the head of layers.c. */
sx_conv sx_conv_weight_update(const sx_conv *conv);

/* The einsum of the gradient of a convolution's inputs: Outputs is that gradient, which windows slide over,
 * Weights the weights, Inputs the gradient of the convolution's outputs. */
SX_MUST_USE sx_status sx_layer_conv_data_gradient(const sx_conv *conv, const char *name, sx_problem *out);

/* A matrix product, Outputs[B,M,N] += Weights[M,K] * Inputs[B,K,N]; with `paired` a pair of matrices per
 * batch, Weights[B,M,K]; with `summed` (and paired) one result for the whole batch, Outputs[M,N]. */
typedef struct sx_product {
    uint32_t b, m, k, n;
    bool paired, summed;
} sx_product;

SX_MUST_USE sx_status sx_layer_product(const sx_product *product, const char *name, sx_problem *out);

/* The product that computes the gradient of the operand in the weights' place. */
sx_product sx_product_weight_update(const sx_product *product);

/* The product that computes the gradient of the inputs. */
sx_product sx_product_data_gradient(const sx_product *product);

#endif
