/* The law of the tile pipeline for one machine and problem, after the text of docs/latency.md. */
#ifndef SX_CHECK_TILE_LAW_H
#define SX_CHECK_TILE_LAW_H

#include "check/case.h"

typedef struct sx_check_tile_law {
    const sx_check_case *c;
    const sx_law *law;
    bool array;
    unsigned stationary;                         /* dimensions of the operand that stays */
    int stream;                                  /* dimension along which instructions run; -1: none */
    int64_t place[SX_MAX_DIMS];                  /* of the array along a dimension; 1 where it has none */
    unsigned dims[SX_MAX_TENSORS];               /* that index a tensor */
    uint8_t order[SX_MAX_TENSORS][SX_MAX_RANKS]; /* ranks as they lie in memory, outermost first */
    double bytes[SX_MAX_TENSORS];                /* of an element */
    double load_bus, store_time;
} sx_check_tile_law;

/* A tile that is launched: its extents, how often along each dimension, the tensors that pass the port, and the computes of all
 * launches one after the other. */
typedef struct sx_check_tile {
    int64_t extent[SX_MAX_DIMS], times[SX_MAX_DIMS];
    unsigned kept;
    double steps;
} sx_check_tile;

/* Makes the law of a case that has one. */
void sx_check_tile_law_init(const sx_check_case *c, sx_check_tile_law *out);

/* The latency of all launches of a tile, with loops in an order, innermost first; NULL: caches miss nothing. */
double sx_check_tile_latency(const sx_check_tile_law *law, const sx_check_tile *tile, const uint8_t *order);

/* The least of it over all orders of the loops. */
double sx_check_tile_best_order(const sx_check_tile_law *law, const sx_check_tile *tile);

#endif
