/* Networks of the catalog under construction. A family's file has a function per network that adds its
 * layers one by one; after a failure adding does nothing. */
#ifndef SX_FRONTEND_CATALOG_NETWORKS_H
#define SX_FRONTEND_CATALOG_NETWORKS_H

#include "base/status.h"
#include "frontend/layers.h"
#include "sextant/network.h"

typedef struct sx_net {
    sx_network network;
    size_t room; /* layers there is memory for */
    uint32_t batch;
    bool training;
    uint32_t words; /* the length of a text, for networks that read one */
    sx_status error;
} sx_net;

/* Adds a convolution, whose n becomes the batch; the name is a format. */
void sx_net_conv(sx_net *net, sx_conv conv, const char *format, ...) SX_PRINTF(3, 4);

/* Adds a convolution by a square filter of size r from c to k channels with an output of p x p. */
void sx_net_square(sx_net *net, uint32_t c, uint32_t k, uint32_t p, uint32_t r, uint32_t stride,
                   const char *name);

/* Adds a fully connected layer from c to k. */
void sx_net_dense(sx_net *net, uint32_t c, uint32_t k, const char *name);

/* Adds a matrix product, whose b becomes the batch, that the network computes `count` times. */
void sx_net_product(sx_net *net, sx_product product, uint64_t count, const char *name);

/* The families. */
void sx_net_resnet18(sx_net *net);
void sx_net_resnet50(sx_net *net);
void sx_net_resnet101(sx_net *net);
void sx_net_inception_v3(sx_net *net);
void sx_net_mobilenet_v2(sx_net *net);
void sx_net_mnasnet_b1(sx_net *net);

#endif
