#include "learn/elementary.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { CASES = 20000 };

/* Within a given number of units in the last place of the right value. */
static void near(double got, double right, double units) {
    double unit = nextafter(fabs(right), INFINITY) - fabs(right);
    if (!(fabs(got - right) <= units * unit)) fail_msg("%.17g instead of %.17g", got, right);
}

static void functions_are_right_to_the_last_places(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "test.elementary", 0);
    for (int i = 0; i < CASES; i++) {
        double x = (sx_rng_double(&rng) - 0.5) * (i % 2 ? 1400 : 4), y = exp(x / 2);
        near(sx_exp(x), exp(x), 2);
        near(sx_log(y), log(y), 2);
        near(sx_tanh(x / 50), tanh(x / 50), 4);
        near(sx_sigmoid(x / 50), 1 / (1 + exp(-x / 50)), 3);
        assert_true(fabs(sx_cos_pi(x) - cos(acos(-1) * fmod(x, 2))) < 1e-14);
    }
}

static void edges(void **state) {
    (void)state;
    assert_true(sx_exp(0) == 1 && sx_exp(800) == INFINITY && sx_exp(-800) == 0 && isnan(sx_exp(NAN)));
    assert_true(sx_exp(-740) > 0 && sx_exp(709) < INFINITY);
    near(sx_exp(-740), exp(-740), 2);
    near(sx_log(1e-310), log(1e-310), 2);
    assert_true(sx_log(1) == 0 && sx_log(0) == -INFINITY && isnan(sx_log(-1)) &&
                sx_log(INFINITY) == INFINITY);
    assert_true(sx_tanh(0) == 0 && sx_tanh(50) == 1 && sx_tanh(-50) == -1 && isnan(sx_tanh(NAN)));
    assert_true(sx_sigmoid(0) == 0.5 && sx_sigmoid(1000) == 1 && sx_sigmoid(-1000) == 0);
    assert_true(sx_cos_pi(0) == 1 && sx_cos_pi(0.5) == 0 && sx_cos_pi(1) == -1 && sx_cos_pi(-1.5) == 0);
    assert_true(sx_whole_power(2, 10) == 1024 && sx_whole_power(3, 0) == 1);
}

static void normal_numbers_have_their_moments(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(2, "test.elementary", 0);
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < CASES; i++) {
        double x = sx_normal(&rng);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(sum / CASES) < 0.03 && fabs(squares / CASES - 1) < 0.05 &&
                fabs(fourth / CASES - 3) < 0.3);
}

/* The bits, on whatever machine. */
static void bits_are_the_same_everywhere(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(3, "test.elementary", 0);
    uint64_t hash = 0;
    for (int i = 0; i < CASES; i++) {
        double x = (sx_rng_double(&rng) - 0.5) * 30;
        double y[] = {sx_exp(x), sx_log(fabs(x)), sx_tanh(x), sx_sigmoid(x), sx_cos_pi(x), sx_normal(&rng)};
        hash = sx_hash_bytes(y, sizeof y, hash);
    }
    if (hash != UINT64_C(0xea0521199fdb6acf)) fail_msg("0x%016llx", (unsigned long long)hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_right_to_the_last_places),
        cmocka_unit_test(edges),
        cmocka_unit_test(normal_numbers_have_their_moments),
        cmocka_unit_test(bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
