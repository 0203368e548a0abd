/* Complete mappings: their last choices, and their evaluation. */
#ifndef SX_MAPPERS_OPTIMAL_LEAF_H
#define SX_MAPPERS_OPTIMAL_LEAF_H

#include "mappers/optimal/nodes.h"

/* Where a mapping is complete but for the place of its spatial loops on X and Y (leaf.c). */
typedef struct sx_leaf {
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_cutoff *cutoff;
    sx_worker *worker;
    void *point;
    uint32_t windows;  /* the dimensions that share ranks of a tensor with others */
    bool over, failed; /* the run has ended; memory is out */
    const uint16_t *layout[SX_MAX_LEVELS];
    size_t n_layouts[SX_MAX_LEVELS];
    bool layout_matters[SX_MAX_LEVELS]; /* X and Y matter */
} sx_leaf;

/* Begins mappings of an outline on a worker: all above it is set. */
void sx_leaf_begin(sx_leaf *leaf, const sx_outline *outline);

/* Gives a level what the outline keeps; false where its banks cannot be distributed so, or it would hold more
 * than it can or less than it must. */
bool sx_leaf_keep(const sx_leaf *leaf, int level, uint8_t keep, const uint32_t *extent);

/* The orders of a level whose loops are set; NULL where they cannot be listed: then the run has failed. */
const uint8_t (*sx_leaf_orders(sx_leaf *leaf, int level, size_t *n))[SX_MAX_DIMS];

/* Evaluates the mapping in all ways to lay its spatial loops that can differ. */
void sx_leaf_evaluate(sx_leaf *leaf);

/* The loops beyond one iteration among a level's factors, as a mask of dimensions. */
uint32_t sx_leaf_loops(const sx_map_space *space, const uint32_t *factor);

/* The orders of a point's level that differ in cost; as sx_map_orders_of. */
const uint8_t (*sx_leaf_orders_of(const sx_map_space *space, sx_map_choices *choices, void *point, int level,
                                  size_t *n))[SX_MAX_DIMS];

/* The dimensions that share ranks of a tensor with others, or are in several. And whether, with these, a cost can tell
 * how a level's spatial loops (a mask) are laid on X and Y. */
uint32_t sx_leaf_windows(const sx_model *model);
bool sx_leaf_layout_matters(const sx_map_space *space, int level, uint32_t loops, uint32_t windows);

/* How a visit ended whose mappings a leaf evaluated; tells the run where memory is out. */
sx_visit_end sx_leaf_end(const sx_leaf *leaf, const sx_node_visit *visit);

#endif
