/* Searches for a mapping with progress and a cancel object that another thread sets:
 *
 *   cc search.c $(pkg-config --cflags --libs sextant) -lpthread -o search
 *   ./search [SECONDS] */
#include <sextant/sextant.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* All that the program makes; NULL: not yet. */
typedef struct job {
    sx_problem *problem;
    sx_arch *arch;
    sx_network *network;
    sx_options *options;
    sx_cancel *cancel;
    sx_result *result;
    double seconds;
} job;

/* The other thread: waits, then tells the search to stop. */
static void *stop_later(void *user) {
    const job *j = user;
    struct timespec time = {(time_t)j->seconds, (long)((j->seconds - (double)(time_t)j->seconds) * 1e9)};
    nanosleep(&time, NULL);
    sx_cancel_set(j->cancel);
    return NULL;
}

/* Shows how far the search is. */
static void show(void *user, const sx_progress *progress) {
    fprintf(user, "%.0f evaluations, best %.4g\n", sx_progress_figure_of(progress, SX_PROGRESS_EVALUATIONS),
            sx_progress_figure_of(progress, SX_PROGRESS_BEST));
}

static sx_status prepare(job *j) {
    SX_TRY(sx_problem_new(&j->problem));
    SX_TRY(sx_arch_new(&j->arch));
    SX_TRY(sx_catalog_problem("resnet-conv4", j->problem));
    SX_TRY(sx_catalog_arch("accel-a", j->arch));
    SX_TRY(sx_network_new("search", &j->network));
    SX_TRY(sx_network_add(j->network, NULL, j->problem, 1));
    SX_TRY(sx_cancel_new(&j->cancel));
    SX_TRY(sx_options_new(&j->options));
    SX_TRY(sx_options_set(j->options, "mapper", "gamma"));
    SX_TRY(sx_options_set(j->options, "time", "60"));
    sx_options_set_cancel(j->options, j->cancel);
    sx_options_set_watch(j->options, show, stderr);
    return SX_OK;
}

static sx_status run(job *j) {
    pthread_t thread;
    SX_TRY(prepare(j));
    if (pthread_create(&thread, NULL, stop_later, j) != 0)
        return sx_error_new(SX_ERR_PROGRAM, "no thread can be started");
    sx_status status = sx_map_network(j->network, j->arch, j->options, &j->result);
    pthread_join(thread, NULL);
    SX_TRY(status);
    const sx_answer *best = sx_result_best(j->result, 0, 0);
    printf("stopped by %s after %.0f evaluations\n", sx_result_stop(j->result, 0),
           sx_result_figure_of(j->result, 0, SX_RESULT_EVALUATIONS));
    if (best)
        printf("best: %.4g pJ in %.0f cycles\n", sx_answer_total(best, SX_TOTAL_ENERGY_PJ),
               sx_answer_total(best, SX_TOTAL_CYCLES));
    return SX_OK;
}

int main(int argc, char **argv) {
    job j = {.seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5};
    sx_status status = run(&j);
    int code = status != SX_OK;
    if (status) {
        char *text = sx_status_text(status);
        fprintf(stderr, "%s\n", text ? text : "out of memory");
        sx_free(text);
        sx_status_free(status);
    }
    sx_result_free(j.result);
    sx_options_free(j.options);
    sx_cancel_free(j.cancel);
    sx_network_free(j.network);
    sx_arch_free(j.arch);
    sx_problem_free(j.problem);
    return code;
}
