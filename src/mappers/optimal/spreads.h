/* A lower bound of all mappings by the compute units that they use. */
#ifndef SX_MAPPERS_OPTIMAL_SPREADS_H
#define SX_MAPPERS_OPTIMAL_SPREADS_H

#include "mappers/optimal/plan.h"

/* The least value of a mapping whose factors divide, by how it spreads the dimensions over the compute units: the cycles on
 * these units, and the energy of o->root with what it takes to hand them their operands. -INFINITY where there are too many
 * ways to spread them. */
double sx_optimal_least_spread(const sx_optimal *o);

/* The same of one spread: its least energy and cycles. */
sx_score sx_optimal_spread_score(const sx_optimal *o, const double *spread);

#endif
