/* What the files of the bounds share. */
#ifndef SX_BOUND_PARTS_H
#define SX_BOUND_PARTS_H

#include "bound/bound.h"

/* What a word costs in some measure: read, filled and updated at a level. */
typedef struct sx_price {
    double read, fill, update;
} sx_price;

/* A flow of a tensor between two levels that keep it (from -1: the compute units), at prices. */
typedef struct sx_route {
    int v, from, to;
    double read, fill; /* at the outer and at the inner level */
    double peer;       /* read at the inner level for a neighbour */
    double instances;  /* of the outer level's array */
} sx_route;

sx_route sx_route_make(const sx_rest *rest, int tensor, int from, int to, const sx_price *prices);

/* The cost of a flow per unit of `times`, at the least; *extra: what comes on top where there are no idle
 * spatial loops outside. */
double sx_route_cost(const sx_route *route, const sx_pull *pull, double *extra);

/* What is taken off for the rounding of a flow, and for the first reads and fills of an output. */
double sx_route_spared(const sx_rest *rest, const sx_route *route, const sx_price *prices);

/* What a word of a tensor costs at every level, in energy. */
void sx_price_energy(const sx_rest *rest, int tensor, sx_price *prices);

/* Sets the outline and, where its array is a new one, what follows from that. */
void sx_rest_outline(sx_rest *rest, const sx_outline *outline);

/* The score of an energy without leakage and of the largest use of a port. */
sx_score sx_rest_score(const sx_rest *rest, double energy, double cycles);

/* Numbers the tiles that the array of the outline leaves, unless they are. */
void sx_rest_number(sx_rest *rest);

/* Makes the tables of energy for levels from `level` outward alone. */
void sx_rest_outer(sx_rest *rest, int level);

/* Takes the least over all multiples in some dimensions. */
void sx_lattice_ascend(const sx_lattice *lattice, unsigned dims, double *at);

/* What quick bounds share (outer.c). */
void sx_outers_free(SX_TAKE sx_outers *outers);
size_t sx_place_size(void);

/* Whether the tiles of the tensors that a level keeps fit at a point. */
bool sx_bound_fits(const sx_bound *bound, int level, unsigned keep, uint32_t point);

#endif
