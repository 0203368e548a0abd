/* The branch and bound over mappings whose factors divide. */
#ifndef SX_MAPPERS_OPTIMAL_DESCEND_H
#define SX_MAPPERS_OPTIMAL_DESCEND_H

#include "bound/latency.h"
#include "mappers/optimal/nodes.h"

/* A depth-first search of all mappings with a spatial mapping: one task's workspace (descend.c). */
typedef struct sx_descent sx_descent;

SX_MUST_USE sx_status sx_descent_new(const sx_bound *bound, const sx_latency_bound *latency,
                                     sx_map_choices *choices, const sx_map_space *space,
                                     SX_OWN sx_descent **out);
void sx_descent_free(SX_TAKE sx_descent *descent);

/* Bounds the spatial mappings of some nodes, each by itself. */
void sx_descent_bounds(sx_descent *descent, const sx_spatial_mappings *spatials, const sx_prune_rule *rule,
                       sx_search_node *node, size_t n);

/* Raises the bound of a node, or takes a spatial mapping apart. */
sx_visit_end sx_descent_sharpen(sx_descent *descent, sx_node_visit *visit);

/* Evaluates all mappings of a node that the cutoff admits. */
sx_visit_end sx_descent_search(sx_descent *descent, sx_node_visit *visit);

#endif
