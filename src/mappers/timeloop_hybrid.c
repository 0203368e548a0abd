/* Timeloop's hybrid search.
 *
 * Source: Timeloop (Parashar et al., ISPASS 2019), its mapper's algorithm "hybrid", the one that CoSA (ISCA 2021)
 * compares with. The first factorisation of each thread is the first of its part; the others are drawn, and may be drawn
 * again. What follows from a factorisation is gone through in order, as in the linear search: kept tensors, ways to lay
 * spatial loops on X and Y, permutations, all of them, where random-pruned draws 16. Victory and timeout are as in the
 * linear search; CoSA has no timeout and 32 threads.
 *
 * What differs: see timeloop_linear.c.
 *
 * Complexity: an evaluation per legal mapping; a check per factorisation and choice of kept tensors. */
#include "mappers/timeloop.h"

static sx_status search_by_timeloop_hybrid(sx_run *run) {
    return sx_timeloop_search(run, true);
}

SX_NAVIGATOR(timeloop_hybrid) = {
    .space = "map",
    .model = "map",
    .settings = sx_timeloop_settings,
    .n_settings = SX_TIMELOOP_SETTINGS,
    .search = search_by_timeloop_hybrid,
};
