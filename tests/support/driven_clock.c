#include "support/driven_clock.h"

#include "base/clock.h"

#include <time.h>

static double each, now;

void sx_clock_drive(double step) {
    each = step;
    now = 1;
}

void sx_clock_hasten(void) {
    each *= 1000;
}

/* Takes the place of the library's, which is weak. */
double sx_clock_seconds(void) {
    struct timespec t;
    if (each > 0) return now += each;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
