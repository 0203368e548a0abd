#include "sextant/all.h"
#include "sextant/rng.h"
#include "support/compared.h"
#include "support/random_legal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sx_problem einsum(const char *text) {
    sx_problem problem;
    sx_status error = sx_einsum_parse(text, &problem);
    if (error) fail_msg("%s: %s", text, error->message);
    return problem;
}

static void distances(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {
        /* the paper's example: workload 3 differs from 1 in C, from 2 in K, Y and X */
        {"O[B,K,Y,X]+=W[K,C,R,S]*I[B,C,Y+R,X+S] {B:16,K:32,C:16,Y:56,X:56,R:3,S:3}",
         "O[B,K,Y,X]+=W[K,C,R,S]*I[B,C,Y+R,X+S] {B:16,K:32,C:32,Y:56,X:56,R:3,S:3}", 1},
        {"O[B,K,Y,X]+=W[K,C,R,S]*I[B,C,Y+R,X+S] {B:16,K:64,C:32,Y:28,X:28,R:3,S:3}",
         "O[B,K,Y,X]+=W[K,C,R,S]*I[B,C,Y+R,X+S] {B:16,K:32,C:32,Y:56,X:56,R:3,S:3}", 3},
        {"O[m,n]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", "O[m,n]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", 0},
        {"O[p]+=W[r]*I[p+r] {p:8,r:3}", "O[p]+=W[r]*I[2*p+r] {p:8,r:3}", 1},
        {"O[p]+=W[r]*I[p+r] {p:8,r:3}", "O[p]+=W[r]*I[2*p+r] {p:4,r:3}", 1},
        {"O[p]+=W[r]*I[p+r] {p:8,r:3}", "O[p]+=W[r]*I[2*p+3*r] {p:4,r:3}", 2},
        {"O[p]+=W[r]*I[p+r] {p:8,r:3}", "O[p]+=W[r]*I[p] {p:8,r:3}", -1},
        {"O[m,n]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", "O[m,n]+=A[m,k]*B[k,n] {m:4,k:6,n:5}", -1},
        {"O[m,n]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", "O[m,n]+=A[m,k]*C[k,n] {m:4,n:5,k:6}", -1},
        {"O[m,n]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", "O[m,n]+=A[m,k]*B[n,k] {m:4,n:5,k:6}", -1},
        {"O[m,n]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", "O[m]+=A[m,k]*B[k,n] {m:4,n:5,k:6}", -1},
        {"O[m]+=A[m]*B[m] {m:4}", "O[m]+=A[m]*B[m]*C[m] {m:4}", -1},
        {"O[m]+=A[m]*B[m] {m:4}", "O[m,n]+=A[m]*B[m] {m:4,n:1}", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sx_problem a = einsum(cases[i].a), b = einsum(cases[i].b);
        assert_int_equal(sx_warm_distance(&a, &b), cases[i].distance);
        assert_int_equal(sx_warm_distance(&b, &a), cases[i].distance);
    }
}

/* A mapping of one dimension over three levels. */
static sx_mapping one_dimension(const uint32_t spatial[3], const uint32_t temporal[3]) {
    sx_mapping mapping;
    memset(&mapping, 0, sizeof mapping);
    mapping.n_levels = 3;
    mapping.n_dims = 1;
    mapping.n_tensors = 3;
    for (int i = 0; i < 3; i++) {
        mapping.level[i].spatial[0] = spatial[i];
        mapping.level[i].temporal[0] = temporal[i];
        mapping.level[i].split = spatial[i] > 1;
        mapping.level[i].keep = (uint8_t)(7 - i);
    }
    return mapping;
}

static void scaling(void **state) {
    (void)state;
    static const struct {
        uint32_t from, to;
        uint32_t spatial[3], temporal[3]; /* innermost first */
        uint32_t new_spatial[3], new_temporal[3];
    } cases[] = {
        /* growing by a multiple: the outermost is multiplied */
        {64, 128, {1, 16, 1}, {2, 2, 1}, {1, 16, 1}, {2, 2, 2}},
        {64, 192, {4, 4, 1}, {2, 1, 2}, {4, 4, 1}, {2, 1, 6}},
        /* shrinking: the outermost gives way first, then the outer tiles, then the spread */
        {64, 32, {1, 8, 1}, {2, 2, 2}, {1, 8, 1}, {2, 2, 1}},
        {64, 16, {1, 8, 1}, {2, 2, 2}, {1, 8, 1}, {2, 1, 1}},
        {64, 4, {1, 8, 1}, {2, 2, 2}, {1, 4, 1}, {1, 1, 1}},
        {64, 1, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}},
        /* no multiple: the largest divisors that are not above */
        {56, 28, {1, 1, 1}, {8, 7, 1}, {1, 1, 1}, {7, 4, 1}},
        {56, 35, {1, 14, 1}, {2, 1, 2}, {1, 7, 1}, {1, 1, 5}},
        {35, 17, {1, 7, 1}, {5, 1, 1}, {1, 1, 1}, {1, 1, 17}},
        {17, 34, {1, 17, 1}, {1, 1, 1}, {1, 17, 1}, {1, 1, 2}},
        /* with remainders factors stay, as far as the size reaches */
        {17, 34, {1, 4, 1}, {3, 1, 2}, {1, 4, 1}, {3, 1, 3}},
        {17, 13, {1, 4, 1}, {3, 1, 2}, {1, 4, 1}, {3, 1, 2}},
        {17, 5, {1, 4, 1}, {3, 2, 1}, {1, 2, 1}, {3, 1, 1}},
        {17, 17, {1, 4, 1}, {3, 1, 2}, {1, 4, 1}, {3, 1, 2}},
    };
    sx_problem from = einsum("O[m]+=A[m]*B[m] {m:4}"), to = from;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_mapping mapping = one_dimension(cases[i].spatial, cases[i].temporal);
        from.size[0] = cases[i].from;
        to.size[0] = cases[i].to;
        sx_warm_scale(&mapping, &from, &to, &mapping);
        for (int s = 0; s < 3; s++) {
            assert_int_equal(mapping.level[s].spatial[0], cases[i].new_spatial[s]);
            assert_int_equal(mapping.level[s].temporal[0], cases[i].new_temporal[s]);
            assert_int_equal(mapping.level[s].keep, 7 - s);
            assert_int_equal(mapping.level[s].split, cases[i].new_spatial[s] > 1);
        }
    }
}

