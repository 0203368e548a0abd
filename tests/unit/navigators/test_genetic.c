/* The standard genetic algorithm, watched individual by individual. */
#include "support/expect.h"
#include "support/logged_space.h"
#include "support/sanitized.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static sx_logged_space log_;

static int set_up(void **state) {
    (void)state;
    sx_logged_space_init(&log_, sx_toy_space_new(NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sx_space *space = log_.space;
    sx_logged_space_fini(&log_);
    sx_space_free(space);
    return 0;
}

static const uint32_t *numbers(size_t index) {
    return ((const sx_toy_point *)sx_logged_point(&log_, index))->x;
}

/* Whether some of the first n points of the log has that value of a gene. */
static bool known(size_t n, int gene, uint32_t value) {
    for (size_t i = 0; i < n; i++)
        if (numbers(i)[gene] == value) return true;
    return false;
}

static void crossing_invents_no_genes(void **state) {
    (void)state;
    sx_logged_search(&log_, "genetic:population=8,mutation=0,crossover=1", 1, 800, NULL, 0);
    assert_int_equal(log_.n, 800);
    unsigned mixed = 0;
    for (size_t i = 8; i < log_.n; i++) {
        assert_true(log_.values[i] < INFINITY);
        bool copy = false;
        for (size_t j = 0; j < 8; j++)
            copy = copy || memcmp(numbers(i), numbers(j), sizeof(sx_toy_point)) == 0;
        mixed += !copy;
        for (int g = 0; g < SX_TOY_DIMS; g++) assert_true(known(8, g, numbers(i)[g]));
    }
    assert_true(mixed > 50);
}

static void mutation_draws_genes_anew(void **state) {
    (void)state;
    sx_logged_search(&log_, "genetic:population=10,crossover=0,mutation=1,gene=1", 1, 500, NULL, 0);
    unsigned fresh = 0;
    for (size_t i = 10; i < log_.n; i++)
        for (int g = 0; g < SX_TOY_DIMS; g++) fresh += !known(10, g, numbers(i)[g]);
    assert_true(fresh > 300);
    for (size_t i = 0; i < log_.n; i++) assert_true(log_.values[i] < INFINITY);
}

static void without_operators_it_goes_on_with_new_draws(void **state) {
    (void)state;
    sx_run_summary summary =
        sx_logged_search(&log_, "genetic:population=10,crossover=0,mutation=0", 1, 200, NULL, 0);
    assert_int_equal(summary.evaluations, 200);
    unsigned fresh = 0;
    for (size_t i = 10; i < 200; i++) fresh += memcmp(numbers(i), numbers(i - 1), sizeof(sx_toy_point)) != 0;
    assert_true(fresh > 150);
}

static void unchanged_individuals_are_not_evaluated_again(void **state) {
    (void)state;
    sx_logged_search(&log_, "genetic:population=50,crossover=0,mutation=0.1,gene=1,elites=0.5", 1, 600, NULL,
                     0);
    unsigned again = 0;
    for (size_t i = 50; i < log_.n; i++)
        for (size_t j = 0; j < 50; j++) again += memcmp(numbers(i), numbers(j), sizeof(sx_toy_point)) == 0;
    assert_true(again < 5);
}

static void starts_are_evaluated_first_however_many(void **state) {
    (void)state;
    sx_toy_point starts[20];
    for (uint64_t i = 0; i < 20; i++) assert_true(sx_space_sample(log_.space, 9, i, &starts[i]));
    sx_logged_search(&log_, "genetic:population=6", 1, 100, starts, 20);
    for (size_t i = 0; i < 20; i++)
        assert_memory_equal(sx_logged_point(&log_, i), &starts[i], sizeof starts[i]);
    assert_int_equal(log_.n, 100);
}

static void populations_improve(void **state) {
    (void)state;
    if (SX_SANITIZED) skip();
    double optimum = sx_toy_optimum(log_.space), best = INFINITY;
    sx_logged_search(&log_, "genetic:mutation=0.5", 1, 10000, NULL, 0);
    double first = 0, last = 0;
    for (size_t i = 0; i < log_.n; i++) {
        best = fmin(best, log_.values[i]);
        if (i < 100) first += log_.values[i] / 100;
        if (i >= log_.n - 100) last += log_.values[i] / 100;
    }
    assert_true(last < 0.5 * first);
    assert_true(best <= 1.1 * optimum);
}

static void the_smallest_population_and_budget_work(void **state) {
    (void)state;
    for (uint64_t budget = 1; budget < 12; budget++) {
        const char *text =
            budget % 2 ? "genetic:population=2" : "genetic:population=3,elites=0.9,tournament=1";
        assert_int_equal(sx_logged_search(&log_, text, budget, budget, NULL, 0).evaluations, budget);
    }
}

static void a_barren_space_ends_it(void **state) {
    (void)state;
    sx_expect_barren_end("genetic");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(crossing_invents_no_genes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutation_draws_genes_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_operators_it_goes_on_with_new_draws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unchanged_individuals_are_not_evaluated_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(starts_are_evaluated_first_however_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(populations_improve, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_smallest_population_and_budget_work, set_up, tear_down),
        cmocka_unit_test(a_barren_space_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
