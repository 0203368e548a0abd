/* Runs with a model of the caller's own: its metrics, batches, cut-offs, errors, and who may rely on it. */
#include "base/status.h"
#include "run/navigator.h"
#include "sextant/all.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the model of a test was asked. */
typedef struct asked {
    pthread_mutex_t lock;
    const sx_space *space;
    size_t points, largest; /* in all; of a batch */
    uint64_t fails_at;      /* points before an error; 0: none */
    bool saw_illegal;
} asked;

static const sx_metric_about metrics[] = {
    {"area", "mm2", NULL}, {"latency", "us", "delay"}, {"yield", "", NULL}};

/* Area is the sum of a point's numbers, latency a hundred less that, yield one over the first number. */
static void measure(const sx_toy_point *point, sx_metrics *out) {
    double sum = 0;
    for (int d = 0; d < SX_TOY_DIMS; d++) sum += point->x[d];
    *out = (sx_metrics){{sum, 100 - sum, 1.0 / (1 + point->x[0])}};
}

static sx_status score_batch(const sx_point_model *model, void *workspace, const void *points, size_t n,
                             const sx_goal *goal, double cutoff, sx_outcome *out) {
    asked *a = model->user;
    const sx_toy_point *point = points;
    (void)goal, (void)cutoff;
    assert_null(workspace);
    pthread_mutex_lock(&a->lock);
    a->points += n;
    if (n > a->largest) a->largest = n;
    for (size_t i = 0; i < n; i++) a->saw_illegal |= !sx_space_legal(a->space, &point[i], NULL, 0);
    bool fails = a->fails_at && a->points >= a->fails_at;
    pthread_mutex_unlock(&a->lock);
    if (fails) return sx_error_new(SX_ERR_FILE, "the simulator is gone");
    for (size_t i = 0; i < n; i++) {
        out[i].reason = 0;
        measure(&point[i], &out[i].metrics);
    }
    return SX_OK;
}

/* A test's space, model and options. */
typedef struct bench {
    sx_space *space;
    asked asked;
    sx_point_model_type type;
    sx_point_model model;
    sx_run_options options;
} bench;

static void open_bench(bench *b, const char *objective) {
    *b = (bench){.space = sx_toy_space_new(NULL)};
    b->asked = (asked){.lock = PTHREAD_MUTEX_INITIALIZER, .space = b->space};
    b->type =
        (sx_point_model_type){.name = "chip", .metrics = metrics, .n_metrics = 3, .score_batch = score_batch};
    b->model = (sx_point_model){.type = &b->type, .user = &b->asked};
    sx_run_options_init(&b->options);
    b->options.evaluations = 1000;
    sx_expect_ok(sx_objective_parse_metrics(objective, metrics, 3, &b->options.objective));
}

