#include "sextant/compare.h"

#include "base/warnings.h"
#include "sextant/all.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the callbacks of a comparison use and count. */
typedef struct host {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_space *space[2];
    double minimum, bound;
    int refused;
    bool mixed; /* problem 1 is a systolic array */
    int opened, closed, begun;
    int cancel_at; /* the run that cancels the comparison; 0: none */
    sx_cancel *cancel;
} host;

static sx_status open_map(host *h, size_t problem) {
    SX_TRY(sx_model_new(&h->problem, &h->arch, NULL, &h->model));
    return sx_map_space_new(h->model, NULL, NULL, &h->space[problem]);
}

static sx_status open_systolic(host *h, size_t problem) {
    sx_systolic_kernel kernel;
    sx_device device;
    SX_TRY(sx_systolic_matrix(32, 32, 32, &kernel));
    SX_TRY(sx_catalog_device("u250", &device));
    return sx_systolic_space_new(&kernel, 1, &device, NULL, &h->space[problem]);
}

static sx_status open_one(void *user, size_t problem, sx_compare_space *out) {
    host *h = user;
    h->opened++;
    SX_TRY(h->mixed && problem == 0 ? open_map(h, problem) : open_systolic(h, problem));
    out->space = h->space[problem];
    out->minimum = h->minimum;
    out->bound = h->bound;
    return SX_OK;
}

static void close_one(void *user, size_t problem, sx_compare_space *space) {
    host *h = user;
    h->closed++;
    sx_space_free((sx_space *)space->space);
    sx_model_free(h->model);
    h->model = NULL;
    h->space[problem] = NULL;
}

static void begins(void *user, const sx_comparison *c, size_t problem, size_t navigator, uint64_t seed) {
    host *h = user;
    assert_int_equal(c->n_runs, h->begun);
    assert_true(problem < c->n_problems && navigator < c->n_navigators);
    assert_true(seed == c->seed[0] || seed == c->seed[1] || seed == c->seed[2]);
    if (++h->begun == h->cancel_at) sx_cancel_set(h->cancel);
}

static const char *const problems[] = {"first", "second"};
static const char *const navigators[] = {"random", "genetic:population=10"};
static const char *const labels[] = {"draws", "GA"};
static const uint64_t seeds[] = {7, 3, 5};

static sx_comparison_options options_of(host *h) {
    sx_comparison_options o = {0};
    *h = (host){0};
    sx_run_options_init(&o.run);
    sx_plain_arch(&h->arch, 2);
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}", &h->arch, &h->problem, &h->mapping);
    sx_expect_ok(sx_objective_parse("delay", &o.run.objective));
    o.run.evaluations = 200;
    o.n_problems = 2;
    o.n_navigators = 2;
    o.n_seeds = 3;
    o.problem = problems;
    o.navigator = navigators;
    o.label = labels;
    o.seed = seeds;
    o.no_clock = true;
    o.open = open_one;
    o.close = close_one;
    o.begins = begins;
    o.user = h;
    return o;
}

/* Every navigator runs on every problem with every seed, in that order, each as a run by itself would. */
static void runs_are_those_of_single_searches(void **state) {
    (void)state;
    host h;
    sx_comparison_options o = options_of(&h);
    sx_comparison *c;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_int_equal(c->n_runs, 12);
    assert_true(c->complete);
    assert_int_equal(h.opened, 2);
    assert_int_equal(h.closed, 2);
    assert_string_equal(c->model, "systolic");
    assert_string_equal(c->metric[1], "latency");
    assert_string_equal(c->label[1], "GA");
    assert_non_null(strstr(c->settings[1], "population=10"));
    assert_non_null(strstr(c->settings[1], "mutation")); /* with every setting */
    sx_expect_ok(open_systolic(&h, 0));
    for (size_t i = 0; i < c->n_runs; i++) {
        sx_run_options run = o.run;
        sx_run *single;
        sx_found best;
        assert_int_equal(c->run[i].problem, i / 6);
        assert_int_equal(c->run[i].navigator, i / 3 % 2);
        run.seed = seeds[i % 3];
        assert_int_equal(c->run[i].seed, run.seed);
        sx_expect_ok(sx_run_new(h.space[0], NULL, &run, &single));
        sx_expect_ok(sx_run_search(single, navigators[i / 3 % 2]));
        assert_true(sx_run_best(single, 0, &best));
        assert_true(c->run[i].found && c->run[i].value == best.value);
        assert_true(c->run[i].metrics.value[1] == best.value);
        assert_true(c->run[i].n_trace > 0 && c->run[i].trace[c->run[i].n_trace - 1].value == best.value);
        assert_true(c->run[i].summary.seconds == 0);
        assert_int_equal(c->run[i].summary.evaluations, 200);
        sx_run_free(single);
    }
    sx_space_free(h.space[0]);
    sx_comparison_free(c);
}

