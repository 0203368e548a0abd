/* Spatial mappings of a space, and what levels may keep with them. */
#ifndef SX_MAPPERS_OPTIMAL_SPATIAL_MAPPINGS_H
#define SX_MAPPERS_OPTIMAL_SPATIAL_MAPPINGS_H

#include "bound/bound.h"
#include "mapspace/map_choices.h"

/* The spatial mappings of a space: factors per level and dimension, one after another.
 */
typedef struct sx_spatial_mappings {
    const sx_map_space *space;
    size_t n, room;
    uint32_t *factor;
    bool halted; /* the list was ended early: it is empty, and nothing is known of what it would hold */
} sx_spatial_mappings;

/* Lists the spatial mappings of a space for which some way to lay them on X and Y has room, and whose first compute unit
 * has no more than `longest` iterations: those whose factors divide, or any; an error where there are more than `most`.
 * halt: NULL, or what may end it early. */
SX_MUST_USE sx_status sx_spatial_mappings_list(sx_map_choices *choices, const sx_map_space *space, bool any,
                                               size_t most, double longest, const sx_interrupt *halt,
                                               sx_spatial_mappings *out);
/* The largest share of the compute units that a spatial mapping whose factors divide uses; 1 where there are
 * more than a million spatial mappings. */
SX_MUST_USE sx_status sx_spatial_mappings_utilization(const sx_map_space *space, double *out);

void sx_spatial_mappings_fini(sx_spatial_mappings *spatials);

/* Sets the spatial factors of an outline to those of spatial mapping `index`. */
void sx_spatial_mappings_get(const sx_spatial_mappings *spatials, size_t index, sx_outline *outline);

/* Whether the tiles of some tensors, of these extents, fill a level as far as they must, and no further than
 * they may. */
bool sx_tile_fits(const sx_map_space *space, int level, unsigned keep, const uint32_t *extent);

/* How many ways there are to choose which tensors levels keep, and the choice of a number: a subset of those
 * that are free, from the innermost level outward; false where it keeps a tensor nowhere. */
uint32_t sx_keep_choices(const sx_map_space *space);
bool sx_keep_choice(const sx_map_space *space, uint32_t choice, sx_outline *outline);

/* Whether an outline may lead to something legal, as far as its spatial mapping and its outermost level tell.
 */
bool sx_outline_legal(const sx_map_space *space, const sx_outline *outline);

#endif
