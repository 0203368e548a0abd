/* Factors that grow row by row, compared with the definition. */
#include "navigators/bayes/cholesky.h"

#include "sextant/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40 };

/* A random positive definite matrix: A A' and a little on the diagonal. */
static void draw(sx_rng *rng, size_t n, double k[MOST][MOST]) {
    double a[MOST][MOST];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i][j] = 2 * sx_rng_double(rng) - 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            k[i][j] = i == j ? 0.1 : 0;
            for (size_t m = 0; m < n; m++) k[i][j] += a[i][m] * a[j][m];
        }
}

/* The textbook factorisation of the whole matrix, column by column. */
static void factorise(size_t n, double k[MOST][MOST], double l[MOST][MOST]) {
    memset(l, 0, sizeof(double) * MOST * MOST);
    for (size_t j = 0; j < n; j++) {
        double left = k[j][j];
        for (size_t m = 0; m < j; m++) left -= l[j][m] * l[j][m];
        l[j][j] = sqrt(left);
        for (size_t i = j + 1; i < n; i++) {
            double sum = k[i][j];
            for (size_t m = 0; m < j; m++) sum -= l[i][m] * l[j][m];
            l[i][j] = sum / l[j][j];
        }
    }
}

static void growing_equals_factorising_the_whole(void **state) {
    (void)state;
    double k[MOST][MOST], l[MOST][MOST], room[MOST * (MOST + 1) / 2];
    for (size_t n = 1; n <= MOST; n++) {
        sx_rng rng = sx_rng_stream(1, "cholesky", n);
        sx_cholesky c = {.l = room};
        draw(&rng, n, k);
        factorise(n, k, l);
        for (size_t i = 0; i < n; i++) assert_true(sx_cholesky_append(&c, k[i]));
        assert_int_equal(c.n, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) assert_true(fabs(sx_cholesky_row(&c, i)[j] - l[i][j]) < 1e-9);
    }
}

static void solutions_solve_and_inverses_invert(void **state) {
    (void)state;
    double k[MOST][MOST], room[MOST * (MOST + 1) / 2], inverse[MOST * MOST], b[MOST], x[MOST];
    for (size_t n = 1; n <= MOST; n += 3) {
        sx_rng rng = sx_rng_stream(2, "cholesky", n);
        sx_cholesky c = {.l = room};
        draw(&rng, n, k);
        double determinant = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(sx_cholesky_append(&c, k[i]));
            determinant += 2 * log(sx_cholesky_row(&c, i)[i]);
            x[i] = b[i] = sx_rng_double(&rng);
        }
        sx_cholesky_lower(&c, x);
        sx_cholesky_upper(&c, x);
        sx_cholesky_inverse(&c, inverse);
        assert_true(fabs(sx_cholesky_log_determinant(&c) - determinant) < 1e-9);
        for (size_t i = 0; i < n; i++) {
            assert_true(fabs(sx_dot(k[i], x, n) - b[i]) < 1e-7);
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t m = 0; m < n; m++) sum += k[i][m] * inverse[m * n + j];
                assert_true(fabs(sum - (i == j)) < 1e-7);
            }
        }
    }
}

static void a_row_twice_is_refused(void **state) {
    (void)state;
    double room[10];
    sx_cholesky c = {.l = room};
    assert_true(sx_cholesky_append(&c, (double[]){4}));
    assert_false(sx_cholesky_append(&c, (double[]){4, 4}));
    assert_int_equal(c.n, 1);
    assert_true(sx_cholesky_append(&c, (double[]){2, 4}));
    assert_true(fabs(sx_cholesky_row(&c, 1)[1] - sqrt(3)) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_equals_factorising_the_whole),
        cmocka_unit_test(solutions_solve_and_inverses_invert),
        cmocka_unit_test(a_row_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
