/* What spaces, scorers and recorders do with the points of a toy space, and how numbers of points are counted and written, as
 * hashes that are changed on purpose. */
#include "support/expect.h"
#include "support/toy_space.h"

#include "base/guard.h"
#include "base/hash.h"
#include "space/cardinal.h"
#include "space/recorder.h"
#include "space/scorer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CALLS = 200, POINTS = 60 };

static void add(uint64_t *hash, uint64_t number) {
    *hash = sx_hash_mix(*hash, number);
}

static void add_text(uint64_t *hash, const char *text) {
    *hash = sx_hash_bytes(text, strlen(text), *hash);
}

static void add_double(uint64_t *hash, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.12g ", number);
    add_text(hash, text);
}

static void add_point(uint64_t *hash, const sx_toy_point *point) {
    for (int d = 0; d < SX_TOY_DIMS; d++) add(hash, point->x[d]);
}

static uint64_t hash_moves(void) {
    uint64_t hash = 0, rejected = 0;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_toy_point point, scratch;
    for (uint64_t i = 0; i < CALLS; i++) {
        sx_rng rng = sx_rng_stream(i, "calls", 0);
        add(&hash, sx_space_draw_legal(toy, &rng, &point, &rejected));
        add(&hash, rejected);
        add_point(&hash, &point);
        const int axis = (int)(i % 4) - 1;
        add(&hash, (uint64_t)sx_space_random_gene(toy, &rng, axis));
        add(&hash, sx_space_mutate(toy, &rng, axis, i / 4 % 2, 1 + (unsigned)i % 3, &point, &scratch));
        add_point(&hash, &point);
        add(&hash, sx_rng_next(&rng)); /* as many draws as before */
    }
    sx_space_free(toy);
    return hash;
}

static void add_outcomes(uint64_t *hash, const sx_outcome *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        add(hash, out[i].reason);
        add_double(hash, out[i].value);
        for (int k = 0; k < 2 && out[i].reason == 0; k++) add_double(hash, out[i].metrics.value[k]);
    }
}

/* Scores points in one batch and in several, before limits, with a recorder of little room between. */
static uint64_t hash_scores(bool checks) {
    uint64_t hash = 0, key[2];
    sx_space *toy = sx_toy_space_new(NULL);
    sx_toy_point point[POINTS];
    sx_outcome out[POINTS];
    sx_point_model_type type = *sx_space_model(toy)->type;
    sx_point_model model = *sx_space_model(toy);
    sx_objective objective;
    type.checks = checks && type.checks;
    model.type = &type;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    for (uint64_t i = 0; i < POINTS; i++) {
        sx_rng rng = sx_rng_stream(2, "scores", i / 2);
        toy->type->draw(toy, &rng, &point[i]);
    }
    for (size_t room = 0; room < 40; room += 13) {
        sx_recorder *recorder;
        sx_scorer *scorer;
        double value = 0;
        sx_expect_ok(sx_recorder_new(toy, &model, room, &recorder));
        sx_expect_ok(sx_scorer_new(toy, sx_recorder_model(recorder), &objective, &scorer));
        for (size_t step = 1; step <= POINTS; step *= 4)
            for (size_t at = 0; at + step <= POINTS; at += step) {
                sx_expect_ok(sx_scorer_score(scorer, point + at, step, step == 4 ? 1e4 : INFINITY, out));
                add_outcomes(&hash, out, step);
            }
        sx_scorer_key(scorer, point, key);
        add(&hash, key[0]);
        add(&hash, key[1]);
        for (size_t i = 0; sx_recorder_point(recorder, i, &value); i++) {
            add_point(&hash, sx_recorder_point(recorder, i, &value));
            add_double(&hash, value);
        }
        sx_scorer_free(scorer);
        sx_recorder_free(recorder);
    }
    sx_space_free(toy);
    return hash;
}

static void add_cardinal(uint64_t *hash, sx_cardinal cardinal) {
    char text[40];
    sx_cardinal_text(&cardinal, text, sizeof text);
    add_text(hash, text);
    add(hash, cardinal.exact);
    add(hash, cardinal.high);
    add(hash, cardinal.low);
    add_double(hash, cardinal.log10);
}

static uint64_t hash_cardinals(void) {
    static const double about[] = {0, 0.5, 1, 9.96, 1e3, 999999999999999.0, 1e15, 9.949e20, 9.951e20, 1e300};
    enum { N = sizeof about / sizeof *about };
    uint64_t hash = 0;
    sx_cardinal cardinal[2 * N];
    for (size_t i = 0; i < N; i++) {
        cardinal[i] = sx_cardinal_about(about[i]);
        cardinal[N + i] =
            about[i] < 1e30 ? sx_cardinal_of((sx_u128)about[i] << 3 * i) : sx_cardinal_near(31.5);
    }
    for (size_t i = 0; i < 2 * N; i++) {
        add_cardinal(&hash, cardinal[i]);
        for (size_t k = 0; k < 2 * N; k++) add_cardinal(&hash, sx_cardinal_times(cardinal[i], cardinal[k]));
    }
    return hash;
}

/* Adds a status and frees it. */
static void add_status(uint64_t *hash, sx_status status) {
    add_text(hash, status ? sx_status_message(status) : "fine");
    sx_status_free(status);
}

