/* Statistics over runs: against figures worked out by hand. */
#include "session/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double have, double want) {
    assert_true(fabs(have - want) <= 1e-12 * fabs(want));
}

static void numbers(void **state) {
    (void)state;
    const double value[] = {2, 8, 4};
    sx_statistics s = sx_statistics_of(value, 3);
    assert_int_equal(s.n, 3);
    near(s.mean, 14.0 / 3);
    near(s.geomean, 4);
    near(s.deviation, sqrt(28.0 / 3));
    near(s.low, 2);
    near(s.high, 8);
}

static void numbers_that_do_not_exist(void **state) {
    (void)state;
    const double value[] = {5, -1};
    sx_statistics none = sx_statistics_of(NULL, 0), one = sx_statistics_of(value, 1);
    sx_statistics mixed = sx_statistics_of(value, 2), negative = sx_statistics_of(value + 1, 1);
    assert_true(isnan(none.mean) && isnan(none.deviation) && isnan(none.geomean) && isnan(none.low));
    assert_true(isnan(one.deviation));
    assert_true(one.mean == 5 && one.geomean == 5 && one.low == 5 && one.high == 5);
    assert_true(isnan(mixed.geomean));
    near(mixed.mean, 2);
    assert_true(isnan(negative.geomean));
}

static void equal_numbers_stay_as_they_are(void **state) {
    (void)state;
    const double value[] = {0.1, 0.1, 0.1};
    sx_statistics s = sx_statistics_of(value, 3);
    assert_true(s.mean == 0.1 && s.geomean == 0.1);
}

static void medians(void **state) {
    (void)state;
    double odd[] = {9, 1, 4}, even[] = {7, 1, 3, 100};
    assert_true(sx_median_of(odd, 3) == 4 && sx_median_of(even, 4) == 5 && isnan(sx_median_of(odd, 0)));
}

static void shares(void **state) {
    (void)state;
    sx_share half = sx_share_of(50, 100), none = sx_share_of(0, 100), all = sx_share_of(10, 10);
    near(half.share, 0.5);
    assert_true(fabs(half.low - 0.4038) < 1e-4 && fabs(half.high - 0.5962) < 1e-4);
    assert_true(none.share == 0 && none.low == 0 && fabs(none.high - 0.0370) < 1e-4);
    assert_true(all.share == 1 && all.high == 1 && fabs(all.low - 0.7225) < 1e-4);
    assert_true(isnan(sx_share_of(0, 0).share));
}

/* Two runs: the curve begins where both have found something and ends where the longer one does. */
static void traces_join(void **state) {
    (void)state;
    const sx_trace_point a[] = {{1, 0.5, 100}, {10, 2, 25}}, b[] = {{4, 1, 4}};
    const sx_run_trace_view run[] = {{a, 2, 20}, {NULL, 0, 20}, {b, 1, 12}};
    sx_convergence c;
    assert_null(sx_convergence_of(run, 3, false, &c));
    assert_int_equal(c.n, 4);
    const double x[] = {4, 10, 12, 20}, mid[] = {20, 10, 10, 10}, high[] = {100, 25, 25, 25};
    for (size_t i = 0; i < 4; i++) {
        near(c.x[i], x[i]);
        near(c.mid[i], mid[i]);
        near(c.low[i], 4);
        near(c.high[i], high[i]);
    }
    sx_convergence_fini(&c);
}

static void traces_join_by_time(void **state) {
    (void)state;
    const sx_trace_point a[] = {{1, 0.5, 100}, {10, 2, 25}};
    const sx_run_trace_view run = {a, 2, 3};
    sx_convergence c;
    assert_null(sx_convergence_of(&run, 1, true, &c));
    assert_int_equal(c.n, 3);
    assert_true(c.x[0] == 0.5 && c.x[1] == 2 && c.x[2] == 3);
    assert_true(c.mid[0] == 100 && c.mid[1] == 25 && c.mid[2] == 25);
    sx_convergence_fini(&c);
}

/* The run that begins last is the first of the list: the curve still begins there, by time and by evaluations. */
static void the_last_beginning_counts_in_any_order(void **state) {
    (void)state;
    const sx_trace_point a[] = {{8, 0.75, 9}}, b[] = {{2, 0.25, 16}, {3, 0.5, 4}};
    const sx_run_trace_view run[] = {{a, 1, 8}, {b, 2, 8}}, timed[] = {{a, 1, 1}, {b, 2, 1}};
    sx_convergence c;
    assert_null(sx_convergence_of(run, 2, false, &c));
    assert_int_equal(c.n, 1);
    assert_true(c.x[0] == 8 && c.low[0] == 4 && c.high[0] == 9);
    sx_convergence_fini(&c);
    assert_null(sx_convergence_of(timed, 2, true, &c));
    assert_int_equal(c.n, 2);
    assert_true(c.x[0] == 0.75 && c.x[1] == 1 && c.low[0] == 4 && c.high[0] == 9);
    sx_convergence_fini(&c);
}

static void no_traces_join_to_nothing(void **state) {
    (void)state;
    const sx_run_trace_view run = {NULL, 0, 5};
    sx_convergence c;
    assert_null(sx_convergence_of(&run, 1, false, &c));
    assert_int_equal(c.n, 0);
    sx_convergence_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_that_do_not_exist),
        cmocka_unit_test(equal_numbers_stay_as_they_are),
        cmocka_unit_test(medians),
        cmocka_unit_test(shares),
        cmocka_unit_test(traces_join),
        cmocka_unit_test(traces_join_by_time),
        cmocka_unit_test(the_last_beginning_counts_in_any_order),
        cmocka_unit_test(no_traces_join_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
