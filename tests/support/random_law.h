/* Random laws of the tile pipeline for the tests. */
#ifndef SX_TESTS_RANDOM_LAW_H
#define SX_TESTS_RANDOM_LAW_H

#include "sextant/arch.h"
#include "sextant/rng.h"

/* Draws a law with caches or without; `array`: with an array over one or two dimensions of the problem, and a
 * dimension that streams. */
void sx_random_law(sx_rng *rng, const sx_problem *problem, bool array, sx_law *out);

#endif
