/* What a memory costs by its size: a formula, or a table. */
#ifndef SX_CODESIGN_SIZE_COST_H
#define SX_CODESIGN_SIZE_COST_H

#include "base/arena.h"
#include "text/document/document.h"

typedef enum sx_size_cost_kind {
    /* of a read and, where nothing else is said, of a fill and an update; pJ per access */
    SX_SIZE_COST_ENERGY,
    SX_SIZE_COST_WRITE,   /* of a fill and an update */
    SX_SIZE_COST_LEAKAGE, /* pJ per cycle */
    SX_SIZE_COST_AREA,    /* um^2 */
    SX_N_SIZE_COSTS,
} sx_size_cost_kind;

/* The key of a cost function in a file of choices. */
const char *sx_size_cost_key(sx_size_cost_kind kind);

/* A formula, or n sizes in ascending order with their values; neither where nothing is said. */
typedef struct sx_size_cost {
    sx_place place;
    const char *formula;
    size_t n;
    const uint64_t *size;
    const double *value;
} sx_size_cost;

/* Whether something is said. */
static inline bool sx_size_cost_given(const sx_size_cost *size_cost) {
    return size_cost->formula || size_cost->n;
}

/* Reads a cost function: a number, a formula, or a map from sizes to numbers. */
SX_MUST_USE sx_status sx_size_cost_read(sx_arena *arena, const sx_node *node, const char *what,
                                        sx_size_cost *out);

/* The default cost functions; the head of size_cost.c says where they are from. */
sx_size_cost sx_size_cost_preset(sx_size_cost_kind kind, const sx_storage *base, double base_value);
sx_size_cost sx_size_cost_compute_area(void);

/* What a cost function says of a memory like `base` of a given number of words. base_value is what the base itself
 * costs. `name` and `key` are for errors, which a negative value is, too. */
SX_MUST_USE sx_status sx_size_cost_value(const sx_size_cost *size_cost, const sx_storage *base,
                                         double base_value, uint64_t words, const char *name, const char *key,
                                         double *out);

/* What a cost function says of a compute unit: the only name that it knows is word_bits. */
SX_MUST_USE sx_status sx_size_cost_of_compute(const sx_size_cost *size_cost, const sx_compute *compute,
                                              double *out);

#endif
