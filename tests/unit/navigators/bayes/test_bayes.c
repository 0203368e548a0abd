/* Bayesian optimisation on a toy space. */
#include "support/expect.h"
#include "support/logged_space.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 9 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of what searches with few evaluations come to. */
static double median(sx_space *space, const char *navigator, uint64_t evaluations) {
    double value[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sx_run_options options;
        sx_run *run;
        sx_found found;
        sx_run_options_init(&options);
        options.seed = seed;
        options.evaluations = evaluations;
        sx_expect_ok(sx_run_new(space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, navigator));
        assert_true(sx_run_best(run, 0, &found));
        value[seed] = found.value;
        sx_run_free(run);
    }
    qsort(value, SEEDS, sizeof *value, compare);
    return value[SEEDS / 2];
}

static void few_evaluations_are_better_than_drawn_ones(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    double mine = median(space, "bayes", 100), drawn = median(space, "random", 400);
    print_message("bayes with 100 evaluations %.4g, random with 400 %.4g\n", mine, drawn);
    assert_true(mine < drawn);
    sx_space_free(space);
}

/* No two points of a batch are equal, nor is one drawn that the process knows. */
static void batches_are_of_different_points(void **state) {
    (void)state;
    sx_logged_space log;
    sx_space *space = sx_toy_space_new(NULL);
    sx_logged_space_init(&log, space);
    sx_logged_search(&log, "bayes:batch=8,kept=64,first=16,draws=0", 1, 80, NULL, 0);
    assert_int_equal(log.n, 80);
    for (size_t i = 16; i < 48; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(sx_logged_point(&log, i), sx_logged_point(&log, j), sizeof(sx_toy_point));
    sx_logged_space_fini(&log);
    sx_space_free(space);
}

static void a_space_without_vectors_is_refused(void **state) {
    (void)state;
    sx_expect_vectors_needed("bayes");
}

static void a_space_without_a_legal_point_ends_it(void **state) {
    (void)state;
    sx_expect_barren_end("bayes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_evaluations_are_better_than_drawn_ones),
        cmocka_unit_test(batches_are_of_different_points),
        cmocka_unit_test(a_space_without_vectors_is_refused),
        cmocka_unit_test(a_space_without_a_legal_point_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
