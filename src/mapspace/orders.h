/* Orders of a level's temporal loops, and which of them no cost tells apart. */
#ifndef SX_MAPSPACE_ORDERS_H
#define SX_MAPSPACE_ORDERS_H

#include "sextant/space_type.h"

#include "base/status.h"

typedef struct sx_orders sx_orders;

/* The order classes of a problem: two orders of a level's loops beyond 1 are in one class when every cost of
 * the model is the same for both, whatever the other levels do. Without `remainders` that holds of mappings
 * with exact factors only. (File head: the rule and why it holds.) */
SX_MUST_USE sx_status sx_orders_new(const sx_problem *problem, bool remainders, SX_OWN sx_orders **out);
void sx_orders_free(SX_TAKE sx_orders *orders);

/* The classes for a set of dimensions with factors beyond 1 (bit mask), one order each, canonical: innermost
 * first, the set's dimensions before all others. *n is how many. NULL when memory is out (*n is 0) or there
 * are more than the limit *n, 2^22. Thread-safe. */
const uint8_t (*sx_orders_classes(sx_orders *orders, uint32_t dims, size_t *n))[SX_MAX_DIMS];

/* A rule for orders: dimensions come in runs, one run after the other, innermost first. */
typedef struct sx_order_rule {
    int n_runs;
    uint32_t run[SX_MAX_DIMS];
} sx_order_rule;

/* The classes that have orders which obey a rule (its runs hold all of `dims`), and one such order of each,
 * in memory that the caller frees with free(). *n and NULL as above. */
SX_OWN uint8_t (*sx_orders_under(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims,
                                 size_t *n))[SX_MAX_DIMS];

/* The error that stands for such a NULL. */
SX_ERROR sx_status sx_orders_failure(size_t n);

/* How many classes have orders which obey a rule (NULL: any); 0 where there are more than `most` and no
 * formula gives their number. */
double sx_orders_count(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims, size_t most);

/* An estimate of that number from one random descent, which is right on average. */
double sx_orders_probe(const sx_orders *orders, const sx_order_rule *rule, uint32_t dims, sx_rng *rng);

/* The canonical order of the class that an order belongs to. */
void sx_orders_canonical(sx_orders *orders, uint32_t dims, uint8_t *order);

#endif
