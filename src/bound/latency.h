/* Lower bounds of the tile pipeline's latency, by the tile that the outermost boundary launches. */
#ifndef SX_BOUND_LATENCY_H
#define SX_BOUND_LATENCY_H

#include "bound/bound.h"

/* Per point of the lattice of extents, as far as capacities allow such a tile at all (else INFINITY). */
typedef struct sx_latency_bound {
    int level;     /* the boundary's */
    bool cycles;   /* Timeloop's cycles are no more than the latency: no array or bus stands for a level */
    double *tile;  /* no mapping that launches this tile is faster */
    double *least; /* nor one that launches a multiple of it */
} sx_latency_bound;

/* Makes the tables of a model with a law. Level s always keeps what is in must[s], and its temporal loops have at the most
 * the factors most[s]. Freed with sx_latency_bound_free. */
SX_MUST_USE sx_status sx_latency_bound_new(const sx_bound *bound, const uint8_t *must,
                                           const uint32_t (*most)[SX_MAX_DIMS],
                                           SX_OWN sx_latency_bound **out);
/* No mapping of a model with a law is faster, with factors that divide or not; 0 where there are too many tiles to list. must and
 * most are those of sx_latency_bound_new. Of tiles that are launched as often the smallest one is no slower, and has the most
 * room. */
double sx_latency_bound_any(const sx_model *model, const uint8_t *must, const uint32_t (*most)[SX_MAX_DIMS]);
void sx_latency_bound_free(SX_TAKE sx_latency_bound *bound);

/* The spatial factors of a mapping in the making, as points of the lattice: those of levels s up to the boundary's, and the
 * tile that is launched, once it is decided. */
typedef struct sx_launched_tile {
    uint32_t outside[SX_MAX_LEVELS + 1];
    uint32_t point;
} sx_launched_tile;

/* Notes the spatial factors of all levels. */
void sx_launched_tile_begin(const sx_latency_bound *bound, const sx_lattice *lattice,
                            const uint32_t (*spatial)[SX_MAX_DIMS], sx_launched_tile *out);

/* Notes that the tile of level s is that of a point. */
void sx_launched_tile_set(const sx_latency_bound *bound, int s, uint32_t point, sx_launched_tile *tile);

/* No mapping is faster where the tiles of the first n levels are decided, the last of them of that point, and Timeloop's cycles
 * are at least those. */
double sx_launched_tile_least(const sx_latency_bound *bound, const sx_launched_tile *tile, int n,
                              uint32_t point, double cycles);

#endif
