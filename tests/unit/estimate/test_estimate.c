#include "estimate/component.h"
#include "ir/arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Names both ways; another one is an error that lists them. */
static void names(void **state) {
    (void)state;
    static const char *const known[] = {"timeloop", "accelergy-0.4", "accelergy-0.3", "published"};
    for (size_t i = 0; i < 4; i++) {
        sx_estimator estimator;
        assert_null(sx_estimator_find(known[i], &estimator));
        assert_string_equal(sx_estimator_name(estimator), known[i]);
    }
    sx_estimator estimator = SX_ESTIMATOR_TIMELOOP;
    sx_status error = sx_estimator_find("preset", &estimator);
    assert_non_null(error);
    assert_non_null(strstr(error->hint, "accelergy-0.3"));
    assert_int_equal(estimator, SX_ESTIMATOR_TIMELOOP);
    sx_status_free(error);
}

/* Classes of Accelergy's files. */
static void classes(void **state) {
    (void)state;
    static const struct {
        const char *class;
        sx_component_kind kind;
        bool new_generates, old_generates;
    } known[] = {
        {"SRAM", SX_COMPONENT_SRAM, false, false},
        {"smartbuffer_SRAM", SX_COMPONENT_SRAM, true, true},
        {"smartbuffer_RF", SX_COMPONENT_REGFILE, true, true},
        {"smartbuffer", SX_COMPONENT_SRAM, true, false},
        {"storage", SX_COMPONENT_SRAM, true, false},
        {"regfile", SX_COMPONENT_REGFILE, false, false},
        {"DRAM", SX_COMPONENT_DRAM, false, false},
        {"intmac", SX_COMPONENT_MAC, false, false},
        {"intadder", SX_COMPONENT_ADDER, false, false},
        {"intmultiplier", SX_COMPONENT_MULTIPLIER, false, false},
        {"wire", SX_COMPONENT_WIRE, false, false},
        {"XY_NoC", SX_COMPONENT_ROUTER, false, false},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sx_component c = {.kind = SX_N_COMPONENT_KINDS};
        assert_true(sx_component_classify(known[i].class, SX_ESTIMATOR_ACCELERGY_04, &c));
        assert_int_equal(c.kind, known[i].kind);
        assert_int_equal(c.generates, known[i].new_generates);
        sx_component_classify(known[i].class, SX_ESTIMATOR_ACCELERGY_03, &c);
        assert_int_equal(c.generates, known[i].old_generates);
    }
    sx_component c = {0};
    assert_false(sx_component_classify("crossbar", SX_ESTIMATOR_ACCELERGY_04, &c));
    assert_true(sx_component_classify("fpmac", SX_ESTIMATOR_ACCELERGY_04, &c));
    assert_true(c.floating);
}

/* Timeloop's formulas to the bit, whatever node and kind are. */
static void timeloop(void **state) {
    (void)state;
    sx_estimate e;
    sx_component c = {.kind = SX_COMPONENT_SRAM, .node = 7, .width = 48, .depth = 17};
    sx_estimate_component(&c, SX_ESTIMATOR_TIMELOOP, &e);
    assert_true(e.read == sx_pat_sram(48.0 * 17 / 8192, 48) && e.update == e.read && e.leak < 0);
    c.kind = SX_COMPONENT_DRAM;
    sx_estimate_component(&c, SX_ESTIMATOR_TIMELOOP, &e);
    assert_true(e.write == sx_pat_dram(48));
    c.kind = SX_COMPONENT_MAC;
    sx_estimate_component(&c, SX_ESTIMATOR_TIMELOOP, &e);
    assert_true(e.read == sx_pat_mac(48));
}

/* The preset goes by the node; six digits; a rule stays within its room. */
static void presets(void **state) {
    (void)state;
    sx_estimate a, b;
    sx_component c = {.kind = SX_COMPONENT_SRAM, .width = 64, .depth = 1000};
    sx_estimate_component(&c, SX_ESTIMATOR_PRESET, &a);
    sx_estimate_component(&c, SX_ESTIMATOR_TIMELOOP, &b);
    assert_true(a.read == b.read);
    sx_estimate_component(&c, SX_ESTIMATOR_PUBLISHED, &b);
    assert_non_null(strstr(b.rule, "no node is stated: 45 nm"));
    c.node = 45;
    sx_estimate_component(&c, SX_ESTIMATOR_PRESET, &a);
    sx_estimate_component(&c, SX_ESTIMATOR_ACCELERGY_04, &b);
    assert_true(a.read == b.read);
    double digits = a.read * 1e5;
    assert_true(fabs(digits - round(digits)) < 1e-6 * digits);
    for (int i = 0; i < 40; i++) sx_estimate_say(&a, "%s", "a rule of some length");
    assert_true(strlen(a.rule) < SX_RULE_SIZE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(classes),
                                       cmocka_unit_test(timeloop), cmocka_unit_test(presets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
