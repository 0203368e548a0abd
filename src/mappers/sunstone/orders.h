/* Which dimensions reuse which tensor, and the orders of loops that are worth trying. */
#ifndef SX_MAPPERS_SUNSTONE_ORDERS_H
#define SX_MAPPERS_SUNSTONE_ORDERS_H

#include "sextant/problem.h"

#include <stddef.h>

/* Dimensions, as masks, that reuse a tensor wholly (they do not index it) or in part (they stand in sums
 * only). */
typedef struct sx_sunstone_reuse {
    uint16_t full[SX_MAX_TENSORS], partial[SX_MAX_TENSORS];
} sx_sunstone_reuse;

void sx_sunstone_infer(const sx_problem *problem, sx_sunstone_reuse *out);

typedef struct sx_sunstone_orders sx_sunstone_orders;

/* The orders of a problem: those that the trie keeps, or (not `pruned`) all. More than 2^16 kept ones, or
 * more than 8 dimensions of which all orders are asked for, are an error (SX_ERR_LIMIT). */
SX_MUST_USE sx_status sx_sunstone_orders_new(const sx_problem *problem, bool pruned,
                                             SX_OWN sx_sunstone_orders **out);
void sx_sunstone_orders_free(SX_TAKE sx_sunstone_orders *orders);

/* How many of its candidates the trie keeps. */
size_t sx_sunstone_orders_kept(const sx_sunstone_orders *orders);

/* The orders of some loops (a mask of dimensions) that are worth trying, whole permutations with these loops
 * first, innermost first; *n of them, at least one. NULL when memory is out. Thread-safe. */
const uint8_t (*sx_sunstone_orders_of(sx_sunstone_orders *orders, uint32_t loops, size_t *n))[SX_MAX_DIMS];

#endif
