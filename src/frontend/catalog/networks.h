/* Networks of the catalog under construction. A family's file has a function per network that adds nodes one
 * by one: each reads tensors made before and gives its output. After a failure adding does nothing, and
 * tensors are 0.
 *
 * Convolutions include the batch normalisation, the bias and the activation function that follow them, and
 * residual additions the activation function that follows. What else a network computes is a node. Images
 * have the ranks (batch, channel, row, column), texts (batch, feature, word). */
#ifndef SX_FRONTEND_CATALOG_NETWORKS_H
#define SX_FRONTEND_CATALOG_NETWORKS_H

#include "base/status.h"
#include "frontend/catalog/layers.h"
#include "sextant/network.h"

/* What the einsum of a node was made from: a convolution, or a product (b is not 0). The ranks of Outputs,
 * Weights and Inputs in the tensors of the graph, as letters of dimensions with '|' between ranks: a letter
 * stands for the rank of the einsum's tensor that has this dimension, if any. */
typedef struct sx_net_layer {
    size_t node;
    sx_conv conv;
    sx_product product;
    const char *ranks[3];
} sx_net_layer;

typedef struct sx_net {
    sx_graph graph;
    sx_net_layer *layer; /* of each node that is an einsum, in their order */
    size_t n_layers, room;
    uint32_t batch, bits;
    uint32_t words; /* the length of a text, for networks that read one */
    sx_status error;
} sx_net;

/* A filter or the window of a pool: r x s (s is r where 0) at a stride (1 where 0), with padding of this many
 * rows or columns on both sides; k output channels in all, from groups (1 where 0) of channels. */
typedef struct sx_filter {
    uint32_t k, r, s, stride, pad_r, pad_s, groups;
} sx_filter;

/* The extent of a tensor along a rank. */
uint32_t sx_net_extent(const sx_net *net, size_t tensor, size_t rank);

/* The tensor that comes from outside: an image of three channels, p x p. */
size_t sx_net_image(sx_net *net, uint32_t p);

/* Weights of that shape, for a node without an einsum. */
size_t sx_net_weights(sx_net *net, const char *name, size_t n_ranks, const uint64_t *extent);

/* A tensor of that shape, the batch included. */
size_t sx_net_tensor(sx_net *net, const char *name, size_t n_ranks, const uint64_t *extent);

/* A convolution; the name is a format. */
size_t sx_net_conv(sx_net *net, size_t in, sx_filter filter, const char *format, ...) SX_PRINTF(4, 5);

/* A fully connected layer of k outputs, which reads a tensor of 1 x 1 elements per channel. */
size_t sx_net_dense(sx_net *net, size_t in, uint32_t k, const char *name);

/* A product, whose b becomes the batch. */
typedef struct sx_net_product {
    sx_product product;
    size_t in, weights; /* weights: SX_NO_INDEX makes a tensor of weights */
    uint32_t repeat;    /* 0: 1 */
    const char *ranks[3];
    int split[3];      /* rank of each tensor that repetitions split, -1: none */
    const char *layer; /* of which the node is one */
} sx_net_product;
size_t sx_net_product_of(sx_net *net, const sx_net_product *p, const char *name);

/* A pool, "max" or "average", of every channel. */
size_t sx_net_pool(sx_net *net, size_t in, sx_filter window, const char *function, const char *name);

/* The mean of each channel, "avgpool". */
size_t sx_net_global_pool(sx_net *net, size_t in);

/* A node of another kind, of which the first tensor read gives the shape of the output (concat: but for the
 * axis). */
size_t sx_net_other(sx_net *net, const sx_graph_node *node, const size_t *in, size_t n);

/* The same with an output of another shape. */
size_t sx_net_shaped(sx_net *net, const sx_graph_node *node, size_t n_ranks, const uint64_t *extent,
                     const size_t *in, size_t n);

/* The sum of two tensors; the name is a format. */
size_t sx_net_add(sx_net *net, size_t a, size_t b, const char *format, ...) SX_PRINTF(4, 5);

/* All elements of each image as channels of 1 x 1. */
size_t sx_net_flatten(sx_net *net, size_t in, const char *name);

/* The last layers of a classifier: `name`, fully connected, to k classes, and a softmax over them. */
void sx_net_classify(sx_net *net, size_t in, uint32_t k, const char *name);

/* The operand that an einsum's tensor v is, with its ranks as above. */
sx_graph_operand sx_net_operand(const sx_problem *einsum, int v, size_t tensor, const char *ranks, int split);

/* The tensor, without a name and a width, that an operand of an einsum uses in full: weights and outputs, which have no
 * windows. */
sx_graph_tensor sx_net_used(const sx_problem *einsum, int v, const char *ranks, int split, uint64_t repeat);

/* Checks the graph and hands it over, or gives the error; frees all else. */
SX_MUST_USE sx_status sx_net_finish(SX_TAKE sx_net *net, SX_OWN sx_graph *out);

/* Replaces the graph by that of the weight updates. */
void sx_net_train(sx_net *net);

/* Adds the backward pass: the weight update and the data gradient of every layer, and the gradients of the
 * nodes between them. */
void sx_net_backward(sx_net *net);

/* The einsum, called `name`, and the operands of the gradient of a layer's operand v: 1 the weights, 2 the
 * inputs. `forward` are the layer's operands. tensor[i] stands for operand i: where i is 0 or v the tensor of
 * its gradient, otherwise the tensor itself. */
SX_MUST_USE sx_status sx_net_gradient_of(const sx_net_layer *layer, int v, const char *name,
                                         const sx_graph_operand forward[3], const size_t tensor[3],
                                         sx_problem *einsum, sx_graph_operand operand[3]);

/* The families. */
void sx_net_resnet18(sx_net *net);
void sx_net_resnet50(sx_net *net);
void sx_net_resnet101(sx_net *net);
void sx_net_inception_v3(sx_net *net);
void sx_net_mobilenet_v2(sx_net *net);
void sx_net_mnasnet_b1(sx_net *net);
void sx_net_bert_base(sx_net *net);
void sx_net_bert_large(sx_net *net);
void sx_net_vit_base(sx_net *net);
void sx_net_gpt2(sx_net *net);
void sx_net_fsrcnn(sx_net *net);

#endif
