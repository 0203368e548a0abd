/* The neighbours of a point of a map space by their numbers. */
#ifndef SX_TESTS_MAP_NEIGHBOUR_H
#define SX_TESTS_MAP_NEIGHBOUR_H

#include "sextant/space.h"

/* Neighbour number `index`, in the order of a walk (mapspace/map_parts.h); false past the last. */
bool sx_map_neighbour(const sx_space *space, const void *point, size_t index, void *out);

#endif
