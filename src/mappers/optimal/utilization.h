/* The utilization that perfect factors can reach, for choosing the space. */
#ifndef SX_MAPPERS_OPTIMAL_UTILIZATION_H
#define SX_MAPPERS_OPTIMAL_UTILIZATION_H

#include "sextant/space.h"

/* The largest share of the compute units that a mapping of a map space can use whose tiles divide; 1 where
 * there are too many ways to spread the loops to look at them. */
SX_MUST_USE sx_status sx_max_utilization(const sx_space *space, double *share);

#endif
