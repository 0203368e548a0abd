/* The ways to run a chain in steps: loops, their tiles, what becomes of each tensor. */
#ifndef SX_LOOPTREE_CHAIN_SPACE_H
#define SX_LOOPTREE_CHAIN_SPACE_H

#include "looptree/chain_moments.h"

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

/* Who is given the ways to run a chain. */
typedef struct sx_chain_visitor {
    void *data;
    /* Whether a way that takes at least `size` words on chip, weights at other layers' times not counted, is of use; NULL:
     * all are. */
    bool (*wants)(void *data, uint64_t size);
    /* Is given a way and what it costs by the weights' depths; false ends the listing. */
    bool (*visit)(void *data, const sx_chain *chain, const sx_chain_moments *moments);
} sx_chain_visitor;

/* Lists every way to run the layers of a chain together in the given nests: all tile sizes and all choices that the
 * visitor wants; the depths of weights are left to it. False when memory is out or the visitor said so. */
bool sx_chain_list(const sx_chain *chain, uint32_t nests, const sx_chain_visitor *visitor);

#endif
