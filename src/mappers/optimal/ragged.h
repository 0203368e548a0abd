/* The same over mappings that leave remainders. */
#ifndef SX_MAPPERS_OPTIMAL_RAGGED_H
#define SX_MAPPERS_OPTIMAL_RAGGED_H

#include "mappers/optimal/nodes.h"

/* A walk through all mappings of an array that leave remainders: one task's workspace (ragged.c). */
typedef struct sx_ramble sx_ramble;

SX_MUST_USE sx_status sx_ramble_new(sx_map_choices *choices, const sx_map_space *space,
                                    SX_OWN sx_ramble **out);
void sx_ramble_free(SX_TAKE sx_ramble *ramble);

/* The same as for descents; and a bound of all arrays. */
void sx_ramble_arrays(sx_ramble *ramble, const sx_arrays *arrays, const sx_judge *judge, sx_search_node *node,
                      size_t n);
void sx_ramble_any(const sx_ramble *ramble, const sx_judge *judge, sx_search_node *node);
sx_ending sx_ramble_search(sx_ramble *ramble, sx_look *look);

#endif
