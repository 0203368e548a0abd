/* Local search around the incumbent of the mapper `optimal`. */
#ifndef SX_MAPPERS_OPTIMAL_POLISH_H
#define SX_MAPPERS_OPTIMAL_POLISH_H

#include "mappers/optimal/heuristics.h"

/* Improves on the incumbent by local search, where time is limited and one best mapping by one criterion is wanted;
 * with few evaluations where the incumbent is old (`stale`). */
void sx_polish(const sx_heuristics *start, sx_polish_state *at, bool stale);

#endif
