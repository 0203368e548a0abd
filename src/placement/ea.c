/* Evolution of Boltzmann chromosomes alone.
 *
 * Source: the evolutionary half of EGRL (ICLR 2021), Algorithm 2 and appendix E, with the population of Table 2. Its
 * population has policies by graph networks besides: `egrl:rollouts=0` is that. Priors begin as normal noise around
 * `lean` for the slowest memory, which is the paper's first mapping. The rest is in egrl_search.c. */
#include "placement/egrl_search.h"
#include "run/navigator.h"

enum { POPULATION, ELITES, TOURNAMENT, MUTATION, SIGMA, LEAN };

static const sx_setting settings[] = {
    [POPULATION] = {"population", "population size", "20", 20, 2, 10000, true, NULL},
    [ELITES] = {"elites", "share of elites, kept unchanged", NULL, 0.2, 0, 0.9, false, NULL},
    [TOURNAMENT] = {"tournament", "tournament size", NULL, 3, 1, 1000, true, NULL},
    [MUTATION] = {"mutation", "mutation probability", NULL, 0.9, 0, 1, false, NULL},
    [SIGMA] = {"sigma", "standard deviation of the noise that mutates", NULL, 0.5, 0, 100, false, NULL},
    [LEAN] = {"lean", "first prior of the slowest memory", NULL, 1, -100, 100, false, NULL},
};

static sx_status search_by_ea(sx_run *run) {
    return sx_egrl_search(run, &(sx_egrl_options){.n_boltzmann = (size_t)sx_run_setting(run, POPULATION),
                                                  .elites = sx_run_setting(run, ELITES),
                                                  .tournament = (int)sx_run_setting(run, TOURNAMENT),
                                                  .mutation = sx_run_setting(run, MUTATION),
                                                  .sigma = sx_run_setting(run, SIGMA),
                                                  .lean = sx_run_setting(run, LEAN),
                                                  .policy = "",
                                                  .save = ""});
}

SX_NAVIGATOR(ea) = {
    .space = "placement",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_ea,
};
