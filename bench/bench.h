/* What all benchmarks need. */
#ifndef SX_BENCH_H
#define SX_BENCH_H

#include "sextant/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds by the processor for one thread, by the wall for more. */
static inline double bench_now(unsigned threads) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends the program where something failed. */
static inline void bench_need(sx_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", sx_status_text(status));
    exit(3);
}

#endif
