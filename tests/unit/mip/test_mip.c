/* Small integer programs: optima, no solution, limits, and being told to stop. */
#include "mip/mip.h"
#include "sextant/rng.h"
#include "support/expect.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>

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
    static const double wanted[5] = {1, 1, 0, 0, 1.5};
    for (int i = 0; i < 5; i++) assert_true(fabs(values[i] - wanted[i]) < 1e-6);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* no process is left */
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
    assert_true(isinf(result.bound) && result.bound > 0);
    sx_mip_free(mip);
}

enum { VARIABLES = 6, ROWS = 3, PROGRAMS = 60 };

/* A small program: every variable is 0 or 1, some coefficients are 0, every row has a limit on either side. */
typedef struct small_program {
    double cost[VARIABLES], coefficient[ROWS][VARIABLES], low[ROWS], high[ROWS];
} small_program;

static void draw_program(sx_rng *rng, small_program *out) {
    for (int i = 0; i < VARIABLES; i++) out->cost[i] = (double)sx_rng_below(rng, 21) - 10;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < VARIABLES; i++)
            out->coefficient[r][i] = sx_rng_below(rng, 3) ? (double)sx_rng_below(rng, 19) - 9 : 0;
        out->low[r] = -(double)sx_rng_below(rng, 9);
        out->high[r] = (double)sx_rng_below(rng, 9);
        if (sx_rng_below(rng, 4) == 0) out->low[r] = out->high[r];
    }
}

static sx_mip *make_program(const small_program *small) {
    sx_mip *mip;
    sx_expect_ok(sx_mip_new(&mip));
    for (int i = 0; i < VARIABLES; i++) sx_mip_add_variable(mip, 0, 1, small->cost[i], true);
    for (int r = 0; r < ROWS; r++) {
        sx_mip_begin_row(mip, small->low[r], small->high[r]);
        for (size_t i = 0; i < VARIABLES; i++)
            if (small->coefficient[r][i] != 0) sx_mip_add_term(mip, i, small->coefficient[r][i]);
    }
    return mip;
}

/* The cost of some values, INFINITY where a row is not kept. */
static double cost_of(const small_program *small, const double *values) {
    double cost = 0;
    for (int i = 0; i < VARIABLES; i++) cost += small->cost[i] * values[i];
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < VARIABLES; i++) sum += small->coefficient[r][i] * values[i];
        if (sum < small->low[r] - 1e-6 || sum > small->high[r] + 1e-6) return INFINITY;
    }
    return cost;
}

/* The least cost of all values. */
static double enumerate(const small_program *small) {
    double best = INFINITY;
    for (int bits = 0; bits < 1 << VARIABLES; bits++) {
        double values[VARIABLES];
        for (int i = 0; i < VARIABLES; i++) values[i] = bits >> i & 1;
        best = fmin(best, cost_of(small, values));
    }
    return best;
}

/* Optima of random programs are those of an enumeration, and the values have that cost; with preprocessing some are not. */
static void optima_are_those_of_an_enumeration(void **state) {
    const sx_mip_options options = {.proof = true};
    int feasible = 0;
    (void)state;
    if (!sx_mip_available()) skip();
    for (uint64_t p = 0; p < PROGRAMS; p++) {
        sx_rng rng = sx_rng_stream(1, "mip", p);
        small_program small;
        double values[VARIABLES];
        sx_mip_result result;
        draw_program(&rng, &small);
        const double best = enumerate(&small);
        sx_mip *mip = make_program(&small);
        sx_expect_ok(sx_mip_solve(mip, &options, values, &result));
        sx_mip_free(mip);
        assert_int_equal(result.found, isfinite(best));
        assert_int_equal(result.status, isfinite(best) ? SX_MIP_OPTIMAL : SX_MIP_INFEASIBLE);
        if (!result.found) continue;
        assert_true(fabs(result.value - best) < 1e-6 && fabs(cost_of(&small, values) - best) < 1e-6);
        assert_true(fabs(result.bound - best) < 1e-6);
        feasible++;
    }
    assert_true(feasible > PROGRAMS / 2 && feasible < PROGRAMS);
}

/* A program that takes long: two rows that must be met exactly by half of many weights. */
static sx_mip *hard_program(void) {
    sx_mip *mip;
    sx_rng rng = sx_rng_stream(2, "mip", 0);
    sx_expect_ok(sx_mip_new(&mip));
    for (int i = 0; i < 40; i++) sx_mip_add_variable(mip, 0, 1, 1 + i % 3, true);
    for (int r = 0; r < 4; r++) {
        double weight[40], sum = 0;
        for (size_t i = 0; i < 40; i++) sum += weight[i] = (double)sx_rng_below(&rng, 100);
        sx_mip_begin_row(mip, floor(sum / 2), floor(sum / 2));
        for (size_t i = 0; i < 40; i++) sx_mip_add_term(mip, i, weight[i]);
    }
    return mip;
}

/* Seconds and nodes are limits; what is known then is a bound. */
static void limits_are_kept(void **state) {
    static const sx_mip_options limits[] = {{.seconds = 1.5}, {.nodes = 5}};
    double values[40];
    (void)state;
    if (!sx_mip_available()) skip();
    for (int i = 0; i < 2; i++) {
        sx_mip_result result;
        sx_mip *mip = hard_program();
        sx_expect_ok(sx_mip_solve(mip, &limits[i], values, &result));
        assert_int_equal(result.status, SX_MIP_LIMITED);
        assert_false(result.found);
        assert_true(result.bound > 0 && result.bound < 120);
        sx_mip_free(mip);
    }
}

/* A part of the value counts as no difference, and the bound is that much below. */
static void gaps_lower_the_bound(void **state) {
    double values[5];
    sx_mip_result result;
    const sx_mip_options options = {.gap = 0.5};
    (void)state;
    if (!sx_mip_available()) skip();
    sx_mip *mip = knapsack(7);
    sx_expect_ok(sx_mip_solve(mip, &options, values, &result));
    assert_int_equal(result.status, SX_MIP_OPTIMAL);
    assert_true(result.bound <= 1.5 - 23 && fabs(result.bound - 1.5 * result.value) < 1e-6);
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
        cmocka_unit_test(optima_are_those_of_an_enumeration),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(gaps_lower_the_bound),
        cmocka_unit_test(a_program_without_solutions_is_known_to_be),
        cmocka_unit_test(starts_are_taken),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(a_build_without_a_solver_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
