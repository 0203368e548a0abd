#include "learn/matrix.h"

#include "sextant/rng.h"
#include "support/expect.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A product of random shape, with what it is computed from. */
typedef struct sample {
    sx_matmul product;
    float *a, *b, *c, *wanted, *bias;
} sample;

static float *numbers(sx_rng *rng, size_t n, double zeros) {
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = sx_rng_double(rng) < zeros ? 0 : (float)(2 * sx_rng_double(rng) - 1);
    return x;
}

static sample sample_new(sx_rng *rng, int64_t most) {
    sample s;
    bool thin = sx_rng_below(rng, 3) == 0;
    size_t m = (size_t)sx_rng_range(rng, 1, thin ? 5 : most);
    size_t n = (size_t)sx_rng_range(rng, 1, thin ? 3 * most : most),
           k = (size_t)sx_rng_range(rng, 1, 3 * most);
    s.a = numbers(rng, m * k, 0.3);
    s.b = numbers(rng, k * n, 0);
    s.c = numbers(rng, m * n, 0);
    s.wanted = numbers(rng, m * n, 0.5);
    s.product = (sx_matmul){.m = m, .n = n, .k = k, .a = s.a, .b = s.b, .c = s.c};
    s.product.a_transposed = sx_rng_below(rng, 2);
    s.product.b_transposed = sx_rng_below(rng, 2);
    s.bias = numbers(rng, n, 0);
    s.product.add = sx_rng_below(rng, 2);
    s.product.bias = !s.product.add && sx_rng_below(rng, 2) ? s.bias : NULL;
    s.product.wanted = sx_rng_below(rng, 2) ? s.wanted : NULL;
    return s;
}

static void sample_free(sample *s) {
    free(s->a);
    free(s->b);
    free(s->c);
    free(s->wanted);
    free(s->bias);
}

/* The product by an engine, in fresh memory. */
static float *product_of(const sample *s, sx_matrix_engine *engine) {
    size_t size = s->product.m * s->product.n * sizeof(float);
    float *c = malloc(size);
    assert_non_null(c);
    memcpy(c, s->c, size);
    sx_matmul product = s->product;
    product.c = c;
    sx_matrix_product(engine, &product);
    return c;
}

static bool is_wanted(const sample *s, size_t i) {
    return !s->product.wanted || s->product.wanted[i] != 0;
}

static void own_products_have_the_bits_of_plain_loops(void **state) {
    (void)state;
    sx_matrix_engine *plain, *own[4];
    sx_pool *pool[4] = {NULL};
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_PLAIN, NULL, &plain));
    for (unsigned t = 0; t < 4; t++) {
        if (t) sx_expect_ok(sx_pool_new(t, &pool[t]));
        sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, pool[t], &own[t]));
    }
    for (uint64_t i = 0; i < (SX_SANITIZED ? 51 : 60); i++) {
        sx_rng rng = sx_rng_stream(1, "test.matrix", i);
        sample s = sample_new(&rng, i < 50 ? 60 : 600);
        float *right = product_of(&s, plain);
        for (unsigned t = 0; t < 4; t++) {
            float *c = product_of(&s, own[t]);
            for (size_t e = 0; e < s.product.m * s.product.n; e++)
                if (is_wanted(&s, e) && memcmp(&c[e], &right[e], sizeof *c) != 0)
                    fail_msg("case %d, %u threads, element %zu: %.9g instead of %.9g", (int)i, t, e,
                             (double)c[e], (double)right[e]);
            free(c);
        }
        free(right);
        sample_free(&s);
    }
    for (unsigned t = 0; t < 4; t++) {
        sx_matrix_engine_free(own[t]);
        sx_pool_free(pool[t]);
    }
    sx_matrix_engine_free(plain);
}

/* By definition, in doubles. */
static void products_are_right(void **state) {
    (void)state;
    sx_matrix_engine *engine, *blas = NULL;
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine));
    sx_status_free(sx_matrix_engine_new(SX_MATRIX_OPENBLAS, NULL, &blas));
    for (uint64_t i = 0; i < 20; i++) {
        sx_rng rng = sx_rng_stream(2, "test.matrix", i);
        sample s = sample_new(&rng, 30);
        const sx_matmul *p = &s.product;
        float *c = product_of(&s, engine), *d = blas ? product_of(&s, blas) : NULL;
        for (size_t e = 0; e < p->m * p->n; e++) {
            size_t row = e / p->n, column = e % p->n;
            double sum = p->add ? (double)s.c[e] : p->bias ? (double)p->bias[column] : 0;
            for (size_t k = 0; k < p->k; k++)
                sum += (double)s.a[p->a_transposed ? k * p->m + row : row * p->k + k] *
                       (double)s.b[p->b_transposed ? column * p->k + k : k * p->n + column];
            if (is_wanted(&s, e)) assert_true(fabs((double)c[e] - sum) < 1e-4);
            if (d) assert_true(fabs((double)d[e] - sum) < 1e-4);
        }
        free(c);
        free(d);
        sample_free(&s);
    }
    sx_matrix_engine_free(engine);
    sx_matrix_engine_free(blas);
}

static void names_are_known_or_refused(void **state) {
    (void)state;
    for (sx_matrix_backend i = SX_MATRIX_OWN; i <= SX_MATRIX_OPENBLAS; i++) {
        sx_matrix_backend found;
        sx_expect_ok(sx_matrix_backend_find(sx_matrix_backend_name(i), &found));
        assert_int_equal(found, i);
    }
    sx_matrix_backend found;
    sx_matrix_engine *blas = NULL;
    sx_expect_error(sx_matrix_backend_find("mkl", &found), "unknown matrix product 'mkl'");
    sx_status_free(sx_matrix_engine_new(SX_MATRIX_OPENBLAS, NULL, &blas));
    sx_expect_ok(sx_matrix_backend_find("fast", &found));
    assert_int_equal(found, blas ? SX_MATRIX_OPENBLAS : SX_MATRIX_OWN);
    sx_matrix_engine_free(blas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_products_have_the_bits_of_plain_loops),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(names_are_known_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