static sx_run *search(const bench *b, const char *navigator) {
    sx_run *run;
    sx_expect_ok(sx_run_new(b->space, &b->model, &b->options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    return run;
}

/* The best of a search. */
static sx_found search_best(const bench *b, const char *navigator, sx_toy_point *point) {
    sx_found found;
    sx_run *run = search(b, navigator);
    assert_true(sx_run_best(run, 0, &found));
    memcpy(point, found.point, sizeof *point);
    sx_run_free(run);
    found.point = point;
    return found;
}

static void any_model_can_be_searched_with(void **state) {
    (void)state;
    static const char *const navigators[] = {"random", "genetic", "anneal", "exhaustive"};
    bench b;
    open_bench(&b, "area*latency^2");
    for (size_t i = 0; i < 4; i++) {
        sx_toy_point point;
        sx_metrics expected;
        sx_found f = search_best(&b, navigators[i], &point);
        measure(&point, &expected);
        assert_memory_equal(&f.metrics, &expected, sizeof expected);
        assert_true(f.value == expected.value[0] * (expected.value[1] * expected.value[1]));
    }
    assert_false(b.asked.saw_illegal);
    sx_space_free(b.space);
}

/* Points that a model scores at once end as if they were scored one by one. */
static void batches_change_nothing(void **state) {
    (void)state;
    static const char *const navigators[] = {"random", "genetic:population=50", "anneal:chains=20"};
    for (size_t i = 0; i < 3; i++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            sx_toy_point point[2];
            sx_found found[2];
            size_t largest = 0;
            for (int big = 0; big < 2; big++) {
                bench b;
                open_bench(&b, "area*delay,-yield");
                b.type.batch = big ? 32 : 0;
                b.options.threads = threads;
                b.options.patience = 300;
                found[big] = search_best(&b, navigators[i], &point[big]);
                largest = b.asked.largest;
                assert_true(big || largest == 1);
                sx_space_free(b.space);
            }
            assert_memory_equal(&point[0], &point[1], sizeof point[0]);
            assert_true(found[0].evaluation == found[1].evaluation && found[0].value == found[1].value);
            assert_in_range(largest, 8, 32);
        }
}

static void errors_of_a_model_are_the_runs(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        bench b;
        sx_run *run;
        sx_found found;
        open_bench(&b, "area");
        b.asked.fails_at = 200;
        b.options.threads = threads;
        sx_expect_ok(sx_run_new(b.space, &b.model, &b.options, &run));
        sx_expect_error(sx_run_search(run, "random"), "the simulator is gone");
        assert_int_equal(sx_run_result(run).stop, SX_STOP_FAILED);
        assert_true(sx_run_best(run, 0, &found));
        sx_run_free(run);
        sx_space_free(b.space);
    }
}

/* The front is that of the model's first two metrics, or of those that it names. */
static void a_model_says_what_its_front_is(void **state) {
    (void)state;
    for (int named = 0; named < 2; named++) {
        bench b;
        sx_found f, before = {0};
        size_t n = 0;
        open_bench(&b, "area");
        b.options.pareto = true;
        if (named) memcpy(b.type.front, ((const uint8_t[]){2, 0}), 2);
        const uint8_t x = named ? 2 : 0, y = named ? 0 : 1;
        sx_run *run = search(&b, "random");
        for (; sx_run_front(run, n, &f); n++, before = f) {
            if (n == 0) continue;
            assert_true(f.metrics.value[x] > before.metrics.value[x]);
            assert_true(f.metrics.value[y] < before.metrics.value[y]);
        }
        assert_true(n > 2);
        sx_run_free(run);
        sx_space_free(b.space);
    }
}

static void objectives_need_metrics_that_are_there(void **state) {
    (void)state;
    bench b;
    sx_run *run;
    sx_objective o;
    open_bench(&b, "delay");
    sx_expect_error(sx_objective_parse_metrics("volume", metrics, 3, &o), "unknown objective 'volume'");
    sx_expect_error(sx_objective_parse("area", &o), "unknown objective 'area'");
    sx_expect_ok(sx_objective_parse("edp", &b.options.objective));
    sx_expect_error(sx_run_new(b.space, &b.model, &b.options, &run),
                    "the chip model does not measure 'energy'\n  it measures area, latency, yield");
    char text[80];
    sx_expect_ok(sx_objective_parse_metrics("-yield*area^2,delay", metrics, 3, &o));
    sx_objective_text(&o, text, sizeof text);
    assert_string_equal(text, "-yield*area^2,delay");
    sx_space_free(b.space);
}

static double farthest(void *user, const sx_metrics *m) {
    return fabs(m->value[0] - *(const double *)user);
}

static void an_objective_may_be_a_function(void **state) {
    (void)state;
    bench b;
    sx_toy_point point;
    double wanted = 41;
    open_bench(&b, "area");
    b.options.objective = (sx_objective){.n_criteria = 1,
                                         .criterion = {{SX_FUNCTION, 0, 0}},
                                         .function = farthest,
                                         .user = &wanted,
                                         .name = "near-41"};
    sx_found f = search_best(&b, "genetic", &point);
    assert_true(f.value == 0 && f.metrics.value[0] == 41);
    sx_space_free(b.space);
}

/* What rests on the built-in model refuses others, and what does not can be used on a map space too. */
static void navigators_that_rely_on_a_model_refuse_others(void **state) {
    (void)state;
    bench b;
    sx_run *run;
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_space *map;
    open_bench(&b, "area");
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:2}", &problem));
    sx_expect_ok(sx_catalog_arch("accel-b", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &map));
    static const char *const relying[] = {"optimal", "auto", "sunstone", "pruned"};
    for (size_t i = 0; i < 4; i++) {
        sx_expect_ok(sx_run_new(map, &b.model, &b.options, &run));
        sx_expect_error(sx_run_search(run, relying[i]), "relies on the map model; this is the model 'chip'");
        sx_run_free(run);
    }
    size_t n;
    const sx_metric_about *about = sx_mapping_metrics(&n);
    sx_expect_ok(sx_objective_parse_metrics("cycles*last_level_accesses", about, n, &b.options.objective));
    sx_expect_ok(sx_run_new(map, NULL, &b.options, &run));
    sx_expect_error(sx_run_search(run, "optimal"), "cannot search for a user-defined objective");
    sx_run_free(run);
    sx_expect_ok(sx_run_new(map, NULL, &b.options, &run));
    sx_expect_ok(sx_run_search(run, "gamma"));
    sx_found f;
    assert_true(sx_run_best(run, 0, &f));
    assert_true(f.value == f.metrics.value[1] * f.metrics.value[3]);
    sx_run_free(run);
    sx_space_free(map);
    sx_model_free(model);
    sx_space_free(b.space);
}

static double bound(const sx_point_model *model, const sx_goal *goal) {
    (void)model, (void)goal;
    return 4;
}

static void a_models_bound_is_the_runs(void **state) {
    (void)state;
    bench b;
    open_bench(&b, "area");
    b.type.bound = bound;
    sx_run *run = search(&b, "random");
    assert_true(sx_run_result(run).lower_bound == 4);
    assert_false(sx_run_result(run).optimal);
    sx_run_free(run);
    sx_space_free(b.space);
}

static void models_that_cannot_be_are_refused(void **state) {
    (void)state;
    bench b;
    sx_run *run;
    open_bench(&b, "area");
    sx_space bare = *b.space;
    bare.model = NULL;
    sx_expect_error(sx_run_new(&bare, NULL, &b.options, &run), "a toy space comes without a model");
    b.type.n_metrics = 0;
    sx_expect_error(sx_run_new(b.space, &b.model, &b.options, &run), "1 to 8 are possible");
    sx_space_free(b.space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_model_can_be_searched_with),
        cmocka_unit_test(batches_change_nothing),
        cmocka_unit_test(errors_of_a_model_are_the_runs),
        cmocka_unit_test(a_model_says_what_its_front_is),
        cmocka_unit_test(objectives_need_metrics_that_are_there),
        cmocka_unit_test(an_objective_may_be_a_function),
        cmocka_unit_test(navigators_that_rely_on_a_model_refuse_others),
        cmocka_unit_test(a_models_bound_is_the_runs),
        cmocka_unit_test(models_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
