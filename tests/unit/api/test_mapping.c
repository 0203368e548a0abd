/* Mappings by the public functions alone. */
#include "support/expect.h"

#include "sextant/sextant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct ground {
    sx_problem *problem;
    sx_arch *arch;
    sx_mapping *mapping;
    sx_model *model;
} ground;

static ground new_ground(void) {
    ground g;
    sx_expect_ok(sx_problem_new(&g.problem));
    sx_expect_ok(sx_arch_new(&g.arch));
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:64,n:48,k:32}", g.problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", g.arch));
    sx_expect_ok(sx_problem_bind_to(g.problem, g.arch));
    sx_expect_ok(sx_mapping_new(g.problem, g.arch, &g.mapping));
    sx_expect_ok(sx_cost_model_new(g.problem, g.arch, NULL, &g.model));
    return g;
}

static void free_ground(ground *g) {
    sx_model_free(g->model);
    sx_mapping_free(g->mapping);
    sx_arch_free(g->arch);
    sx_problem_free(g->problem);
}

static void what_is_set_is_there(void **state) {
    (void)state;
    ground g = new_ground();
    const int order[] = {2, 0, 1}, twice[] = {0, 0, 1}, outermost = sx_arch_n_levels(g.arch) - 1;
    sx_expect_ok(sx_mapping_set_factor(g.mapping, 0, SX_LOOPS_TEMPORAL, 1, 12));
    sx_expect_ok(sx_mapping_set_factor(g.mapping, 1, SX_LOOPS_SPATIAL, 0, 2));
    sx_expect_ok(sx_mapping_set_order(g.mapping, 1, SX_LOOPS_SPATIAL, order));
    sx_expect_ok(sx_mapping_set_on_x(g.mapping, 1, 2));
    sx_expect_ok(sx_mapping_set_keep(g.mapping, 0, 1, false));
    assert_int_equal(sx_mapping_factor(g.mapping, 0, SX_LOOPS_TEMPORAL, 1), 12);
    assert_int_equal(sx_mapping_factor(g.mapping, 1, SX_LOOPS_SPATIAL, 0), 2);
    assert_int_equal(sx_mapping_dim_at(g.mapping, 1, SX_LOOPS_SPATIAL, 0), 2);
    assert_int_equal(sx_mapping_on_x(g.mapping, 1), 2);
    assert_false(sx_mapping_keeps(g.mapping, 0, 1));
    assert_true(sx_mapping_keeps(g.mapping, outermost, 1));
    assert_int_equal(sx_mapping_factor(g.mapping, 99, SX_LOOPS_TEMPORAL, 1), 0);
    sx_expect_error(sx_mapping_set_factor(g.mapping, 99, SX_LOOPS_TEMPORAL, 0, 1), "none of number 99");
    sx_expect_error(sx_mapping_set_factor(g.mapping, 0, SX_LOOPS_TEMPORAL, 3, 1), "3 dimensions");
    sx_expect_error(sx_mapping_set_factor(g.mapping, 0, SX_LOOPS_TEMPORAL, 0, 0), "a factor is 0");
    sx_expect_error(sx_mapping_set_order(g.mapping, 0, SX_LOOPS_TEMPORAL, twice), "every dimension once");
    sx_expect_error(sx_mapping_set_on_x(g.mapping, 0, 4), "cannot lie on X");
    sx_expect_error(sx_mapping_set_on_x(g.mapping, 0, -1), "cannot lie on X");
    sx_expect_ok(sx_mapping_set_on_x(g.mapping, 0, 3));
    sx_expect_ok(sx_mapping_set_on_x(g.mapping, 0, 0));
    assert_int_equal(sx_mapping_on_x(g.mapping, 0), 0);
    sx_expect_error(sx_mapping_set_keep(g.mapping, 0, 3, true), "3 tensors");
    free_ground(&g);
}

static void packed_mappings_have_the_totals_of_single_ones(void **state) {
    (void)state;
    enum { N = 5 };
    ground g = new_ground();
    sx_space *space;
    sx_mappings *drawn;
    sx_cost_report *report;
    double totals[N][5], figure;
    sx_expect_ok(sx_mapping_space_new(g.model, NULL, NULL, &space));
    sx_expect_ok(sx_mappings_new(g.problem, g.arch, N, &drawn));
    sx_expect_ok(sx_space_draw(space, 3, 0, drawn));
    sx_expect_ok(sx_mapping_set_factor(g.mapping, 0, SX_LOOPS_TEMPORAL, 0, 1000));
    sx_expect_ok(sx_mappings_set(drawn, N - 1, g.mapping));
    sx_expect_ok(sx_model_score(g.model, drawn, 2, 5, &totals[0][0]));
    sx_expect_ok(sx_cost_report_new(g.model, &report));
    for (size_t i = 0; i < N; i++) {
        sx_expect_ok(sx_mappings_get(drawn, i, g.mapping));
        sx_expect_ok(sx_cost_report_fill(report, g.mapping));
        assert_int_equal(sx_cost_report_legal(report), i < N - 1);
        for (int k = 0; k < 5; k++)
            assert_true(i == N - 1 || sx_cost_report_total(report, (sx_total)k) == totals[i][k]);
        if (i < N - 1) sx_expect_ok(sx_cost_report_figure(report, "cycles", -1, -1, &figure));
        assert_true(i == N - 1 || figure == totals[i][SX_TOTAL_CYCLES]);
    }
    assert_true(isinf(totals[N - 1][SX_TOTAL_ENERGY_PJ]) && sx_cost_report_reason(report)[0]);
    sx_expect_error(sx_cost_report_figure(report, "cycles", -1, -1, &figure), "no cost");
    sx_expect_error(sx_model_score(g.model, drawn, 1, 6, &totals[0][0]), "5 totals");
    sx_expect_error(sx_mappings_get(drawn, N, g.mapping), "none of number 5");
    sx_cost_report_free(report);
    sx_mappings_free(drawn);
    sx_space_free(space);
    free_ground(&g);
}

static void the_layout_that_is_told_is_that_of_the_memory(void **state) {
    (void)state;
    ground g = new_ground();
    sx_mappings *mappings;
    size_t stride, level, level_stride, offset, elements, bytes, index = 0;
    sx_expect_ok(sx_mapping_set_factor(g.mapping, 1, SX_LOOPS_TEMPORAL, 2, 16));
    sx_expect_ok(sx_mappings_new(g.problem, g.arch, 2, &mappings));
    sx_expect_ok(sx_mappings_set(mappings, 1, g.mapping));
    const unsigned char *data = sx_mappings_data(mappings, &stride, &level, &level_stride);
    while (strcmp(sx_mappings_field(index, &offset, &elements, &bytes), "temporal") != 0) index++;
    uint32_t factor;
    assert_int_equal(bytes, sizeof factor);
    assert_true(elements > 2);
    memcpy(&factor, data + stride + level + level_stride + offset + 2 * bytes, sizeof factor);
    assert_int_equal(factor, 16);
    assert_null(sx_mappings_field(100, &offset, &elements, &bytes));
    sx_mappings_free(mappings);
    free_ground(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_is_there),
        cmocka_unit_test(packed_mappings_have_the_totals_of_single_ones),
        cmocka_unit_test(the_layout_that_is_told_is_that_of_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
