/* Spatial mappings of a space, and what levels may keep with them. */
#ifndef SX_MAPPERS_OPTIMAL_ARRAYS_H
#define SX_MAPPERS_OPTIMAL_ARRAYS_H

#include "bound/bound.h"
#include "space/map_choices.h"

/* Every way to spread loops over the arrays of a space: factors per level and dimension, one after another.
 */
typedef struct sx_arrays {
    const sx_map_space *space;
    size_t n, room;
    uint32_t *factor;
} sx_arrays;

/* Lists the arrays of a space for which some way to lay them on X and Y has room: those whose factors divide,
 * or any; an error where there are more than `most`. */
SX_MUST_USE sx_status sx_arrays_list(sx_map_choices *choices, const sx_map_space *space, bool any,
                                     size_t most, sx_arrays *out);
/* The largest share of the compute units that an array whose factors divide uses; 1 where there are more than
 * `most` arrays. */
SX_MUST_USE sx_status sx_arrays_share(const sx_map_space *space, size_t most, double *out);

void sx_arrays_fini(sx_arrays *arrays);

/* Sets the spatial factors of an outline to those of array `index`. */
void sx_arrays_get(const sx_arrays *arrays, size_t index, sx_outline *outline);

/* Whether the loops of a level, of which those of a mask lie on X, have room there. */
bool sx_array_fits(const sx_map_space *space, int level, const uint32_t *factor, unsigned x);

/* Whether the tiles of some tensors, of these extents, fill a level as far as they must, and no further than
 * they may. */
bool sx_tile_fits(const sx_map_space *space, int level, unsigned keep, const uint32_t *extent);

/* How many ways there are to choose which tensors levels keep, and the choice of a number: a subset of those
 * that are free, from the innermost level outward; false where it keeps a tensor nowhere. */
uint32_t sx_keep_choices(const sx_map_space *space);
bool sx_keep_choice(const sx_map_space *space, uint32_t choice, sx_outline *outline);

/* Whether an outline may lead to something legal, as far as its array and its outermost level tell. */
bool sx_outline_lawful(const sx_map_space *space, const sx_outline *outline);

#endif
