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
    assert_true(e.low > 0 && e.low <= 1 && e.high >= 1 && e.source[0]);
    return e;
}

static void expect(double have, double want, double tolerance) {
    if (!(fabs(have / want - 1) <= tolerance)) fail_msg("%.9g, not %.9g", have, want);
}

static sx_component sram(double node, double width, double depth) {
    return (sx_component){.kind = SX_COMPONENT_SRAM, .node = node, .width = width, .depth = depth};
}

/* Energies of public tables of Accelergy 0.4: a memory as it is, a narrow one, one with an address generator. */
static void accelergy_04(void **state) {
    (void)state;
    sx_component c = sram(45, 128, 512);
    c.banks = 2;
    sx_estimate e = estimate(c, SX_ESTIMATOR_ACCELERGY_04);
    expect(e.read, 9.65335, 1e-5);
    expect(e.write, 12.6203, 1e-5);
    expect(e.update, e.write, 0);
    c = sram(45, 16, 192);
    c.generates = true;
    e = estimate(c, SX_ESTIMATOR_ACCELERGY_04);
    expect(e.read, 0.680237, 1e-3);
    expect(e.write, 1.582678, 1e-3);
    c = sram(45, 64, 16384);
    c.generates = true;
    c.banks = 32;
    e = estimate(c, SX_ESTIMATOR_ACCELERGY_04);
    expect(e.read, 32.378, 1e-5);
    assert_non_null(strstr(e.rule, "n_banks is not passed on"));
}

/* Small memories are scaled from 64 words of 32 bits: energies and areas by their own powers. */
static void small_memories(void **state) {
    (void)state;
    sx_estimate whole = estimate(sram(45, 32, 64), SX_ESTIMATOR_ACCELERGY_04);
    sx_estimate part = estimate(sram(45, 8, 16), SX_ESTIMATOR_ACCELERGY_04);
    expect(part.read, whole.read * (0.7 * 8 / 32 + 0.3) * pow(16 / 64.0, 0.78), 1e-5);
    expect(part.area, whole.area * 8 / 32 * 16 / 64, 1e-5);
    expect(part.leak, whole.leak * 8 / 32 * 16 / 64, 1e-5);
    assert_non_null(strstr(part.rule, "scaled from 64 x 32"));
}

/* Leakage: that of a bank, as often as banks were asked for, over a cycle. */
static void leakage(void **state) {
    (void)state;
    sx_component c = sram(45, 128, 512);
    c.cycle_seconds = 1e-9;
    double slow, fast = estimate(c, SX_ESTIMATOR_ACCELERGY_04).leak;
    c.cycle_seconds = 4e-9;
    slow = estimate(c, SX_ESTIMATOR_ACCELERGY_04).leak;
    expect(slow, 4 * fast, 1e-5);
    c.banks = 2;
    c.cycle_seconds = 1e-9;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).leak, 0.000271, 2e-3);
}

/* Nodes between CACTI's by lines, beyond them by powers; the band says how far that is to be trusted. */
static void nodes(void **state) {
    (void)state;
    const sx_estimator rules = SX_ESTIMATOR_ACCELERGY_04;
    sx_estimate at_45 = estimate(sram(45, 64, 1024), rules), at_65 = estimate(sram(65, 64, 1024), rules);
    expect(estimate(sram(55, 64, 1024), rules).read, (at_45.read + at_65.read) / 2, 1e-5);
    sx_estimate at_22 = estimate(sram(22, 64, 1024), rules), at_7 = estimate(sram(7, 64, 1024), rules);
    expect(at_7.read, at_22.read * sqrt(7 / 22.0), 1e-5);
    expect(at_7.area, at_22.area * 7 / 22, 1e-5);
    expect(at_7.leak, at_22.leak * 0.79 * sqrt(7 / 22.0), 1e-5);
    assert_true(at_7.high > 2.5 && at_22.high < 1.4);
    sx_estimate at_90 = estimate(sram(90, 64, 1024), rules), at_180 = estimate(sram(180, 64, 1024), rules);
    expect(at_180.write, at_90.write * 4, 1e-5);
    expect(at_180.leak, at_90.leak * 4, 1e-5);
    expect(estimate(sram(7, 64, 1024), SX_ESTIMATOR_PUBLISHED).read, at_22.read * pow(7 / 22.0, 0.57), 1e-5);
}

/* The band of a memory is wider the further its figures are from a run of CACTI. */
static void bands(void **state) {
    (void)state;
    static const struct {
        double width, depth, band, banks;
    } cases[] = {{64, 1024, 1.01, 1},
                 {64, 70000, 1.07, 1},
                 {100, 777, 1.1, 1},
                 {64, 65536, 1.2, 16},
                 {2048, 1 << 20, 1.5, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_component c = sram(45, cases[i].width, cases[i].depth);
        c.banks = cases[i].banks;
        sx_estimate e = estimate(c, SX_ESTIMATOR_PUBLISHED);
        expect(e.high, 1.3 * cases[i].band, 1e-9);
        expect(e.low, 1 / (1.3 * cases[i].band), 1e-9);
    }
}

/* Accelergy 0.3: banks to a power of two, all ports, an adder that is the same for every size. */
static void accelergy_03(void **state) {
    (void)state;
    sx_component c = sram(45, 64, 13824);
    c.generates = true;
    c.banks = 27;
    c.ports = 2;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read, 69.377, 1e-5);
    c = sram(45, 64, 16);
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read,
           estimate(sram(45, 64, 64), SX_ESTIMATOR_ACCELERGY_03).read, 0);
    c.generates = true;
    expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read,
           0.0488 + estimate(sram(45, 64, 64), SX_ESTIMATOR_ACCELERGY_03).read, 1e-5);
}

/* DRAM by bit and kind; of a kind without a public figure the band says it. */
static void dram(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        double bit;
    } known[] = {{"", 8},       {"LPDDR4", 8}, {"lpddr", 40}, {"DDR3", 70},
                 {"GDDR5", 14}, {"HBM2", 3.9}, {"HMC", 4.2}};
    sx_component c = {.kind = SX_COMPONENT_DRAM, .width = 64};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        strcpy(c.dram, known[i].kind);
        expect(estimate(c, SX_ESTIMATOR_ACCELERGY_03).read, 64 * known[i].bit, 1e-5);
        expect(estimate(c, SX_ESTIMATOR_ACCELERGY_04).write, 64 * known[i].bit, 1e-5);
    }
    strcpy(c.dram, "HBM2");
    expect(estimate(c, SX_ESTIMATOR_PUBLISHED).read, 64 * 6.25, 1e-5);
    strcpy(c.dram, "DDR4");
    sx_estimate e = estimate(c, SX_ESTIMATOR_ACCELERGY_04);
    assert_true(e.high > 8);
    assert_non_null(strstr(e.rule, "no public figure of DDR4"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelergy_04), cmocka_unit_test(small_memories), cmocka_unit_test(leakage),
        cmocka_unit_test(bands),        cmocka_unit_test(nodes),          cmocka_unit_test(accelergy_03),
        cmocka_unit_test(dram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
