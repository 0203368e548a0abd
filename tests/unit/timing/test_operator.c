/* Seconds of operators, by hand. */
#include "ir/timing.h"
#include "support/timed_arch.h"
#include "timing/operator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sx_arch arch;
static sx_timing timing;

/* The product of m x k and k x n in 16 bits. */
static sx_timed_operator product(double m, double n, double k) {
    return (sx_timed_operator){.kind = "gemm",
                               .repeat = 1,
                               .m = m,
                               .n = n,
                               .k = k,
                               .row_bits = 16,
                               .col_bits = 16,
                               .bytes = 2 * (m * k + n * k + m * n)};
}

static void expect_near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * fabs(expected)) fail_msg("%.12g, expected %.12g", value, expected);
}

/* Without units the time is that of the peaks, each by its efficiency, after the overhead. */
static void peaks_and_efficiencies(void **state) {
    (void)state;
    sx_expect_timed("timing: {overhead: 1e-6, efficiency: {compute: 0.5, HBM: 0.25}}\n", &arch, &timing);
    sx_timed_operator op = product(100, 100, 100);
    sx_operator_time t = sx_time_operator(&arch, &timing, &op);
    expect_near(t.compute, 1e6 / 400 * 1e-9 / 0.5);
    expect_near(t.level[1], 60000.0 / 100 * 1e-9 / 0.25);
    expect_near(t.seconds, 1e-6 + 5e-6);
    assert_int_equal(t.limit, SX_LIMIT_COMPUTE);
    op = product(1, 100, 100);
    t = sx_time_operator(&arch, &timing, &op);
    assert_int_equal(t.limit, SX_LIMIT_OVERHEAD);
    op = product(1, 1000, 1000);
    t = sx_time_operator(&arch, &timing, &op);
    assert_int_equal(t.limit, 1);
    assert_string_equal(sx_limit_name(&arch, t.limit), "HBM");
    assert_string_equal(sx_limit_name(&arch, SX_LIMIT_OVERHEAD), "overhead");
    assert_string_equal(sx_limit_name(&arch, SX_LIMIT_COMPUTE), "compute");
}

/* Tiles go over 4 units in waves: 5 tiles take as long as 8. */
static void waves_of_tiles(void **state) {
    (void)state;
    sx_expect_timed(
        "timing: {wave: 1e-6, units: 4, shared: L2, tiles: [10x10], efficiency: {HBM: 10, L2: 10}}\n", &arch,
        &timing);
    const double tile = 1e-6 + 10 * 10 * 64 / 100.0 * 1e-9;
    sx_timed_operator op = product(40, 10, 64);
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, tile);
    op = product(50, 10, 64);
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 2 * tile);
    op = product(80, 10, 64);
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 2 * tile);
}

/* One tile with a long reduction is split among the units, which pays once the parts are added faster than that. */
static void split_reductions(void **state) {
    (void)state;
    const char *text =
        "timing: {split: 1e-8, units: 4, shared: L2, tiles: [10x10], efficiency: {HBM: 10, L2: 10}}\n";
    sx_expect_timed(text, &arch, &timing);
    sx_timed_operator op = product(10, 10, 4096);
    const double whole = 100.0 * 4096 / 100 * 1e-9, sums = 4 * 100 * 8 / 4000.0 * 1e-9;
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, whole / 4 + 1e-8 + sums);
    timing.kind[0].split = 1;
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, whole);
}

/* The shared memory brings the operands of a tile, each by its width; narrow operands multiply faster. */
static void operands_of_tiles(void **state) {
    (void)state;
    sx_expect_timed("timing: {units: 4, shared: L2, tiles: [10x10], rates: {8: 2}, efficiency: {HBM: 10}}\n",
                    &arch, &timing);
    sx_timed_operator op = product(10, 10, 64);
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 64 * 1e-9);
    op.row_bits = op.col_bits = 8;
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 32 * 1e-9);
    op.col_bits = 4;
    op.row_bits = 16;
    arch.level[0].read_bandwidth = 20; /* 10 bytes per cycle and unit: 25 bytes take 2.5 cycles */
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 64 * 2.5 * 1e-9);
}

/* Parts that run at once join by the root of the sum of powers. */
static void overlap_of_parts(void **state) {
    (void)state;
    expect_near(sx_overlap(3, 4, 2), 5);
    expect_near(sx_overlap(3, 4, INFINITY), 4);
    expect_near(sx_overlap(3, 4, 1), 7);
    expect_near(sx_overlap(0, 4, 2), 4);
}

