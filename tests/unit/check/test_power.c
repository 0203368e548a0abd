#include "check/power.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const sx_wide large = (((sx_wide)1 << 100) + 7) * 3;

static void products_are_compared(void **state) {
    (void)state;
    sx_long_product a = {0}, b = {0};
    assert_true(sx_long_product_reaches(&a, &b)); /* 1 and 1 */
    sx_long_product_add(&a, 2, 1);
    assert_true(sx_long_product_reaches(&a, &b));
    assert_false(sx_long_product_reaches(&b, &a));
    sx_long_product_add(&b, 2, 1);
    sx_long_product_add(&a, large, 4);
    sx_long_product_add(&b, large, 4);
    assert_true(sx_long_product_reaches(&a, &b) && sx_long_product_reaches(&b, &a));
    b.factor[b.n - 1]++;
    assert_false(sx_long_product_reaches(&a, &b));
    assert_true(sx_long_product_reaches(&b, &a));
    sx_long_product_add(&b, 0, 1);
    assert_true(sx_long_product_reaches(&a, &b));
    assert_false(sx_long_product_reaches(&b, &a));
}

/* Products of as many factors as there may be are compared to the last unit. */
static void longest_products(void **state) {
    (void)state;
    sx_long_product a = {0}, b = {0};
    const sx_wide most = (((sx_wide)1 << 126) - 1) * 2 + 1;
    sx_long_product_add(&a, most, SX_MAX_FACTORS);
    sx_long_product_add(&b, most, SX_MAX_FACTORS - 1);
    sx_long_product_add(&b, most - 1, 1);
    assert_true(sx_long_product_reaches(&a, &b));
    assert_false(sx_long_product_reaches(&b, &a));
}

/* (x + 1)(x - 1) is one less than x x, however large x is. */
static void one_unit_is_told_apart(void **state) {
    (void)state;
    for (int bits = 1; bits < 126; bits++) {
        sx_long_product square = {0}, less = {0};
        sx_wide x = ((sx_wide)1 << bits) + 1;
        sx_long_product_add(&square, x, 2);
        sx_long_product_add(&less, x + 1, 1);
        sx_long_product_add(&less, x - 1, 1);
        assert_true(sx_long_product_reaches(&square, &less));
        assert_false(sx_long_product_reaches(&less, &square));
    }
}

static void doubles_are_exact(void **state) {
    (void)state;
    static const double numbers[] = {1, 3, 0.1, 1e-300, 1.7e308, 0x1.fffffffffffffp-500, 6.02214076e23};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        for (int step = -1; step <= 1; step++) {
            sx_long_product above = {0}, below = {0}, other = {0}, under = {0};
            double next = step ? nextafter(numbers[i], step < 0 ? -1 : (double)INFINITY) : numbers[i];
            assert_true(sx_long_product_add_double(numbers[i], &above, &below));
            assert_true(sx_long_product_add_double(next, &other, &under));
            for (int k = 0; k < under.n; k++) sx_long_product_add(&above, under.factor[k], 1);
            for (int k = 0; k < below.n; k++) sx_long_product_add(&other, below.factor[k], 1);
            assert_int_equal(sx_long_product_reaches(&above, &other), step <= 0);
            assert_int_equal(sx_long_product_reaches(&other, &above), step >= 0);
        }
    }
    sx_long_product full = {0}, rest = {0};
    sx_long_product_add(&full, 1, SX_MAX_FACTORS - 2);
    assert_false(sx_long_product_add_double(1e300, &full, &rest));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_compared),
        cmocka_unit_test(longest_products),
        cmocka_unit_test(one_unit_is_told_apart),
        cmocka_unit_test(doubles_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
