/* What the files of the bounds share. */
#ifndef SX_BOUND_PARTS_H
#define SX_BOUND_PARTS_H

#include "bound/bound.h"

/* What a word costs in some measure: read, filled and updated at a level. */
typedef struct sx_access_cost {
    double read, fill, update;
} sx_access_cost;

/* A flow of a tensor between two levels that keep it (from -1: the compute units), at prices. */
typedef struct sx_transfer {
    int v, from, to;
    double read, fill; /* at the outer and at the inner level */
    double peer;       /* read at the inner level for a neighbour */
    double instances;  /* of the outer level in use */
} sx_transfer;

sx_transfer sx_transfer_make(const sx_outline_bound *bounds, int tensor, int from, int to,
                             const sx_access_cost *prices);

/* The cost of a flow per unit of `times`, at the least; *extra: what comes on top where there are no idle
 * spatial loops outside. */
double sx_transfer_cost(const sx_transfer *route, const sx_least_traffic *traffic, double *extra);

/* What is taken off for the rounding of a flow, and for the first reads and fills of an output. */
double sx_transfer_spared(const sx_outline_bound *bounds, const sx_transfer *route,
                          const sx_access_cost *prices);

/* What a word of a tensor costs at every level, in energy. */
void sx_access_cost_energy(const sx_outline_bound *bounds, int tensor, sx_access_cost *prices);

/* Sets the outline and, where its spatial mapping is a new one, what follows from that. */
void sx_outline_bound_set(sx_outline_bound *bounds, const sx_outline *outline);

/* The score of an energy without leakage and of the largest use of a port. */
sx_score sx_outline_bound_score(const sx_outline_bound *bounds, double energy, double cycles);

/* Numbers the tiles that the spatial mapping of the outline leaves, unless they are. */
void sx_outline_bound_number(sx_outline_bound *bounds);

/* Makes the tables of energy for levels from `level` outward alone. */
void sx_outline_bound_outer(sx_outline_bound *bounds, int level);

/* Takes the least over all multiples in some dimensions. */
void sx_lattice_ascend(const sx_lattice *lattice, unsigned dims, double *at);

/* What quick bounds share (outer.c). */
void sx_outer_tables_free(SX_TAKE sx_outer_tables *outer_tables);
size_t sx_place_size(void);

/* Whether the tiles of the tensors that a level keeps fit at a point. */
bool sx_bound_fits(const sx_bound *bound, int level, unsigned keep, uint32_t point);

#endif
