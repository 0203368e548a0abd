/* Remainders out of padded sizes: what they must find, and what they may take. */
#include "mappers/padding.h"
#include "sextant/input.h"
#include "sextant/session.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Searches a problem on a machine of the catalog, with or without remainders; the best value. */
static double search_layer(const char *machine, const char *einsum, bool remainders, uint64_t evaluations,
                           sx_run_summary *summary) {
    static sx_layer layer;
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_result result;
    sx_session_options options;
    sx_session_options_init(&options);
    layer = (sx_layer){.count = 1};
    sx_expect_ok(sx_einsum_parse(einsum, &layer.problem));
    sx_expect_ok(sx_catalog_arch(machine, &arch));
    options.mapper = "auto:gamma=0,effort=1";
    options.run.evaluations = evaluations;
    options.space.remainders = remainders;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.layer[0].found);
    double value = result.layer[0].best.value;
    *summary = result.layer[0].summary;
    sx_session_result_fini(&result);
    return value;
}

/* Without Gamma's help padding finds what is known to be there. */
static void padding_finds_known_gains(void **state) {
    (void)state;
    static const struct {
        const char *machine, *einsum;
        double gain;
    } known[] = {{"eyeriss", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:127,n:127,k:127}", 496},
                 {"edge-unified", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:17,n:23,k:27}", 21.3},
                 {"eyeriss", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:13,n:1000,k:512}", 1.1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sx_run_summary summary;
        double without = search_layer(known[i].machine, known[i].einsum, false, 0, &summary);
        double with = search_layer(known[i].machine, known[i].einsum, true, 0, &summary);
        assert_true(without / with >= known[i].gain);
        assert_true(summary.lower_bound <= with * (1 + 1e-12));
    }
}

/* Where remainders were not asked for a padded problem gives the gain of a layer whose units are mostly busy. */
static void brief_padding_finds_a_known_gain(void **state) {
    (void)state;
    static sx_layer layer = {.count = 1};
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_result result;
    sx_session_options options;
    sx_session_options_init(&options);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:197,n:197,k:64}", &layer.problem));
    sx_expect_ok(sx_catalog_arch("accel-a", &arch));
    options.mapper = "auto:effort=0.001,gamma=2000";
    options.widen = true;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.layer[0].remainders);
    assert_true(result.layer[0].dividing.value / result.layer[0].best.value > 1.45);
    sx_session_result_fini(&result);
}

/* Searches a layer as `map` does, with remainders beside tiles that divide (`widen`) or not. */
static void search_beside(const char *machine, const char *einsum, bool widen, sx_session_result *out) {
    static sx_layer layer;
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_options options;
    sx_session_options_init(&options);
    layer = (sx_layer){.count = 1};
    sx_expect_ok(sx_einsum_parse(einsum, &layer.problem));
    sx_expect_ok(sx_catalog_arch(machine, &arch));
    options.widen = widen;
    sx_expect_ok(sx_session_run(&network, &arch, &options, out));
    assert_true(out->layer[0].found);
}

/* Where the proof completes with the answer of tiles that divide, nothing is padded. */
static void what_is_proven_is_not_padded(void **state) {
    (void)state;
    static const char einsum[] = "O[m,n] += A[m,k]*B[k,n] {m:197,n:768,k:768}";
    sx_session_result divided, both;
    search_beside("glb128", einsum, false, &divided);
    search_beside("glb128", einsum, true, &both);
    const sx_layer_result *layer = &both.layer[0];
    assert_true(layer->any_optimal && !layer->remainders);
    assert_true(layer->best.value == divided.layer[0].best.value);
    assert_true(layer->summary.evaluations < divided.layer[0].summary.evaluations + 100);
    sx_session_result_fini(&divided);
    sx_session_result_fini(&both);
}

/* Layers with sliding windows whose units are nearly all busy gain by small paddings of K: from 256 to 260, the second of
 * that volume, and from 512 to 520, the second of K. */
static void small_paddings_help_windows(void **state) {
    (void)state;
    static const struct {
        const char *machine, *einsum;
        double gain;
    } known[] = {{"glb128", "O[k,p,q] += W[k,c,r,s]*I[c,p+r,q+s] {k:256,c:256,p:14,q:14,r:3,s:3}", 1.04},
                 {"accel-b", "O[k,p,q] += W[k,c,r,s]*I[c,p+r,q+s] {r:3,s:3,p:7,q:7,c:512,k:512}", 1.04}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sx_session_result both;
        search_beside(known[i].machine, known[i].einsum, true, &both);
        const sx_layer_result *layer = &both.layer[0];
        assert_true(layer->remainders && layer->dividing.value / layer->best.value > known[i].gain);
        sx_session_result_fini(&both);
    }
}

