#include "mappers/optimal/spread.h"

#include "mappers/optimal/arrays.h"
#include "model/model.h"

enum { MOST_ARRAYS = 1000000 };

sx_status sx_spread_share(const sx_space *space, double *share, bool *windows) {
    const sx_map_space *map = sx_map_space_of(space);
    *windows = false;
    for (int v = 0; v < map->problem->n_tensors; v++) *windows |= !map->model->shape[v].plain;
    return sx_arrays_share(map, MOST_ARRAYS, share);
}
