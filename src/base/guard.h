/* What can interrupt checks and evaluations of a model: a signal or a time limit, and a lack of memory. The
 * evaluation ends with SX_NO_MEMORY in both cases. An interrupted legality check says that its mapping is not legal,
 * which is not known: the guard remembers that, and runs ask the guard before they rely on what was found. */
#ifndef SX_BASE_GUARD_H
#define SX_BASE_GUARD_H

#include "base/steps.h"

/* One for all threads that use a model, and for the models that it consists of. */
typedef struct sx_guard {
    sx_steps steps;
    atomic_bool unfinished; /* some legality check was not finished */
} sx_guard;

/* Begins work that a signal or a deadline (of sx_clock_seconds(); 0: none) ends; what was before is forgotten. */
static inline void sx_guard_watch(sx_guard *guard, const sx_cancel *cancel, double deadline) {
    guard->steps.cancel = cancel;
    guard->steps.deadline = deadline;
    atomic_store(&guard->steps.stopped, false);
    atomic_store(&guard->unfinished, false);
}

#endif
