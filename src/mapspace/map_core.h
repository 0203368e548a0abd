/* Map spaces and their points as the core takes them. */
#ifndef SX_MAPSPACE_MAP_CORE_H
#define SX_MAPSPACE_MAP_CORE_H

#include "core/engine.h"
#include "mapspace/map_space.h"
#include "model/core_model.h"

/* Makes the core's model of a space: what levels keep always, or may, and the room of arrays within arrays. NULL, or why the
 * core does not cover the space: a clause. */
const char *sx_map_core_model(const sx_map_space *space, sx_core_model *out);

/* The loops of a mapping and what its levels keep; false where the core does not cover it. Rows are not set. */
bool sx_map_core_nest(const sx_map_space *space, const sx_mapping *mapping, sx_core_nest *out);

/* The cells of a split of a dimension, by its factors in all slots: n_levels of them. */
void sx_map_core_cells(const sx_map_space *space, const uint32_t *factor, sx_core_cell *out);

/* Makes what compact points of a space need. NULL, or why they do not cover it: a clause. */
const char *sx_map_core_space(const sx_map_space *space, sx_core_space *out);

/* Lists the splits of all dimensions, in fresh memory; NULL in *out where there are too many, or none that levels can hold. */
SX_MUST_USE sx_status sx_map_core_splits(const sx_map_space *space, const sx_core_space *core,
                                         SX_OWN sx_core_splits **out);

/* From compact points to those of the space, and back. What a point does not say, such as the places of dimensions without loops,
 * is drawn. */
void sx_map_expand(const sx_map_space *space, const sx_core_space *core, const sx_compact_level *compact,
                   void *point);
void sx_map_compact(const sx_map_space *space, const sx_core_space *core, const void *point, sx_core_rng *rng,
                    sx_compact_level *compact);

/* Whether any bytes are a compact point of the space. */
bool sx_map_compact_holds(const sx_core_space *core, const sx_compact_level *compact);

#endif
