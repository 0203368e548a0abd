/* Small integer programs: optima, no solution, limits, and being told to stop. */
#include "mip/mip.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A knapsack: worth 10, 13, 7, 8 of weights 3, 4, 2, 3 and a limit; and a real variable that costs. */
static sx_mip *knapsack(double limit) {
    static const double worth[] = {10, 13, 7, 8}, weight[] = {3, 4, 2, 3};
    sx_mip *mip;
    sx_expect_ok(sx_mip_new(&mip));
    for (int i = 0; i < 4; i++) assert_int_equal(sx_mip_add_variable(mip, 0, 1, -worth[i], true), i);
    assert_int_equal(sx_mip_add_variable(mip, 1.5, INFINITY, 1, false), 4);
    sx_mip_begin_row(mip, -INFINITY, limit);
    for (size_t i = 0; i < 4; i++) sx_mip_add_term(mip, i, weight[i]);
    return mip;
}

static void optima_are_found_and_proven(void **state) {
    double values[5];
    sx_mip_result result;
    const sx_mip_options options = {0};
    (void)state;
    if (!sx_mip_available()) skip();
    sx_mip *mip = knapsack(7);
    sx_expect_ok(sx_mip_solve(mip, &options, values, &result));
    assert_int_equal(result.status, SX_MIP_OPTIMAL);
    assert_true(result.found);
    assert_true(fabs(result.value - (1.5 - 23)) < 1e-6 && fabs(result.bound - result.value) < 1e-6);
    assert_true(fabs(values[0] - 1) < 1e-6 && fabs(values[1] - 1) < 1e-6 && fabs(values[2]) < 1e-6);
    sx_mip_free(mip);
}

static void a_program_without_solutions_is_known_to_be(void **state) {
    double values[5];
    sx_mip_result result;
    const sx_mip_options options = {0};
    (void)state;
    if (!sx_mip_available()) skip();
    sx_mip *mip = knapsack(7);
    sx_mip_begin_row(mip, 3.5, INFINITY);
    for (size_t i = 0; i < 4; i++) sx_mip_add_term(mip, i, 1);
    sx_expect_ok(sx_mip_solve(mip, &options, values, &result));
    assert_int_equal(result.status, SX_MIP_INFEASIBLE);
    assert_false(result.found);
    sx_mip_free(mip);
}

static void starts_are_taken(void **state) {
    double values[5];
    const double start[5] = {1, 0, 1, 0, 0};
    sx_mip_result result;
    const sx_mip_options options = {.start = start, .gap = 1e-6, .nodes = 1};
    (void)state;
    if (!sx_mip_available()) skip();
    sx_mip *mip = knapsack(7);
    sx_expect_ok(sx_mip_solve(mip, &options, values, &result));
    assert_true(result.found && result.value <= 1.5 - 17 + 1e-6 && result.bound <= result.value + 1e-6);
    sx_mip_free(mip);
}

static bool at_once(void *user) {
    (void)user;
    return true;
}

static void it_stops_when_told(void **state) {
    double values[5];
    sx_mip_result result;
    const sx_mip_options options = {.stop = at_once};
    (void)state;
    if (!sx_mip_available()) skip();
    sx_mip *mip = knapsack(7);
    sx_expect_ok(sx_mip_solve(mip, &options, values, &result));
    assert_int_equal(result.status, SX_MIP_STOPPED);
    assert_true(isinf(result.bound) && result.bound < 0);
    sx_mip_free(mip);
}

static void a_build_without_a_solver_says_so(void **state) {
    double values[5];
    sx_mip_result result;
    const sx_mip_options options = {0};
    (void)state;
    if (sx_mip_available()) skip();
    sx_mip *mip = knapsack(7);
    sx_expect_error(sx_mip_solve(mip, &options, values, &result), "has no CBC");
    sx_mip_free(mip);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optima_are_found_and_proven),
        cmocka_unit_test(a_program_without_solutions_is_known_to_be),
        cmocka_unit_test(starts_are_taken),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(a_build_without_a_solver_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
