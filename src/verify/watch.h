/* When to end a long check: what all its threads look at now and then. */
#ifndef SX_VERIFY_WATCH_H
#define SX_VERIFY_WATCH_H

#include "base/cancel.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sx_watch {
    const sx_cancel *cancel; /* when it is set: end; may be NULL */
    uint64_t most;           /* steps; 0: any number */
    atomic_uint_fast64_t steps;
    atomic_bool over; /* nothing more need be looked at */
} sx_watch;

/* Counts what takes as long as so many steps. */
static inline void sx_watch_spend(sx_watch *watch, uint64_t n) {
    uint64_t steps = atomic_fetch_add(&watch->steps, n) + n;
    if (sx_is_cancelled(watch->cancel) || (watch->most && steps > watch->most))
        atomic_store(&watch->over, true);
}

/* Whether a watch is over, as sx_halt asks it. */
static inline bool sx_watch_over(void *watch) {
    sx_watch_spend(watch, 0);
    return atomic_load(&((sx_watch *)watch)->over);
}

/* Counts a step of a thread, whose own count is `beat`; false where it should end. */
static inline bool sx_watch_step(sx_watch *watch, unsigned *beat) {
    enum { BEAT = 256 };
    if (++*beat % BEAT == 0) sx_watch_spend(watch, BEAT);
    return !atomic_load_explicit(&watch->over, memory_order_relaxed);
}

#endif
