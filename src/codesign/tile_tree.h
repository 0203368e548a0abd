/* Tiles of the innermost memory, each with the smallest choice of memories that holds it. */
#ifndef SX_CODESIGN_TILE_TREE_H
#define SX_CODESIGN_TILE_TREE_H

#include "codesign/search.h"
#include "mappers/sunstone/levels.h"
#include "mappers/sunstone/partial.h"

#define SX_TILE_NOWHERE UINT32_MAX

/* The memories that are chosen: for each its level and its options as levels of a model, in ascending order
 * of size. A combination of them has a number, the sum of option * stride. */
typedef struct sx_tile_memories {
    int n;
    struct {
        int level;
        size_t n_options, stride;
        sx_level *option;
    } memory[SX_MAX_LEVELS];
    size_t n_combinations;
    bool *allowed; /* per combination */
} sx_tile_memories;

/* A candidate tile, and its lower bound with its memories. */
typedef struct sx_tile_node {
    sx_sunstone_item item;
    uint32_t memory;             /* the smallest combination that holds it */
    uint32_t child[SX_MAX_DIMS]; /* those of its children; SX_TILE_NOWHERE: none, or no child */
} sx_tile_node;

/* Appends the nodes (sx_tile_node) of unrolling `root`, which `at` holds, of a plan made for the largest
 * memories; stops at `limit` of them in the list, and with the search. Adds the nodes of the tree that it
 * walks over to *walked.
 */
void sx_tile_tree(const sx_codesign *c, const sx_sunstone *plan, const sx_tile_memories *memories,
                  const sx_sunstone_partial *at, uint64_t root, size_t limit, sx_vector *out,
                  uint64_t *walked);

/* Whether combination a has no memory larger than b has. */
bool sx_tile_within(const sx_tile_memories *memories, uint32_t a, uint32_t b);

/* The option that a combination has of memory number i. */
static inline size_t sx_tile_option(const sx_tile_memories *memories, int i, uint32_t number) {
    return number / memories->memory[i].stride % memories->memory[i].n_options;
}

#endif
