/* Credit of parts, by figures worked out by hand. */
#include "navigators/bandit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Notes turns written as a text: a letter for the part, upper case where it was a success. */
static sx_bandit bandit_of(const char *turns, size_t window) {
    sx_bandit bandit = {0};
    for (; *turns; turns++) {
        int success = *turns < 'a';
        sx_bandit_note(&bandit, window, (size_t)(*turns - (success ? 'A' : 'a')), success);
    }
    return bandit;
}

static void credit_is_the_area_under_the_curve(void **state) {
    (void)state;
    sx_bandit bandit = bandit_of("AaAbBBbc", 100);
    assert_true(fabs(sx_bandit_value(&bandit, 100, 0, 0) - (1 + 3) * 2 / 12.0) < 1e-12);
    assert_true(fabs(sx_bandit_value(&bandit, 100, 0, 1) - (2 + 3) * 2 / 20.0) < 1e-12);
    assert_true(sx_bandit_value(&bandit, 100, 0, 2) == 0);
    assert_true(sx_bandit_value(&bandit, 100, 0, 3) == INFINITY);
}

static void recent_success_counts_more(void **state) {
    (void)state;
    sx_bandit early = bandit_of("Aaaa", 100), late = bandit_of("aaaA", 100);
    assert_true(sx_bandit_value(&early, 100, 0, 0) < sx_bandit_value(&late, 100, 0, 0));
}

static void rare_parts_are_explored(void **state) {
    (void)state;
    sx_bandit bandit = bandit_of("aaaaaaab", 100);
    double a = sx_bandit_value(&bandit, 100, 0.5, 0), b = sx_bandit_value(&bandit, 100, 0.5, 1);
    assert_true(fabs(a - 0.5 * sqrt(2 * 3 / 7.0)) < 1e-12);
    assert_true(fabs(b - 0.5 * sqrt(2 * 3 / 1.0)) < 1e-12);
}

static void what_is_older_than_the_window_is_forgotten(void **state) {
    (void)state;
    sx_bandit bandit = bandit_of("AAAAbbbb", 4), whole = bandit_of("bbbb", 4);
    assert_true(sx_bandit_value(&bandit, 4, 0.1, 0) == INFINITY);
    assert_true(sx_bandit_value(&bandit, 4, 0.1, 1) == sx_bandit_value(&whole, 4, 0.1, 1));
    bandit = bandit_of("AAAAbbbBb", 4);
    assert_true(fabs(sx_bandit_value(&bandit, 4, 0, 1) - 3 * 2 / 20.0) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_is_the_area_under_the_curve),
        cmocka_unit_test(recent_success_counts_more),
        cmocka_unit_test(rare_parts_are_explored),
        cmocka_unit_test(what_is_older_than_the_window_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
