/* Spaces whatever their points mean: on a toy space. */
#include "sextant/outside_evaluator.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include "base/hash.h"
#include "space/scorer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void samples_belong_to_seed_and_index(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_toy_point a, b;
    size_t different = 0;
    for (uint64_t i = 0; i < 50; i++) {
        assert_true(sx_space_sample(toy, 3, i, &a));
        assert_true(sx_space_legal(toy, &a, NULL, 0));
        assert_true(sx_space_sample(toy, 3, i, &b));
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(sx_space_sample(toy, 4, i, &b));
        different += memcmp(&a, &b, sizeof a) != 0;
    }
    sx_expect_compared("different samples", (uint64_t)different, 45);
    sx_space_free(toy);
    sx_space_free(NULL);
}

static void a_barren_space_gives_up(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(&(sx_toy_options){.barren = true});
    sx_toy_point point;
    uint64_t rejected = 5;
    sx_rng rng = sx_rng_stream(0, "test", 0);
    assert_false(sx_space_draw_legal(toy, &rng, &point, &rejected));
    assert_int_equal(rejected, 5 + SX_SAMPLE_TRIES);
    toy->tries = 7;
    rejected = 0;
    assert_false(sx_space_draw_legal(toy, &rng, &point, &rejected));
    assert_int_equal(rejected, 7);
    assert_false(sx_space_sample(toy, 0, 0, &point));
    sx_space_free(toy);
}

/* Draws a point whose first two numbers are too large. */
static void draw_illegal(const sx_space *space, sx_rng *rng, void *point) {
    (void)space, (void)rng;
    *(sx_toy_point *)point = (sx_toy_point){{15, 15, 1}};
}

/* Draws a point of which one number is off by one. */
static void draw_uneven(const sx_space *space, sx_rng *rng, void *point) {
    (void)space, (void)rng;
    *(sx_toy_point *)point = (sx_toy_point){{3}};
}

/* Where no draw is legal the last one is projected, if the space can encode and project points. */
static void draws_are_projected(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    const sx_space_type *own = toy->type;
    sx_space_type type = *own;
    sx_rng rng = sx_rng_stream(0, "test", 0);
    uint64_t rejected = 0;
    sx_toy_point point;
    type.draw = draw_illegal;
    type.draw_likely = NULL;
    type.repair = NULL;
    toy->type = &type;
    toy->tries = 3;
    assert_false(sx_space_legal(toy, &(sx_toy_point){{15, 15, 1}}, NULL, 0));
    type.encode = NULL;
    assert_false(sx_space_draw_legal(toy, &rng, &point, &rejected));
    type.encode = own->encode;
    type.project = NULL;
    assert_false(sx_space_draw_legal(toy, &rng, &point, &rejected));
    assert_int_equal(rejected, 6);
    type.project = own->project;
    toy->tries = 1;
    assert_false(sx_space_draw_legal(toy, &rng, &point, NULL)); /* 13 * 13 is above 120, too */
    type.draw = draw_uneven;
    assert_true(sx_space_draw_legal(toy, &rng, &point, NULL));
    assert_true(sx_space_legal(toy, &point, NULL, 0) && point.x[0] + point.x[2] == 2);
    toy->type = own;
    sx_space_free(toy);
}

/* Points are numbered where the number is exact and the space can count them. */
static void points_have_numbers(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    const sx_space_type *own = toy->type;
    sx_space_type type = *own;
    sx_toy_point point;
    sx_cardinal index = {.low = 3 + 16 * 5, .exact = true};
    assert_true(sx_space_at(toy, &index, &point));
    assert_true(point.x[0] == 3 && point.x[1] == 5 && point.x[2] == 0);
    assert_false(sx_space_at(toy, &(sx_cardinal){.low = 1}, &point));
    assert_false(sx_space_at(toy, &(sx_cardinal){.high = 1, .exact = true}, &point));
    type.at = NULL;
    toy->type = &type;
    assert_false(sx_space_at(toy, &index, &point));
    toy->type = own;
    sx_space_free(toy);
}

/* A point's two keys are two hashes of its bytes, and those of the model where it has keys. */
static void keys_are_two_hashes(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_point_model_type type = *sx_space_model(toy)->type;
    sx_point_model model = *sx_space_model(toy);
    const sx_toy_point point = {{1, 2, 3}};
    sx_objective objective;
    sx_scorer *scorer;
    uint64_t key[2];
    type.key = NULL;
    model.type = &type;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_scorer_new(toy, &model, &objective, &scorer));
    sx_scorer_key(scorer, &point, key);
    assert_true(key[0] == sx_hash_bytes(&point, sizeof point, 1));
    assert_true(key[1] == sx_hash_bytes(&point, sizeof point, 2));
    sx_scorer_free(scorer);
    sx_space_free(toy);
}

static void genes_and_axes(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_rng rng = sx_rng_stream(0, "test", 0);
    size_t seen = 0;
    bool drawn[SX_TOY_DIMS] = {0};
    assert_int_equal(sx_space_random_gene(toy, &rng, 99), -1);
    for (int i = 0; i < 1000; i++) {
        int64_t gene = sx_space_random_gene(toy, &rng, -1);
        assert_in_range(gene, 0, toy->n_genes - 1);
        seen += !drawn[gene];
        drawn[gene] = true;
        gene = sx_space_random_gene(toy, &rng, 1);
        assert_int_equal(toy->gene[gene].axis, 1);
    }
    assert_int_equal(seen, toy->n_genes);
    sx_space_free(toy);
}

