/* Evolutionary graph reinforcement learning: a population of Graph U-Nets and Boltzmann chromosomes and a learner by
 * policy gradient, which share what they evaluate.
 *
 * Source: EGRL (ICLR 2021), Algorithm 2, with the values of Table 2. Every part can be switched off: boltzmann=0,
 * rollouts=0 (no learner), migration=0, seeding=0 (no crossover between encodings). egrl_search.c has the search, and what
 * was chosen where the paper is silent.
 *
 * Complexity: an update per evaluation and a run of the network per changed one: 8 ms per evaluation for 376 nodes. */
#include "placement/egrl_settings.h"
#include "run/navigator.h"

enum {
    POPULATION = SX_EGRL_SHARED,
    BOLTZMANN,
    ELITES,
    TOURNAMENT,
    MUTATION,
    SIGMA,
    WEIGHTS,
    LEAPS,
    RESETS,
    SEEDING,
    COMMON,
    MIGRATION,
    ROLLOUTS
};

static const sx_setting settings[] = {
    SX_EGRL_SETTINGS(0),
    [POPULATION] = {"population", "population size", "20", 20, 2, 64, SX_SETTING_WHOLE, NULL},
    [BOLTZMANN] = {"boltzmann", "share of Boltzmann chromosomes, the others are networks", "0.2", 0.2, 0, 1,
                   SX_SETTING_NUMBER, NULL},
    [ELITES] = {"elites", "share of elites, kept unchanged", NULL, 0.2, 0, 0.9, SX_SETTING_NUMBER, NULL},
    [TOURNAMENT] = {"tournament", "tournament size", NULL, 3, 1, 1000, SX_SETTING_WHOLE, NULL},
    [MUTATION] = {"mutation", "mutation probability", NULL, 0.9, 0, 1, SX_SETTING_NUMBER, NULL},
    [SIGMA] = {"sigma", "deviation of the noise on Boltzmann chromosomes", NULL, 0.5, 0, 100,
               SX_SETTING_NUMBER, NULL},
    [WEIGHTS] = {"weights", "deviation of the noise on weights of networks, as a multiple of each", NULL, 0.1,
                 0, 10, SX_SETTING_NUMBER, NULL},
    [LEAPS] = {"leaps", "probability that noise on a weight has ten times its size", NULL, 0.05, 0, 0.5,
               SX_SETTING_NUMBER, NULL},
    [RESETS] = {"resets", "probability that a mutated weight is drawn anew", NULL, 0.05, 0, 0.5,
                SX_SETTING_NUMBER, NULL},
    [SEEDING] = {"seeding", "probability that a network's posterior seeds a Boltzmann child", NULL, 0.1, 0, 1,
                 SX_SETTING_NUMBER, NULL},
    [COMMON] = {"common",
                "one ranking for the elites of both encodings; pairs of both seed Boltzmann children", "1", 0,
                0, 1, SX_SETTING_WHOLE, NULL},
    [MIGRATION] = {"migration", "generations between copies of the learner into the population; 0: none",
                   "periodically", 1, 0, 1e6, SX_SETTING_WHOLE, NULL},
    [ROLLOUTS] = {"rollouts", "placements of the learner per generation; 0: no learner", "1", 1, 0, 20,
                  SX_SETTING_WHOLE, NULL},
};

static sx_status search_by_egrl(sx_run *run) {
    sx_egrl_options options = sx_egrl_shared_options(run);
    size_t population = (size_t)sx_run_setting(run, POPULATION);
    options.n_boltzmann = (size_t)(sx_run_setting(run, BOLTZMANN) * (double)population + 0.5);
    options.n_nets = population - options.n_boltzmann;
    options.elites = sx_run_setting(run, ELITES);
    options.tournament = (int)sx_run_setting(run, TOURNAMENT);
    options.mutation = sx_run_setting(run, MUTATION);
    options.sigma = sx_run_setting(run, SIGMA);
    options.weight_sigma = sx_run_setting(run, WEIGHTS);
    options.leaps = sx_run_setting(run, LEAPS);
    options.resets = sx_run_setting(run, RESETS);
    options.seeding = sx_run_setting(run, SEEDING);
    options.common = sx_run_setting(run, COMMON) > 0;
    options.migration = (unsigned)sx_run_setting(run, MIGRATION);
    options.rollouts = (unsigned)sx_run_setting(run, ROLLOUTS);
    return sx_egrl_search(run, &options);
}

SX_NAVIGATOR(egrl) = {
    .space = "placement",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_egrl,
};
