#include "estimate/cacti.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sx_cacti_fit find(double node, double width, double depth, uint32_t banks, uint32_t ports,
                         sx_sram_figures *out) {
    return sx_cacti_find(&(sx_sram_shape){node, width, depth, banks, ports}, out);
}

static void expect(double have, double want, double tolerance) {
    if (!(fabs(have / want - 1) <= tolerance)) fail_msg("%.9g, not %.9g", have, want);
}

/* Rows are in order, and those of runs have every figure. */
static void the_table(void **state) {
    (void)state;
    size_t published = 0;
    assert_true(sx_n_cacti_rows > 4000);
    for (size_t i = 0; i < sx_n_cacti_rows; i++) {
        const sx_cacti_row *row = &sx_cacti_rows[i];
        assert_true(row->value[SX_SRAM_READ] > 0 && row->value[SX_SRAM_WRITE] > 0);
        published += row->value[SX_SRAM_LEAK] == 0;
        assert_true(!published || row->value[SX_SRAM_LEAK] == 0);
        if (row->same) assert_true(row->depth > row[-1].depth && row->width == row[-1].width);
    }
    assert_true(published > 5 && published < 30);
}

/* A run of the table is found as it is. */
static void a_run(void **state) {
    (void)state;
    sx_sram_figures f;
    assert_int_equal(find(45, 64, 16384, 1, 1, &f), SX_CACTI_CURVE);
    expect(f.value[SX_SRAM_READ], 32.286, 1e-4);
    assert_int_equal(find(22, 32, 64, 1, 1, &f), SX_CACTI_CURVE);
    expect(f.value[SX_SRAM_WRITE], 0.23944, 1e-9);
    expect(f.value[SX_SRAM_ACCESS], 0.348264, 1e-9);
}

/* Within an organisation figures are linear in the depth. */
static void between_runs(void **state) {
    (void)state;
    size_t compared = 0;
    for (size_t i = 1; i < sx_n_cacti_rows && compared < 50; i++) {
        const sx_cacti_row *b = &sx_cacti_rows[i], *a = b - 1;
        sx_sram_figures f;
        if (!b->same || (b->depth - a->depth) % 2 || b->depth < a->depth + 8) continue;
        assert_int_equal(find(a->node, a->width, (a->depth + b->depth) / 2.0, a->banks, a->ports, &f),
                         SX_CACTI_CURVE);
        for (int k = 0; k < SX_N_SRAM_FIGURES; k++)
            expect(f.value[k], (a->value[k] + b->value[k]) / 2, 1e-12);
        compared++;
    }
    assert_true(compared == 50);
}

/* Between two widths the logarithms are linear, beyond the table the last slope holds and the fit says so. */
static void between_widths(void **state) {
    (void)state;
    sx_sram_figures low, high, f;
    find(65, 64, 1024, 1, 1, &low);
    find(65, 128, 1024, 1, 1, &high);
    assert_int_equal(find(65, 64 * sqrt(2), 1024, 1, 1, &f), SX_CACTI_WIDTHS);
    for (int k = 0; k < SX_N_SRAM_FIGURES; k++) expect(f.value[k], sqrt(low.value[k] * high.value[k]), 1e-12);
    assert_int_equal(find(65, 2048, 1024, 1, 1, &f), SX_CACTI_BEYOND);
    assert_int_equal(find(65, 64, 1e9, 1, 1, &f), SX_CACTI_BEYOND);
}

/* Banks: the run of the table where there is one; elsewhere near what runs around it give. */
static void banks_and_ports(void **state) {
    (void)state;
    sx_sram_figures one, f;
    assert_int_equal(find(45, 64, 1024, 2, 1, &f), SX_CACTI_CURVE);
    assert_int_equal(find(45, 64, 16384, 32, 2, &f), SX_CACTI_CURVE);
    expect(f.value[SX_SRAM_READ], 74.0952, 1e-9);
    assert_true(f.value[SX_SRAM_LEAK] > 0);
    find(32, 96, 3000, 1, 1, &one);
    assert_int_equal(find(32, 96, 3000, 4, 2, &f), SX_CACTI_BANKS);
    assert_true(f.value[SX_SRAM_AREA] > 1.5 * one.value[SX_SRAM_AREA]);
    assert_true(f.value[SX_SRAM_READ] > one.value[SX_SRAM_READ] / 2);
    assert_true(f.value[SX_SRAM_READ] < one.value[SX_SRAM_READ] * 4);
}

/* Powers of two alone: monotone in depth and width, the runs themselves at powers of two. */
static void smooth(void **state) {
    (void)state;
    for (int n = 0; n < SX_N_CACTI_NODES; n++)
        for (double width = 32; width < 512; width *= 1.19) {
            sx_sram_figures before = {{0}}, f;
            for (double depth = 64; depth < 1 << 17; depth *= 1.23) {
                sx_cacti_smooth(sx_cacti_nodes[n], width, depth, &f);
                for (int k = 0; k < SX_SRAM_ACCESS; k++) assert_true(f.value[k] > before.value[k]);
                before = f;
            }
        }
    sx_sram_figures run, f;
    find(45, 128, 4096, 1, 1, &run);
    sx_cacti_smooth(45, 128, 4096, &f);
    expect(f.value[SX_SRAM_AREA], run.value[SX_SRAM_AREA], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table),      cmocka_unit_test(a_run),           cmocka_unit_test(between_runs),
        cmocka_unit_test(between_widths), cmocka_unit_test(banks_and_ports), cmocka_unit_test(smooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
