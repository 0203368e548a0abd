/* Members of a space as the verifier reads it: one condition at a time. */
#include "support/expect.h"
#include "support/plain_arch.h"
#include "verify/verify_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* m, k and n of sizes 8, 4 and 6 on three levels; L1 has 4 x 2 children. */
static sx_problem problem;
static sx_arch arch;
static sx_mapping mapping;
static sx_constraints limits;
static sx_map_space_options options;

enum { M, K, N };
enum { O, A, B }; /* tensors */

static int setup(void **state) {
    (void)state;
    sx_plain_arch(&arch, 3);
    sx_plain_mesh(&arch, 1, 4, 2);
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,k:4,n:6}", &arch, &problem, &mapping);
    sx_constraints_init(&limits, &problem, &arch);
    memset(&options, 0, sizeof options);
    for (int d = 0; d < 3; d++) mapping.level[2].temporal[d] = problem.size[d];
    return 0;
}

/* Asserts that the mapping belongs to the space (NULL), or does not, for that reason. */
static void judge(const char *reason) {
    sx_model *model;
    sx_verify_space space;
    char why[400] = "";
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_verify_space_init(&space, model, &limits, &options));
    bool member = sx_verify_space_contains(&space, &mapping, why, sizeof why);
    if (member != !reason || (reason && !strstr(why, reason)))
        fail_msg("'%s' where '%s' is expected", why, reason ? reason : "a member");
    sx_verify_space_fini(&space);
    sx_model_free(model);
}

/* Moves iterations of a dimension from the outermost level to another level, over units or over time. */
static void move(int level, int d, uint32_t factor, bool spatial) {
    mapping.level[2].temporal[d] /= factor;
    *(spatial ? &mapping.level[level].spatial[d] : &mapping.level[level].temporal[d]) *= factor;
}

static void factors_have_limits(void **state) {
    (void)state;
    judge(NULL);
    limits.level[0].temporal.max[M] = 4;
    move(0, M, 4, false);
    judge(NULL);
    move(0, M, 2, false);
    judge("L0: a factor of m is out of its limits");
    setup(state);
    limits.level[1].temporal.min[K] = 2;
    judge("L1: a factor of k is out of its limits");
    move(1, K, 2, false);
    judge(NULL);
    setup(state);
    limits.level[1].spatial.max[N] = 2;
    move(1, N, 2, true);
    judge(NULL);
    setup(state);
    limits.level[1].spatial.max[N] = 1;
    move(1, N, 2, true);
    judge("L1: a factor of n is out of its limits");
    setup(state);
    limits.level[1].spatial.min[N] = 2;
    judge("L1: a factor of n is out of its limits");
}

static void beyond_a_slot_that_takes_the_rest_there_is_nothing(void **state) {
    (void)state;
    limits.level[0].temporal.rest[M] = true;
    judge("L2: a factor of m is out of its limits");
    move(0, M, 8, false);
    judge(NULL);
    setup(state);
    limits.level[1].spatial.rest[M] = true;
    move(1, M, 4, true);
    mapping.level[1].split = 3;
    move(1, M, 2, false);
    judge("L1: a factor of m is out of its limits");
    setup(state);
    limits.level[1].spatial.rest[M] = true;
    move(0, M, 2, false);
    move(1, M, 4, true);
    mapping.level[1].split = 3;
    judge(NULL);
}

static void levels_without_children_have_no_spatial_loops(void **state) {
    (void)state;
    limits.level[2].spatial.min[M] = 1;
    mapping.level[2].temporal[M] = 4;
    mapping.level[2].spatial[M] = 2;
    judge("");
    setup(state);
    arch.level[1].transparent = true;
    mapping.level[1].keep = 0;
    judge(NULL);
    move(1, M, 2, false);
    judge("L1");
}

