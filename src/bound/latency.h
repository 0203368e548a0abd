/* Lower bounds of the tile pipeline's latency, by the tile that the outermost boundary launches. */
#ifndef SX_BOUND_LATENCY_H
#define SX_BOUND_LATENCY_H

#include "bound/bound.h"

/* Per point of the lattice of extents, as far as capacities allow such a tile at all (else INFINITY). */
typedef struct sx_latency_bound {
    int level;     /* the boundary's */
    double *tile;  /* no mapping that launches this tile is faster */
    double *least; /* nor one that launches a multiple of it */
} sx_latency_bound;

/* Makes the tables of a model with a law. Level s always keeps what is in must[s], and has no temporal loops where
 * bare[s]. Freed with sx_latency_bound_free. */
SX_MUST_USE sx_status sx_latency_bound_new(const sx_bound *bound, const uint8_t *must, const bool *bare,
                                           SX_OWN sx_latency_bound **out);
void sx_latency_bound_free(SX_TAKE sx_latency_bound *bound);

#endif
