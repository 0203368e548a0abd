/* The compulsory minimum and Mind Mappings' algorithmic one. */
#include "model/model.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_legal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Mind Mappings, appendix A, on the problems of its Table 1: energy times delay in microjoules and cycles. */
static void the_algorithmic_minimum_is_that_of_mind_mappings(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        double edp;
    } cases[] = {
        {"vgg-conv2", 1.309e12},     {"inception-conv2", 5.358e12}, {"alexnet-conv2", 5.774e10},
        {"alexnet-conv4", 1.595e10}, {"resnet-conv3", 1.830e10},    {"resnet-conv4", 1.659e10},
        {"mttkrp-0", 5.666e15},      {"mttkrp-1", 4.968e15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_model *model;
        sx_model_workspace *evaluator;
        sx_catalog_model(cases[i].problem, "mind-mappings", &model, &evaluator);
        sx_score least = sx_model_algorithmic_minimum(model);
        double edp = least.energy_pj / 1e6 * least.cycles;
        if (fabs(edp / cases[i].edp - 1) > 5e-4) print_error("%s: %g\n", cases[i].problem, edp);
        assert_true(fabs(edp / cases[i].edp - 1) <= 5e-4);
        assert_true(least.utilization == 1);
        sx_model_workspace_free(evaluator);
        sx_model_free(model);
    }
}

/* O[2] += A[2,3] * B[3]: 6 MACs at 10 pJ on 2 units, A read at 2 + 5 pJ a word, B only at the outer level. */
static void algorithmic_and_compulsory_minimum_by_hand(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_model *model;
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 1, 2, 1);
    arch.compute.energy = 10;
    arch.level[0].read_energy = 2;
    arch.level[0].update_energy = 3;
    arch.level[0].n_bypasses = 1;
    memcpy(arch.level[0].bypasses[0], "B", 2);
    arch.level[1].read_energy = 20;
    arch.level[1].update_energy = 28;
    arch.level[1].block_size = 4;
    sx_expect_ok(sx_einsum_parse("O[m] += A[m,k]*B[k] {m:2,k:3}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_score least = sx_model_algorithmic_minimum(model);
    assert_true(least.cycles == 3);
    assert_true(least.energy_pj == 60 + 6 * (2 + 5) + 3 * 5 + 2 * (3 + 7));
    assert_true(least.last_level_accesses == 2 + 6 + 3);
    least = sx_model_minimum(model, 7);
    assert_true(least.cycles == 3 && least.utilization == 1);
    assert_true(least.energy_pj == 60 + (6 + 3) * 5 + 2 * 7);
    assert_true(least.last_level_accesses == 2 + 6 + 3);
    least = sx_model_minimum(model, (uint8_t)(1u << sx_problem_tensor(&problem, "O")));
    assert_true(least.energy_pj == 60 + 6 * 2 + 3 * 5 + 2 * 7);
    assert_true(least.last_level_accesses == 2);
    sx_model_free(model);
}

/* 4 + 3 - 1 input positions, read at 2 words a cycle from one instance: 3 cycles for 12 of 12 units; latency
 * on top, leakage for the time without it. */
/* A rank of one word counts no dimension. */
static void ranks_of_one_word_count_nothing(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_model *model;
    sx_plain_arch(&arch, 2);
    sx_expect_ok(sx_einsum_parse("O[m] += A[b,m] {m:5,b:1}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    assert_true(sx_model_algorithmic_minimum(model).last_level_accesses == 5 + 5);
    sx_model_free(model);
}

static void the_minimum_counts_windows_bandwidth_latency_and_leakage(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_model *model;
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 1, 12, 1);
    arch.level[0].leak_energy = 0.5;
    arch.level[1].read_energy = 1;
    arch.level[1].read_bandwidth = 3;
    arch.level[1].fill_latency = 7;
    sx_expect_ok(sx_einsum_parse("O[p] += I[p+r]*W[r] {p:4,r:3}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_score least = sx_model_minimum(model, 7);
    assert_true(least.cycles == 3 + 7);
    assert_true(least.energy_pj == 12 * arch.compute.energy + 0.5 * 3 + 6 + 3);
    assert_true(least.last_level_accesses == 4 + 6 + 3);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_algorithmic_minimum_is_that_of_mind_mappings),
        cmocka_unit_test(algorithmic_and_compulsory_minimum_by_hand),
        cmocka_unit_test(ranks_of_one_word_count_nothing),
        cmocka_unit_test(the_minimum_counts_windows_bandwidth_latency_and_leakage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
