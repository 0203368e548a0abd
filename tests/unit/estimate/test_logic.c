#include "estimate/component.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sx_estimate estimate(sx_component c, sx_estimator estimator) {
    sx_estimate e;
    sx_estimate_component(&c, estimator, &e);
    return e;
}

static void expect(double have, double want, double tolerance) {
    if (!(fabs(have / want - 1) <= tolerance)) fail_msg("%.9g, not %.9g", have, want);
}

/* Register files of public tables: a comparator for every entry; 0.4 scales from 64 words of 32 bits. */
static void regfiles(void **state) {
    (void)state;
    sx_component c = {.kind = SX_COMPONENT_REGFILE, .node = 45, .width = 16, .depth = 12, .generates = true};
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read, 0.23632, 1e-4);
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).area, 379.68, 1e-5);
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.320819, 1e-3);
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).write, 0.281797, 1e-3);
    c = (sx_component){.kind = SX_COMPONENT_REGFILE, .node = 40, .width = 8, .depth = 64, .primitive = true};
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.42564, 1e-4);
    c.node = 32;
    c.primitive = false;
    c.generates = c.neurosim = true;
    c.width = c.depth = 16;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.2513, 5e-3);
    c.depth = 0;
    assert_true(estimate(c, SX_ESTIMATOR_ACCELERGY_03).write == 0.0488);
}

/* Multiply-accumulates of public tables, by the cycle, and the defined ones of 0.4. */
static void macs(void **state) {
    (void)state;
    sx_component c = {.kind = SX_COMPONENT_MAC, .node = 45, .width = 8, .cycle_seconds = 5e-9};
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read, 0.561, 1e-3);
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).area, 332.25, 1e-5);
    c.cycle_seconds = 1e-9;
    c.width = 16;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read, 3.275, 1e-5);
    c.multiplier_width = 8;
    c.adder_width = 16;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.8975, 1e-5);
    c.node = 32;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.8975 * 0.65934, 1e-4);
    c = (sx_component){.kind = SX_COMPONENT_MAC, .node = 45, .floating = true, .cycle_seconds = 5e-9};
    c.mantissa = 24;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read, 32.328, 1e-5);
}

/* Horowitz's operators by width and format, in parts and together. */
static void published(void **state) {
    (void)state;
    static const struct {
        double width, mantissa, multiply, add;
    } known[] = {
        {8, 0, 0.2, 0.03}, {32, 0, 3.1, 0.1}, {16, 11, 1.1, 0.4}, {32, 24, 3.7, 0.9}, {16, 8, 0.68, 0.28}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sx_component c = {.node = 45, .width = known[i].width, .mantissa = known[i].mantissa};
        c.floating = c.mantissa > 0;
        c.kind = SX_COMPONENT_MULTIPLIER;
        expect(estimate(c, SX_ESTIMATOR_PUBLISHED).read, known[i].multiply, 0.03);
        c.kind = SX_COMPONENT_ADDER;
        expect(estimate(c, SX_ESTIMATOR_PUBLISHED).read, known[i].add, 0.04);
        double add = estimate(c, SX_ESTIMATOR_PUBLISHED).read;
        c.kind = SX_COMPONENT_MULTIPLIER;
        double multiply = estimate(c, SX_ESTIMATOR_PUBLISHED).read;
        c.kind = SX_COMPONENT_MAC;
        expect(estimate(c, SX_ESTIMATOR_PUBLISHED).read, multiply + add, 1e-5);
        double at_45 = estimate(c, SX_ESTIMATOR_PUBLISHED).read;
        c.node = 90;
        expect(estimate(c, SX_ESTIMATOR_PUBLISHED).read, at_45 * pow(2, 0.57), 1e-5);
    }
}

/* Ratios of nodes: those of the table, and in between. */
static void scales(void **state) {
    (void)state;
    expect(sx_logic_scale(45), 1, 1e-12);
    expect(sx_logic_scale(7), 0.094, 1e-12);
    expect(sx_logic_scale(65), 1.24, 1e-12);
    expect(sx_logic_scale(5), 0.094 * sqrt(5 / 7.0), 1e-12);
    for (double node = 4; node < 120; node++) assert_true(sx_logic_scale(node) < sx_logic_scale(node + 1));
}

/* Wires by bit and millimetre, and a hop through a router, in proportion to the width. */
static void wires(void **state) {
    (void)state;
    sx_component c = {.kind = SX_COMPONENT_WIRE, .node = 45, .width = 1};
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.325, 1e-5);
    c.node = 180;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 0.325 * pow(4, 0.2197), 1e-3);
    c.kind = SX_COMPONENT_ROUTER;
    double one = estimate(c, SX_ESTIMATOR_ACCELERGY_04).read;
    c.width = 64;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).read, 64 * one, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regfiles), cmocka_unit_test(macs),  cmocka_unit_test(published),
        cmocka_unit_test(scales),   cmocka_unit_test(wires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
