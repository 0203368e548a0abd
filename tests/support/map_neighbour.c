#include "map_neighbour.h"

#include "mapspace/map_parts.h"

bool sx_map_neighbour(const sx_space *space, const void *point, size_t index, void *out) {
    sx_map_walk walk = {.space = sx_map_space_of(space), .point = point};
    for (size_t i = 0; i <= index; i++)
        if (!sx_map_walk_next(&walk, out)) return false;
    return true;
}
