/* A graph divided among chips: tensor parallelism as a rewrite. */
#ifndef SX_IR_SHARD_H
#define SX_IR_SHARD_H

#include "base/status.h"
#include "sextant/graph.h"

/* The graph that each of `chips` runs. Products with weights are divided by columns, so that their results are; those that
 * read what is divided by rows, and the sums of all chips are added (nodes "all-reduce"); einsums that repeat over heads
 * by heads, keys and values being copied where there are more chips than they have heads. Operators in between work on
 * their part; what needs the whole is brought together before ("all-gather"). An error where heads do not divide. *out is
 * freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_graph_shard(const sx_graph *graph, unsigned chips, sx_graph *out);

#endif
