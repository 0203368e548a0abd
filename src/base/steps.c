#include "base/steps.h"

#include "base/cancel.h"
#include "base/clock.h"

bool sx_steps_stop(sx_steps *steps) {
    if (atomic_load_explicit(&steps->stopped, memory_order_relaxed)) return true;
    bool over = steps->deadline > 0 && sx_clock_seconds() >= steps->deadline;
    if (!over && !sx_is_cancelled(steps->cancel)) return false;
    atomic_store_explicit(&steps->stopped, true, memory_order_relaxed);
    return true;
}
