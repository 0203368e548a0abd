#include "sextant/constraints.h"

#include "support/plain_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* m, n and k of sizes 8, 6 and 4 on two levels; L1 has 4 x 2 children. */
static sx_problem problem;
static sx_arch arch;
static sx_mapping mapping;
static sx_constraints limits;

enum { M, K, N }; /* in the order of the einsum */

static int setup(void **state) {
    (void)state;
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 1, 4, 2);
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,k:4,n:6}", &arch, &problem, &mapping);
    for (int d = 0; d < 3; d++) assert_int_equal(problem.size[d], ((const uint32_t[]){8, 4, 6})[d]);
    sx_constraints_init(&limits, &problem, &arch);
    return 0;
}

/* Asserts that the mapping obeys (NULL) or does not, for that reason, with and without words. */
static void judge(const char *reason) {
    char text[256] = "";
    bool allowed = sx_constraints_allow(&limits, &mapping, &problem, &arch, text, sizeof text);
    assert_int_equal(allowed, reason == NULL);
    assert_string_equal(text, reason ? reason : "");
    assert_int_equal(sx_constraints_allow(&limits, &mapping, &problem, &arch, NULL, 0), allowed);
}

static void no_constraints_allow_all(void **state) {
    (void)state;
    assert_int_equal(limits.n_levels, 2);
    assert_int_equal(limits.n_dims, 3);
    assert_int_equal(limits.n_tensors, 3);
    assert_int_equal(limits.level[1].split, -1);
    assert_int_equal(limits.level[0].spatial.min[N], 1);
    assert_int_equal(limits.level[0].temporal.max[K], SX_MAX_DIM_SIZE);
    judge(NULL);
    mapping.level[0].temporal[M] = 8;
    mapping.level[1].spatial[N] = 3;
    mapping.level[1].split = 2;
    mapping.level[1].keep = 0;
    judge(NULL);
}

static void another_shape_is_refused(void **state) {
    (void)state;
    mapping.n_levels = 3;
    judge("the mapping was made for another problem or architecture");
    mapping.n_levels = 2;
    mapping.n_dims = 2;
    judge("the mapping was made for another problem or architecture");
    mapping.n_dims = 3;
    mapping.n_tensors = 2;
    judge("the mapping was made for another problem or architecture");
}

static void factors_have_limits(void **state) {
    (void)state;
    limits.level[0].temporal.min[K] = 2;
    limits.level[0].temporal.max[K] = 4;
    judge("L0: the temporal factor of k must be at least 2, but is 1");
    mapping.level[0].temporal[K] = 2;
    judge(NULL);
    mapping.level[0].temporal[K] = 4;
    judge(NULL);
    mapping.level[0].temporal[K] = 5;
    judge("L0: the temporal factor of k must be at most 4, but is 5");
    mapping.level[0].temporal[K] = 4;
    limits.level[1].spatial.min[N] = limits.level[1].spatial.max[N] = 3;
    mapping.level[1].spatial[N] = 2;
    judge("L1: the spatial factor of n must be 3, but is 2");
    mapping.level[1].spatial[N] = 3;
    judge(NULL);
}

/* Puts the temporal loops of L1 in an order, with factors of 2. */
static void order(const char *letters) {
    memset(mapping.level[1].temporal, 0, sizeof mapping.level[1].temporal);
    for (int d = 0; d < 3; d++) {
        mapping.level[1].temporal[d] = 2;
        for (int i = 0; i < 3; i++)
            if (letters[i] == problem.dim_name[d][0]) mapping.level[1].temporal_order[i] = (uint8_t)d;
    }
}

static void orders_begin_and_end_as_told(void **state) {
    (void)state;
    sx_loop_limits *loops = &limits.level[1].temporal;
    loops->n_inner = 1;
    loops->inner[0] = K;
    order("mkn");
    judge("L1: the temporal loop of k must be inside that of m");
    order("knm");
    judge(NULL);
    loops->n_outer = 1;
    loops->outer[0] = N;
    judge("L1: the temporal loop of m must be inside that of n");
    order("kmn");
    judge(NULL);
    order("mkn");
    mapping.level[1].temporal[K] = 1;
    judge(NULL);
    order("nkm");
    mapping.level[1].temporal[N] = 1;
    judge(NULL);
}

static void several_outer_dimensions_have_an_order(void **state) {
    (void)state;
    sx_loop_limits *loops = &limits.level[1].temporal;
    loops->n_outer = 2;
    loops->outer[0] = M;
    loops->outer[1] = K;
    order("nmk");
    judge(NULL);
    order("nkm");
    judge("L1: the temporal loop of m must be inside that of k");
    order("mnk");
    judge("L1: the temporal loop of n must be inside that of m");
}

/* Spreads the spatial loops of L1: factors of 2 for m, k and n in this order, split of them on X. */
static void spread(unsigned m, unsigned k, unsigned n, uint8_t split) {
    mapping.level[1].spatial[M] = m;
    mapping.level[1].spatial[K] = k;
    mapping.level[1].spatial[N] = n;
    mapping.level[1].split = split;
}

