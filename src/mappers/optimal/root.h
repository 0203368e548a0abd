/* Lower bounds of all mappings that need no list and no table: the compulsory minimum, and what the compute units in use make of
 * it. A search for which a certificate is wanted does without them. */
#ifndef SX_MAPPERS_OPTIMAL_ROOT_H
#define SX_MAPPERS_OPTIMAL_ROOT_H

#include "mappers/optimal/plan.h"

/* Sets o->root, o->access and o->least_spread by o->space and o->rule. */
SX_MUST_USE sx_status sx_optimal_find_root(sx_optimal *o);

/* The least energy and cycles of a mapping whose factors divide and that spreads dimensions so over compute units: the cycles on
 * these units, and the energy of o->root with what it takes to hand them their operands. */
sx_score sx_optimal_spread_score(const sx_optimal *o, const double *spread);

/* The largest factors of temporal loops. */
void sx_optimal_find_most(const sx_map_space *space, uint32_t (*most)[SX_MAX_DIMS]);

#endif
