/* Searches for a mapping with progress and a cancel object that another thread sets:
 *
 *   cc search.c $(pkg-config --cflags --libs sextant) -lpthread -o search
 *   ./search [SECONDS] */
#include <sextant/sextant.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sx_cancel cancel;

/* The other thread: waits, then tells the search to stop. */
static void *stop_later(void *seconds) {
    double wait = *(const double *)seconds;
    struct timespec time = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
    nanosleep(&time, NULL);
    sx_cancel_set(&cancel);
    return NULL;
}

/* Shows how far the search is. */
static void show(void *user, const sx_progress *progress) {
    fprintf(user, "%llu evaluations, best %.4g\n", (unsigned long long)progress->evaluations, progress->best);
}

static sx_status run(sx_model **model, sx_space **space, sx_run **run) {
    static sx_problem problem;
    static sx_arch arch;
    sx_run_options options;
    SX_TRY(sx_catalog_problem("resnet-conv4", &problem));
    SX_TRY(sx_catalog_arch("accel-a", &arch));
    SX_TRY(sx_model_new(&problem, &arch, NULL, model));
    SX_TRY(sx_map_space_new(*model, NULL, NULL, space));
    sx_run_options_init(&options);
    options.cancel = &cancel;
    options.progress = show;
    options.user = stderr;
    SX_TRY(sx_run_new(*space, NULL, &options, run));
    return sx_run_search(*run, "gamma");
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
    sx_model *model = NULL;
    sx_space *space = NULL;
    sx_run *search = NULL;
    pthread_t thread;
    sx_found best;
    if (pthread_create(&thread, NULL, stop_later, &seconds) != 0) return 3;
    sx_status status = run(&model, &space, &search);
    pthread_join(thread, NULL);
    if (status) {
        char *text = sx_status_text(status);
        fprintf(stderr, "%s\n", text ? text : "out of memory");
        sx_free(text);
        sx_status_free(status);
    } else if (sx_run_best(search, 0, &best)) {
        sx_run_summary summary = sx_run_result(search);
        printf("stopped by %s after %llu evaluations\n", sx_stop_name(summary.stop),
               (unsigned long long)summary.evaluations);
        printf("best: %.4g pJ in %.0f cycles\n", best.metrics.value[0], best.metrics.value[1]);
    }
    sx_run_free(search);
    sx_space_free(space);
    sx_model_free(model);
    return status != SX_OK;
}
