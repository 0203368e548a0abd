/* From memory to memory outward: partial mappings, what they cost at least, and what becomes of them. */
#ifndef SX_MAPPERS_SUNSTONE_LEVELS_H
#define SX_MAPPERS_SUNSTONE_LEVELS_H

#include "mappers/sunstone/plan.h"
#include "sextant/navigator.h"

/* A partial mapping: what a stage adds, and what the whole costs at least. */
typedef struct sx_sunstone_item {
    double value;
    uint64_t number; /* of its list, before that is sorted */
    uint64_t root;   /* number of its unrolling */
    uint8_t order[SX_MAX_DIMS];
    sx_sunstone_tile tile;
} sx_sunstone_item;

/* Makes the list of items: the partial mappings of the first stage that cost no more than the incumbent, or,
 * where the first stage is the last, the unrollings alone. */
SX_MUST_USE sx_status sx_sunstone_begin(sx_sunstone *plan, sx_run *run);

/* Goes through the items from number *next on, which moves on, until what is left costs more than the best.
 */
SX_MUST_USE sx_status sx_sunstone_walk(sx_sunstone *plan, sx_run *run, uint64_t *next);

/* Appends the items of some tiles (sx_sunstone_tile) of the first stage's memory, for its unrolling number
 * `root`, without an order; in plans of more than one stage. Costs are without limits of the memories
 * outside. */
void sx_sunstone_price(sx_sunstone *plan, uint64_t root, const sx_vector *tiles);

#endif
