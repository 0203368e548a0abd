/* What a memory costs by its size: a formula, or a table. */
#ifndef SX_CODESIGN_LAW_H
#define SX_CODESIGN_LAW_H

#include "base/arena.h"
#include "frontend/document/document.h"

typedef enum sx_law_kind {
    SX_LAW_ENERGY,  /* of a read and, where nothing else is said, of a fill and an update; pJ per access */
    SX_LAW_WRITE,   /* of a fill and an update */
    SX_LAW_LEAKAGE, /* pJ per cycle */
    SX_LAW_AREA,    /* um^2 */
    SX_N_LAWS,
} sx_law_kind;

/* The key of a law in a file of choices. */
const char *sx_law_key(sx_law_kind kind);

/* A formula, or n sizes in ascending order with their values; neither where nothing is said. */
typedef struct sx_law {
    sx_place place;
    const char *formula;
    size_t n;
    const uint64_t *size;
    const double *value;
} sx_law;

/* Whether something is said. */
static inline bool sx_law_given(const sx_law *law) {
    return law->formula || law->n;
}

/* Reads a law: a number, a formula, or a map from sizes to numbers. */
SX_MUST_USE sx_status sx_law_read(sx_arena *arena, const sx_node *node, const char *what, sx_law *out);

/* The default laws; the head of law.c says where they are from. */
sx_law sx_law_preset(sx_law_kind kind, const sx_storage *base, double base_value);
sx_law sx_law_compute_area(void);

/* What a law says of a memory like `base` of so many words. base_value is what the base itself costs. `name`
 * and `key` are for errors, which a negative value is, too. */
SX_MUST_USE sx_status sx_law_value(const sx_law *law, const sx_storage *base, double base_value,
                                   uint64_t words, const char *name, const char *key, double *out);

/* What a law says of a compute unit: the only name that it knows is word_bits. */
SX_MUST_USE sx_status sx_law_of_compute(const sx_law *law, const sx_compute *compute, double *out);

#endif
