/* When a long check ends. */
#include "verify/check_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A budget is over once more steps than it has are spent. */
static void ends_after_its_steps(void **state) {
    (void)state;
    sx_check_budget budget = {.most = 100};
    sx_check_budget_spend(&budget, 99);
    assert_false(sx_check_budget_over(&budget));
    sx_check_budget_spend(&budget, 1);
    assert_false(sx_check_budget_over(&budget));
    sx_check_budget_spend(&budget, 1);
    assert_true(sx_check_budget_over(&budget));
    unsigned beat = 0;
    assert_false(sx_check_budget_step(&budget, &beat));
}

/* Without a number of steps it is over when it is cancelled, which it notices at once where it is asked. */
static void ends_when_cancelled(void **state) {
    (void)state;
    sx_cancel cancel = {0};
    sx_check_budget budget = {.cancel = &cancel};
    sx_check_budget_spend(&budget, UINT64_MAX / 2);
    assert_false(sx_check_budget_over(&budget));
    cancel = (sx_cancel){1};
    assert_true(sx_check_budget_over(&budget));
}

/* The steps of a thread count: after some hundreds of them it notices the end. */
static void counts_the_steps_of_a_thread(void **state) {
    (void)state;
    sx_check_budget budget = {.most = 600};
    unsigned beat = 0, steps = 0;
    while (steps < 10000 && sx_check_budget_step(&budget, &beat)) steps++;
    assert_in_range(steps, 601, 1000);
    assert_true(sx_check_budget_over(&budget));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_after_its_steps),
        cmocka_unit_test(ends_when_cancelled),
        cmocka_unit_test(counts_the_steps_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
