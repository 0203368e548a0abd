/* The size of a map space, beyond its raw size. */
#ifndef SX_MAPSPACE_MAP_SIZE_H
#define SX_MAPSPACE_MAP_SIZE_H

#include "mapspace/map_space.h"

/* How many ways there are to split all dimensions, order all loops and lay them on X and Y, where loops of
 * one iteration have no place (`units`), and where moreover orders that no cost tells apart count once
 * (`classes`). With relative standard errors where they are estimated, else 0. */
typedef struct sx_map_reduced {
    sx_cardinal units, classes;
    double units_error, classes_error;
} sx_map_reduced;

/* `bound`: no fewer than any of them. */
SX_MUST_USE sx_status sx_map_reduce(const sx_map_space *space, const sx_cardinal *bound, sx_map_reduced *out);

/* A level's part of the raw size. */
sx_u128 sx_map_raw_orders(const sx_map_space *space, int level);
sx_u128 sx_map_raw_layouts(const sx_map_space *space, int level);
sx_u128 sx_map_raw_keeps(const sx_map_space *space, int level);
sx_u128 sx_map_raw_banks(const sx_map_space *space, int level);

#endif
