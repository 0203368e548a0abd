/* Exhaustive search: what it has proven when it completes. */
#include "mapspace/map_space.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* L1 holds two words, less than one of each tensor. */
static const char tight[] = "arch:\n"
                            "  name: tight\n"
                            "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
                            "  storage:\n"
                            "  - {name: L1, instances: 4, entries: 2, vector-access-energy: 1.5}\n"
                            "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

/* Searches by the space's own model, with at most a given number of evaluations; 0: any number. */
static sx_run_summary search_exhaustively(const sx_map_space_options *space_options, const char *objective,
                                          uint64_t evaluations) {
    sx_small_map m;
    sx_run_options options;
    sx_run *run;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:4,n:3,k:2}", tight, NULL, space_options);
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(objective, &options.objective));
    options.evaluations = evaluations;
    sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "exhaustive"));
    sx_run_summary summary = sx_run_result(run);
    sx_run_free(run);
    sx_small_map_close(&m);
    return summary;
}

/* A space without a legal mapping is proven to have none, whatever the criteria, with remainders or without. */
static void nothing_legal_is_proven(void **state) {
    (void)state;
    static const char *const objectives[] = {"edp", "energy,delay"};
    for (int i = 0; i < 4; i++) {
        const sx_map_space_options options = {.keep_all = true, .remainders = i / 2 > 0};
        sx_run_summary summary = search_exhaustively(&options, objectives[i % 2], 0);
        assert_true(summary.none && !summary.optimal && summary.lower_bound == 0);
        assert_int_equal(summary.valid, 0);
        assert_int_equal(summary.stop, SX_STOP_DONE);
    }
}

/* An optimum is proven for one criterion by a search that completes, and its value bounds all. */
static void optima_are_proven(void **state) {
    (void)state;
    sx_run_summary whole = search_exhaustively(NULL, "edp", 0), part = search_exhaustively(NULL, "edp", 3);
    assert_true(whole.optimal && !whole.none && whole.lower_bound > 0);
    assert_true(!part.optimal && !part.none && part.lower_bound == 0);
    sx_run_summary several = search_exhaustively(NULL, "energy,delay", 0);
    assert_true(several.valid > 0 && !several.optimal && !several.none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_legal_is_proven),
        cmocka_unit_test(optima_are_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
