/* Reverse-mode derivatives of every operation, against finite differences. */
#include "mappers/gradient/tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { INPUTS = 3 };

/* A function of all operations. */
static sx_real compute(sx_tape *t, const double *at, sx_real *input) {
    for (int i = 0; i < INPUTS; i++) input[i] = sx_tape_input(t, at[i]);
    sx_real a = sx_real_multiply(t, input[0], sx_real_exp(t, input[1]));
    sx_real b = sx_real_divide(t, input[2], sx_real_add(t, a, sx_constant(3)));
    sx_real c = sx_real_log(t, sx_real_scale(t, sx_real_multiply(t, b, b), 2, 1));
    sx_real d = sx_real_max(sx_real_subtract(t, a, c), sx_real_min(input[0], input[2]));
    return sx_real_add(t, sx_real_multiply(t, d, c), sx_real_multiply(t, sx_constant(4), sx_constant(0.5)));
}

static double value_at(const double *at) {
    sx_tape tape = {0};
    sx_real input[INPUTS];
    double value = compute(&tape, at, input).value;
    sx_tape_free(&tape);
    return value;
}

static void derivatives_are_those_of_finite_differences(void **state) {
    (void)state;
    static const double points[][INPUTS] = {{1, 0.5, 2}, {0.2, -1, 3}, {5, 0.1, -2}, {0.1, 2, 0.7}};
    sx_tape tape = {0};
    for (int p = 0; p < 4; p++) {
        sx_real input[INPUTS];
        sx_tape_clear(&tape);
        sx_tape_differentiate(&tape, compute(&tape, points[p], input));
        for (int i = 0; i < INPUTS; i++) {
            double at[INPUTS] = {points[p][0], points[p][1], points[p][2]}, step = 1e-6;
            at[i] += step;
            double above = value_at(at);
            at[i] -= 2 * step;
            double difference = (above - value_at(at)) / (2 * step);
            assert_true(fabs(sx_tape_derivative(&tape, input[i]) - difference) <
                        1e-6 * (1 + fabs(difference)));
        }
    }
    sx_tape_free(&tape);
}

static void tapes_grow(void **state) {
    (void)state;
    enum { LENGTH = 50000 };
    sx_tape tape = {0};
    sx_real input = sx_tape_input(&tape, 1), sum = sx_constant(0);
    for (int i = 0; i < LENGTH; i++) sum = sx_real_add(&tape, sum, input);
    sx_tape_differentiate(&tape, sum);
    assert_false(tape.failed);
    assert_true(sum.value == LENGTH && sx_tape_derivative(&tape, input) == LENGTH);
    sx_tape_free(&tape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_finite_differences),
        cmocka_unit_test(tapes_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
