/* A shipped surrogate compared with a space with banks: what it predicts, and what a step does to what is kept. */
#include "support/expect.h"
#include "support/small_map.h"
#include "surrogate/rank.h"
#include "surrogate/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONV "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:16,c:64,k:128,r:3,s:3,p:28,q:28}"
#define SHIPPED SX_TEST_DATA "/../share/sextant/mind-mappings-conv2d.surrogate"

enum { POINTS = 500 };

/* A surrogate, a space, and a point of it. */
typedef struct ground {
    sx_small_map map;
    sx_surrogate *surrogate;
    sx_view view;
    sx_matrix_engine *engine;
    sx_nn_pass *pass;
    void *point, *next;
    double values[SX_MAX_INPUTS];
    float input[SX_MAX_INPUTS];
} ground;

static int set_up(void **state) {
    ground *g = calloc(1, sizeof *g);
    sx_objective objective;
    assert_non_null(g);
    sx_small_map_open(&g->map, CONV, "mind-mappings", NULL, NULL);
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_surrogate_read(SHIPPED, &g->surrogate));
    sx_expect_ok(sx_view_init(g->surrogate, g->map.map, &objective, false, &g->view));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &g->engine));
    sx_expect_ok(sx_nn_pass_new(g->surrogate->net, g->engine, 1, &g->pass));
    g->point = malloc(g->map.space->point_size);
    g->next = malloc(g->map.space->point_size);
    *state = g;
    return 0;
}

static int tear_down(void **state) {
    ground *g = *state;
    free(g->point);
    free(g->next);
    sx_nn_pass_free(g->pass);
    sx_matrix_engine_free(g->engine);
    sx_surrogate_free(g->surrogate);
    sx_small_map_close(&g->map);
    free(g);
    return 0;
}

/* Draws point number i and makes its inputs. */
static void draw(ground *g, uint64_t i) {
    assert_true(sx_space_sample(g->map.space, 3, i, g->point));
    sx_space_encode(g->map.space, g->point, g->values);
    sx_view_inputs(&g->view, g->point, g->values, g->input);
}

static void predictions_rank_mappings_as_the_model_does(void **state) {
    ground *g = *state;
    sx_model_workspace *evaluator;
    sx_cost *cost = calloc(1, sizeof *cost);
    double *predicted = malloc(2 * POINTS * sizeof *predicted), *is = predicted + POINTS, rank;
    sx_expect_ok(sx_model_workspace_new(g->map.model, &evaluator));
    for (uint64_t i = 0; i < POINTS; i++) {
        draw(g, i);
        assert_int_equal(sx_evaluate(evaluator, sx_map_point(g->point), cost).reason, SX_LEGAL);
        predicted[i] = sx_view_predict(&g->view, sx_nn_forward(g->pass, g->input, 1));
        is[i] = log2(cost->energy_pj) + log2((double)cost->cycles);
    }
    sx_expect_ok(sx_rank_correlation(predicted, is, POINTS, &rank));
    print_message("rank correlation %.5f\n", rank);
    assert_true(rank > 0.998);
    sx_model_workspace_free(evaluator);
    free(predicted);
    free(cost);
}

/* A step that takes the input of a kept tensor below the middle takes its banks away, one that takes that of a bypassed
 * one above it gives it those of its tile. */
static void steps_change_what_is_kept(void **state) {
    ground *g = *state;
    const sx_encoding *e = &g->surrogate->encoding;
    size_t tried[2] = {0}, done[2] = {0};
    for (uint64_t i = 0; i < 300; i++)
        for (size_t v = 0; v < e->n_inputs; v++) {
            if (e->input[v].kind != SX_VALUE_FITS) continue;
            int level = e->input[v].level, tensor = g->view.which[v];
            draw(g, i);
            bool kept = sx_map_point(g->point)->level[level].keep >> tensor & 1;
            double number = (kept ? -1 : 2) - (double)g->surrogate->input_mean[v];
            g->input[v] = (float)(number / g->surrogate->input_deviation[v]);
            sx_view_values(&g->view, g->point, g->input, g->values);
            double share = g->values[g->view.source[v]];
            assert_true(kept ? share == 0 : share > 0);
            if (share > 0.8 || !sx_space_project(g->map.space, g->values, g->next)) continue;
            tried[kept]++;
            done[kept] += (sx_map_point(g->next)->level[level].keep >> tensor & 1) != kept;
        }
    print_message("bypassed %zu of %zu, kept %zu of %zu\n", done[1], tried[1], done[0], tried[0]);
    assert_true(tried[0] > 50 && tried[1] > 50);
    assert_true(done[0] > tried[0] / 2 && done[1] > tried[1] / 10);
}

/* The ratio that an output means, or its logarithm, by its deviation and mean. */
static double meant(const ground *g, const float *output, size_t i) {
    return (double)output[i] * g->surrogate->output_deviation[i] + g->surrogate->output_mean[i];
}

/* Outputs are ratios to the minimum or their logarithms, as the surrogate says. Ratios that are none count as tiny ones. */
static void outputs_are_ratios_or_their_logarithms(void **state) {
    ground *g = *state;
    const size_t n = sx_surrogate_n_outputs(g->surrogate), energy = n - 2, cycles = n - 1;
    float *output = calloc(n, sizeof *output), *slope = calloc(n, sizeof *slope);
    for (int raw = 0; raw < 2; raw++)
        for (int i = 0; i < 9; i++) {
            g->surrogate->form.raw_outputs = raw;
            output[energy] = (float)(((double)(i % 3) + 1 - g->surrogate->output_mean[energy]) /
                                     g->surrogate->output_deviation[energy]);
            output[cycles] = (float)(((double)(i / 3) + 1 - g->surrogate->output_mean[cycles]) /
                                     g->surrogate->output_deviation[cycles]);
            const double of[] = {meant(g, output, energy), meant(g, output, cycles)};
            const double sum = raw ? log2(of[0]) + log2(of[1]) : of[0] + of[1];
            const double predicted = sx_view_predict(&g->view, output) - g->view.minimum;
            assert_true(fabs(predicted - sum) < 1e-6);
            sx_view_gradient(&g->view, output, false, slope);
            const double before = exp2(predicted), step = 1e-3;
            output[cycles] += (float)step;
            const double grown = (exp2(sx_view_predict(&g->view, output) - g->view.minimum) - before) / step;
            assert_true(fabs(slope[cycles] - grown) < 0.02 * fabs(grown));
        }
    output[energy] =
        (float)((-1 - g->surrogate->output_mean[energy]) / g->surrogate->output_deviation[energy]);
    const double tiny = sx_view_predict(&g->view, output) - g->view.minimum;
    assert_true(fabs(tiny - log2(1e-3) - log2(meant(g, output, cycles))) < 1e-6);
    free(output);
    free(slope);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(predictions_rank_mappings_as_the_model_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_change_what_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_are_ratios_or_their_logarithms, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
