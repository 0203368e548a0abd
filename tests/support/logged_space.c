#include "support/logged_space.h"

#include "support/toy_space.h"

#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Writes a point down. */
static void write_down(sx_logged_space *log, const void *point, double value) {
    size_t size = log->space->point_size;
    if (log->n == log->room) {
        log->room = log->room ? 2 * log->room : 1024;
        log->points = realloc(log->points, log->room * size);
        log->values = realloc(log->values, log->room * sizeof *log->values);
        if (!log->points || !log->values) abort();
    }
    memcpy(log->points + log->n * size, point, size);
    log->values[log->n++] = value;
}

static sx_status workspace_new(const sx_point_model *model, void **out) {
    return model->inner->type->workspace_new(model->inner, out);
}

static sx_status log_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                           const sx_goal *goal, double cutoff, sx_outcome *out) {
    sx_logged_space *log = model->user;
    (void)cutoff;
    SX_TRY(model->inner->type->score_batch(model->inner, workspace, points, n, goal, INFINITY, out));
    for (size_t i = 0; i < n; i++)
        write_down(log, (const unsigned char *)points + i * log->space->point_size,
                   out[i].reason ? INFINITY : sx_goal_value(goal, &out[i].metrics));
    return SX_OK;
}

void sx_logged_space_init(sx_logged_space *log, sx_space *space) {
    *log = (sx_logged_space){.space = space, .type = *space->model->type};
    log->type.workspace_new = workspace_new;
    log->type.score_batch = log_batch;
    log->model = (sx_point_model){.type = &log->type, .user = log, .inner = space->model};
}

void sx_logged_space_fini(sx_logged_space *log) {
    free(log->points);
    free(log->values);
}

const void *sx_logged_point(const sx_logged_space *log, size_t index) {
    return log->points + index * log->space->point_size;
}

sx_run_summary sx_logged_search(sx_logged_space *log, const char *navigator, uint64_t seed,
                                uint64_t evaluations, const void *starts, size_t n_starts) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.seed = seed;
    options.evaluations = evaluations;
    options.starts = starts;
    options.n_starts = n_starts;
    log->n = 0;
    sx_expect_ok(sx_run_new(log->space, &log->model, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    sx_run_summary summary = sx_run_result(run);
    sx_run_free(run);
    return summary;
}

void sx_expect_barren_end(const char *navigator) {
    sx_space *barren = sx_toy_space_new(&(sx_toy_options){.barren = true, .dims = 3});
    sx_logged_space log;
    sx_logged_space_init(&log, barren);
    sx_run_summary summary = sx_logged_search(&log, navigator, 1, 1000, NULL, 0);
    assert_int_equal(summary.stop, SX_STOP_DONE);
    assert_int_equal(summary.valid, 0);
    sx_logged_space_fini(&log);
    sx_space_free(barren);
}

void sx_expect_vectors_needed(const char *navigator) {
    sx_space *space = sx_toy_space_new(NULL);
    sx_space_type type = *space->type;
    sx_space bare = *space;
    sx_run_options options;
    sx_run *run;
    char message[200];
    type.encode = NULL;
    type.project = NULL;
    bare.type = &type;
    bare.n_values = 0;
    sx_run_options_init(&options);
    sx_expect_ok(sx_run_new(&bare, NULL, &options, &run));
    sx_status status = sx_run_search(run, navigator);
    snprintf(message, sizeof message, "'%s' needs points with vectors; those of a toy space have none",
             navigator);
    assert_non_null(status);
    assert_string_equal(status->message, message);
    sx_status_free(status);
    sx_run_free(run);
    sx_space_free(space);
}
