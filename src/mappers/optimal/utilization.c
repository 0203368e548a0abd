#include "mappers/optimal/utilization.h"

#include "mappers/optimal/spatial_mappings.h"

enum { MOST_ARRAYS = 1000000 };

sx_status sx_max_utilization(const sx_space *space, double *share) {
    return sx_spatial_mappings_utilization(sx_map_space_of(space), MOST_ARRAYS, share);
}
