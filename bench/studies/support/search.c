#include "search.h"

#include "sextant/session.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static sx_cancel late;

static void time_is_up(int number) {
    (void)number;
    sx_cancel_set(&late);
}

/* Lets `late` become 1 after a given number of seconds of CPU time; never, where they are 0. */
static void set_alarm(double seconds) {
    struct timeval value = {.tv_sec = (time_t)seconds,
                            .tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6)};
    struct itimerval timer = {.it_value = value};
    struct sigaction action = {.sa_handler = time_is_up, .sa_flags = SA_RESTART};
    sx_cancel_clear(&late);
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

double sx_study_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Copies the mappings that are as good as the best but for rounding. */
static void copy_ties(const sx_layer_result *layer, sx_study_answer *answer) {
    const double rounding = 1e-9;
    answer->ties = calloc(layer->n_best + 1, sizeof *answer->ties);
    if (!answer->ties) exit(3);
    answer->ties[answer->n_ties++] = layer->best.mapping;
    for (size_t i = 0; i < layer->n_best; i++)
        if (layer->other[i].value <= layer->best.value * (1 + rounding))
            answer->ties[answer->n_ties++] = layer->other[i].mapping;
}

/* Mind Mappings' algorithmic minimum of energy times delay. */
static double algorithmic_edp(const sx_problem *problem, const sx_arch *arch) {
    sx_model *model;
    sx_study_need(sx_model_new(problem, arch, NULL, &model));
    sx_score least = sx_model_algorithmic_minimum(model);
    sx_model_free(model);
    return least.energy_pj * least.cycles;
}

sx_study_answer sx_study_run(const sx_study_group *group, size_t item, const sx_study_search *search) {
    sx_layer layer = {.count = 1, .problem = group->item[item].problem};
    sx_network network = {.n_layers = 1, .layer = &layer};
    sx_session_options options = {.mapper = search->mapper,
                                  .space = {.keep_all = search->keep_all},
                                  .model = {.no_link_transfers = search->no_links}};
    sx_session_result result = {0};
    sx_study_answer answer = {0};
    sx_run_options_init(&options.run);
    options.run.evaluations = search->evaluations;
    options.run.seconds = 2 * search->seconds;
    options.run.seed = search->seed;
    options.run.threads = 1;
    options.run.k_best = search->ties;
    options.run.cancel = &late;
    double began = sx_study_seconds();
    set_alarm(search->seconds);
    sx_status status = sx_session_run(&network, &group->arch, &options, &result);
    set_alarm(0);
    answer.seconds = sx_study_seconds() - began;
    if (status && status->code != SX_ERR_LIMIT) sx_study_need(status);
    sx_status_free(status);
    if (result.n_layers == 1 && result.layer[0].found) {
        const sx_layer_result *got = &result.layer[0];
        answer.found = true;
        answer.optimal = got->summary.optimal;
        answer.edp = got->best.value;
        answer.minimum = algorithmic_edp(&layer.problem, &group->arch);
        answer.bound = got->summary.lower_bound;
        answer.evaluations = got->summary.evaluations;
        if (search->ties) copy_ties(got, &answer);
    }
    sx_session_result_fini(&result);
    return answer;
}

double sx_study_gap(const sx_study_answer *answer) {
    if (answer->optimal) return 0;
    return answer->found && answer->bound > 0 ? answer->edp / answer->bound - 1 : INFINITY;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sx_study_median(double *value, size_t n) {
    qsort(value, n, sizeof *value, by_value);
    return n == 0 ? 0 : n % 2 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2]);
}

sx_study_text sx_study_number(double value) {
    sx_study_text out = {""};
    int digits = value < 0.0095 ? 4 : value < 0.095 ? 3 : value < 9.95 ? 2 : value < 99.5 ? 1 : 0;
    if (value != 0) snprintf(out.text, sizeof out.text, "%.*f", digits, value);
    return out;
}

sx_study_text sx_study_percent(double share) {
    sx_study_text out = {""};
    if (isinf(share))
        snprintf(out.text, sizeof out.text, "no bound");
    else if (share > 0)
        snprintf(out.text, sizeof out.text, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
    return out;
}
