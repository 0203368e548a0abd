/* Mapped layers as operators, and their time. */
#include "timing/layer.h"

#include "support/expect.h"
#include "support/timed_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_arch arch;
static sx_timing timing;

/* Einsums with the sizes of their products. */
static void sizes_of_products(void **state) {
    (void)state;
    static const struct {
        const char *einsum, *kind;
        double repeat, m, n, k;
        bool unaligned;
    } cases[] = {
        {"C[m,n] += A[m,k]*B[k,n] {m:3,n:5,k:7}", "gemm", 1, 3, 5, 7, false},
        {"C[h,m,n] += A[h,m,k]*B[h,k,n] {h:2,m:3,n:5,k:7}", "gemm", 2, 3, 5, 7, false},
        {"O[n,k,p] += I[n,c,p+r]*W[k,c,r] {n:2,k:5,c:8,p:7,r:3}", "conv", 1, 14, 5, 24, false},
        {"O[n,k,p] += I[n,c,p+r]*W[k,c,r] {n:2,k:5,c:3,p:7,r:3}", "conv", 1, 14, 5, 9, true},
        {"O[p,k] += W[k,c,r]*I[c,p+r] {p:7,k:5,c:3,r:8}", "conv", 1, 5, 7, 24, true},
        {"O[c,p] += I[c,p+r]*W[c,r] {c:4,p:7,r:3}", "depthwise", 0, 7, 1, 3, true},
        {"y[n] += W[n,k]*x[k] {n:5,k:7}", "gemm", 1, 5, 1, 7, false},
    };
    sx_expect_timed("timing: {overhead: 1e-6, operators: {gemm-w16a16: {}}}\n", &arch, &timing);
    timing.n_kinds = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_problem problem;
        sx_timed_operator op;
        sx_expect_ok(sx_einsum_parse(cases[i].einsum, &problem));
        sx_layer_operator(&arch, &timing, &problem, &op);
        assert_string_equal(op.kind, cases[i].kind);
        assert_true(op.repeat == cases[i].repeat && op.m == cases[i].m && op.n == cases[i].n &&
                    op.k == cases[i].k);
        assert_int_equal(op.unaligned, cases[i].unaligned);
        assert_true(op.row_bits == 16 && op.col_bits == 16);
    }
}

/* Widths have kinds of their own, where the timing does. */
static void kinds_of_widths(void **state) {
    (void)state;
    sx_problem problem;
    sx_timed_operator op;
    sx_expect_timed("timing: {overhead: 1e-6, operators: {gemm-w4a16: {overhead: 2e-6}}}\n", &arch, &timing);
    sx_expect_ok(sx_einsum_parse("C[m,n] += A[m,k]*B[k,n] {m:3,n:5,k:7}", &problem));
    sx_layer_operator(&arch, &timing, &problem, &op);
    assert_string_equal(op.kind, "gemm");
    for (int v = 0; v < problem.n_tensors; v++) problem.tensor[v].bits = 16;
    problem.tensor[sx_problem_tensor(&problem, "B")].bits = 4;
    sx_layer_operator(&arch, &timing, &problem, &op);
    assert_string_equal(op.kind, "gemm-w4a16");
}

/* A layer that repeats itself has one overhead. */
static void expect_twice(const sx_problem *problem, const sx_cost *cost, double once) {
    sx_operator_time t = sx_time_layer(&arch, &timing, problem, cost, 2, 100);
    assert_true(fabs(t.seconds - (2 * once - 1e-6)) < 1e-15);
}

/* Without units, compute and levels are those of the mapping. */
static void mapped_cycles(void **state) {
    (void)state;
    sx_problem problem;
    sx_cost *cost = calloc(1, sizeof *cost);
    assert_non_null(cost);
    sx_expect_timed("timing: {overhead: 1e-6, efficiency: {compute: 0.5, L2: 0.25}}\n", &arch, &timing);
    sx_expect_ok(sx_einsum_parse("C[m,n] += A[m,k]*B[k,n] {m:3,n:5,k:7}", &problem));
    cost->compute_cycles = 1000;
    sx_operator_time t = sx_time_layer(&arch, &timing, &problem, cost, 1, 100);
    assert_true(fabs(t.seconds - (1e-6 + 2e-6)) < 1e-15);
    assert_int_equal(t.limit, SX_LIMIT_COMPUTE);
    cost->level[0].cycles = 1000; /* no longer than the computes: not what the mapping waits for */
    t = sx_time_layer(&arch, &timing, &problem, cost, 1, 100);
    assert_int_equal(t.limit, SX_LIMIT_COMPUTE);
    cost->level[0].cycles = 2000;
    t = sx_time_layer(&arch, &timing, &problem, cost, 1, 100);
    assert_true(fabs(t.seconds - (1e-6 + 8e-6)) < 1e-15);
    assert_int_equal(t.limit, 0);
    expect_twice(&problem, cost, t.seconds);
    free(cost);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_products),
        cmocka_unit_test(kinds_of_widths),
        cmocka_unit_test(mapped_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
