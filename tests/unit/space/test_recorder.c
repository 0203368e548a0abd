/* A recorder in front of a model: searches do not notice it, and it remembers what they looked at. */
#include "sextant/navigator.h"
#include "space/recorder.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 500 };

/* Scores draws number `from` to `to` by a model; returns how many were legal. */
static size_t score_draws(const sx_space *space, const sx_point_model *model, size_t from, size_t to,
                          double cutoff) {
    sx_objective objective;
    sx_scorer *scorer;
    size_t legal = 0;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_scorer_new(space, model, &objective, &scorer));
    for (size_t i = from; i < to; i++) {
        sx_toy_point point;
        sx_outcome outcome;
        sx_rng rng = sx_rng_stream(7, "recorder", i);
        space->type->draw(space, &rng, &point);
        sx_expect_ok(sx_scorer_score(scorer, &point, 1, cutoff, &outcome));
        legal += outcome.reason == 0;
    }
    sx_scorer_free(scorer);
    return legal;
}

static size_t count(sx_recorder *recorder) {
    size_t n = 0;
    double value;
    while (sx_recorder_point(recorder, n, &value)) n++;
    return n;
}

static void all_points_are_kept_while_they_fit(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_recorder *recorder;
    sx_objective objective;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_recorder_new(toy, NULL, DRAWS, &recorder));
    size_t legal = score_draws(toy, sx_recorder_model(recorder), 0, DRAWS, INFINITY);
    assert_true(legal > 0 && legal < DRAWS);
    score_draws(toy, sx_recorder_model(recorder), 0, DRAWS, INFINITY);
    assert_int_equal(count(recorder), legal);
    sx_scorer *scorer;
    double value;
    const void *point;
    sx_expect_ok(sx_scorer_new(toy, NULL, &objective, &scorer));
    for (size_t i = 0; (point = sx_recorder_point(recorder, i, &value)); i++) {
        sx_outcome outcome;
        sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
        assert_int_equal(outcome.reason, 0);
        assert_true(outcome.value == value);
    }
    sx_scorer_free(scorer);
    sx_recorder_free(recorder);
    sx_space_free(toy);
}

/* What is kept of many points depends on the points, not on their order. */
static void a_sample_does_not_depend_on_the_order(void **state) {
    (void)state;
    enum { ROOM = 20 };
    sx_space *toy = sx_toy_space_new(NULL);
    sx_recorder *a, *b;
    sx_expect_ok(sx_recorder_new(toy, NULL, ROOM, &a));
    sx_expect_ok(sx_recorder_new(toy, NULL, ROOM, &b));
    score_draws(toy, sx_recorder_model(a), 0, DRAWS, INFINITY);
    for (size_t i = DRAWS; i-- > 0;) score_draws(toy, sx_recorder_model(b), i, i + 1, INFINITY);
    assert_int_equal(count(a), ROOM);
    assert_int_equal(count(b), ROOM);
    for (size_t i = 0; i < ROOM; i++) {
        double x, y;
        const void *p = sx_recorder_point(a, i, &x), *q = sx_recorder_point(b, i, &y);
        assert_memory_equal(p, q, toy->point_size);
        assert_true(x == y);
    }
    sx_recorder_free(a);
    sx_recorder_free(b);
    sx_space_free(toy);
}

static void points_beyond_a_bound_are_kept_but_refused(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_recorder *recorder;
    sx_expect_ok(sx_recorder_new(toy, NULL, DRAWS, &recorder));
    size_t all = score_draws(toy, NULL, 0, DRAWS, INFINITY);
    assert_int_equal(score_draws(toy, sx_recorder_model(recorder), 0, DRAWS, 0), 0);
    assert_int_equal(count(recorder), all);
    sx_recorder_free(recorder);
    sx_space_free(toy);
}

/* Searches for the best value with a navigator. */
static double search(const sx_space *space, const sx_point_model *model, const char *navigator) {
    sx_run_options options;
    sx_run *run;
    sx_found best;
    sx_run_options_init(&options);
    options.evaluations = 400;
    options.seed = 3;
    sx_expect_ok(sx_run_new(space, model, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    assert_true(sx_run_best(run, 0, &best));
    double value = best.value;
    sx_run_free(run);
    return value;
}

/* Searches with a recorder and without. */
static void compare_searches(const sx_space *space, const char *navigator) {
    sx_recorder *recorder;
    double value, least = INFINITY;
    sx_expect_ok(sx_recorder_new(space, NULL, 1000, &recorder));
    double best = search(space, sx_recorder_model(recorder), navigator);
    assert_true(best == search(space, NULL, navigator));
    for (size_t k = 0; sx_recorder_point(recorder, k, &value); k++) least = fmin(least, value);
    assert_true(least == best);
    sx_recorder_free(recorder);
}

static void searches_do_not_notice(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    compare_searches(toy, "random");
    compare_searches(toy, "anneal");
    compare_searches(toy, "genetic");
    sx_space_free(toy);
}

static void mappers_do_not_notice(void **state) {
    (void)state;
    static const char *const mappers[] = {"random", "anneal", "genetic", "pruned", "gamma"};
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_space *space;
    sx_expect_ok(sx_catalog_problem("resnet-conv4", &problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    for (size_t i = 0; i < sizeof mappers / sizeof mappers[0]; i++) compare_searches(space, mappers[i]);
    sx_space_free(space);
    sx_model_free(model);
}

static void own_key(const sx_point_model *model, const void *point, uint64_t out[2]) {
    out[0] = *(const uint64_t *)model->user;
    out[1] = ((const sx_toy_point *)point)->x[0];
}

static double own_bound(const sx_point_model *model, const sx_goal *goal) {
    (void)goal;
    return (double)*(const uint64_t *)model->user;
}

/* The key and the bound are the inner model's own. */
static void keys_and_bounds_are_those_of_the_model(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_recorder *recorder;
    uint64_t number = 41, key[2];
    sx_point_model_type type = *sx_space_model(toy)->type;
    type.key = own_key;
    type.bound = own_bound;
    const sx_point_model inner = {.type = &type, .user = &number};
    sx_expect_ok(sx_recorder_new(toy, &inner, 4, &recorder));
    const sx_point_model *model = sx_recorder_model(recorder);
    model->type->key(model, &(sx_toy_point){{5}}, key);
    assert_true(key[0] == 41 && key[1] == 5);
    assert_true(model->type->bound(model, NULL) == 41);
    sx_recorder_free(recorder);
    sx_space_free(toy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_points_are_kept_while_they_fit),
        cmocka_unit_test(a_sample_does_not_depend_on_the_order),
        cmocka_unit_test(points_beyond_a_bound_are_kept_but_refused),
        cmocka_unit_test(keys_and_bounds_are_those_of_the_model),
        cmocka_unit_test(searches_do_not_notice),
        cmocka_unit_test(mappers_do_not_notice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
