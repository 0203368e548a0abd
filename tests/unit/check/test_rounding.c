/* Rounding (docs/proof.md): which energies a certificate may name besides the exact one, on a problem small enough to count by
 * hand. */
#include "check/target.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { A, O }; /* tensors: O[p] += A[stride * p] */

/* Two levels of one instance. A router of the outer one costs 1. */
static void set_machine(sx_check_case *c) {
    c->machine.n_levels = 2;
    c->machine.scale = 1;
    c->machine.compute_mesh[0] = c->machine.compute_mesh[1] = 1;
    for (int s = 0; s < 2; s++) {
        sx_level_limits *limits = &c->limits.level[s];
        sx_check_level *level = &c->machine.level[s];
        *level = (sx_check_level){.mesh = {1, 1},
                                  .fanout = {1, 1},
                                  .entries = -1,
                                  .usable = -1,
                                  .word_bits = 16,
                                  .block_size = 1,
                                  .cluster_size = 1,
                                  .min_utilization = {0, 1},
                                  .gate = s,
                                  .router = s,
                                  .may = 1u << A | 1u << O};
        for (int v = 0; v < SX_MAX_TENSORS; v++) level->port_scale[v] = (sx_ratio){1, 1};
        c->shares[s].min_utilization = c->shares[s].min_parallelism = (sx_ratio){0, 1};
        limits->split = -1;
        limits->temporal.min[0] = limits->spatial.min[0] = 1;
        limits->temporal.max[0] = limits->spatial.max[0] = 1 << 30;
    }
}

/* The best mapping: all steps are at the inner level, which bypasses all tensors. */
static void set_mapping(sx_check_case *c) {
    sx_mapping *m = &c->best.mapping;
    m->n_levels = 2;
    m->n_dims = c->problem.n_dims;
    m->n_tensors = c->problem.n_tensors;
    m->level[1].keep = 1u << A | 1u << O;
    m->level[1].split = m->n_dims;
    for (int s = 0; s < 2; s++) {
        m->level[s].spatial[0] = 1;
        m->level[s].temporal[0] = s ? 1 : c->problem.size[0];
    }
}

/* The verdict on a claimed energy that is `less` routers below the exact one; rounding may take one at the most. */
static sx_independent_verdict claim_routers(uint32_t p, int32_t stride, int less) {
    sx_check_case *c = calloc(1, sizeof *c);
    sx_check_space space;
    sx_independent_report report;
    sx_check_doubt doubt = {""};
    double said;
    sx_check_cost cost;
    assert_non_null(c);
    c->problem.n_dims = 1;
    c->problem.n_tensors = 2;
    c->problem.size[0] = p;
    for (int v = 0; v < 2; v++) {
        c->problem.tensor[v].n_ranks = 1;
        c->problem.tensor[v].coef[0][0] = v == A ? stride : 1;
    }
    c->problem.tensor[O].output = true;
    set_machine(c);
    set_mapping(c);
    assert_int_equal(sx_check_evaluate(c, &c->best.mapping, &cost, &doubt), SX_COST_LEGAL);
    assert_true(cost.least_energy == cost.energy - 1);
    c->best.energy_pj = (double)(cost.energy - less);
    c->best.cycles = (double)cost.cycles;
    sx_expect_ok(sx_check_space_init(&space, c));
    sx_independent_verdict verdict = sx_check_best(&space, &report, &said, &doubt);
    sx_check_space_fini(&space);
    free(c);
    return verdict;
}

/* Of p words in a tile of 2p - 1 doubles make p / (2p - 1) * (2p - 1) routers. Of 4 that is 4, of 24 a little less, which is
 * cut to 23; a tile of more than 2^53 words they cannot hold. */
static void rounding_is_what_doubles_make(void **state) {
    (void)state;
    static const struct {
        uint32_t p;
        int32_t stride;
        sx_independent_verdict verdict[3]; /* of a claim of 0, 1, 2 less */
    } cases[] = {
        {4, 2, {SX_INDEPENDENT_HOLDS, SX_INDEPENDENT_FAILS, SX_INDEPENDENT_FAILS}},
        {24, 2, {SX_INDEPENDENT_HOLDS, SX_INDEPENDENT_HOLDS, SX_INDEPENDENT_FAILS}},
        {1 << 24, 1 << 30, {SX_INDEPENDENT_HOLDS, SX_INDEPENDENT_UNDECIDED, SX_INDEPENDENT_FAILS}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int less = 0; less < 3; less++)
            assert_int_equal(claim_routers(cases[i].p, cases[i].stride, less), cases[i].verdict[less]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_is_what_doubles_make)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