static void mutations_stay_legal_and_differ(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_rng rng = sx_rng_stream(0, "test", 1);
    sx_toy_point point, before, scratch;
    int changed = 0;
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(sx_space_sample(toy, 0, i, &point));
        before = point;
        bool is = sx_space_mutate(toy, &rng, (int)(i % 3) - 1, i % 2, 20, &point, &scratch);
        assert_true(sx_space_legal(toy, &point, NULL, 0));
        assert_true(is == (memcmp(&point, &before, sizeof point) != 0));
        changed += is;
    }
    sx_expect_compared("points that changed", (uint64_t)changed, 90);
    before = point;
    assert_false(sx_space_mutate(toy, &rng, -1, false, 0, &point, &scratch));
    assert_false(sx_space_mutate(toy, &rng, 50, false, 10, &point, &scratch));
    assert_memory_equal(&point, &before, sizeof point);
    sx_space_free(toy);
}

/* Points that are scored together have the outcomes that each has alone, illegal ones among them. */
static void batches_are_scored_as_points_are(void **state) {
    (void)state;
    enum { N = 60 };
    sx_space *toy = sx_toy_space_new(NULL);
    sx_toy_point point[N];
    sx_outcome together[N], alone;
    sx_objective objective;
    sx_scorer *scorer;
    size_t legal = 0;
    sx_point_model_type type = *sx_space_model(toy)->type;
    sx_point_model model = *sx_space_model(toy);
    type.checks = false; /* the space says which points are legal */
    model.type = &type;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_scorer_new(toy, &model, &objective, &scorer));
    for (uint64_t i = 0; i < N; i++) {
        sx_rng rng = sx_rng_stream(1, "batch", i);
        toy->type->draw(toy, &rng, &point[i]);
    }
    sx_expect_ok(sx_scorer_score(scorer, point, N, INFINITY, together));
    for (size_t i = 0; i < N; i++) {
        sx_expect_ok(sx_scorer_score(scorer, &point[i], 1, INFINITY, &alone));
        assert_int_equal(together[i].reason, alone.reason);
        assert_true(together[i].value == alone.value);
        legal += alone.reason == 0;
    }
    assert_true(legal > 5 && legal < N - 5);
    sx_scorer_free(scorer);
    sx_space_free(toy);
}

/* A model with no metric at all is refused, and one whose front is of metrics that it does not have. */
static void models_without_metrics_are_refused(void **state) {
    (void)state;
    sx_space *toy = sx_toy_space_new(NULL);
    sx_point_model_type type = *sx_space_model(toy)->type;
    const sx_point_model model = {.type = &type};
    sx_objective objective;
    sx_scorer *scorer = NULL;
    type.n_metrics = 0;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_error(sx_scorer_new(toy, &model, &objective, &scorer), "has 0 metrics");
    type.n_metrics = sx_space_model(toy)->type->n_metrics;
    for (int i = 0; i < 2; i++) {
        type.front[i] = (uint8_t)type.n_metrics;
        type.front[1 - i] = 0;
        sx_expect_error(sx_scorer_new(toy, &model, &objective, &scorer),
                        "names metrics that it does not have");
    }
    assert_null(scorer);
    sx_space_free(toy);
}

static void evaluators_need_a_command(void **state) {
    (void)state;
    sx_outside_evaluator *outside = NULL;
    sx_outside_evaluator_options options;
    sx_outside_evaluator_options_init(&options);
    sx_expect_error(sx_outside_evaluator_new(&options, &outside), "needs a command");
    options.command = "";
    sx_expect_error(sx_outside_evaluator_new(&options, &outside), "needs a command");
    assert_null(outside);
}

static void cardinals_as_text(void **state) {
    (void)state;
    const struct {
        sx_cardinal cardinal;
        const char *text;
    } cases[] = {
        {{0, 0, true, -INFINITY}, "0"},
        {{0, 999999999999999, true, 15}, "999999999999999"},
        {{0, 1000000000000000, true, 15}, "1.0e15"},
        {{298023, 0, false, 24.74036}, "5.5e24"},
        {{0, 0, false, 99.9999}, "1.0e100"},
        {{0, 0, false, 3}, "1000"},
        {{0, 0, false, -INFINITY}, "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40];
        sx_cardinal_text(&cases[i].cardinal, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_belong_to_seed_and_index),
        cmocka_unit_test(batches_are_scored_as_points_are),
        cmocka_unit_test(models_without_metrics_are_refused),
        cmocka_unit_test(evaluators_need_a_command),
        cmocka_unit_test(a_barren_space_gives_up),
        cmocka_unit_test(draws_are_projected),
        cmocka_unit_test(points_have_numbers),
        cmocka_unit_test(keys_are_two_hashes),
        cmocka_unit_test(genes_and_axes),
        cmocka_unit_test(mutations_stay_legal_and_differ),
        cmocka_unit_test(cardinals_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
