#include "mappers/optimal/utilization.h"

#include "mappers/optimal/spatial_mappings.h"
#include "model/model.h"

enum { MOST_ARRAYS = 1000000 };

sx_status sx_max_utilization(const sx_space *space, double *share, bool *windows) {
    const sx_map_space *map = sx_map_space_of(space);
    *windows = false;
    for (int v = 0; v < map->problem->n_tensors; v++) *windows |= !map->model->shape[v].plain;
    return sx_spatial_mappings_utilization(map, MOST_ARRAYS, share);
}
