/* The public calls at their edges. */
#include "sextant/model.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_cost cost;
    sx_score score;
} fixture;

static void start(fixture *f, const char *einsum, const sx_model_options *options) {
    sx_plain_arch(&f->arch, 2);
    f->arch.compute.energy = 1;
    f->arch.level[1].read_energy = f->arch.level[1].update_energy = 10;
    sx_plain_problem(einsum, &f->arch, &f->problem, &f->mapping);
    sx_expect_ok(sx_model_new(&f->problem, &f->arch, options, &f->model));
    sx_expect_ok(sx_model_workspace_new(f->model, &f->evaluator));
}

static void finish(fixture *f) {
    sx_model_workspace_free(f->evaluator);
    sx_model_free(f->model);
}

static void illegal_mappings_leave_results_alone(void **state) {
    (void)state;
    fixture f;
    sx_cost untouched;
    sx_score none;
    sx_objective edp;
    start(&f, "O[m] += A[m,k]*B[k] {m:4,k:3}", NULL);
    sx_expect_ok(sx_objective_parse("edp", &edp));
    memset(&untouched, 0xa5, sizeof untouched);
    memset(&none, 0xa5, sizeof none);
    f.cost = untouched;
    f.score = none;
    assert_int_equal(sx_evaluate(f.evaluator, &f.mapping, &f.cost).reason, SX_FACTOR_PRODUCT);
    assert_int_equal(sx_evaluate_score(f.evaluator, &f.mapping, &f.score).reason, SX_FACTOR_PRODUCT);
    assert_int_equal(sx_evaluate_within(f.evaluator, &f.mapping, &edp, 1e9, &f.score).reason,
                     SX_FACTOR_PRODUCT);
    assert_int_equal(sx_check(f.model, &f.mapping).reason, SX_FACTOR_PRODUCT);
    assert_memory_equal(&f.cost, &untouched, sizeof untouched);
    assert_memory_equal(&f.score, &none, sizeof none);
    sx_mapping_init(&f.mapping, &f.problem, &f.arch);
    assert_int_equal(sx_evaluate_within(f.evaluator, &f.mapping, &edp, 1, &f.score).reason,
                     SX_BOUND_EXCEEDED);
    assert_memory_equal(&f.score, &none, sizeof none);
    finish(&f);
}

static void a_batch_scores_the_illegal_as_infinite(void **state) {
    (void)state;
    fixture f;
    start(&f, "O[m] += A[m,k]*B[k] {m:4,k:3}", NULL);
    sx_mapping mapping[4] = {f.mapping, f.mapping, f.mapping, f.mapping};
    sx_score score[4];
    sx_verdict verdict[4];
    sx_mapping_init(&mapping[1], &f.problem, &f.arch);
    mapping[2] = mapping[1];
    mapping[2].level[1].keep = 0;
    mapping[2].level[0].keep = 1;
    sx_evaluate_batch(f.evaluator, mapping, 4, score, verdict);
    assert_int_equal(verdict[0].reason, SX_FACTOR_PRODUCT);
    assert_int_equal(verdict[1].reason, SX_LEGAL);
    assert_int_equal(verdict[2].reason, SX_NOT_KEPT);
    assert_int_equal(verdict[2].tensor, 1);
    for (int i = 0; i < 4; i++) {
        if (i == 1) continue;
        assert_true(isinf(score[i].energy_pj) && isinf(score[i].cycles) && score[i].utilization == 0);
        assert_true(isinf(score[i].last_level_accesses));
    }
    assert_int_equal(sx_evaluate(f.evaluator, &mapping[1], &f.cost).reason, SX_LEGAL);
    f.score = sx_cost_score(&f.cost);
    assert_memory_equal(&score[1], &f.score, sizeof f.score);
    sx_evaluate_batch(f.evaluator, NULL, 0, NULL, NULL);
    finish(&f);
}

