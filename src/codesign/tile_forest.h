/* All tiles of a layer under one shape of the arrays, with the memories they need. */
#ifndef SX_CODESIGN_TILE_FOREST_H
#define SX_CODESIGN_TILE_FOREST_H

#include "codesign/search.h"
#include "codesign/tile_tree.h"

typedef struct sx_tile_forest {
    bool usable; /* the layer can be searched on the largest memories */
    bool flat;   /* there is but one memory to fill: no tiles are listed, only unrollings */
    int n_memories;
    sx_sunstone_memory memory[SX_MAX_LEVELS];
    uint8_t keep[SX_MAX_LEVELS];
    sx_tile_memories chosen;         /* those of the innermost memory */
    size_t parameter[SX_MAX_LEVELS]; /* the choices that they are */
    bool *apart;                     /* per combination: it is to be searched by itself, memories differ */
    sx_vector roots;                 /* unrollings */
    sx_vector nodes;                 /* sx_tile_node, the cheapest first */
} sx_tile_forest;

/* Builds the tile trees of a target under the shape that a design has; `like` marks the designs of that
 * shape. */
SX_MUST_USE sx_status sx_tile_forest_init(sx_codesign *c, size_t target, size_t design, const bool *like,
                                          sx_tile_forest *out);
void sx_tile_forest_fini(sx_tile_forest *forest);

/* The combination that a design has. */
uint32_t sx_tile_forest_number(const sx_tile_forest *forest, const sx_designs *designs, size_t design);

/* Whether a plan has the memories of the tile forest. */
bool sx_tile_forest_matches(const sx_tile_forest *forest, const sx_sunstone *plan);

/* Whether a node is a candidate for a combination: `own`, that is its smallest; or it fits, and no child of
 * it does. */
bool sx_tile_forest_candidate(const sx_tile_forest *forest, const sx_tile_node *node, uint32_t number,
                              bool own);

#endif