/* A key that tells the first axis alone. */
static void first_axis(const sx_point_model *model, const void *point, uint64_t out[2]) {
    (void)model;
    out[0] = ((const sx_toy_point *)point)->x[0];
    out[1] = 7;
}

/* Scorers of models with other metrics, fronts and keys, some of which are refused. */
static uint64_t hash_models(void) {
    static const uint8_t fronts[][2] = {{0, 0}, {2, 3}, {3, 2}, {4, 1}, {1, 4}, {0, 1}, {1, 0}};
    uint64_t hash = 0, key[2];
    sx_space *toy = sx_toy_space_new(NULL);
    const sx_toy_point point = {{1, 2, 3}};
    sx_point_model_type type = *sx_space_model(toy)->type;
    sx_point_model model = *sx_space_model(toy);
    sx_objective objective;
    sx_goal goal;
    sx_scorer *scorer;
    model.type = &type;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        memcpy(type.front, fronts[i], sizeof type.front);
        goal = (sx_goal){0};
        add_status(&hash, sx_scorer_goal_init(toy, &model, &objective, &goal));
        add(&hash, (uint64_t)goal.front[0] << 8 | goal.front[1]);
    }
    memcpy(type.front, fronts[0], sizeof type.front);
    for (type.n_metrics = 0; type.n_metrics <= SX_MAX_METRICS + 1; type.n_metrics += SX_MAX_METRICS + 1)
        add_status(&hash, sx_scorer_goal_init(toy, &model, &objective, &goal));
    add_status(&hash, sx_scorer_goal_init(toy, NULL, &objective, &goal));
    type = *sx_space_model(toy)->type;
    type.key = first_axis;
    sx_expect_ok(sx_scorer_new(toy, &model, &objective, &scorer));
    sx_scorer_key(scorer, &point, key);
    assert_true(key[0] == 1 && key[1] == 7);
    sx_scorer_free(scorer);
    sx_scorer_free(NULL);
    sx_space_free(toy);
    return hash;
}

/* What a space without functions that may be missing says, and one whose checks were broken off. */
static uint64_t hash_defaults(void) {
    uint64_t hash = 0;
    sx_space *toy = sx_toy_space_new(NULL), *bare = sx_toy_space_new(NULL);
    sx_space_type type = *toy->type;
    sx_toy_point point = {{0, 0, 3}};
    sx_guard guard = {0};
    sx_size size;
    char text[40] = "nothing", *why;
    bare->type = &type;
    type.diagnose = NULL, type.explain = NULL, type.project = NULL, type.encode = NULL, type.at = NULL;
    type.size = NULL;
    sx_expect_ok(sx_space_diagnose(bare, 1, 1, &why));
    add_text(&hash, why);
    free(why);
    for (uint32_t x = 0; x < 9; x++) {
        point.x[2] = x;
        add(&hash, sx_space_legal(bare, &point, NULL, 0));
        add(&hash, sx_space_legal(bare, &point, text, x == 2 ? 0 : sizeof text));
        add_text(&hash, text);
        snprintf(text, sizeof text, "nothing");
        add(&hash, sx_space_legal(toy, &point, text, sizeof text));
        add_text(&hash, text);
    }
    add(&hash, sx_space_size(bare, 0, &size));
    add(&hash, sx_space_at(bare, &(sx_cardinal){.exact = true}, &point));
    add(&hash, sx_space_at(toy, &(sx_cardinal){.exact = false}, &point));
    add(&hash, sx_space_at(toy, &(sx_cardinal){.high = 1, .exact = true}, &point));
    add(&hash, sx_space_project(bare, (double[SX_TOY_DIMS]){1, 2}, &point));
    add(&hash, sx_space_tries(toy));
    add(&hash, sx_space_unfinished(bare));
    add_status(&hash, sx_space_unfinished_status(bare));
    bare->guard = &guard;
    bare->tries = 3;
    for (int way = 0; way < 4; way++) {
        atomic_store(&guard.unfinished, way & 1);
        atomic_store(&guard.steps.stopped, way & 2);
        add(&hash, sx_space_unfinished(bare));
        add_status(&hash, sx_space_unfinished_status(bare));
    }
    add(&hash, sx_space_tries(bare));
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t rejected = 0;
        sx_rng rng = sx_rng_stream(i, "bare", 0);
        add(&hash, sx_space_draw_legal(bare, &rng, &point, &rejected));
        add(&hash, rejected);
        add(&hash, sx_space_sample(toy, 5, i, &point));
        add_point(&hash, &point);
    }
    sx_space_free(bare);
    sx_space_free(toy);
    return hash;
}

static void calls_give_what_they_gave(void **state) {
    (void)state;
    static const uint64_t expected[] = {0x15a419b1cc500c7bu, 0xca2bf064af42ca20u, 0xca2bf064af42ca20u,
                                        0x24a4b22317cd6ea9u, 0x5548b96664ac0666u, 0xdce53988225f7896u};
    enum { HASHES = sizeof expected / sizeof *expected };
    const uint64_t found[HASHES] = {hash_moves(),     hash_scores(false), hash_scores(true),
                                    hash_cardinals(), hash_models(),      hash_defaults()};
    for (size_t i = 0; i < HASHES; i++)
        if (found[i] != expected[i])
            print_error("0x%016llxu%s", (unsigned long long)found[i], i + 1 < HASHES ? ", " : "\n");
    assert_int_equal(memcmp(found, expected, sizeof found), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_give_what_they_gave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
