/* Orders in which the nodes of a graph may run. Those that are no einsum run as soon as what they read is there. */
#ifndef SX_FUSE_ORDER_H
#define SX_FUSE_ORDER_H

#include "base/vector.h"
#include "sextant/graph.h"

/* Lists at most `most` orders, the graph's own first: each is an item of *out, n_nodes numbers of nodes. Between einsums that all
 * others wait for or come before (the ends of blocks) every order of a block is listed, unless it has more than `most`; several
 * blocks are combined in all ways, or, where these are more than `most`, each with its next order at a time. *out is cleared
 * by the caller, also after an error. */
SX_MUST_USE sx_status sx_orders_list(const sx_graph *graph, size_t most, sx_vector *out);

/* The order of all nodes in which the einsums run as given; *early is the first of them that runs before what it reads is
 * made, or n. */
SX_MUST_USE sx_status sx_order_complete(const sx_graph *graph, const size_t *einsum, size_t n, size_t *out,
                                        size_t *early);

/* The same with the names of nodes; *bad is the first name that is no einsum's, is there twice or runs too early, or
 * n where all are right. */
SX_MUST_USE sx_status sx_order_by_names(const sx_graph *graph, const char *const *name, size_t n, size_t *out,
                                        size_t *bad);

#endif
