/* The best ways to run a chain for every size of the memory on chip: which layers run together, and how. */
#ifndef SX_LOOPTREE_CHAIN_SEARCH_H
#define SX_LOOPTREE_CHAIN_SEARCH_H

#include "looptree/chain_space.h"

/* A step of a staircase: with `size` words on chip, and no fewer, `words` pass to and from DRAM. */
typedef struct sx_chain_step {
    uint64_t size, words;
    sx_chain chain; /* of a segment's staircase: the way to run it */
    uint32_t cuts;  /* of a whole chain's: tensors that pass through DRAM, as a mask */
} sx_chain_step;

typedef struct sx_chain_answer {
    sx_vector segment[SX_MAX_CHAIN + 1]
                     [SX_MAX_CHAIN + 1]; /* sx_chain_step, by first and last layer (from 1), run together */
    sx_vector steps;                     /* sx_chain_step: of the chain, cut where that pays */
} sx_chain_answer;

typedef struct sx_chain_options {
    uint32_t nests; /* sx_chain_nest */
    uint64_t least,
        limit; /* words on chip: sizes up to `least` are not told apart, those above `limit` not wanted */
} sx_chain_options;

/* Finds the staircases of a chain and of all its segments, by complete search. Freed with sx_chain_answer_fini, also after a
 * failure: false when memory is out. */
bool sx_chain_search(const sx_chain *chain, const sx_chain_options *options, sx_chain_answer *answer);
void sx_chain_answer_fini(sx_chain_answer *answer);

/* The step of a staircase for a memory of a size; NULL: nothing fits. */
const sx_chain_step *sx_chain_step_at(const sx_vector *steps, uint64_t size);

#endif
