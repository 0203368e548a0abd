/* Choosing among evaluated points. */
#include "navigators/selection.h"

#include "ir/goal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Energy times delay, for metrics that begin with these two. */
static const sx_goal edp = {.product = {{.n = 2, .metric = {0, 1}, .power = {1, 1}}},
                            .front = {0, 1},
                            .objective = {.n_criteria = 1, .criterion = {{SX_PRODUCT, 1, 1}}}};

static sx_outcome outcome(double energy, double cycles) {
    return (sx_outcome){.metrics = {{energy, cycles}}, .value = energy * cycles};
}

static sx_outcome illegal(void) {
    return (sx_outcome){.value = INFINITY, .reason = 3};
}

static void legal_comes_before_illegal_then_the_objective(void **state) {
    (void)state;
    sx_outcome a = outcome(2, 3), b = outcome(1, 7), c = illegal(), d = outcome(3, 2);
    assert_true(sx_outcome_compare(&edp, &a, &b) < 0);
    assert_true(sx_outcome_compare(&edp, &b, &a) > 0);
    assert_true(sx_outcome_compare(&edp, &a, &d) == 0);
    assert_true(sx_outcome_compare(&edp, &b, &c) < 0);
    assert_true(sx_outcome_compare(&edp, &c, &b) > 0);
    assert_true(sx_outcome_compare(&edp, &c, &c) == 0);
}

static void ranks_by_the_objective(void **state) {
    (void)state;
    const sx_outcome all[] = {outcome(9, 9), illegal(), outcome(2, 2), outcome(4, 1), outcome(1, 1)};
    const uint32_t expected[] = {4, 2, 3, 0, 1};
    uint32_t order[10];
    assert_int_equal(sx_select_rank(&edp, all, 5, false, order), 1);
    assert_memory_equal(order, expected, sizeof expected);
}

static void ranks_the_front_first(void **state) {
    (void)state;
    const sx_outcome all[] = {outcome(5, 5),  outcome(1, 90), outcome(4, 8), illegal(),
                              outcome(90, 1), outcome(5, 5),  outcome(6, 5)};
    const uint32_t expected[] = {0, 5, 2, 1, 4, 6, 3};
    uint32_t order[14];
    assert_int_equal(sx_select_rank(&edp, all, 7, true, order), 5);
    assert_memory_equal(order, expected, sizeof expected);
}

static void ranks_none_and_only_illegal_ones(void **state) {
    (void)state;
    const sx_outcome all[] = {illegal(), illegal(), illegal()};
    const uint32_t expected[] = {0, 1, 2};
    uint32_t order[6];
    assert_int_equal(sx_select_rank(&edp, all, 0, true, order), 1);
    assert_int_equal(sx_select_rank(&edp, all, 3, true, order), 1);
    assert_memory_equal(order, expected, sizeof expected);
}

/* Whether some member is at least as good in both and better in one. */
static bool beaten(const sx_outcome *all, size_t n, size_t which) {
    for (size_t i = 0; i < n; i++) {
        const double *a = all[i].metrics.value, *b = all[which].metrics.value;
        if (a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1])) return true;
    }
    return false;
}

static void fronts_are_what_none_beats(void **state) {
    (void)state;
    enum { N = 60 };
    for (uint64_t round = 0; round < 200; round++) {
        sx_rng rng = sx_rng_stream(1, "front", round);
        sx_outcome all[N];
        uint32_t order[2 * N];
        for (int i = 0; i < N; i++)
            all[i] = outcome((double)sx_rng_below(&rng, 12) + 1, (double)sx_rng_below(&rng, 12) + 1);
        size_t front = sx_select_rank(&edp, all, N, true, order);
        for (size_t i = 0; i < N; i++) {
            assert_true(beaten(all, N, order[i]) == (i >= front));
            if (i > 0 && i != front) assert_true(all[order[i]].value >= all[order[i - 1]].value);
        }
    }
}

static void tournaments_prefer_the_better(void **state) {
    (void)state;
    const sx_outcome all[] = {outcome(4, 4), outcome(1, 1), illegal(), outcome(2, 2)};
    sx_rng rng = sx_rng_stream(1, "tournament", 0);
    unsigned won[4] = {0}, drawn[4] = {0};
    for (int i = 0; i < 4000; i++) {
        won[sx_select_tournament(&edp, all, 4, 3, &rng)]++;
        drawn[sx_select_tournament(&edp, all, 4, 1, &rng)]++;
    }
    assert_true(won[1] > won[3] && won[3] > won[0] && won[0] > won[2]);
    assert_in_range(won[1], 2200, 2425); /* 1 - (3/4)^3 = 0.578 of 4000 */
    for (int i = 0; i < 4; i++) assert_in_range(drawn[i], 850, 1150);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legal_comes_before_illegal_then_the_objective),
        cmocka_unit_test(ranks_by_the_objective),
        cmocka_unit_test(ranks_the_front_first),
        cmocka_unit_test(ranks_none_and_only_illegal_ones),
        cmocka_unit_test(fronts_are_what_none_beats),
        cmocka_unit_test(tournaments_prefer_the_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
