/* The latency of the tile pipeline against what the law's reference gives for 108 mappings that ran on Gemmini: stages and
 * cycles, with caches and without. See tests/golden/README.md. */
#include "calibrate/measured.h"
#include "model/latency.h"
#include "sextant/input.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER SX_TEST_DATA "/golden/gemmini/"

/* Reads an architecture of the folder. */
static sx_arch *read_arch(const char *path) {
    sx_input *input;
    sx_arch *arch = malloc(sizeof *arch);
    assert_non_null(arch);
    assert_null(sx_input_new(&input));
    assert_null(sx_input_add_file(input, path));
    assert_null(sx_input_arch(input, arch));
    sx_input_free(input);
    return arch;
}

static void expect_near(const char *what, int line, double have, double want) {
    if (fabs(have - want) <= 1e-6 * fmax(1, want * 1e-6)) return;
    fail_msg("vectors.csv:%d: %s is %.9f, not %.9f", line, what, have, want);
}

/* The number in a column of the line at hand. */
static double number(const sx_csv *csv, const char *column) {
    double value;
    int c = sx_csv_column(csv, &column, 1);
    assert_true(c >= 0);
    assert_null(sx_csv_number(csv, c, &value));
    return value;
}

/* Compares one row, whose load, store, cycles and compute (unless NULL) stand in these columns. */
static void compare_row(const sx_csv *csv, const sx_measured *row, const sx_arch *arch,
                        const char *const *column) {
    static const sx_model_options options = {.latency_tile = true};
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_cost *cost = malloc(sizeof *cost);
    sx_score score;
    assert_non_null(cost);
    assert_null(sx_model_new(&row->problem, arch, &options, &model));
    assert_null(sx_model_workspace_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate(evaluator, &row->mapping, cost);
    assert_int_equal(verdict.reason, SX_LEGAL);
    assert_int_equal(cost->n_boundaries, 1);
    const sx_cost_boundary *b = &cost->boundary[0];
    expect_near("launches", row->line, b->launches, number(csv, "launches"));
    expect_near("load", row->line, b->load, number(csv, column[0]));
    if (column[3]) expect_near("compute", row->line, b->compute, number(csv, column[3]));
    expect_near("store", row->line, b->store, number(csv, column[1]));
    expect_near("latency", row->line, cost->latency, number(csv, column[2]));
    double longest = fmax(b->load, fmax(b->compute, b->store));
    expect_near("the sum of the parts", row->line,
                b->start + b->first + b->launches * longest + b->exposed + b->drain, cost->latency);
    assert_int_equal(sx_evaluate_score(evaluator, &row->mapping, &score).reason, SX_LEGAL);
    assert_true(score.latency == cost->latency);
    assert_true(score.cycles == (double)cost->cycles);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    free(cost);
}

static void compare_rows(const char *arch_path, const char *const *column) {
    sx_arch *arch = read_arch(arch_path);
    sx_measurements m;
    sx_csv csv;
    bool more;
    assert_null(sx_measurements_read(FOLDER "vectors.csv", arch, NULL, NULL, &m));
    assert_null(sx_csv_open(FOLDER "vectors.csv", &csv));
    assert_int_equal(m.n, 108);
    assert_int_equal(m.n_rejected, 0);
    assert_int_equal(m.n_layers, 35);
    for (size_t i = 0; i < m.n; i++) {
        assert_null(sx_csv_next(&csv, &more));
        assert_true(more);
        compare_row(&csv, &m.row[i], arch, column);
    }
    sx_csv_fini(&csv);
    sx_measurements_free(&m);
    free(arch);
}

static void test_with_caches(void **state) {
    (void)state;
    compare_rows(FOLDER "full.yaml", (const char *const[]){"load", "store", "cycles", "compute"});
}

static void test_plain(void **state) {
    (void)state;
    compare_rows(FOLDER "plain.yaml",
                 (const char *const[]){"plain_load", "plain_store", "plain_cycles", NULL});
}

/* With sizes of one slot, as they were measured, 32 of the mappings fit half of them. */
static void test_slots(void **state) {
    static const sx_model_options tile = {.latency_tile = true}, other = {.latency_tile = false};
    static const char *const memory[] = {"accumulator_entries", "scratchpad_entries"};
    sx_arch *arch = read_arch(FOLDER "full.yaml");
    sx_measurements m;
    sx_csv csv;
    bool more;
    int fit = 0;
    (void)state;
    assert_null(sx_measurements_read(FOLDER "measured.csv", arch, NULL, NULL, &m));
    assert_null(sx_csv_open(FOLDER "measured.csv", &csv));
    for (size_t i = 0; i < m.n; i++) {
        sx_model *model;
        assert_null(sx_csv_next(&csv, &more));
        for (int k = 0; k < 2; k++) arch->level[1 + k].entries = (uint64_t)number(&csv, memory[k]);
        assert_null(sx_model_new(&m.row[i].problem, arch, &other, &model));
        assert_int_equal(sx_check(model, &m.row[i].mapping).reason, SX_LEGAL);
        sx_model_free(model);
        assert_null(sx_model_new(&m.row[i].problem, arch, &tile, &model));
        fit += sx_check(model, &m.row[i].mapping).reason == SX_LEGAL;
        sx_model_free(model);
    }
    assert_int_equal(fit, 32);
    sx_csv_fini(&csv);
    sx_measurements_free(&m);
    free(arch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_caches),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
