/* The correction of the cost model: what it learns from measurements, and how sure it is. */
#include "mappers/measured/correction.h"

#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 60, D = 4 };

/* What a chip makes of features: a trend, and a step that no line follows. */
static double ratio(const double *x) {
    return 0.8 * x[0] - 0.3 * x[1] + (x[2] > 2 ? 0.5 : 0);
}

static void draw_features(sx_rng *rng, double *x) {
    for (size_t j = 0; j < D; j++) x[j] = 4 * sx_rng_double(rng);
}

static void measurements_are_learned(void **state) {
    (void)state;
    sx_correction c;
    sx_rng rng = sx_rng_stream(1, "correction", 0);
    double x[D], mean, deviation, error = 0, spread = 0;
    sx_expect_ok(sx_correction_init(&c, D, N));
    sx_correction_predict(&c, (double[D]){0}, &mean, &deviation);
    assert_true(mean == 0 && deviation == 1);
    for (int i = 0; i < N + 5; i++) {
        draw_features(&rng, x);
        sx_correction_add(&c, x, ratio(x));
    }
    assert_int_equal(c.n, N);
    assert_true(sx_correction_knows(&c, x));
    x[0] += 0.1;
    assert_false(sx_correction_knows(&c, x));
    sx_expect_ok(sx_correction_learn(&c));
    for (int i = 0; i < 100; i++) {
        draw_features(&rng, x);
        sx_correction_predict(&c, x, &mean, &deviation);
        error += (mean - ratio(x)) * (mean - ratio(x)) / 100;
        spread += ratio(x) * ratio(x) / 100;
        assert_true(deviation > 0);
    }
    assert_true(error < 0.03 * spread);
    double far[D] = {40, 40, 40, 40}, away;
    sx_correction_predict(&c, x, &mean, &deviation);
    sx_correction_predict(&c, far, &mean, &away);
    assert_true(away > 1.5 * deviation);
    sx_correction_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(measurements_are_learned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