/* Sets the values of the six runs of each problem: v, 2v and 8v for the first navigator. */
static void set_values(sx_comparison *c) {
    static const double values[] = {4, 1, 2, 3, 3, 3};
    for (size_t i = 0; i < c->n_runs; i++) c->run[i].value = values[i % 6] * (i < 6 ? 1 : 10);
}

static void summaries_hold_means_medians_and_the_distance_from_the_reference(void **state) {
    (void)state;
    host h;
    sx_comparison_options o = options_of(&h);
    sx_comparison *c;
    sx_compare_summary s;
    o.run.evaluations = 20;
    sx_expect_ok(sx_comparison_run(&o, &c));
    set_values(c);
    assert_false(sx_comparison_has_minima(c));
    assert_true(sx_comparison_reference(c, 0) == 1 && sx_comparison_reference(c, 1) == 10);
    sx_expect_ok(sx_comparison_summary(c, 0, 0, &s));
    assert_int_equal(s.runs, 3);
    assert_int_equal(s.found, 3);
    assert_true(s.median == 2 && s.best == 1 && s.worst == 4);
    assert_true(fabs(s.mean - 7.0 / 3) < 1e-12 && fabs(s.geomean - 2) < 1e-12);
    assert_true(fabs(s.normalised - 2) < 1e-12);
    assert_true(s.evaluations == 20 && s.seconds == 0 && isnan(s.per_second));
    sx_expect_ok(sx_comparison_summary(c, 1, 1, &s));
    assert_true(s.median == 30 && s.deviation == 0 && fabs(s.normalised - 3) < 1e-12);
    c->run[0].found = false; /* the median of two is their mean */
    sx_expect_ok(sx_comparison_summary(c, 0, 0, &s));
    assert_int_equal(s.found, 2);
    assert_true(s.median == 1.5);
    c->problem[0].minimum = 0.5;
    assert_true(sx_comparison_has_minima(c) && sx_comparison_reference(c, 0) == 0.5);
    sx_expect_ok(sx_comparison_summary(c, 1, 1, &s));
    assert_true(isnan(s.normalised)); /* a problem without a minimum among others with one */
    sx_comparison_free(c);
}

static void a_cancel_ends_it_with_what_was_done(void **state) {
    (void)state;
    host h;
    sx_comparison_options o = options_of(&h);
    sx_cancel cancel = {0};
    sx_comparison *c;
    size_t n;
    h.cancel = &cancel;
    h.cancel_at = 5;
    o.run.cancel = &cancel;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_int_equal(c->n_runs, 5);
    assert_false(c->complete);
    assert_int_equal(sx_comparison_total(c), 12);
    (void)sx_comparison_runs(c, 0, 0, &n);
    assert_int_equal(n, 3);
    (void)sx_comparison_runs(c, 0, 1, &n); /* the run that was cut short is not counted */
    assert_int_equal(n, 1);
    assert_int_equal(h.opened, h.closed);
    sx_comparison_free(c);
}

static void what_cannot_be_compared_is_refused(void **state) {
    (void)state;
    host h;
    sx_comparison *c = NULL;
    sx_comparison_options o = options_of(&h);
    h.mixed = true;
    sx_expect_error(sx_comparison_run(&o, &c),
                    "the models 'map' and 'systolic' cannot be compared: their metrics differ");
    assert_int_equal(h.opened, h.closed);
    o = options_of(&h);
    o.n_seeds = 0;
    sx_expect_error(sx_comparison_run(&o, &c), "a comparison needs a problem, a navigator and a seed");
    o = options_of(&h);
    o.seed = (const uint64_t[]){1, 2, 1};
    sx_expect_error(sx_comparison_run(&o, &c), "seed 1 is given twice");
    o = options_of(&h);
    o.label = (const char *const[]){"a", "a"};
    sx_expect_error(sx_comparison_run(&o, &c), "'a' is compared with itself");
    o = options_of(&h);
    o.navigator = (const char *const[]){"random", "nothing"};
    sx_expect_error(sx_comparison_run(&o, &c), "nothing");
    assert_int_equal(h.opened, 0);
    assert_null(c);
}

/* A device too small for any array: no run finds a point, and the comparison says why. */
static sx_status open_too_small(void *user, size_t problem, sx_compare_space *out) {
    host *h = user;
    sx_systolic_kernel kernel;
    sx_device device;
    SX_TRY(sx_systolic_matrix(32, 32, 32, &kernel));
    SX_TRY(sx_catalog_device("u250", &device));
    device.bram18k = 1;
    SX_TRY(sx_systolic_space_new(&kernel, 1, &device, NULL, &h->space[problem]));
    out->space = h->space[problem];
    return SX_OK;
}

