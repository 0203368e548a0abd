/* Lower bounds that are above answers are withdrawn, and told. */
#include "run/uphold.h"

#include "base/warnings.h"
#include "sextant/navigator.h"
#include "sextant/run.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A bound, a value and what becomes of the bound; 0: it is withdrawn. */
static const struct {
    double bound, value, left;
} cases[] = {
    {5, 10, 5},
    {10, 10, 10},
    {10 * (1 + 1e-10), 10, 10},
    {10 * (1 + 1e-8), 10, 0},
    {20, 10, 0},
    {INFINITY, 10, 0},
    {0, -10, 0},
    {-20, -10, -20},
    {-10 + 1e-10, -10, -10},
    {-9, -10, 0},
    {NAN, 10, 0},
    {1e300, 1e300, 1e300},
};

/* Only a bound that is above a value by more than rounding is withdrawn, and one that is above it by rounding becomes it. */
static void bounds_are_upheld(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_warnings *warnings;
        const char *place;
        double bound = cases[i].bound;
        bool optimal = true, holds = cases[i].left != 0 || bound == 0;
        sx_expect_ok(sx_warnings_new(&warnings));
        assert_true(sx_uphold_bound(warnings, "a case", cases[i].value, &bound, &optimal) == holds);
        assert_true(bound == cases[i].left);
        assert_true(optimal == holds);
        assert_true(sx_warnings_faulty(warnings) == !holds);
        assert_true(!sx_warnings_at(warnings, 0, &place) == holds);
        sx_warnings_free(warnings);
    }
    double bound = 2;
    bool optimal = true;
    assert_false(sx_uphold_bound(NULL, "a case", 1, &bound, &optimal));
}

static double claimed; /* by the navigator; 0: that its best point is optimal, and a bound above it */

static sx_status search_falsely(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    sx_outcome outcome;
    sx_toy_point point;
    sx_rng rng = sx_rng_stream(1, "uphold", 0);
    do {
        space->type->draw(space, &rng, &point);
        (void)sx_run_evaluate(run, &point, 1, &outcome);
    } while (outcome.reason);
    sx_proof *proof = calloc(1, sizeof *proof);
    sx_run_prove(run, proof);
    sx_run_optimal(run);
    sx_run_bound(run, claimed);
    return SX_OK;
}

/* A navigator that claims a bound above its best point proves nothing: there is no bound, no optimum and no proof. */
static void runs_withdraw_false_bounds(void **state) {
    (void)state;
    static const sx_navigator navigator = {.search = search_falsely};
    sx_space *space = sx_toy_space_new(NULL);
    for (int i = 0; i < 2; i++) {
        const bool is_false = i;
        const char *place, *message;
        sx_run_options options;
        sx_run *run;
        sx_run_options_init(&options);
        sx_expect_ok(sx_warnings_new(&options.warnings));
        sx_expect_ok(sx_run_new(space, NULL, &options, &run));
        claimed = is_false ? 1e30 : 0;
        sx_expect_ok(sx_run_search_by(run, "false", &navigator, NULL));
        const sx_run_summary summary = sx_run_result(run);
        sx_found best;
        assert_true(sx_run_best(run, 0, &best));
        sx_proof *proof = sx_run_take_proof(run);
        assert_true(summary.optimal == !is_false);
        assert_true((proof == NULL) == is_false);
        assert_true(summary.lower_bound == (is_false ? 0 : best.value));
        message = sx_warnings_at(options.warnings, 0, &place);
        assert_true((message != NULL) == is_false);
        if (is_false)
            assert_non_null(strstr(message, "internal error: false: the lower bound 1e+30 is above"));
        assert_true(sx_warnings_faulty(options.warnings) == is_false);
        sx_proof_free(proof);
        sx_warnings_free(options.warnings);
        sx_run_free(run);
    }
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_are_upheld),
                                       cmocka_unit_test(runs_withdraw_false_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
