/* The ways to run a chain in steps: loops, their tiles, what becomes of each tensor. */
#ifndef SX_FUSE_CHAIN_SPACE_H
#define SX_FUSE_CHAIN_SPACE_H

#include "fuse/chain_moments.h"

/* Loops around the layers of a chain, outermost first, as a mask. */
typedef enum sx_chain_nest {
    SX_NEST_NONE = 1,
    SX_NEST_ROW = 2,
    SX_NEST_COLUMN = 4,
    SX_NEST_ROW_COLUMN = 8,
    SX_NEST_CHANNEL = 16,
    SX_NEST_CHANNEL_ROW = 32,
    SX_NEST_ROW_CHANNEL = 64,
} sx_chain_nest;

#define SX_ALL_NESTS 127u

/* Is given a way to run the chain and what it costs by the weights' depths; false ends the listing. */
typedef bool (*sx_chain_visit)(void *data, const sx_chain *chain, const sx_chain_moments *moments);

/* Lists every way to run the layers of a chain together in the given nests: all tile sizes and all
 * choices; the depths of weights are left to the visitor. False when memory is out or the visitor said so. */
bool sx_chain_list(const sx_chain *chain, uint32_t nests, sx_chain_visit visit, void *data);

#endif