/* Scaled factors are exact, no tile and no spread grows, keeping stays, and a legal mapping stays legal. */
static void scaled_mappings_fit(void **state) {
    (void)state;
    static sx_arch arch;
    sx_problem from =
        einsum("Outputs[N,K,Q,P]+=Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:3,S:3,P:8,Q:8,C:8,K:8,N:1}");
    unsigned scaled_cases = 0;
    assert_null(sx_catalog_arch("accel-b", &arch));
    for (uint64_t i = 0; i < 1000; i++) {
        sx_rng rng = sx_rng_stream(1, "warm", i);
        sx_problem to = from;
        sx_model *before, *after;
        sx_mapping mapping, scaled;
        for (int d = 2; d < 7; d++) from.size[d] = 1 + (uint32_t)sx_rng_below(&rng, 64);
        for (int d = 2; d < 7; d++)
            if (sx_rng_below(&rng, 2)) to.size[d] = 1 + (uint32_t)sx_rng_below(&rng, 64);
        assert_null(sx_model_new(&from, &arch, NULL, &before));
        assert_null(sx_model_new(&to, &arch, NULL, &after));
        if (sx_random_legal(&rng, before, 0, &mapping)) {
            scaled_cases++;
            sx_warm_scale(&mapping, &from, &to, &scaled);
            assert_true(sx_mapping_perfect(&scaled, &to));
            assert_int_equal(sx_check(after, &scaled).reason, SX_LEGAL);
            for (int s = 0; s < arch.n_levels; s++) {
                assert_int_equal(scaled.level[s].keep, mapping.level[s].keep);
                for (int d = 0; d < 7 && s + 1 < arch.n_levels; d++) {
                    if (to.size[d] == from.size[d]) continue;
                    assert_true(scaled.level[s].spatial[d] <= mapping.level[s].spatial[d]);
                    assert_true(sx_mapping_extent(&scaled, s, d) <= sx_mapping_extent(&mapping, s, d));
                }
            }
        }
        sx_model_free(before);
        sx_model_free(after);
    }
    sx_expect_compared("scaled mappings", scaled_cases, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(scaling),
        cmocka_unit_test(scaled_mappings_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
