/* What flows between levels cost, at the prices of reading, filling and updating a word. */
#ifndef SX_BOUND_PRICE_H
#define SX_BOUND_PRICE_H

#include "bound/bound.h"

/* What a word costs in some measure: read, filled and updated at a level, and on its way into the level over the
 * network outside it. */
typedef struct sx_access_cost {
    double read, fill, update, hops;
} sx_access_cost;

/* A flow of a tensor between two levels that keep it (from -1: the compute units), at prices. */
typedef struct sx_transfer {
    int v, from, to;
    double read, fill; /* at the outer and at the inner level; fill: with the way there */
    double spared;     /* of fill, what the first words of an output do not cost */
    double peer;       /* read at the inner level for a neighbour */
    double instances;  /* of the outer level in use */
} sx_transfer;

sx_transfer sx_transfer_make(const sx_outline_bound *bounds, int tensor, int from, int to,
                             const sx_access_cost *prices);

/* What a flow costs at the least, per unit of `times`. */
typedef struct sx_transfer_price {
    double moves; /* where the loop outside the tile moves it */
    double extra; /* on top of that without irrelevant loops */
    double stays; /* where that loop is irrelevant */
} sx_transfer_price;

/* A loop that moves the tile is on one of some dimensions. */
sx_transfer_price sx_transfer_cost(const sx_transfer *route, const sx_least_traffic *traffic, unsigned dims);

/* What is taken off of a flow whatever its form: for rounding, and for the first reads and fills of an output. */
double sx_transfer_spared(sx_outline_bound *bounds, const sx_transfer *route, const sx_access_cost *prices);

/* What is taken off for the rounding of a flow of which children get different parts, for some form of the tile. */
double sx_transfer_rounding(const sx_outline_bound *bounds, const sx_transfer *route,
                            const sx_least_traffic *traffic);

/* What a word of a tensor costs at every level, in energy. */
void sx_access_cost_energy(const sx_outline_bound *bounds, int tensor, sx_access_cost *prices);

#endif
