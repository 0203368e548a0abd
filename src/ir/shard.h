/* A graph divided among chips: tensor parallelism as a rewrite. */
#ifndef SX_IR_SHARD_H
#define SX_IR_SHARD_H

#include "base/status.h"
#include "sextant/graph.h"

/* The graph that each of `chips` runs. Products with weights are divided by columns, so that their results are; those that
 * read what is divided by rows, and the sums of all chips are added (nodes "all-reduce"); einsums that repeat over heads
 * by heads, keys and values being copied where there are more chips than they have heads. Operators in between work on
 * their part; what needs the whole is brought together before ("all-gather"). With `by_experts` chips have experts whole:
 * as many of those that are hit as the busiest one has, after which results go to the chip that adds a token's up
 * ("all-to-all"). An error where heads or experts do not divide. *out is freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_graph_shard(const sx_graph *graph, unsigned chips, bool by_experts, sx_graph *out);

#endif
