/* Actions that may be taken of one tensor or of another: the one that saves more is taken, of equal ones the first. */
#include "support/expect.h"
#include "support/sparse_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { A = 0, B = 1 };

/* A matrix product with all loops at the innermost level, so that words of A and of B are read equally often. */
static sx_sparse_case product(double density_a, double density_b) {
    sx_sparse_case t;
    sx_rng rng = sx_rng_stream(1, "options", 0);
    sx_random_sparse_nest(&rng, 1, &t);
    sx_expect_ok(sx_einsum_parse("Z[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", &t.problem));
    sx_expect_ok(sx_tensor_set_density(&t.problem.tensor[1], SX_DENSITY_HYPERGEOMETRIC, density_a));
    sx_expect_ok(sx_tensor_set_density(&t.problem.tensor[2], SX_DENSITY_HYPERGEOMETRIC, density_b));
    for (int s = 0; s < SX_SPARSE_LEVELS; s++) t.arch.level[s].block_size = 1;
    sx_mapping_init(&t.mapping, &t.problem, &t.arch);
    for (int d = 0; d < t.problem.n_dims; d++) {
        t.mapping.level[SX_SPARSE_LEVELS - 1].temporal[d] = 1;
        t.mapping.level[0].temporal[d] = 4;
    }
    strcpy(t.arch.sparse.name[A], "A");
    strcpy(t.arch.sparse.name[B], "B");
    t.arch.sparse.n_names = 2;
    return t;
}

/* The cost with an action of these targets, each on the other operand; freed by the caller. */
static sx_cost *cost_of(sx_sparse_case *t, int level, int n, const int *target) {
    sx_sparse_action *a = &t->arch.sparse.action[0];
    sx_cost *cost = calloc(1, sizeof *cost);
    assert_non_null(cost);
    *a = (sx_sparse_action){.level = (uint8_t)level, .skips = true, .n_options = (uint8_t)n};
    for (int i = 0; i < n; i++)
        a->option[i] = (sx_action_option){.target = (uint8_t)target[i], .on = 1u << (1 - target[i])};
    t->arch.sparse.n_actions = 1;
    assert_int_equal(sx_sparse_case_evaluate(t, true, cost).reason, SX_LEGAL);
    return cost;
}

static void expect_choice(sx_sparse_case *t, int level, int first, int chosen) {
    const int both[] = {first, 1 - first}, other = 1 - chosen;
    sx_cost *cost[] = {cost_of(t, level, 2, both), cost_of(t, level, 1, &chosen),
                       cost_of(t, level, 1, &other)};
    assert_memory_equal(cost[0], cost[1], sizeof *cost[0]);
    assert_memory_not_equal(cost[0], cost[2], sizeof *cost[0]);
    for (int i = 0; i < 3; i++) free(cost[i]);
}

static void the_first_of_equal_options_is_taken(void **state) {
    (void)state;
    sx_sparse_case t = product(0.5, 0.5);
    expect_choice(&t, 0, A, A);
    expect_choice(&t, 0, B, B);
}

/* Where reads take no energy no option saves any, and the first one still leaves reads out. */
static void the_first_option_is_taken_where_none_saves(void **state) {
    (void)state;
    sx_sparse_case t = product(0.25, 0.5);
    t.arch.level[0].read_energy = 0;
    expect_choice(&t, 0, A, A);
    expect_choice(&t, 0, B, B);
}

/* Reads of a tensor that depend on a sparser one are left out more often. */
static void the_option_that_saves_more_is_taken(void **state) {
    (void)state;
    sx_sparse_case t = product(0.25, 0.5), u = product(0.5, 0.25);
    expect_choice(&t, 0, A, B);
    expect_choice(&t, 0, B, B);
    expect_choice(&u, 0, A, A);
    expect_choice(&u, 0, B, A);
}

/* A level that does not keep a tensor hands the action on to the next that does. */
static void an_option_of_a_tensor_that_is_not_kept_is_taken_further_out(void **state) {
    (void)state;
    sx_sparse_case t = product(0.25, 0.5);
    t.mapping.level[0].keep = (uint8_t)(t.mapping.level[0].keep & ~(1u << 2));
    sx_cost *here = cost_of(&t, 0, 1, &(int){B}), *next = cost_of(&t, 1, 1, &(int){B});
    assert_memory_equal(here, next, sizeof *here);
    free(here);
    free(next);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_equal_options_is_taken),
        cmocka_unit_test(the_first_option_is_taken_where_none_saves),
        cmocka_unit_test(the_option_that_saves_more_is_taken),
        cmocka_unit_test(an_option_of_a_tensor_that_is_not_kept_is_taken_further_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
