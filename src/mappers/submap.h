/* The mappings that share one factorisation, numbered as in Timeloop: permutations of the temporal loops, ways to lay
 * spatial loops on X and Y, choices of kept tensors. */
#ifndef SX_MAPPERS_SUBMAP_H
#define SX_MAPPERS_SUBMAP_H

#include "mapspace/map_choices.h"
#include "run/navigator.h"

enum {
    SX_MAX_MASKS = 4096,   /* choices of what to keep; further ones are left out */
    SX_MAX_SPREADS = 1024, /* ways to lay the spatial loops of one level, likewise */
};

/* The choices of a level. */
typedef struct sx_submap_level {
    uint32_t loops;                      /* dimensions with temporal loops */
    uint64_t n_orders;                   /* of these */
    const uint8_t (*order)[SX_MAX_DIMS]; /* NULL: all permutations */
    int n_layouts; /* ways to lay spatial loops on X that fit the array; 0: it has none */
    uint16_t on_x[SX_MAX_SPREADS];
    int n_keeps;
    sx_map_keep keep[256];
    uint32_t extent[SX_MAX_DIMS]; /* of the tile */
    uint8_t fits[256];            /* whether it has room for them, as far as it was asked */
} sx_submap_level;

/* The mappings of a factorisation. */
typedef struct sx_submap {
    const sx_map_space *space;
    sx_map_choices *choices;
    bool classes; /* only one order of each class of orders with equal cost */
    void *point;
    uint64_t n_orders; /* UINT64_MAX: as many or more */
    uint64_t n_layouts, n_masks;
    sx_submap_level level[SX_MAX_LEVELS];
    uint8_t spreads;            /* whether the array has the units in use, as far as it was tried */
    uint8_t fits[SX_MAX_MASKS]; /* whether a choice of what to keep fits, as far as it was tried */
} sx_submap;

/* Whether something fits, as far as it was tried. */
enum { SX_FIT_UNKNOWN, SX_FIT_YES, SX_FIT_NO };

/* Begins with a drawn point, whose factors are then set one after another. */
void sx_submap_begin(sx_submap *map, sx_rng *rng);

/* Finds the ways to lay the point's spatial loops; false where the array cannot hold them. */
bool sx_submap_lay(sx_submap *map, sx_worker *worker);

/* Finds the orders and the choices of what to keep; false where the run has failed. */
bool sx_submap_open(sx_submap *map, sx_worker *worker);

/* Gives all levels order number `index`, or, with a generator, random ones; lays all spatial loops by spread number
 * `index`. */
void sx_submap_set_orders(sx_submap *map, uint64_t index, sx_rng *rng);
void sx_submap_set_layout(sx_submap *map, uint64_t index);

/* Whether choice number `index` of what all levels keep fits, 0 the most; SX_FIT_UNKNOWN where the point must be asked,
 * by the next function. */
int sx_submap_fits(sx_submap *map, uint64_t index);

/* Lets all levels keep choice number `index`; false where that does not fit. */
bool sx_submap_keep(sx_submap *map, uint64_t index);

/* Choice number `index` as sx_core_scorer_keep takes it. */
uint64_t sx_submap_kept(const sx_submap *map, uint64_t index);

#endif
