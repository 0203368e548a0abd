/* The functions that nodes of a graph may name. */
#ifndef SX_FRONTEND_GRAPH_FUNCTION_H
#define SX_FRONTEND_GRAPH_FUNCTION_H

#include "frontend/input.h"
#include "sextant/graph.h"

/* Refuses a function that nothing knows, with the nearest one that is known. A node of kind `other` may compute anything:
 * there it is a warning. */
SX_MUST_USE sx_status sx_graph_check_function(sx_input *input, const sx_graph_node *node, sx_place place);

#endif