/* A run of `auto` in a space with remainders alone, as `compare` makes it, begins with tiles that divide: with twice the
 * evaluations it is never worse than without remainders. */
static void runs_begin_with_tiles_that_divide(void **state) {
    (void)state;
    static sx_problem problem;
    static sx_arch arch;
    sx_expect_ok(sx_einsum_parse("Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:1024,n:1024,k:512}", &problem));
    sx_expect_ok(sx_catalog_arch("accel-b", &arch));
    for (uint64_t n = 300; n <= 3000; n *= 10) {
        double value[2];
        for (int remainders = 0; remainders < 2; remainders++) {
            sx_map_space_options options = {.remainders = remainders};
            sx_run_options run_options;
            sx_model *model;
            sx_space *space;
            sx_run *run;
            sx_run_options_init(&run_options);
            sx_expect_ok(sx_objective_parse("edp", &run_options.objective));
            run_options.evaluations = remainders ? 2 * n : n;
            sx_constraints *constraints = malloc(sizeof *constraints);
            sx_constraints_init(constraints, &problem, &arch);
            sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
            sx_expect_ok(sx_map_space_new(model, constraints, &options, &space));
            sx_expect_ok(sx_run_new(space, NULL, &run_options, &run));
            sx_expect_ok(sx_run_search(run, "auto:effort=1"));
            assert_non_null(sx_run_incumbent(run, &value[remainders]));
            sx_run_free(run);
            sx_space_free(space);
            sx_model_free(model);
            free(constraints);
        }
        assert_true(value[1] <= value[0]);
    }
}

/* Searches of padded sizes count: no budget is exceeded. */
static void padded_searches_count(void **state) {
    (void)state;
    for (uint64_t n = 1000; n <= 100000; n *= 10) {
        sx_run_summary summary;
        search_layer("eyeriss", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:13,n:100,k:51}", true, n,
                     &summary);
        assert_true(summary.evaluations <= n);
    }
}

/* A session gives an answer of a layer of alexnet on eyeriss that needs remainders, with few evaluations. */
static void few_evaluations_find_a_known_gain(void **state) {
    (void)state;
    static sx_layer layer = {.count = 1};
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_result result;
    sx_session_options options;
    sx_session_options_init(&options);
    sx_expect_ok(sx_einsum_parse("Outputs[n] += Inputs[k]*Weights[k,n] {n:4096,k:4096}", &layer.problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    options.run.evaluations = 1000;
    options.widen = true;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.layer[0].remainders && result.layer[0].summary.evaluations <= 1000);
    assert_true(result.layer[0].best.value < 1.05 * result.layer[0].minimum);
    sx_session_result_fini(&result);
}

/* Trimming takes from the outer factors what the inner ones leave nothing of. */
static void padded_factors_are_trimmed(void **state) {
    (void)state;
    static const struct {
        uint32_t size, factor[3], trimmed[3];
    } cases[] = {{25, {6, 6, 1}, {6, 5, 1}},
                 {25, {30, 1, 1}, {25, 1, 1}},
                 {13, {2, 4, 2}, {2, 4, 2}},
                 {9, {5, 2, 2}, {5, 2, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_arch arch;
        sx_problem problem;
        sx_mapping mapping;
        sx_model *model;
        sx_space *space;
        sx_map_space_options options = {.remainders = true};
        char text[64];
        uint32_t factor[SX_MAX_SLOTS] = {0};
        snprintf(text, sizeof text, "O[m] += A[m] {m:%u}", cases[i].size);
        sx_plain_arch(&arch, 3);
        sx_plain_problem(text, &arch, &problem, &mapping);
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
        sx_expect_ok(sx_map_space_new(model, NULL, &options, &space));
        const sx_map_space *map = sx_map_space_of(space);
        void *point = calloc(1, sx_space_point_size(space));
        assert_non_null(point);
        assert_int_equal(map->n_slots, 3);
        sx_map_space_point(space, &mapping, point);
        sx_map_set_factors(map, 0, cases[i].factor, point);
        sx_padding_trim(map, point);
        sx_map_get_factors(map, point, 0, factor);
        for (int k = 0; k < 3; k++) assert_int_equal(factor[k], cases[i].trimmed[k]);
        free(point);
        sx_space_free(space);
        sx_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_finds_known_gains),
        cmocka_unit_test(brief_padding_finds_a_known_gain),
        cmocka_unit_test(what_is_proven_is_not_padded),
        cmocka_unit_test(small_paddings_help_windows),
        cmocka_unit_test(runs_begin_with_tiles_that_divide),
        cmocka_unit_test(padded_searches_count),
        cmocka_unit_test(few_evaluations_find_a_known_gain),
        cmocka_unit_test(padded_factors_are_trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