/* Rows longer than a unit holds are read again; few rows are as slow as one. */
static void rows_of_norms(void **state) {
    (void)state;
    sx_expect_timed(
        "timing: {units: 4, shared: L2, tiles: [1x1], operators: {layer-norm: {row: 100, element: 1e-9}}}\n",
        &arch, &timing);
    sx_timed_operator op = {
        .kind = "layer-norm", .blocks = 3200, .columns = 100, .bytes = 4000000, .again = 2000000};
    expect_near(sx_time_operator(&arch, &timing, &op).level[1], 4e-5);
    op.columns = 101;
    expect_near(sx_time_operator(&arch, &timing, &op).level[1], 6e-5);
    op.blocks = 1;
    op.bytes = op.again = 1;
    sx_operator_time t = sx_time_operator(&arch, &timing, &op);
    expect_near(t.seconds, 101e-9);
    assert_int_equal(t.limit, SX_LIMIT_VECTOR);
    op.kind = "softmax";
    assert_true(sx_time_operator(&arch, &timing, &op).seconds < 1e-8);
}

/* Short rows have a kernel of their own: 32 are in flight in a unit, and of longer ones 2, which are read three times unless
 * they are so long that another kernel holds them. */
static void short_rows(void **state) {
    (void)state;
    sx_expect_timed("timing: {units: 4, shared: L2, tiles: [1x1], operators: {softmax: {row: 100, held: 200, "
                    "element: 1e-9, warp: 1e-8}}}\n",
                    &arch, &timing);
    sx_timed_operator op = {
        .kind = "softmax", .blocks = 256, .columns = 100, .bytes = 4000000, .again = 2000000};
    static const double columns[] = {100, 101, 200, 201}, memory[] = {4e-5, 8e-5, 8e-5, 4e-5},
                        vector[] = {2 * 1e-6, 32 * 101e-9, 32 * 200e-9, 32 * 201e-9};
    for (size_t i = 0; i < 4; i++) {
        op.columns = columns[i];
        sx_operator_time t = sx_time_operator(&arch, &timing, &op);
        expect_near(t.level[1], memory[i]);
        expect_near(t.vector, vector[i]);
    }
}

/* Bandwidth falls where there are fewer tiles than units. */
static void few_tiles(void **state) {
    (void)state;
    sx_expect_timed("timing: {fill: 0.5, units: 4, shared: L2, tiles: [10x10]}\n", &arch, &timing);
    sx_timed_operator op = {.kind = "add", .blocks = 1, .bytes = 1000};
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 2e-8);
    op.blocks = 4;
    expect_near(sx_time_operator(&arch, &timing, &op).seconds, 1e-8);
}

/* Channels that are no multiple of 8 multiply slower. */
static void unaligned_channels(void **state) {
    (void)state;
    sx_expect_timed("timing: {operators: {conv: {unaligned: 0.1}}}\n", &arch, &timing);
    sx_timed_operator op = product(100, 100, 100);
    op.kind = "conv";
    expect_near(sx_time_operator(&arch, &timing, &op).compute, 2.5e-6);
    op.unaligned = true;
    expect_near(sx_time_operator(&arch, &timing, &op).compute, 2.5e-5);
    op.kind = "gemm";
    expect_near(sx_time_operator(&arch, &timing, &op).compute, 2.5e-6);
    arch.vector.lanes = (double)arch.compute.instances / 4;
    expect_near(sx_time_operator(&arch, &timing, &op).compute, 1e-5);
    arch.vector.lanes = 0;
}

/* Collectives by two numbers: an all-reduce moves everything twice. */
static void collectives(void **state) {
    (void)state;
    sx_expect_timed("timing: {link: {bandwidth: 1e9, latency: 1e-6}}\n", &arch, &timing);
    expect_near(sx_time_collective(&timing, "all-reduce", 2, 1000), 1e-6 + 1e-6);
    expect_near(sx_time_collective(&timing, "all-gather", 2, 1000), 1e-6 + 0.5e-6);
    expect_near(sx_time_collective(&timing, "all-reduce", 8, 1000), 2e-6 + 1.75e-6);
    assert_true(sx_time_collective(&timing, "all-reduce", 1, 1000) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_and_efficiencies),
        cmocka_unit_test(waves_of_tiles),
        cmocka_unit_test(split_reductions),
        cmocka_unit_test(operands_of_tiles),
        cmocka_unit_test(overlap_of_parts),
        cmocka_unit_test(rows_of_norms),
        cmocka_unit_test(short_rows),
        cmocka_unit_test(few_tiles),
        cmocka_unit_test(unaligned_channels),
        cmocka_unit_test(collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
