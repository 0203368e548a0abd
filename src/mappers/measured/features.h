/* Features of a mapping that a correction of the cost model is learned by. */
#ifndef SX_MAPPERS_MEASURED_FEATURES_H
#define SX_MAPPERS_MEASURED_FEATURES_H

#include "mapspace/map_space.h"

/* How many there are. */
size_t sx_mapping_features_count(const sx_map_space *space);

/* Logarithms of energy and cycles; per level of words moved and held by an instance, instances in use and iterations,
 * and how often 2 divides the tiles. The first two are those of the model; false where the mapping is not legal. `cost`
 * is scratch. */
bool sx_mapping_features(const sx_map_space *space, sx_model_workspace *workspace, const sx_mapping *mapping,
                         sx_cost *cost, double *out);

#endif
