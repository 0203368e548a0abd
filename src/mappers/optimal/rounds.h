/* The rounds of a search by the mapper `optimal`. */
#ifndef SX_MAPPERS_OPTIMAL_ROUNDS_H
#define SX_MAPPERS_OPTIMAL_ROUNDS_H

#include "mappers/optimal/plan.h"

/* Makes what rounds need beside the plan; and frees it. */
SX_MUST_USE sx_status sx_optimal_prepare(sx_optimal *o);
void sx_optimal_finish(sx_optimal *o);

/* Bounds all spatial mappings whose factors divide, each by itself, without regard to limits of the run. */
SX_MUST_USE sx_status sx_optimal_bounds(sx_optimal *o, sx_search_node *node);

/* The steps that putting all spatial mappings whose factors divide into the heap counts for. */
uint64_t sx_optimal_list_steps(const sx_optimal *o);

/* The steps of those that are open once a mapping near the least of all is known, by a sample where they are many. */
uint64_t sx_optimal_likely_steps(const sx_optimal *o);

/* Begins the search for the current criterion: puts these into the heap, unless that is done, and bounds what is not
 * in it. */
SX_MUST_USE sx_status sx_optimal_begin(sx_optimal *o);

/* Whether a run is over, for what asks from time to time. */
bool sx_optimal_over(void *run);

/* Lists the spatial mappings with remainders, unless they are too many or the run is over. */
SX_MUST_USE sx_status sx_optimal_list_remainders(sx_optimal *o);

/* States the compulsory minimum as a bound; whether it closes the search, as the best so far reaches it. */
bool sx_optimal_at_root(sx_optimal *o);

/* Reads what is known for the current criterion, and states a lower bound of the first criterion: what is
 * open, what is known, and what the gap gave up. */
void sx_optimal_report_bound(sx_optimal *o);

/* Searches for the optimum of the current criterion; *all: nothing is left. */
SX_MUST_USE sx_status sx_optimal_search(sx_optimal *o, bool *all);

#endif
