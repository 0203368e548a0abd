#include "check/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect_ratio(const char *text, int64_t num, int64_t den) {
    sx_ratio ratio;
    assert_true(sx_ratio_read(text, &ratio));
    assert_true(ratio.num == num && ratio.den == den);
}

static void decimals_are_exact(void **state) {
    (void)state;
    expect_ratio("0", 0, 1);
    expect_ratio("0.0", 0, 1);
    expect_ratio("64.0", 64, 1);
    expect_ratio("0.2", 1, 5);
    expect_ratio("18.172", 4543, 250);
    expect_ratio("-1.5", -3, 2);
    expect_ratio("1e3", 1000, 1);
    expect_ratio("2.5E-3", 1, 400);
    expect_ratio("000.500", 1, 2);
}

static void long_decimals_are_doubles(void **state) {
    (void)state;
    expect_ratio("0.20000000000000001", 1, 5);
    expect_ratio("2.2000000000000002", 11, 5);
    expect_ratio("0.48999999999999999", 49, 100);
    expect_ratio("0.30000000000000004", 7500000000000001, 25000000000000000);
    expect_ratio("0.1000000000000000055511151231257827", 1, 10);
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",    ".",  "x",     "1x",     "1e", "inf",
                                        "nan", "0x", "1e300", "1e-300", "--1"};
    sx_ratio ratio;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_false(sx_ratio_read(texts[i], &ratio));
}

static void multiples_notice_overflow(void **state) {
    (void)state;
    int64_t multiple = 12;
    assert_true(sx_lcm_add(&multiple, 8) && multiple == 24);
    multiple = INT64_MAX;
    assert_false(sx_lcm_add(&multiple, 2));
    assert_true(sx_gcd(12, 18) == 6 && sx_gcd(7, 0) == 7);
    sx_wide out, large = (sx_wide)1 << 126;
    assert_false(sx_wide_mul(large, 2, &out));
    assert_false(sx_wide_add(large, large, &out));
    assert_true(sx_wide_mul(INT64_MAX, INT64_MAX, &out) && out > INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(long_decimals_are_doubles),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(multiples_notice_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
