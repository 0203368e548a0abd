/* Sparse optimizations of files: which semantics they ask for, and what ineffectual computes cost. */
#include "support/expect.h"
#include "support/read_text.h"

#include "sextant/all.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARCH                                                                                                 \
    "arch:\n"                                                                                                \
    "  arithmetic: {name: MAC, instances: 1, word-bits: 16}\n"                                               \
    "  storage:\n"                                                                                           \
    "  - {name: D, technology: DRAM, instances: 1}\n"
#define GATING "  targets:\n  - {name: MAC, compute_optimization: [{type: gating}]}\n"
#define PRODUCT "Z[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4} {A:0.5}"

static void files_ask_for_a_semantics(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool timeloop;
    } cases[] = {
        {ARCH, false},
        {ARCH "sparse_optimizations:\n" GATING, true},
        {ARCH "sparse_optimizations:\n  semantics: timeloop\n" GATING, true},
        {ARCH "sparse_optimizations:\n  semantics: exact\n" GATING, false},
        {ARCH "sparse_optimizations: [{name: MAC, compute_optimization: [{type: gating}]}]\n", true},
    };
    static sx_arch arch, again;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        sx_read_arch(cases[i].text, &arch);
        assert_int_equal(arch.sparse.timeloop, cases[i].timeloop);
        sx_expect_ok(sx_arch_write(&arch, SX_YAML, &text));
        sx_read_arch(text, &again);
        assert_int_equal(again.sparse.timeloop, cases[i].timeloop);
        free(text);
    }
    sx_expect_ok(sx_catalog_arch("accel-b-sparse", &arch));
    assert_true(sx_sparse_active(&arch.sparse) && !arch.sparse.timeloop);
}

/* Timeloop has no rules for three operands, nor for known places of non-zeros. */
static void problems_that_timeloop_cannot_count_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        bool timeloop;
    } cases[] = {
        {PRODUCT, true},
        {"Z[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4} {A:banded:1}", false},
        {"Z[m,n] += A[m,k]*B[k,n]*C[m,k] {m:4,n:4,k:4} {A:0.5}", false},
    };
    static sx_arch given, exact;
    sx_read_arch(ARCH "sparse_optimizations:\n" GATING, &given);
    exact = given;
    exact.sparse.timeloop = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_problem problem;
        sx_expect_ok(sx_einsum_parse(cases[i].einsum, &problem));
        assert_int_equal(sx_model_prefers_timeloop(&problem, &given), cases[i].timeloop);
        assert_false(sx_model_prefers_timeloop(&problem, &exact));
    }
}

/* The energy of the computes of a product of which half are gated, on one unit. */
static double compute_energy(const char *arch_text, bool timeloop) {
    static sx_arch arch;
    sx_problem problem;
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_cost *cost = calloc(1, sizeof *cost);
    const sx_model_options options = {.sparse_timeloop = timeloop};
    assert_non_null(cost);
    sx_read_arch(arch_text, &arch);
    sx_expect_ok(sx_einsum_parse(PRODUCT, &problem));
    sx_mapping mapping;
    sx_mapping_init(&mapping, &problem, &arch);
    for (int d = 0; d < problem.n_dims; d++) mapping.level[0].temporal[d] = problem.size[d];
    sx_expect_ok(sx_model_new(&problem, &arch, &options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    assert_int_equal(sx_evaluate(evaluator, &mapping, cost).reason, SX_LEGAL);
    assert_true(cost->computes == 32 && cost->gated_computes == 32);
    double energy = cost->compute_energy_pj;
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    free(cost);
    return energy;
}

static void computes_without_an_energy_cost_nothing_by_timeloop(void **state) {
    (void)state;
#define ERT(actions)                                                                                         \
    "ERT: {version: 0.4, tables: [{name: D, actions: [{name: read, energy: 1}]},\n"                          \
    "  {name: MAC, actions: [" actions "]}]}\n"
    const char *plain = ARCH "sparse_optimizations:\n" GATING;
    const char *listed = ARCH ERT("{name: mac, energy: 3}") "sparse_optimizations:\n" GATING;
    const char *gated =
        ARCH ERT("{name: mac, energy: 3}, {name: mac_gated, energy: 2}") "sparse_optimizations:\n" GATING;
    assert_true(compute_energy(plain, true) == 32 && compute_energy(plain, false) == 64);
    assert_true(compute_energy(listed, true) == 192 && compute_energy(listed, false) == 192);
    assert_true(compute_energy(gated, true) == 160 && compute_energy(gated, false) == 160);
}

/* A level of one rank per dimension and tile may need more than 16 of them. */
static void many_ranks_are_read(void **state) {
    (void)state;
    static sx_arch arch;
    for (int n = 31; n <= 33; n++) {
        char text[4096];
        int size =
            snprintf(text, sizeof text,
                     ARCH "sparse_optimizations:\n  targets:\n  - name: D\n    representation_format:\n"
                          "      data_spaces:\n      - name: A\n        ranks:\n");
        for (int i = 0; i < n; i++)
            size += snprintf(text + size, sizeof text - (size_t)size, "        - {format: UOP}\n");
        if (n <= SX_MAX_FORMAT_RANKS) {
            sx_read_arch(text, &arch);
            assert_int_equal(arch.sparse.format[0].n_ranks, n);
            continue;
        }
        const sx_refused one = {text, "12:9", "a format has 33 ranks; 1 to 32 are allowed", NULL};
        sx_assert_archs_refused(&one, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_ask_for_a_semantics),
        cmocka_unit_test(problems_that_timeloop_cannot_count_are_exact),
        cmocka_unit_test(computes_without_an_energy_cost_nothing_by_timeloop),
        cmocka_unit_test(many_ranks_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
