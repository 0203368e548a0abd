/* When to end a long check: polled by all its threads. */
#ifndef SX_VERIFY_CHECK_BUDGET_H
#define SX_VERIFY_CHECK_BUDGET_H

#include "base/cancel.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sx_check_budget {
    const sx_cancel *cancel; /* when it is set: end; may be NULL */
    uint64_t most;           /* steps; 0: any number */
    atomic_uint_fast64_t steps;
    atomic_bool over; /* nothing more need be checked */
} sx_check_budget;

/* Counts what takes as long as a given number of steps. */
void sx_check_budget_spend(sx_check_budget *budget, uint64_t n);

/* Whether the budget is spent, as sx_interrupt asks it. */
bool sx_check_budget_over(void *budget);

/* Counts a step of a thread, whose own count is `beat`; false where it should end. */
static inline bool sx_check_budget_step(sx_check_budget *budget, unsigned *beat) {
    enum { BEAT = 256 };
    if (++*beat % BEAT == 0) sx_check_budget_spend(budget, BEAT);
    return !atomic_load_explicit(&budget->over, memory_order_relaxed);
}

#endif
