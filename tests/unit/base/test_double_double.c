#include "base/double_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails unless two numbers agree to 28 digits. */
static void assert_close(sx_dd a, sx_dd b) {
    sx_dd difference = sx_dd_add(a, sx_dd_neg(b));
    assert_true(fabs(difference.high) <= 1e-28 * fmax(1, fabs(b.high)));
}

static void whole_numbers_are_exact(void **state) {
    (void)state;
    sx_dd a = sx_dd_from_u64(UINT64_MAX), b = sx_dd_from_u64(UINT64_MAX - 1);
    sx_dd one = sx_dd_add(a, sx_dd_neg(b));
    assert_true(one.high == 1 && one.low == 0);
    assert_close(sx_dd_mul(sx_dd_div(a, b), b), a);
}

/* What is far below the sum of the high parts counts once they cancel. */
static void low_parts_are_added(void **state) {
    (void)state;
    const sx_dd sum = sx_dd_add((sx_dd){1, 0x1p-60}, (sx_dd){-1, 0x1p-120});
    assert_true(sum.high == 0x1p-60 && sum.low == 0x1p-120);
}

static void logarithms_are_the_inverse_of_exponentials(void **state) {
    (void)state;
    for (double x = -600; x < 600; x += 13.37)
        assert_close(sx_dd_log(sx_dd_exp((sx_dd){x, x * 1e-17})), sx_dd_sum(x, x * 1e-17));
    assert_true(sx_dd_exp((sx_dd){-800, 0}).high == 0);
}

/* ln n! = ln (n - 1)! + ln n, on both sides of where the series begins. */
static void factorials_grow_by_their_last_factor(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 5000; n += n < 100 ? 1 : 37)
        assert_close(sx_dd_log_factorial(n),
                     sx_dd_add(sx_dd_log_factorial(n - 1), sx_dd_log(sx_dd_from_u64(n))));
    assert_true(sx_dd_log_factorial(0).high == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(low_parts_are_added),
        cmocka_unit_test(logarithms_are_the_inverse_of_exponentials),
        cmocka_unit_test(factorials_grow_by_their_last_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
