/* The Gaussian process: its gradient, what it predicts, expected improvement. */
#include "navigators/bayes/gaussian_process.h"

#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 12, D = 5 };

/* A smooth function of which the last number decides nothing. */
static double function(const double *x) {
    return sin(2 * x[0]) + 0.5 * x[1] * x[1] - x[2] * x[0] + 0.1 * x[3];
}

/* Draws points and their values. */
static void draw(sx_rng *rng, size_t n, double *x, double *y) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < D; j++) x[i * D + j] = 2 * sx_rng_double(rng) - 1;
        y[i] = function(x + i * D);
    }
}

static void gradients_are_those_of_finite_differences(void **state) {
    (void)state;
    double x[N * D], y[N], parameter[D + 2], gradient[D + 2], unused[D + 2];
    for (uint64_t c = 0; c < 20; c++) {
        sx_rng rng = sx_rng_stream(3, "process", c);
        double value, above, below;
        draw(&rng, N, x, y);
        for (size_t j = 0; j < D + 2; j++) parameter[j] = 2 * sx_rng_double(&rng) - 1;
        parameter[D + 1] -= 4;
        sx_expect_ok(sx_gp_likelihood(x, y, N, D, parameter, &value, gradient));
        for (size_t j = 0; j < D + 2; j++) {
            const double step = 1e-5, at = parameter[j];
            parameter[j] = at + step;
            sx_expect_ok(sx_gp_likelihood(x, y, N, D, parameter, &above, unused));
            parameter[j] = at - step;
            sx_expect_ok(sx_gp_likelihood(x, y, N, D, parameter, &below, unused));
            parameter[j] = at;
            double difference = (above - below) / (2 * step);
            assert_true(fabs(difference - gradient[j]) < 1e-4 * (1 + fabs(difference)));
        }
    }
}

static void fits_raise_the_likelihood_and_find_what_matters(void **state) {
    (void)state;
    enum { MANY = 40 };
    double x[MANY * D], y[MANY], parameter[D + 2], gradient[D + 2], before, after;
    sx_rng rng = sx_rng_stream(4, "process", 0);
    draw(&rng, MANY, x, y);
    sx_gp_prior(D, parameter);
    sx_expect_ok(sx_gp_likelihood(x, y, MANY, D, parameter, &before, gradient));
    sx_expect_ok(sx_gp_fit(x, y, MANY, D, 40, parameter));
    sx_expect_ok(sx_gp_likelihood(x, y, MANY, D, parameter, &after, gradient));
    assert_true(after > before + 10);
    assert_true(parameter[0] < parameter[4] - 0.5);
}

static void predictions_are_near_and_know_when_not(void **state) {
    (void)state;
    enum { MANY = 40 };
    double x[MANY * D], y[MANY], parameter[D + 2], scaled[D], v[MANY];
    sx_rng rng = sx_rng_stream(5, "process", 0);
    sx_gp gp;
    draw(&rng, MANY, x, y);
    sx_gp_prior(D, parameter);
    sx_expect_ok(sx_gp_fit(x, y, MANY, D, 40, parameter));
    sx_expect_ok(sx_gp_init(&gp, D, MANY));
    sx_gp_reset(&gp, parameter);
    for (size_t i = 0; i < MANY; i++) assert_true(sx_gp_add(&gp, x + i * D));
    sx_gp_set(&gp, y);
    double there = 0;
    for (size_t i = 0; i < MANY; i++) {
        sx_gp_scale(&gp, x + i * D, scaled);
        sx_gp_solve(&gp, scaled, v);
        assert_true(fabs(sx_dot(v, gp.z, MANY) - y[i]) < 0.05);
        there = fmax(there, gp.amplitude - sx_dot(v, v, MANY));
    }
    size_t near = 0;
    for (size_t i = 0; i < 100; i++) {
        double point[D], value;
        draw(&rng, 1, point, &value);
        sx_gp_scale(&gp, point, scaled);
        sx_gp_solve(&gp, scaled, v);
        double variance = gp.amplitude - sx_dot(v, v, MANY);
        assert_true(variance > 0);
        near += fabs(sx_dot(v, gp.z, MANY) - value) < 3 * sqrt(variance + gp.noise);
    }
    assert_true(near >= 95);
    const double far[D] = {50, 50, 50, 50, 50};
    sx_gp_scale(&gp, far, scaled);
    sx_gp_solve(&gp, scaled, v);
    assert_true(gp.amplitude - sx_dot(v, v, MANY) > 10 * there);
    sx_gp_fini(&gp);
}

/* Expected improvement by summing over the normal density. */
static double summed(double mean, double deviation, double best) {
    double sum = 0, step = 5e-4;
    for (double z = -20; z < 12; z += step) {
        double improvement = best - (mean + deviation * z);
        if (improvement > 0) sum += improvement * exp(-z * z / 2) * step;
    }
    return sum / sqrt(2 * 3.14159265358979323846);
}

static void expected_improvement_is_what_it_is(void **state) {
    (void)state;
    for (double mean = -3; mean <= 6; mean += 0.25)
        for (double deviation = 0.5; deviation <= 2; deviation += 0.5) {
            double expected = log(summed(mean, deviation, 0.3));
            assert_true(fabs(sx_log_expected_improvement(mean, deviation, 0.3) - expected) < 2e-3);
        }
    assert_true(sx_log_expected_improvement(100, 1, 0) < sx_log_expected_improvement(99, 1, 0));
    assert_true(sx_log_expected_improvement(1, 0, 2) == 0);
    assert_true(sx_log_expected_improvement(3, 0, 2) == -INFINITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_finite_differences),
        cmocka_unit_test(fits_raise_the_likelihood_and_find_what_matters),
        cmocka_unit_test(predictions_are_near_and_know_when_not),
        cmocka_unit_test(expected_improvement_is_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