static void problems_without_a_legal_point_are_diagnosed(void **state) {
    (void)state;
    host h;
    sx_comparison_options o = options_of(&h);
    sx_comparison *c;
    sx_compare_summary s;
    o.n_problems = 1;
    o.open = open_too_small;
    o.run.evaluations = 5;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_false(c->run[0].found);
    assert_non_null(strstr(c->problem[0].diagnosis, "more BRAM than usable"));
    sx_expect_ok(sx_comparison_summary(c, 0, 0, &s));
    assert_int_equal(s.found, 0);
    assert_true(isnan(s.median) && isnan(s.normalised));
    sx_comparison_free(c);
}

/* A model of the caller's own: the PEs of an array, fewer being better. */
static sx_status count_pes(const sx_point_model *model, void *workspace, const void *points, size_t n,
                           const sx_goal *goal, double cutoff, sx_outcome *out) {
    const sx_systolic_point *point = points;
    (void)workspace, (void)goal, (void)cutoff;
    ++*(int *)model->user;
    for (size_t i = 0; i < n; i++)
        out[i] = (sx_outcome){.metrics = {{(double)point[i].t1[0] / point[i].t2[0]}}};
    return SX_OK;
}

static const sx_metric_about pes[] = {{"pes", "", NULL}};
static const sx_point_model_type pe_type = {
    .name = "pes", .metrics = pes, .n_metrics = 1, .score_batch = count_pes};
static int scored;
static const sx_point_model pe_model = {.type = &pe_type, .user = &scored};

static sx_status open_with_own_model(void *user, size_t problem, sx_compare_space *out) {
    SX_TRY(open_one(user, problem, out));
    out->model = &pe_model;
    out->minimum = 1;
    return SX_OK;
}

static void models_of_the_callers_own_are_compared_by(void **state) {
    (void)state;
    host h;
    sx_comparison_options o = options_of(&h);
    sx_comparison *c;
    o.open = open_with_own_model;
    sx_expect_ok(sx_objective_parse_metrics("pes^2", pes, 1, &o.run.objective));
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_true(scored > 0);
    assert_string_equal(c->model, "pes");
    assert_int_equal(c->n_metrics, 1);
    assert_true(sx_comparison_has_minima(c));
    for (size_t i = 0; i < c->n_runs; i++) {
        double n = c->run[i].metrics.value[0];
        assert_true(c->run[i].found && n >= 1 && c->run[i].value == n * n);
    }
    sx_comparison_free(c);
}

static void count_refusal(void *user, const sx_comparison *c, size_t problem, size_t navigator,
                          sx_status why) {
    host *h = user;
    assert_int_equal(why->code, SX_ERR_LIMIT);
    assert_string_equal(c->label[navigator], "GA");
    assert_true(problem < 2);
    h->refused++;
}

static void a_navigator_that_refuses_is_left_out_on_request(void **state) {
    (void)state;
    static const char *const one_refuses[] = {"random", "exhaustive:limit=1"};
    host h;
    sx_comparison_options o = options_of(&h);
    sx_comparison *c;
    size_t n;
    o.begins = NULL;
    o.navigator = one_refuses;
    o.run.evaluations = 0;
    o.run.patience = 20;
    h.mixed = true;
    o.n_problems = 1;
    sx_expect_error(sx_comparison_run(&o, &c), "more than the limit");
    o.refused = count_refusal;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_int_equal(h.refused, 1);
    assert_true(c->complete && c->n_refused == 3 && c->n_runs == 3);
    (void)sx_comparison_runs(c, 0, 1, &n);
    assert_int_equal(n, 0);
    sx_comparison_free(c);
}

static void bounds_come_with_the_space_or_from_runs(void **state) {
    (void)state;
    static const char *const with_proof[] = {"random", "exact"};
    host h;
    sx_comparison_options o = options_of(&h);
    sx_comparison *c;
    o.begins = NULL;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_true(c->problem[0].bound == 0 && !c->problem[0].optimal);
    sx_comparison_free(c);
    o.navigator = with_proof;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_true(c->problem[0].optimal && c->problem[0].bound == c->run[3].value);
    sx_comparison_free(c);
    h.bound = 7;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_true(!c->problem[0].optimal && c->problem[0].bound == 7);
    sx_comparison_free(c);
    sx_expect_ok(sx_warnings_new(&o.run.warnings));
    h.bound = 1e30;
    sx_expect_ok(sx_comparison_run(&o, &c));
    assert_true(sx_warnings_faulty(o.run.warnings));
    assert_true(c->problem[0].optimal && c->problem[0].bound == c->run[3].value);
    sx_comparison_free(c);
    sx_warnings_free(o.run.warnings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_those_of_single_searches),
        cmocka_unit_test(summaries_hold_means_medians_and_the_distance_from_the_reference),
        cmocka_unit_test(a_cancel_ends_it_with_what_was_done),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
        cmocka_unit_test(problems_without_a_legal_point_are_diagnosed),
        cmocka_unit_test(models_of_the_callers_own_are_compared_by),
        cmocka_unit_test(a_navigator_that_refuses_is_left_out_on_request),
        cmocka_unit_test(bounds_come_with_the_space_or_from_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
