/* An executor of the tile pipeline: tiles move through loading, computing and storing, event by event. */
#ifndef SX_TESTS_TILE_EXECUTOR_H
#define SX_TESTS_TILE_EXECUTOR_H

/* What a boundary does with each of its tiles, in cycles. */
typedef struct sx_tile_stages {
    double load, compute, store;
} sx_tile_stages;

/* The cycle at which the last of n tiles is stored: a tile is launched no sooner than `launch` after the one before, and
 * only when fewer than `slots` tiles (below 1: any number) are launched and not stored; each stage holds one tile at a
 * time and takes them in order. */
double sx_execute_tiles(unsigned n, const sx_tile_stages *tile, double launch, unsigned slots);

#endif
