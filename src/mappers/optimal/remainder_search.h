/* The same over mappings that leave remainders. */
#ifndef SX_MAPPERS_OPTIMAL_REMAINDER_SEARCH_H
#define SX_MAPPERS_OPTIMAL_REMAINDER_SEARCH_H

#include "bound/imperfect_tiles.h"
#include "mappers/optimal/nodes.h"

/* A depth-first search of all mappings with a spatial mapping that leave remainders: one task's workspace
 * (remainder_search.c). */
typedef struct sx_remainder_search sx_remainder_search;

SX_MUST_USE sx_status sx_remainder_search_new(sx_map_choices *choices, const sx_map_space *space,
                                              const sx_imperfect_tiles *tiles,
                                              SX_OWN sx_remainder_search **out);
void sx_remainder_search_free(SX_TAKE sx_remainder_search *remainder_search);

/* The same as for descents; and a bound of all spatial mappings. */
void sx_remainder_search_bounds(sx_remainder_search *remainder_search, const sx_spatial_mappings *spatials,
                                const sx_prune_rule *rule, sx_search_node *node, size_t n);
void sx_remainder_search_bound_all(const sx_remainder_search *remainder_search, const sx_prune_rule *rule,
                                   sx_search_node *node);
sx_visit_end sx_remainder_search_visit(sx_remainder_search *remainder_search, sx_node_visit *visit);

#endif
