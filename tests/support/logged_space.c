#include "support/logged_space.h"

#include "support/toy_space.h"

#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The space being logged: a space's functions are told nothing but the space. */
static sx_logged_space *logging;

static unsigned log_score(const sx_space *space, void *scorer, const void *point,
                          const sx_objective *objective, double bound, sx_score *out) {
    (void)bound;
    size_t size = space->point_size;
    if (logging->n == logging->room) {
        logging->room = logging->room ? 2 * logging->room : 1024;
        logging->points = realloc(logging->points, logging->room * size);
        logging->values = realloc(logging->values, logging->room * sizeof *logging->values);
        if (!logging->points || !logging->values) abort();
    }
    unsigned reason = logging->inner->score(space, scorer, point, objective, INFINITY, out);
    memcpy(logging->points + logging->n * size, point, size);
    logging->values[logging->n++] = reason ? INFINITY : sx_objective_value(objective, out);
    return reason;
}

void sx_logged_space_init(sx_logged_space *log, sx_space *space) {
    *log = (sx_logged_space){.space = space, .inner = space->type, .type = *space->type};
    log->type.score = log_score;
    space->type = &log->type;
    logging = log;
}

void sx_logged_space_fini(sx_logged_space *log) {
    log->space->type = log->inner;
    logging = NULL;
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
    sx_expect_ok(sx_run_new(log->space, &options, &run));
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