/* 12 MACs on one unit, all in the memory: A 12 words, B 12 as M is outside, O 4 times 3 updates. */
static void options_change_what_is_charged(void **state) {
    (void)state;
    fixture f;
    start(&f, "O[m] += A[m,k]*B[k] {m:4,k:3}", NULL);
    sx_mapping_init(&f.mapping, &f.problem, &f.arch);
    memcpy(f.mapping.level[1].temporal_order, (uint8_t[]){1, 0}, 2);
    assert_int_equal(sx_evaluate(f.evaluator, &f.mapping, &f.cost).reason, SX_LEGAL);
    assert_int_equal(f.cost.level[0].tensor[0].reads, 8);
    assert_int_equal(f.cost.level[1].tensor[0].updates, 4);
    assert_int_equal(f.cost.level[1].tensor[0].reads, 0);
    assert_true(f.cost.energy_pj == 12 + 10 * (4 + 12 + 12));
    finish(&f);
    start(&f, "O[m] += A[m,k]*B[k] {m:4,k:3}", &(sx_model_options){.no_first_read_elision = true});
    sx_mapping_init(&f.mapping, &f.problem, &f.arch);
    memcpy(f.mapping.level[1].temporal_order, (uint8_t[]){1, 0}, 2);
    assert_int_equal(sx_evaluate(f.evaluator, &f.mapping, &f.cost).reason, SX_LEGAL);
    assert_int_equal(f.cost.level[0].tensor[0].reads, 12);
    assert_int_equal(f.cost.level[1].tensor[0].reads, 4);
    finish(&f);
}

/* Two updates of a memory that is said to hold three words, the one between the strides too: as many reads as
 * updates less words would be -1. */
static void reads_under_a_stride_are_not_negative(void **state) {
    (void)state;
    fixture f;
    start(&f, "O[2*m] += A[m]*B[m] {m:2}", NULL);
    sx_mapping_init(&f.mapping, &f.problem, &f.arch);
    assert_int_equal(sx_evaluate(f.evaluator, &f.mapping, &f.cost).reason, SX_LEGAL);
    assert_int_equal(f.cost.level[1].tensor[0].updates, 2);
    assert_true(f.cost.level[1].tensor[0].partition == 3);
    assert_true(f.cost.level[1].tensor[0].reads == 0);
    finish(&f);
}

/* A tile of 2^32 words fetched 2^31 times over is more than can be counted. */
static void counts_beyond_all_bounds_are_refused(void **state) {
    (void)state;
    fixture f;
    start(&f, "O[p] += I[1048576*p+k]*W[k] {p:4096,k:2147483647}", NULL);
    f.mapping.level[0].temporal[0] = 4096;
    f.mapping.level[1].temporal[1] = 2147483647;
    f.mapping.level[0].no_temporal_reuse = 2;
    sx_verdict full = sx_evaluate(f.evaluator, &f.mapping, &f.cost);
    sx_verdict totals = sx_evaluate_score(f.evaluator, &f.mapping, &f.score);
    assert_int_equal(full.reason, SX_COUNT_OVERFLOW);
    assert_int_equal(totals.reason, SX_COUNT_OVERFLOW);
    finish(&f);
}

/* Some 2^62 fetches are spared as K does not move the tile: the count is small, so both calls count. */
static void counts_that_stay_small_are_not_refused(void **state) {
    (void)state;
    fixture f;
    start(&f, "O[p] += I[1048576*p]*W[k] {p:4096,k:2147483647}", NULL);
    f.mapping.level[0].temporal[0] = 4096;
    f.mapping.level[1].temporal[1] = 2147483647;
    sx_verdict full = sx_evaluate(f.evaluator, &f.mapping, &f.cost);
    sx_verdict totals = sx_evaluate_score(f.evaluator, &f.mapping, &f.score);
    assert_int_equal(full.reason, SX_LEGAL);
    assert_int_equal(totals.reason, SX_LEGAL);
    finish(&f);
}

