/* Checking a graph so that a reader can say where in a file the offender stands. */
#ifndef SX_IR_GRAPH_H
#define SX_IR_GRAPH_H

#include "sextant/graph.h"

/* What an error is about: a node or a tensor, and the other is SX_NO_INDEX; both are for the whole graph. */
typedef struct sx_graph_blame {
    size_t node, tensor;
} sx_graph_blame;

/* sx_graph_check that says what the error is about. */
SX_MUST_USE sx_status sx_graph_examine(const sx_graph *graph, sx_graph_blame *blame);

/* sx_graph_order that says which node waits for itself. */
SX_MUST_USE sx_status sx_graph_order_of(const sx_graph *graph, size_t *order, size_t *cyclic);

/* Whether nodes run in the order of the graph: where one writes a state, or several write a tensor. `count` is room for a
 * number for each tensor. */
bool sx_graph_runs_in_order(const sx_graph *graph, size_t *count);

/* Whether an operand uses a part of its tensor alone. */
bool sx_graph_uses_part(const sx_graph_operand *operand);

/* How many elements an operand uses along a rank. A split rank without blocks counts one repetition's share. */
uint64_t sx_graph_used_extent(const sx_graph_tensor *tensor, const sx_graph_operand *operand, size_t g);

/* How far the einsum's ranks that make up rank g of an operand's tensor reach, over all repetitions, and the
 * stride of a window there (1: no window). *span is UINT64_MAX where it is beyond that. */
void sx_graph_span(const sx_problem *einsum, int tensor, const sx_graph_operand *operand, size_t g,
                   uint64_t repeat, uint64_t *span, uint64_t *stride);

#endif
