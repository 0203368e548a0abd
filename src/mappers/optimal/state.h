/* The state of a search by the mapper `optimal`, which checkpoints keep. */
#ifndef SX_MAPPERS_OPTIMAL_STATE_H
#define SX_MAPPERS_OPTIMAL_STATE_H

#include "mappers/optimal/plan.h"

/* Makes the state of a search that has no list of spatial mappings yet, or takes that of a checkpoint. */
SX_MUST_USE sx_status sx_optimal_state_begin(sx_optimal *o);

/* Adds the parts whose size depends on that list, or finds those of the checkpoint. */
SX_MUST_USE sx_status sx_optimal_state_complete(sx_optimal *o);

/* Puts a node into the heap; false when memory is out. */
bool sx_optimal_push(sx_optimal *o, const sx_search_node *node);

/* Remembers a point that stands for the current criterion, where it is better than before. */
void sx_optimal_keep(sx_optimal *o, double value, const sx_score *score, const void *point);

#endif
