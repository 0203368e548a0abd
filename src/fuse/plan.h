/* A plan: what of a graph stays in the exchange memory while each of its steps runs. */
#ifndef SX_FUSE_PLAN_H
#define SX_FUSE_PLAN_H

#include "fuse/exchange.h"
#include "fuse/inner.h"

/* One step of a plan. */
typedef struct sx_plan_step {
    uint64_t state; /* slots of the values that are in the exchange memory while it runs */
    size_t optimum; /* of an einsum: its inner optimum; else SX_NO_INDEX */
} sx_plan_step;

typedef struct sx_plan {
    bool found;
    double weight; /* sum over the steps, as sx_inner_weight says */
    size_t n_steps;
    sx_plan_step *step;
} sx_plan;

void sx_plan_fini(sx_plan *plan);

/* The best plan: by the values of the inner optima that were searched, or by the lower bounds of all. Not found where
 * nothing fits. *out is freed with sx_plan_fini, also after an error. */
SX_MUST_USE sx_status sx_plan_join(const sx_exchange *exchange, sx_inner *inner, bool by_bound, sx_plan *out);

/* Whether a value is in the exchange memory in a state. */
static inline bool sx_plan_stays(const sx_exchange_value *value, uint64_t state) {
    return !value->reason && (state >> value->slot & 1);
}

/* The words of the exchange memory that a state takes in a step. */
uint64_t sx_plan_occupied(const sx_exchange *exchange, size_t step, uint64_t state);

#endif
