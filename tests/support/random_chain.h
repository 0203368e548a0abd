/* Random chains with windows. */
#ifndef SX_TESTS_RANDOM_CHAIN_H
#define SX_TESTS_RANDOM_CHAIN_H

#include "looptree/chain.h"
#include "sextant/rng.h"

/* Draws the layers of a chain: at most a given number of rows, columns and layers; false where nothing is left of a tensor. */
bool sx_random_chain_layers(sx_rng *rng, int largest, int layers, sx_chain *chain);

/* Draws layers, loops and choices. */
bool sx_random_chain(sx_rng *rng, sx_chain *chain);

/* Whether the channel loop may cut tensors up to `sliced`: the last of a run of depthwise layers after the first; what
 * follows the sums has no window. */
bool sx_chain_may_slice(const sx_chain *chain, int sliced);

/* Says what a chain is, so that a failure can be seen. */
void sx_print_chain(const sx_chain *chain);

#endif
