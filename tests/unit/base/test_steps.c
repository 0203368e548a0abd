#include "base/steps.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Counts steps until they are ended; how many there were, `most` where nothing ended them. */
static uint64_t count_until_stopped(sx_steps *steps, uint64_t most) {
    uint64_t n = 0, count = 0;
    while (n < most && !sx_steps_count(steps, &count, 1)) n++;
    return n;
}

static void nothing_ends_steps_without_a_limit(void **state) {
    (void)state;
    sx_steps steps = {0};
    assert_int_equal(count_until_stopped(&steps, 10 * SX_STEPS_PER_LOOK), 10 * SX_STEPS_PER_LOOK);
    assert_int_equal(count_until_stopped(NULL, 10 * SX_STEPS_PER_LOOK), 10 * SX_STEPS_PER_LOOK);
}

static void a_signal_ends_steps_for_good(void **state) {
    (void)state;
    sx_cancel cancel = {0};
    sx_steps steps = {.cancel = &cancel};
    assert_false(sx_steps_stop(&steps));
    sx_cancel_set(&cancel);
    assert_true(count_until_stopped(&steps, 10 * SX_STEPS_PER_LOOK) < SX_STEPS_PER_LOOK);
    sx_cancel_clear(&cancel);
    assert_true(sx_steps_stop(&steps));
}

static void a_deadline_ends_steps(void **state) {
    (void)state;
    sx_steps later = {.deadline = sx_clock_seconds() + 1000}, past = {.deadline = sx_clock_seconds() - 1};
    assert_false(sx_steps_stop(&later));
    assert_true(sx_steps_stop(&past));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_ends_steps_without_a_limit),
        cmocka_unit_test(a_signal_ends_steps_for_good),
        cmocka_unit_test(a_deadline_ends_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
