#include "base/divisor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_largest_within_is_found(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 300; n++)
        for (uint32_t limit = 1; limit <= n + 3; limit++) {
            uint32_t best = 1;
            for (uint32_t d = 1; d <= limit; d++)
                if (n % d == 0) best = d;
            assert_int_equal(sx_divisor_within(n, limit), best);
        }
    assert_int_equal(sx_divisor_within(2147483647, 2147483646), 1);
    assert_int_equal(sx_divisor_within(1u << 31, 1u << 30), 1u << 30);
}

static void the_largest_common_is_found(void **state) {
    (void)state;
    for (uint64_t a = 1; a <= 60; a++)
        for (uint64_t b = 1; b <= 60; b++) {
            uint64_t best = 1;
            for (uint64_t d = 1; d <= a; d++)
                if (a % d == 0 && b % d == 0) best = d;
            assert_int_equal(sx_divisor_common(a, b), best);
        }
    assert_int_equal(sx_divisor_common(0, 7), 7);
    assert_int_equal(sx_divisor_common(7, 0), 7);
}

static void divisors_are_all_and_ascend(void **state) {
    (void)state;
    uint32_t found[SX_MOST_DIVISORS];
    for (uint32_t n = 1; n <= 2000; n++) {
        size_t count = sx_divisors_of(n, found), at = 0;
        assert_int_equal(count, sx_divisors_of(n, NULL));
        for (uint32_t d = 1; d <= n; d++)
            if (n % d == 0) assert_int_equal(found[at++], d);
        assert_int_equal(at, count);
    }
    assert_int_equal(sx_divisors_of(1u << 31, found), 32);
    assert_int_equal(found[31], 1u << 31);
    assert_int_equal(sx_divisors_of(3491888400u, found), SX_MOST_DIVISORS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_within_is_found),
        cmocka_unit_test(the_largest_common_is_found),
        cmocka_unit_test(divisors_are_all_and_ascend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