static void levels_keep_what_they_must_and_may(void **state) {
    (void)state;
    mapping.level[0].keep = 1u << O;
    judge(NULL);
    limits.level[0].must_keep = 1u << A;
    judge("L0: it keeps other tensors than the space allows");
    mapping.level[0].keep = 1u << O | 1u << A;
    judge(NULL);
    limits.level[0].must_bypass = 1u << O;
    judge("L0: it keeps other tensors than the space allows");
    mapping.level[0].keep = 1u << A;
    judge(NULL);
    options.keep_all = true;
    judge("L0: it keeps other tensors than the space allows");
    mapping.level[0].keep = 1u << A | 1u << B;
    judge(NULL);
}

static void spatial_loops_lie_as_the_space_lays_them(void **state) {
    (void)state;
    move(1, M, 4, true);
    move(1, N, 2, true);
    mapping.level[1].spatial_order[0] = M;
    mapping.level[1].spatial_order[1] = N;
    mapping.level[1].spatial_order[2] = K;
    mapping.level[1].split = 1;
    judge(NULL);
    limits.level[1].spatial.n_inner = 1;
    limits.level[1].spatial.inner[0] = N;
    judge("L1: its spatial loops do not fit, or violate a constraint");
    limits.level[1].spatial.inner[0] = M;
    limits.level[1].split = 1;
    judge(NULL);
    limits.level[1].split = 0;
    judge("L1: its spatial loops do not fit, or violate a constraint");
    setup(state);
    move(1, M, 2, true);
    move(1, K, 2, true);
    mapping.level[1].spatial_order[0] = K;
    mapping.level[1].spatial_order[1] = M;
    mapping.level[1].spatial_order[2] = N;
    mapping.level[1].split = 3;
    judge("L1: its spatial loops are not in the order of the space");
    mapping.level[1].spatial_order[0] = M;
    mapping.level[1].spatial_order[1] = K;
    judge(NULL);
}

/* Outermost lists place loops behind all others; those that a list does not name have the places between. */
static void splits_count_places(void **state) {
    (void)state;
    limits.level[1].spatial.n_outer = 1;
    limits.level[1].spatial.outer[0] = M;
    move(1, M, 2, true);
    mapping.level[1].spatial_order[0] = M;
    mapping.level[1].spatial_order[1] = K;
    mapping.level[1].spatial_order[2] = N;
    for (int split = 0; split <= 3; split++) {
        limits.level[1].split = (int8_t)split;
        mapping.level[1].split = 0;
        judge(split < 3 ? NULL : "L1: its spatial loops do not fit");
        mapping.level[1].split = 1;
        judge(split < 3 ? "L1: its spatial loops do not fit" : NULL);
    }
    setup(state);
    limits.level[1].spatial.n_inner = limits.level[1].spatial.n_outer = 1;
    limits.level[1].spatial.inner[0] = N;
    limits.level[1].spatial.outer[0] = M;
    move(1, K, 2, true);
    mapping.level[1].spatial_order[0] = K;
    mapping.level[1].spatial_order[1] = M;
    mapping.level[1].spatial_order[2] = N;
    for (int split = 0; split <= 3; split++) {
        limits.level[1].split = (int8_t)split;
        mapping.level[1].split = 0;
        judge(split <= 1 ? NULL : "L1: its spatial loops do not fit");
        mapping.level[1].split = 1;
        judge(split <= 1 ? "L1: its spatial loops do not fit" : NULL);
    }
}

static void reuse_and_remainders(void **state) {
    (void)state;
    limits.level[1].no_multicast = 1u << A;
    judge("L1: it forbids other kinds of reuse");
    mapping.level[1].no_multicast = 1u << A;
    judge(NULL);
    mapping.level[0].temporal[N] = 4;
    mapping.level[2].temporal[N] = 2;
    judge("remainders");
    setup(state);
    mapping.level[2].temporal[N] = 3;
    judge("");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(factors_have_limits, setup),
        cmocka_unit_test_setup(beyond_a_slot_that_takes_the_rest_there_is_nothing, setup),
        cmocka_unit_test_setup(levels_without_children_have_no_spatial_loops, setup),
        cmocka_unit_test_setup(levels_keep_what_they_must_and_may, setup),
        cmocka_unit_test_setup(spatial_loops_lie_as_the_space_lays_them, setup),
        cmocka_unit_test_setup(splits_count_places, setup),
        cmocka_unit_test_setup(reuse_and_remainders, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
