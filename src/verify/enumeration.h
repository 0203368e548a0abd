/* Enumeration of all mappings with one spatial mapping: one thread's workspace. */
#ifndef SX_VERIFY_ENUMERATION_H
#define SX_VERIFY_ENUMERATION_H

#include "bound/latency.h"
#include "verify/order_list.h"

/* What all threads share. */
typedef struct sx_check_context {
    const sx_verify_space *space;
    const sx_bound *bound;
    sx_order_list *order_list;
    const sx_objective *objective; /* of one criterion */
    sx_check_budget *budget;
    const sx_latency_bound *latency; /* NULL: the objective has not the tile pipeline's */
} sx_check_context;

typedef struct sx_enumeration sx_enumeration;

SX_MUST_USE sx_status sx_enumeration_new(const sx_check_context *context, SX_OWN sx_enumeration **out);
void sx_enumeration_free(SX_TAKE sx_enumeration *enumeration);

/* The outcome of checking one spatial mapping. */
typedef enum sx_check_outcome {
    SX_CHECK_NONE_BELOW, /* nothing is below the value */
    SX_CHECK_BELOW,      /* a bound, or a mapping, is */
    SX_CHECK_STOPPED,    /* the budget was spent first */
    SX_CHECK_FAILED,     /* memory is out, or a limit is exceeded: sx_enumeration_failure */
} sx_check_outcome;

/* The least value that the spatial factors alone leave possible. */
double sx_enumeration_compulsory(sx_enumeration *enumeration, const uint32_t (*spatial)[SX_MAX_DIMS]);

/* Whether bounds by tables, of all that levels may keep and of all innermost tiles, are at least a value;
 * *least is one that is not, where there is one. */
sx_check_outcome sx_enumeration_check_bounds(sx_enumeration *enumeration,
                                             const uint32_t (*spatial)[SX_MAX_DIMS], double value,
                                             double *least);

/* Goes through all mappings of a spatial mapping; whether none is below a value. *least is the value of one
 * that is.
 */
sx_check_outcome sx_enumeration_check_mappings(sx_enumeration *enumeration,
                                               const uint32_t (*spatial)[SX_MAX_DIMS], double value,
                                               double *least);

/* The error of a check that failed; the caller's from now on. */
SX_OWN sx_status sx_enumeration_failure(sx_enumeration *enumeration);

/* Mappings that the model evaluated so far. */
uint64_t sx_enumeration_evaluations(const sx_enumeration *enumeration);

/* Has the enumeration call a function periodically, on their thread. */
void sx_enumeration_on_tick(sx_enumeration *enumeration, void (*tick)(void *user), void *user);

/* Whether the order of a level's temporal loops can matter. Without units that stand side by side and hand operands to
 * each other the innermost level only steps through operands, each of which is fetched anew. */
bool sx_verify_order_matters(const sx_verify_space *space, const sx_mapping_level *at, int level);

/* Has the enumerations of mappings tell of those below the value, and end at none of them; of every one, or as they are
 * checked: not of those from which a loop can move to the next level (bound/movable.c). */
typedef void sx_mapping_visitor(void *user, const sx_mapping *mapping);
void sx_enumeration_on_below(sx_enumeration *enumeration, bool every, sx_mapping_visitor *listener,
                             void *user);

/* Tensors beyond what must be kept that levels may keep or not, taken together: 2^n choices. */
int sx_verify_space_n_keeps(const sx_verify_space *space);

#endif
