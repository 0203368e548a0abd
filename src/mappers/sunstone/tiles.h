/* Which tiles a memory may hold. */
#ifndef SX_MAPPERS_SUNSTONE_TILES_H
#define SX_MAPPERS_SUNSTONE_TILES_H

#include "base/vector.h"
#include "mapspace/map_space.h"
#include "model/model.h"
#include "sextant/navigator.h"

/* The divisors of a problem's dimensions, ascending. */
typedef struct sx_sunstone_divisors {
    uint32_t n[SX_MAX_DIMS];
    uint32_t *of[SX_MAX_DIMS];
} sx_sunstone_divisors;

SX_MUST_USE sx_status sx_sunstone_divisors_init(const sx_problem *problem, sx_sunstone_divisors *out);
void sx_sunstone_divisors_fini(sx_sunstone_divisors *divisors);

/* The least divisor of a dimension beyond `after` (0: any) that divides what is left of it too; 0 where there
 * is none. */
static inline uint32_t sx_sunstone_next(const sx_sunstone_divisors *divisors, int dim, uint32_t after,
                                        uint32_t left) {
    for (uint32_t i = 0; i < divisors->n[dim]; i++) {
        uint32_t f = divisors->of[dim][i];
        if (f > after && left % f == 0) return f;
    }
    return 0;
}

/* What tiles must fit into: the levels of a memory and, as far as these are not roomier, those around it. */
typedef struct sx_sunstone_room {
    const sx_map_space *space;
    const uint8_t *keep; /* per level of the architecture, the tensors that it keeps */
    int n_levels;
    uint8_t level[SX_MAX_LEVELS];
    uint32_t inner[SX_MAX_LEVELS][SX_MAX_DIMS]; /* how far the tile 1 reaches at each of these */
} sx_sunstone_room;

/* Whether a tile fits. */
bool sx_sunstone_fits(const sx_sunstone_room *room, const uint32_t *tile);

/* A tile: factors of the dimensions. */
typedef struct sx_sunstone_tile {
    uint32_t factor[SX_MAX_DIMS];
} sx_sunstone_tile;

/* Appends the tiles that fit, of factors that divide what is left and are at most `most`, to a list of
 * sx_sunstone_tile; with `maximal`, those that could not be larger in any dimension. None where not even the
 * tile 1 fits. Stops at `limit` of them, and where `worker` (may be NULL) is told to stop. */
void sx_sunstone_tiles(const sx_sunstone_room *room, const sx_sunstone_divisors *divisors,
                       const uint32_t *left, const uint32_t *most, bool maximal, size_t limit,
                       sx_worker *worker, sx_vector *out);

#endif