/* Four children in a row, each with a window of A one word further: as R steps, three of them get their word from the
 * neighbour. L1 has no loops and hands on to L0 what it gets from either. P leaves a remainder. */
static void levels_without_loops_hand_on_words_of_links(void **state) {
    (void)state;
    fixture f;
    sx_plain_arch(&f.arch, 3);
    sx_plain_mesh(&f.arch, 2, 4, 1);
    for (int s = 0; s < 3; s++) f.arch.level[s].read_energy = 1 + s;
    sx_plain_problem("Z[p] += A[p+r]*B[r] {p:7,r:3}", &f.arch, &f.problem, &f.mapping);
    f.mapping.level[2].spatial[0] = 4;
    f.mapping.level[2].split = 2;
    f.mapping.level[2].temporal[0] = 2;
    f.mapping.level[2].temporal[1] = 3;
    memcpy(f.mapping.level[2].temporal_order, (uint8_t[]){1, 0}, 2);
    sx_expect_ok(sx_model_new(&f.problem, &f.arch, NULL, &f.model));
    sx_expect_ok(sx_model_workspace_new(f.model, &f.evaluator));
    assert_int_equal(sx_evaluate(f.evaluator, &f.mapping, &f.cost).reason, SX_LEGAL);
    assert_int_equal(sx_evaluate_score(f.evaluator, &f.mapping, &f.score).reason, SX_LEGAL);
    sx_score whole = sx_cost_score(&f.cost);
    assert_memory_equal(&f.score, &whole, sizeof whole);
    assert_int_equal(f.cost.level[2].tensor[1].reads, (4 + 1 + 1) + (3 + 1 + 1));
    finish(&f);
}

/* The whole cost of several densities is that of the largest, with the network's latency, whatever it weighs. */
static void whole_costs_are_of_the_largest_density(void **state) {
    (void)state;
    for (int only = 0; only < 2; only++) {
        fixture f;
        sx_model_options options = {0};
        static sx_cost whole;
        sx_plain_arch(&f.arch, 2);
        f.arch.compute.energy = 1;
        f.arch.level[1].read_energy = 10;
        f.arch.level[0].fill_latency = 5;
        f.arch.sparse.skips_compute = true;
        sx_plain_problem("O[m] += A[m,k]*B[k] {m:4,k:3}", &f.arch, &f.problem, &f.mapping);
        sx_mapping_init(&f.mapping, &f.problem, &f.arch);
        if (only)
            sx_expect_ok(sx_tensor_set_density(&f.problem.tensor[1], SX_DENSITY_HYPERGEOMETRIC, 0.75));
        else
            sx_expect_ok(sx_density_range_parse("A=0.25,0.75@3,4", &options.densities));
        sx_expect_ok(sx_model_new(&f.problem, &f.arch, &options, &f.model));
        sx_expect_ok(sx_model_workspace_new(f.model, &f.evaluator));
        assert_int_equal(sx_evaluate(f.evaluator, &f.mapping, &f.cost).reason, SX_LEGAL);
        if (only) {
            assert_int_equal(f.cost.cycles, 12 + 5);
            assert_true(whole.cycles == f.cost.cycles && whole.energy_pj == f.cost.energy_pj);
        }
        whole = f.cost;
        finish(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(illegal_mappings_leave_results_alone),
        cmocka_unit_test(a_batch_scores_the_illegal_as_infinite),
        cmocka_unit_test(options_change_what_is_charged),
        cmocka_unit_test(reads_under_a_stride_are_not_negative),
        cmocka_unit_test(counts_beyond_all_bounds_are_refused),
        cmocka_unit_test(counts_that_stay_small_are_not_refused),
        cmocka_unit_test(levels_without_loops_hand_on_words_of_links),
        cmocka_unit_test(whole_costs_are_of_the_largest_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
