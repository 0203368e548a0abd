/* Random placement graphs and chips. */
#ifndef SX_TESTS_RANDOM_PLACEMENT_H
#define SX_TESTS_RANDOM_PLACEMENT_H

#include "sextant/placement.h"
#include "sextant/rng.h"

/* Draws a graph of 1 to `most` nodes, freed with sx_place_graph_fini, and a chip whose slowest memory holds it.
 */
void sx_random_placement(sx_rng *rng, size_t most, sx_place_graph *graph, sx_chip *chip);

#endif
