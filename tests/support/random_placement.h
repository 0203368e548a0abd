/* Random placement graphs and chips, and what their placements are compared with. */
#ifndef SX_TESTS_RANDOM_PLACEMENT_H
#define SX_TESTS_RANDOM_PLACEMENT_H

#include "sextant/placement.h"
#include "sextant/rng.h"
#include "sextant/run.h"

/* Draws a graph of 1 to `most` nodes, freed with sx_place_graph_fini, and a chip whose slowest memory holds it.
 */
void sx_random_placement(sx_rng *rng, size_t most, sx_place_graph *graph, sx_chip *chip);

/* The least latency of all placements that are valid, or of all that fit by bytes; UINT64_MAX: there is none. */
uint64_t sx_least_latency(const sx_space *space, uint64_t points, bool by_bytes);

/* The run of a search for the least latency, freed with sx_run_free(), and the placement that it found. */
sx_run *sx_fastest_placement(const sx_space *space, const char *navigator, sx_found *found);

#endif
