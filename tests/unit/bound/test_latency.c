/* The bound of latency over tiles of any extents: no mapping is below it, and the best one reaches it. */
#include "bound/latency.h"
#include "sextant/model.h"
#include "support/expect.h"
#include "support/read_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char arch_text[] = "arch:\n  arithmetic: {name: MAC, instances: 1, word-bits: 8}\n  storage:\n"
                                "  - {name: L1, instances: 1, entries: 60, word-bits: 8}\n"
                                "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, latency: "
                                "{slots: 2, exposed: 0.2, launch: 9,\n"
                                "     start: 30, tail: true, refetch: true, load_bus: 0.5, load_request: 4, "
                                "store_request: 3, store_time: 7}}\n";

/* The latency of the mapping that launches a tile, which may leave remainders; INFINITY where it does not fit. */
static double latency_of(sx_model_workspace *evaluator, const sx_problem *problem, const sx_arch *arch,
                         const uint32_t *tile) {
    sx_mapping mapping;
    sx_score score;
    sx_mapping_init(&mapping, problem, arch);
    for (int d = 0; d < problem->n_dims; d++) {
        mapping.level[0].temporal[d] = tile[d];
        mapping.level[1].temporal[d] = (problem->size[d] + tile[d] - 1) / tile[d];
    }
    return sx_evaluate_score(evaluator, &mapping, &score).reason == SX_LEGAL ? score.latency : INFINITY;
}

static void test_any_tile(void **state) {
    static sx_arch arch;
    sx_problem problem;
    sx_model *model;
    sx_model_workspace *evaluator;
    const sx_model_options options = {.latency_tile = true};
    const uint8_t must[SX_MAX_LEVELS] = {7, 7};
    uint32_t most[SX_MAX_LEVELS][SX_MAX_DIMS], tile[SX_MAX_DIMS] = {0};
    double least = INFINITY, dividing = INFINITY;
    (void)state;
    sx_read_arch(arch_text, &arch);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:11,n:13,k:7}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, &options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) most[s][d] = 100;
    const double bound = sx_latency_bound_any(model, must, (const uint32_t(*)[SX_MAX_DIMS])most);
    for (tile[0] = 1; tile[0] <= 11; tile[0]++)
        for (tile[1] = 1; tile[1] <= 13; tile[1]++)
            for (tile[2] = 1; tile[2] <= 7; tile[2]++) {
                const double latency = latency_of(evaluator, &problem, &arch, tile);
                least = fmin(least, latency);
                if (11 % tile[0] == 0 && 13 % tile[1] == 0 && 7 % tile[2] == 0)
                    dividing = fmin(dividing, latency);
            }
    assert_true(least < dividing);
    assert_true(bound <= least && bound >= least * (1 - 1e-9));
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_tile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