static void a_split_counts_the_first_dimensions(void **state) {
    (void)state;
    sx_level_limits *level = &limits.level[1];
    level->split = 2;
    spread(2, 2, 1, 2);
    judge(NULL);
    spread(2, 2, 1, 1);
    judge(NULL);
    spread(2, 2, 2, 3);
    judge("L1: the spatial loop of n must lie on Y: 2 dimensions are for X");
    spread(2, 2, 2, 1);
    judge("L1: the spatial loop of n must lie on X: 2 dimensions are for X");
    level->spatial.n_inner = 3;
    memcpy(level->spatial.inner, ((const uint8_t[]){M, K, N}), 3);
    spread(1, 2, 1, 2);
    judge(NULL);
    spread(1, 2, 1, 0);
    judge("L1: the spatial loop of k must lie on X: 2 dimensions are for X");
    spread(1, 1, 2, 3);
    judge("L1: the spatial loop of n must lie on Y: 2 dimensions are for X");
    spread(2, 1, 2, 1);
    judge(NULL);
    level->split = 0;
    spread(2, 1, 1, 1);
    judge("L1: the spatial loop of m must lie on Y: 0 dimensions are for X");
    spread(2, 2, 1, 0);
    judge(NULL);
}

static void outer_dimensions_count_from_the_end(void **state) {
    (void)state;
    sx_level_limits *level = &limits.level[1];
    level->split = 2;
    level->spatial.n_outer = 1;
    level->spatial.outer[0] = N;
    spread(2, 2, 2, 2);
    judge(NULL);
    spread(1, 1, 2, 3);
    judge("L1: the spatial loop of n must lie on Y: 2 dimensions are for X");
    spread(2, 1, 1, 0);
    judge("L1: the spatial loop of m must lie on X: 2 dimensions are for X");
}

static void tensors_are_kept_as_told(void **state) {
    (void)state;
    limits.level[0].must_keep = 1u << 1;
    limits.level[0].must_bypass = 1u << 2;
    mapping.level[0].keep = 3;
    judge(NULL);
    mapping.level[0].keep = 1;
    judge("L0: A must be kept here");
    mapping.level[0].keep = 7;
    judge("L0: B must be bypassed here");
}

static void the_rest_leaves_nothing_outside(void **state) {
    (void)state;
    limits.level[0].temporal.rest[M] = true;
    mapping.level[0].temporal[M] = 4;
    mapping.level[0].spatial[M] = 2;
    judge(NULL);
    mapping.level[1].spatial[M] = 2;
    judge("L0: its temporal loop of m must cover all that the inner loops leave");
    mapping.level[1].spatial[M] = 1;
    mapping.level[1].temporal[M] = 2;
    judge("L0: its temporal loop of m must cover all that the inner loops leave");
    mapping.level[1].temporal[M] = 1;
    limits.level[0].spatial.rest[M] = true;
    judge("L0: its spatial loop of m must cover all that the inner loops leave");
    mapping.level[0].temporal[M] = 1;
    judge(NULL);
}

static void a_level_may_have_to_be_filled(void **state) {
    (void)state;
    arch.level[0].entries = 100;
    arch.level[0].multiple_buffering = 2;
    limits.level[0].min_utilization = 0.5;
    limits.level[1].min_utilization = 1;
    mapping.level[0].temporal[M] = 8;
    mapping.level[0].temporal[N] = 2;
    judge(NULL);
    mapping.level[0].keep &= (uint8_t) ~(1u << 1);
    judge("L0: 18 of 50 words are in use, less than the minimum utilization 0.5");
    mapping.level[0].temporal[N] = 100;
    judge(NULL);
}

static void compute_units_may_have_to_be_used(void **state) {
    (void)state;
    limits.level[1].min_parallelism = 0.75;
    mapping.level[1].spatial[M] = 2;
    mapping.level[1].spatial[N] = 3;
    judge(NULL);
    mapping.level[1].spatial[M] = 1;
    judge("L1: 3 of 8 compute units are in use, less than the minimum utilization 0.75");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_constraints_allow_all, setup),
        cmocka_unit_test_setup(another_shape_is_refused, setup),
        cmocka_unit_test_setup(factors_have_limits, setup),
        cmocka_unit_test_setup(orders_begin_and_end_as_told, setup),
        cmocka_unit_test_setup(several_outer_dimensions_have_an_order, setup),
        cmocka_unit_test_setup(a_split_counts_the_first_dimensions, setup),
        cmocka_unit_test_setup(outer_dimensions_count_from_the_end, setup),
        cmocka_unit_test_setup(tensors_are_kept_as_told, setup),
        cmocka_unit_test_setup(the_rest_leaves_nothing_outside, setup),
        cmocka_unit_test_setup(a_level_may_have_to_be_filled, setup),
        cmocka_unit_test_setup(compute_units_may_have_to_be_used, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
