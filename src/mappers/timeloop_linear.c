/* Timeloop's linear-pruned search.
 *
 * Source: Timeloop (Parashar et al., ISPASS 2019), its mapper's algorithm "linear-pruned". It goes through all mappings
 * in the order of their numbers: the choice of kept tensors changes fastest, then the way to lay spatial loops on X and
 * Y, then the permutation, then the factorisation. Loops of one iteration are not permuted. A factorisation of which no
 * choice of kept tensors fits is given up. Each thread has a part of the factorisations, and ends after 500 legal
 * mappings in a row that do not improve on its own best (victory), after 1,000 illegal ones in a row (timeout), or at
 * the end of its part.
 *
 * What differs. The parts are a setting, not the number of threads, and take turns of at most 256 evaluations, so that
 * results do not depend on threads. A factorisation that the array cannot hold counts as one illegal mapping; in
 * Timeloop each of its permutations and spreads does. An order that matters to no cost is not permuted. Factors and
 * permutations have the numbers of our space. Illegal mappings do not count against the budget. Where all walks end
 * without a legal mapping, one is drawn. Of the choices of kept tensors the first 4,096 are tried, of the spreads of a
 * level 1,024.
 *
 * Why it stays: users of Timeloop find the algorithm of their files by its name, and beside timeloop.c, which it
 * shares with timeloop_hybrid, it is a table of settings.
 *
 * Complexity: an evaluation per legal mapping; a check per factorisation and choice of kept tensors. */
#include "mappers/timeloop.h"

static sx_status search_by_timeloop_linear(sx_run *run) {
    return sx_timeloop_search(run, false);
}

SX_NAVIGATOR(timeloop_linear) = {
    .space = "map",
    .model = "map",
    .settings = sx_timeloop_settings,
    .n_settings = SX_TIMELOOP_SETTINGS,
    .search = search_by_timeloop_linear,
};
