/* Navigators that take turns, watched point by point. */
#include "support/expect.h"
#include "support/logged_space.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
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

/* A copy of the log's first n points, to be freed. */
static sx_toy_point *copy_of_log(size_t n) {
    sx_toy_point *copy = malloc(n * sizeof *copy);
    assert_non_null(copy);
    assert_true(log_.n >= n);
    for (size_t i = 0; i < n; i++) memcpy(&copy[i], sx_logged_point(&log_, i), sizeof *copy);
    return copy;
}

/* In how many numbers two points differ. */
static int distance(const sx_toy_point *p, const sx_toy_point *q) {
    int n = 0;
    for (int d = 0; d < SX_TOY_DIMS; d++) n += p->x[d] != q->x[d];
    return n;
}

/* A part that has all turns visits what it visits alone, however long its turns are. */
static void turns_go_on_where_the_part_was(void **state) {
    (void)state;
    static const char *const alone[] = {"genetic", "anneal", "anneal:chains=3,cycles=2"};
    static const char *const turns[] = {"ensemble:turn=1,parts=genetic", "ensemble:turn=37,parts=anneal",
                                        "ensemble:turn=10,parts=\"anneal:chains=3,cycles=2\""};
    enum { EVALUATIONS = 900 };
    for (int i = 0; i < 3; i++) {
        sx_logged_search(&log_, alone[i], 5, EVALUATIONS, NULL, 0);
        sx_toy_point *expected = copy_of_log(EVALUATIONS);
        sx_logged_search(&log_, turns[i], 5, EVALUATIONS, NULL, 0);
        assert_int_equal(log_.n, EVALUATIONS);
        for (size_t p = 0; p < EVALUATIONS; p++)
            assert_memory_equal(&expected[p], sx_logged_point(&log_, p), sizeof *expected);
        free(expected);
    }
}

/* Random draws and a cold walk of nudges: when the walk goes on after a turn that found a new best, its first move is
 * from there. */
static void parts_take_over_what_others_found(void **state) {
    (void)state;
    enum { TURN = 64, EVALUATIONS = 2000 };
    sx_logged_search(&log_,
                     "ensemble:turn=64,exploration=100,parts=\"random+"
                     "anneal:schedule=fixed,tmax=1e-300,tmin=1e-300,nudge=1\"",
                     3, EVALUATIONS, NULL, 0);
    size_t best = 0, taken = 0;
    for (size_t i = 0; i < EVALUATIONS; i++) {
        size_t turn = i / TURN;
        bool walk = turn % 2 == 1, first = i % TURN == 0;
        if (walk && first && turn > 1 && best / TURN == turn - 1) {
            assert_int_equal(distance(sx_logged_point(&log_, best), sx_logged_point(&log_, i)), 1);
            taken++;
        }
        if (log_.values[i] < log_.values[best]) best = i;
    }
    assert_true(taken > 0);
}

static void start_points_are_evaluated_once_and_go_to_all(void **state) {
    (void)state;
    sx_toy_point start[2];
    assert_true(sx_space_sample(log_.space, 1, 0, &start[0]));
    assert_true(sx_space_sample(log_.space, 1, 1, &start[1]));
    sx_logged_search(&log_, "ensemble:turn=1,parts=anneal+genetic", 3, 200, start, 2);
    const sx_toy_point *best = log_.values[1] < log_.values[0] ? &start[1] : &start[0];
    assert_memory_equal(sx_logged_point(&log_, 0), &start[0], sizeof *start);
    assert_memory_equal(sx_logged_point(&log_, 1), &start[1], sizeof *start);
    assert_memory_equal(sx_logged_point(&log_, 2), best, sizeof *start);
}

/* Searches and returns the message that it fails with, to be freed. */
static char *message_of(const char *navigator) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = 10;
    sx_expect_ok(sx_run_new(log_.space, NULL, &options, &run));
    sx_status status = sx_run_search(run, navigator);
    assert_non_null(status);
    char *message = strdup(status->message);
    sx_status_free(status);
    sx_run_free(run);
    return message;
}

static void parts_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *navigator, *message;
    } cases[] = {
        {"ensemble:parts=anneal+exhaustive", "'exhaustive' cannot be a part of an ensemble"},
        {"ensemble:parts=ensemble", "'ensemble' cannot be a part of an ensemble"},
        {"ensemble:parts=anneal+gamma",
         "'gamma' cannot be a part here: it searches map spaces, this is a toy space"},
        {"ensemble:parts=nobody", "unknown search method 'nobody'"},
        {"ensemble:parts=\"anneal:chains=0\"", "'chains' is out of range: 0"},
        {"ensemble:parts=random+random+random+random+random+random+random+random+random+random+random+random+"
         "random+random+random+random+random",
         "an ensemble has at most 16 parts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *message = message_of(cases[i].navigator);
        assert_string_equal(message, cases[i].message);
        free(message);
    }
}

static void a_space_without_a_legal_point_ends_it(void **state) {
    (void)state;
    sx_expect_barren_end("ensemble");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns_go_on_where_the_part_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_take_over_what_others_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(start_points_are_evaluated_once_and_go_to_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_that_cannot_be_are_refused, set_up, tear_down),
        cmocka_unit_test(a_space_without_a_legal_point_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
