/* Map spaces for tests of mappers. */
#ifndef SX_TESTS_SMALL_MAP_H
#define SX_TESTS_SMALL_MAP_H

#include "mapspace/map_space.h"
#include "sextant/run.h"
#include "space/recorder.h"

/* A map space with its model, and a recorder in front of it. */
typedef struct sx_small_map {
    sx_model *model;
    sx_space *space;
    const sx_map_space *map;
    sx_recorder *recorder;
} sx_small_map;

/* Opens the space of an einsum on an architecture (of the catalog, or a text in Timeloop's dialect);
 * constraints and options may be NULL. */
void sx_small_map_open(sx_small_map *map, const char *einsum, const char *arch,
                       const sx_constraints *constraints, const sx_map_space_options *options);
void sx_small_map_close(sx_small_map *map);

/* Searches on one thread while the recorder looks on; returns how it went. *best (may be NULL) is the best
 * value, INFINITY where nothing was found. */
sx_run_summary sx_small_map_search(sx_small_map *map, const char *navigator, uint64_t seed,
                                   uint64_t evaluations, double *best);

/* Point number `index` of those that were looked at, NULL past the last. */
const sx_mapping *sx_small_map_point(const sx_small_map *map, size_t index);

/* Whether a level of a mapping holds a tensor: the loops that do not index it are inside those that do. */
bool sx_small_map_holds(const sx_small_map *m, const sx_mapping *mapping, int level, int tensor);

#endif
