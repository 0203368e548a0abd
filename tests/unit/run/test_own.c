/* A space of the caller's own with no more than it must have, cancelling from another thread, and options. */
#include "base/status.h"
#include "sextant/all.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { SIDE = 100 };

static void redraw(const sx_space *space, sx_rng *rng, size_t gene, void *point) {
    assert_true(*(const int *)space->user == SIDE);
    ((int64_t *)point)[gene] = sx_rng_range(rng, 0, SIDE - 1);
}

static void take(const sx_space *space, size_t gene, const void *from, void *point) {
    (void)space;
    ((int64_t *)point)[gene] = ((const int64_t *)from)[gene];
}

static void draw(const sx_space *space, sx_rng *rng, void *point) {
    for (size_t gene = 0; gene < 2; gene++) redraw(space, rng, gene, point);
}

static unsigned check(const sx_space *space, const void *point) {
    const int64_t *x = point;
    (void)space;
    return x[0] < 0 || x[1] < 0 || x[0] >= SIDE || x[1] >= SIDE || x[0] == x[1];
}

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    const int64_t(*x)[2] = points;
    (void)model, (void)workspace, (void)goal, (void)cutoff;
    for (size_t i = 0; i < n; i++)
        out[i] = (sx_outcome){.metrics = {{1 + fabs((double)x[i][0] - 40) + fabs((double)x[i][1] - 60)}}};
    return SX_OK;
}

static int side = SIDE;
static const sx_gene genes[] = {{0, 0}, {0, 70000}};
static const sx_space_type plain_type = {
    .name = "plain", .draw = draw, .check = check, .redraw = redraw, .take = take};
static const sx_metric_about metrics[] = {{"distance", "", NULL}};
static const sx_point_model_type model_type = {
    .name = "distance", .metrics = metrics, .n_metrics = 1, .score_batch = score_batch};
static const sx_point_model model = {.type = &model_type};
static const sx_space space = {
    .type = &plain_type, .point_size = 16, .n_genes = 2, .gene = genes, .model = &model, .user = &side};

/* The last checkpoint of a run. */
typedef struct picture {
    void *bytes;
    size_t size;
} picture;

static sx_status keep(void *user, const void *bytes, size_t size) {
    picture *p = user;
    free(p->bytes);
    p->bytes = malloc(size);
    assert_non_null(p->bytes);
    memcpy(p->bytes, bytes, size);
    p->size = size;
    return SX_OK;
}

static sx_run_options options_of(uint64_t evaluations) {
    sx_run_options o;
    sx_run_options_init(&o);
    sx_expect_ok(sx_objective_parse_metrics("distance", metrics, 1, &o.objective));
    o.evaluations = evaluations;
    o.seed = 5;
    return o;
}

static void a_space_needs_little(void **state) {
    (void)state;
    static const char *const navigators[] = {"random", "genetic", "anneal"};
    for (size_t i = 0; i < 3; i++) {
        sx_run_options o = options_of(4000), part = options_of(4000);
        picture p = {0};
        sx_run *run, *again;
        sx_found a, b;
        o.checkpoint = keep;
        o.user = &p;
        sx_expect_ok(sx_run_new(&space, NULL, &o, &run));
        sx_expect_ok(sx_run_search(run, navigators[i]));
        assert_true(sx_run_best(run, 0, &a) && a.value < 12);
        part.resume = p.bytes;
        part.resume_size = p.size;
        sx_expect_ok(sx_run_new(&space, NULL, &part, &again));
        sx_expect_ok(sx_run_search(again, navigators[i]));
        assert_true(sx_run_best(again, 0, &b) && a.value == b.value && a.evaluation == b.evaluation);
        sx_run_free(run);
        sx_run_free(again);
        free(p.bytes);
    }
    const int64_t twin[2] = {3, 3};
    char text[80];
    assert_false(sx_space_legal(&space, twin, text, sizeof text));
    assert_string_equal(text, "the point is not legal");
    sx_size size;
    assert_false(sx_space_size(&space, 0, &size));
    sx_run_options o = options_of(10);
    sx_run *run;
    sx_expect_ok(sx_run_new(&space, NULL, &o, &run));
    sx_expect_error(sx_run_search(run, "exhaustive"), "a plain space cannot be enumerated");
    sx_run_free(run);
}

static void *cancel_soon(void *cancel) {
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    sx_cancel_set(cancel);
    return NULL;
}

static void another_thread_may_cancel(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        sx_run_options o;
        sx_run *run;
        sx_cancel cancel = {0};
        pthread_t thread;
        sx_run_options_init(&o);
        o.threads = threads;
        o.cancel = &cancel;
        assert_false(sx_cancel_is_set(&cancel));
        assert_false(sx_cancel_is_set(NULL));
        sx_expect_ok(sx_run_new(toy, NULL, &o, &run));
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
        sx_expect_ok(sx_run_search(run, "random"));
        pthread_join(thread, NULL);
        assert_int_equal(sx_run_result(run).stop, SX_STOP_SIGNAL);
        sx_run_free(run);
        sx_cancel_clear(&cancel);
        assert_false(sx_cancel_is_set(&cancel));
    }
    sx_space_free(toy);
}

static void options_begin_as_they_say(void **state) {
    (void)state;
    sx_session_options session;
    sx_map_space_options map;
    sx_model_options model_options;
    sx_verify_options verify;
    sx_session_options_init(&session);
    assert_string_equal(session.mapper, "auto");
    assert_int_equal(session.run.objective.n_criteria, 1);
    sx_map_space_options_init(&map);
    assert_false(map.remainders || map.keep_all || map.no_banks);
    sx_model_options_init(&model_options);
    assert_false(model_options.no_first_read_elision || model_options.no_link_transfers);
    sx_verify_options_init(&verify);
    assert_true(verify.threads == 0 && verify.steps == 0 && !verify.cancel);
    sx_free(NULL);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d%s", SX_VERSION_MAJOR, SX_VERSION_MINOR, SX_VERSION_PATCH,
             SX_VERSION_SUFFIX);
    assert_string_equal(sx_version(), version);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_space_needs_little),
        cmocka_unit_test(another_thread_may_cancel),
        cmocka_unit_test(options_begin_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
