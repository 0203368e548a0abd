/* The energy of a mapping without rounding, on cases to sum up by hand. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "verify/exact_energy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Six sums of one term each: 6 computes in 6 cycles; L0 passes on what L1 reads and updates 6 times each. */
static sx_problem problem;
static sx_arch arch;
static sx_mapping mapping;

static int setup(void **state) {
    (void)state;
    sx_plain_arch(&arch, 2);
    sx_plain_problem("O[m] += A[m] {m:6}", &arch, &problem, &mapping);
    mapping.level[1].temporal[0] = 6;
    mapping.level[0].keep = 0;
    arch.compute.energy = 0;
    for (int s = 0; s < 2; s++)
        arch.level[s].read_energy = arch.level[s].fill_energy = arch.level[s].update_energy = 0;
    return 0;
}

/* Asserts what the energy is. */
static void expect_energy(const char *energy) {
    sx_model *model;
    char text[SX_FRACTION_SIZE] = "x";
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_mapping_exact_energy(model, &mapping, text));
    assert_string_equal(text, energy);
    sx_model_free(model);
}

static void sums_decimals(void **state) {
    (void)state;
    expect_energy("0");
    arch.compute.energy = 0.1;
    expect_energy("3/5");
    arch.level[1].read_energy = 0.25;
    expect_energy("21/10");
    arch.level[1].update_energy = 0.5;
    expect_energy("51/10");
    arch.level[1].addr_gen_energy = 0.02; /* a generation for each read of A and each update of O */
    expect_energy("267/50");
    arch.level[1].addr_gen_energy = 0;
    arch.level[1].update_energy = 400;
    expect_energy("24021/10");
    arch.level[1].read_energy = 0;
    arch.compute.energy = 1;
    expect_energy("2406");
}

/* A kept tensor is filled: 6 fills and reads of A, of O updates only. */
static void sums_fills(void **state) {
    (void)state;
    mapping.level[0].keep = 3;
    arch.level[0].fill_energy = 0.5;
    expect_energy("3");
    arch.level[0].read_energy = 0.01;
    expect_energy("153/50");
    arch.level[0].read_energy = 0;
    arch.level[0].addr_gen_energy = 0.5; /* 6 fills and 6 reads of A, 6 updates of O */
    expect_energy("12");
}

/* An access moves a vector of words, or what fits of narrower ones. */
static void counts_vectors(void **state) {
    (void)state;
    arch.level[1].read_energy = 0.1;
    arch.level[1].block_size = 4;
    expect_energy("1/5");
    arch.level[1].block_size = 3;
    expect_energy("1/5");
    arch.level[1].block_size = 1;
    problem.tensor[0].output ? (problem.tensor[1].bits = 8) : (problem.tensor[0].bits = 8);
    expect_energy("3/10");
    arch.level[1].addr_gen_energy = 0.1;
    expect_energy("3/2");
}

/* What leaks: all instances in use for the cycles without fill and drain, or those that a gate lets on. */
static void sums_leakage(void **state) {
    (void)state;
    arch.level[1].leak_energy = 0.01;
    expect_energy("3/50");
    arch.level[0].fill_latency = 5;
    arch.level[1].drain_latency = 7;
    expect_energy("3/50");
    sx_plain_mesh(&arch, 1, 4, 1);
    arch.level[1].leak_energy = 0;
    arch.level[0].leak_energy = 0.1;
    mapping.level[1].spatial[0] = 2;
    mapping.level[1].split = 1;
    mapping.level[1].temporal[0] = 3;
    expect_energy("3/5"); /* 2 of 4 instances for 3 cycles */
    arch.level[0].power_gated_at = 1;
    expect_energy("6/5"); /* all 4 below the one gate */
    arch.level[0].power_gated_at = 0;
    expect_energy("3/5");
}

static void says_nothing_where_counts_do_not(void **state) {
    (void)state;
    arch.compute.energy = 1e-30;
    expect_energy("3/500000000000000000000000000000");
    arch.compute.energy = 1e-31;
    expect_energy("");
    arch.level[1].read_energy = 1e-20; /* 6 reads in units of 10^-20 pJ */
    arch.compute.energy = 5e17;
    expect_energy("150000000000000000000000000000000000003/50000000000000000000");
    arch.compute.energy = 6e17; /* 3.6e38 units are above 2^128 */
    expect_energy("");
    arch.compute.energy = 4e18; /* those of one compute are */
    expect_energy("");
    setup(state);
    arch.level[1].energy_per_hop = 0.5;
    expect_energy("");
    setup(state);
    arch.level[1].router_energy = 0.5;
    expect_energy("");
    setup(state);
    mapping.level[1].temporal[0] = 2;
    mapping.level[0].temporal[0] = 4;
    expect_energy(""); /* leaves a remainder */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sums_decimals, setup),
        cmocka_unit_test_setup(sums_fills, setup),
        cmocka_unit_test_setup(counts_vectors, setup),
        cmocka_unit_test_setup(sums_leakage, setup),
        cmocka_unit_test_setup(says_nothing_where_counts_do_not, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
