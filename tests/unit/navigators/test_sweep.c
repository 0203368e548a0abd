/* Every construction of a space, through the navigator `exhaustive`. */
#include "sextant/navigator.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Searches a toy space of a given number of dimensions; the run is the caller's. */
static sx_status sweep(unsigned dims, const char *navigator, uint64_t evaluations, unsigned threads,
                       sx_space **space, sx_run **run) {
    const sx_toy_options toy = {.dims = dims};
    sx_run_options options;
    *space = sx_toy_space_new(&toy);
    sx_run_options_init(&options);
    options.evaluations = evaluations;
    options.threads = threads;
    sx_expect_ok(sx_run_new(*space, NULL, &options, run));
    return sx_run_search(*run, navigator);
}

static void finds_the_best_of_all_points(void **state) {
    (void)state;
    for (unsigned dims = 1; dims <= 4; dims++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            sx_space *space;
            sx_run *run;
            sx_found best;
            uint64_t total = (uint64_t)1 << 4 * dims;
            sx_expect_ok(sweep(dims, "exhaustive", 0, threads, &space, &run));
            sx_run_summary summary = sx_run_result(run);
            assert_true(sx_run_best(run, 0, &best));
            assert_true(best.value == sx_toy_optimum(space));
            assert_true(summary.optimal && summary.lower_bound == best.value);
            assert_true(summary.stop == SX_STOP_DONE);
            assert_true(summary.evaluations == summary.valid);
            assert_true(summary.evaluations + summary.rejected == total);
            sx_run_free(run);
            sx_space_free(space);
        }
}

static void a_budget_ends_it_without_a_proof(void **state) {
    (void)state;
    sx_space *space;
    sx_run *run;
    sx_expect_ok(sweep(3, "exhaustive:limit=10", 100, 1, &space, &run));
    sx_run_summary summary = sx_run_result(run);
    assert_true(summary.evaluations == 100 && summary.stop == SX_STOP_EVALUATIONS && !summary.optimal);
    sx_run_free(run);
    sx_space_free(space);
}

static void that_no_point_is_legal_is_proven(void **state) {
    (void)state;
    const sx_toy_options toy = {.dims = 2, .barren = true};
    sx_space *space = sx_toy_space_new(&toy);
    sx_run_options options;
    sx_run_options_init(&options);
    for (unsigned criteria = 1; criteria <= 2; criteria++) {
        sx_run *run;
        if (criteria == 2) sx_expect_ok(sx_objective_parse("delay,energy", &options.objective));
        sx_expect_ok(sx_run_new(space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, "exhaustive"));
        sx_run_summary summary = sx_run_result(run);
        assert_true(summary.none && !summary.optimal && summary.stop == SX_STOP_DONE);
        sx_run_free(run);
    }
    sx_space_free(space);
}

static void too_many_points_are_refused(void **state) {
    (void)state;
    sx_space *space;
    sx_run *run;
    sx_status status = sweep(3, "exhaustive:limit=4095", 0, 1, &space, &run);
    assert_non_null(status);
    assert_int_equal(status->code, SX_ERR_LIMIT);
    sx_expect_error(status, "4096 points, more than the limit of 4095");
    sx_run_free(run);
    sx_space_free(space);
    sx_expect_ok(sweep(3, "exhaustive:limit=4096", 0, 1, &space, &run));
    sx_run_free(run);
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_best_of_all_points),
        cmocka_unit_test(a_budget_ends_it_without_a_proof),
        cmocka_unit_test(that_no_point_is_legal_is_proven),
        cmocka_unit_test(too_many_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
