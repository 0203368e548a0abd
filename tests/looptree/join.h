/* Joins the labels of a cascade's einsums, from the first to the last, into the best fused mapping: of all beginnings
 * that look the same to the rest of the cascade only those are kept that no other is at least as good as. */
#ifndef SX_LOOPTREE_JOIN_H
#define SX_LOOPTREE_JOIN_H

#include "looptree/cascade.h"
#include "looptree/label.h"

typedef struct sx_join_result {
    bool found;
    double value, energy, latency; /* of the objective; by the labels' sums */
    uint32_t *label;               /* of each einsum: its place in its table; freed by the caller */
    uint64_t joined, states;       /* how many pairs were joined, and beginnings kept */
} sx_join_result;

/* The best choice of one label for each einsum. Room is that of the exchange memory, in bits; nothing at or above
 * `limit` is wanted. */
SX_MUST_USE sx_status sx_join_labels(const sx_cascade *cascade, const sx_label_table *table, uint64_t room,
                                     double limit, sx_join_result *result);

#endif
