/* What hops over the network between two levels cost at the least. */
#ifndef SX_BOUND_NETWORK_H
#define SX_BOUND_NETWORK_H

#include "bound/bound.h"

/* The energy that a word of a tensor handed to a child of a level spends on hops, at the least on average; 0 where that
 * is not known. */
double sx_network_word(const sx_outline_bound *bounds, int tensor, int level);

#endif
