/* Mappings that are built prime factor by prime factor: what is not placed yet is at the outermost level. */
#ifndef SX_MAPPERS_TILING_H
#define SX_MAPPERS_TILING_H

#include "mapspace/map_space.h"
#include "run/navigator.h"

/* A mapping under construction. */
typedef struct sx_tiling {
    const sx_map_space *space;
    bool bare;           /* levels keep only what they must; otherwise all that they may */
    void *point, *saved; /* the mapping, and room for one more */
    uint32_t factor[SX_MAX_DIMS][SX_MAX_SLOTS];
    unsigned x[SX_MAX_LEVELS]; /* dimensions on X */
} sx_tiling;

/* Begins: the least factors everywhere, the rest outermost; false where that is not legal. */
bool sx_tiling_begin(sx_tiling *t, sx_rng *rng);

/* Writes all factors and axes into the point. */
void sx_tiling_write(const sx_tiling *t);

/* Moves a prime of a dimension from one slot to another where the result is legal. */
bool sx_tiling_move(sx_tiling *t, int dim, uint32_t prime, int from, int to);

/* Fills one axis of a level's array with as much of a dimension as fits. */
void sx_tiling_fill_axis(sx_tiling *t, int level, int dim, bool on_x);

/* Fills a level's array with dimensions by preference: the first on X, the second on Y, others on what is left. */
void sx_tiling_fill(sx_tiling *t, int level, const uint8_t *prefer);

/* Orders the loops of a level: those that do not index a tensor inside, so that it stays. Does not normalize. */
void sx_tiling_hold(sx_tiling *t, int level, int tensor);

/* The children in use at all levels together. */
double sx_tiling_spread(const sx_tiling *t);

/* Draws a legal mapping and evaluates it, for a search whose rules found none; false where that fails. */
bool sx_tiling_rescue(sx_run *run, const char *stream, uint64_t number, void *point);

#endif
