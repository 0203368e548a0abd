/* Long work that a signal or a time limit ends: whoever does it counts its steps. */
#ifndef SX_BASE_STEPS_H
#define SX_BASE_STEPS_H

#include "sextant/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What ends the work; shared by all threads that do it. All zero: nothing does. */
typedef struct sx_steps {
    const sx_cancel *cancel; /* NULL: none */
    double deadline;         /* of sx_clock_seconds(); 0: none */
    atomic_bool stopped;     /* it has ended */
} sx_steps;

/* How many steps pass between two looks at the clock. */
enum { SX_STEPS_PER_LOOK = 1 << 14 };

/* Whether the work is to end now; once it is, it stays so. */
bool sx_steps_stop(sx_steps *steps);

/* Counts n steps of one thread in *count; true where the work is to end. NULL: nothing ends it. */
static inline bool sx_steps_count(sx_steps *steps, uint64_t *count, uint64_t n) {
    *count += n;
    if (*count < SX_STEPS_PER_LOOK) return false;
    *count = 0;
    return steps && sx_steps_stop(steps);
}

#endif
