/* The branch and bound over mappings whose factors divide. */
#ifndef SX_MAPPERS_OPTIMAL_DESCEND_H
#define SX_MAPPERS_OPTIMAL_DESCEND_H

#include "mappers/optimal/nodes.h"

/* A walk through all mappings of an array: one task's workspace (descend.c). */
typedef struct sx_descent sx_descent;

SX_MUST_USE sx_status sx_descent_new(const sx_bound *bound, sx_map_choices *choices,
                                     const sx_map_space *space, SX_OWN sx_descent **out);
void sx_descent_free(SX_TAKE sx_descent *descent);

/* Bounds the arrays of some nodes, each by itself. */
void sx_descent_arrays(sx_descent *descent, const sx_arrays *arrays, const sx_judge *judge,
                       sx_search_node *node, size_t n);

/* Raises the bound of a node, or takes an array apart. */
sx_ending sx_descent_sharpen(sx_descent *descent, sx_look *look);

/* Evaluates all mappings of a node that may be worth it. */
sx_ending sx_descent_search(sx_descent *descent, sx_look *look);

#endif
