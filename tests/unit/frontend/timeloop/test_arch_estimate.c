/* By whose rules energies are estimated, and which attributes of a file the estimates see. */
#include "frontend/input.h"
#include "ir/arch.h"
#include "support/read_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LEVELS                                                                                               \
    "  arithmetic: {name: MAC, instances: 1, word-bits: 16}\n"                                               \
    "  storage:\n"                                                                                           \
    "  - {name: Buf, entries: 8192, instances: 1, word-bits: 16, block-size: 4" KEYS "}\n"                   \
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, block-size: 4, type: HBM2}\n"

/* Reads a text with an estimator into an architecture; the input is the caller's. */
static sx_input *read_with(const char *text, sx_estimator estimator, bool like, sx_arch *out) {
    sx_input *input;
    assert_null(sx_input_new(&input));
    sx_input_set_estimator(input, estimator);
    if (like) sx_input_read_as(input, SX_READ_LIKE_TIMELOOP);
    assert_null(sx_input_add_text(input, "t.yaml", text, strlen(text)));
    sx_status status = sx_input_arch(input, out);
    if (status) fail_msg("%s", status->message);
    return input;
}

/* Without a node, and as Timeloop: formulas; technology: SRAM is no node. */
static void formulas(void **state) {
    (void)state;
    static sx_arch a;
#define KEYS ", technology: SRAM"
    sx_input *input = read_with("arch:\n" LEVELS, SX_ESTIMATOR_PRESET, false, &a);
#undef KEYS
    assert_true(a.level[0].read_energy == sx_pat_sram(16, 64) && a.level[1].read_energy == 800);
    assert_true(a.compute.energy == 1 && a.level[0].area == 0 && a.level[0].leak_energy == 0);
    assert_string_equal(sx_input_energies(input), "formula (Timeloop's default technology)");
    sx_input_free(input);
#define KEYS ", technology: 45nm"
    input = read_with("arch:\n" LEVELS, SX_ESTIMATOR_PRESET, true, &a);
    assert_true(a.level[0].read_energy == sx_pat_sram(16, 64) && a.level[1].read_energy == 800);
    sx_input_free(input);
    input = read_with("arch:\n" LEVELS, SX_ESTIMATOR_TIMELOOP, false, &a);
    assert_true(a.level[0].read_energy == sx_pat_sram(16, 64));
    sx_input_free(input);
}

/* With a node: energies, leakage and area of Accelergy 0.4, and what the input says of them. */
static void with_a_node(void **state) {
    (void)state;
    static sx_arch a;
    size_t n;
    sx_estimate e;
    sx_input *input = read_with("arch:\n" LEVELS, SX_ESTIMATOR_PRESET, false, &a);
    const sx_component buffer = {.kind = SX_COMPONENT_SRAM, .node = 45, .width = 64, .depth = 2048};
    sx_estimate_component(&buffer, SX_ESTIMATOR_ACCELERGY_04, &e);
    assert_true(a.level[0].read_energy == e.read && a.level[0].fill_energy == e.write);
    assert_true(a.level[0].update_energy == e.write && a.level[0].leak_energy == e.leak);
    assert_true(a.level[0].area == e.area && e.area > 1000);
    assert_true(fabs(a.level[1].read_energy - 64 * 3.9) < 1e-9);
    assert_true(a.compute.energy == 3.275);
    assert_string_equal(sx_input_energies(input), "estimate (accelergy-0.4)");
    const sx_estimated_component *list = sx_input_components(input, &n);
    assert_int_equal(n, 3);
    assert_string_equal(list[0].name, "DRAM");
    assert_string_equal(list[1].class, "SRAM");
    assert_string_equal(list[2].name, "MAC");
    assert_int_equal(sx_input_estimator_used(input), SX_ESTIMATOR_ACCELERGY_04);
    sx_input_free(input);
#undef KEYS
}

/* Stated energies stay, and so does a table, with its leakage and without an area. */
static void stated_energies(void **state) {
    (void)state;
    static sx_arch a;
#define KEYS ", technology: 45nm, vector-access-energy: 7"
    sx_input *input = read_with("arch:\n" LEVELS, SX_ESTIMATOR_PRESET, false, &a);
    assert_true(a.level[0].read_energy == 7 && a.level[0].area == 0 && a.level[0].leak_energy == 0);
    assert_true(a.level[1].read_energy < 300);
    sx_input_free(input);
    assert_null(sx_input_new(&input));
    sx_input_set_estimator(input, SX_ESTIMATOR_ACCELERGY_04);
    sx_input_estimate_all(input);
    assert_null(sx_input_add_text(input, "t.yaml", "arch:\n" LEVELS, strlen("arch:\n" LEVELS)));
    assert_null(sx_input_arch(input, &a));
    assert_true(a.level[0].read_energy > 7 && a.level[0].area > 0);
    sx_input_free(input);
#undef KEYS
#define KEYS ", technology: 45nm"
    input = read_with("ERT:\n  version: 0.4\n  tables:\n  - {name: Buf, actions: [{name: read, energy: 3},"
                      " {name: write, energy: 4}, {name: leak, energy: 0.5}]}\n"
                      "  - {name: MAC, actions: [{name: compute, energy: 9}]}\narch:\n" LEVELS,
                      SX_ESTIMATOR_PRESET, false, &a);
    assert_true(a.level[0].read_energy == 3 && a.level[0].fill_energy == 4 && a.level[0].leak_energy == 0.5);
    assert_true(a.level[0].area == 0 && a.compute.energy == 9 && a.compute.area == 0);
    sx_input_free(input);
#undef KEYS
}

/* Class, banks and ports of a tree of version 0.3 reach the estimate, the node of its subtree, too. */
static void attributes_of_a_tree(void **state) {
    (void)state;
    static sx_arch a;
    size_t n;
    sx_input *input = read_with(
        "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    attributes: {technology: 45nm}\n"
        "    local:\n    - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}\n"
        "    - {name: GLB, class: storage, subclass: smartbuffer_SRAM, attributes: {width: 64, depth: "
        "16384,\n"
        "       word-bits: 16, n_banks: 32, n_rdwr_ports: 2}}\n"
        "    - {name: sums, class: intadder, attributes: {datawidth: 20}}\n"
        "    - {name: mac, class: intmac, attributes: {datawidth: 8}}\n",
        SX_ESTIMATOR_ACCELERGY_03, false, &a);
    assert_true(fabs(a.level[0].read_energy - 74.144) < 1e-6);
    assert_true(fabs(a.compute.energy - 0.561) < 1e-3);
    const sx_estimated_component *list = sx_input_components(input, &n);
    assert_int_equal(n, 4);
    assert_string_equal(list[3].name, "sums");
    assert_true(fabs(list[3].estimate.read - 0.054) < 0.001);
    assert_string_equal(list[1].class, "smartbuffer_SRAM");
    sx_input_free(input);
}

/* What is no process node. */
#define NETWORK(keys)                                                                                        \
    "architecture:\n  version: 0.4\n  nodes:\n"                                                              \
    "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 16, technology: 45nm}}\n"   \
    "  - !Component {name: net, class: XY_NoC}\n"                                                            \
    "  - !Component {name: Buf, class: SRAM, attributes: {depth: 2048, width: 64, datawidth: 16}}\n"         \
    "  - !Container {name: PE, spatial: {meshX: 4}, attributes: {network_word_bits: 16" keys "}}\n"          \
    "  - !Component {name: mac, class: intmac, attributes: {datawidth: 16}}\n"

/* Wires of a stated length and routers cost what the estimator says, where nothing states an energy. */
static void networks(void **state) {
    (void)state;
    static sx_arch a;
    sx_estimate wire, router;
    const sx_component mm = {.kind = SX_COMPONENT_WIRE, .node = 45, .width = 1};
    const sx_component hop = {.kind = SX_COMPONENT_ROUTER, .node = 45, .width = 16};
    sx_estimate_component(&mm, SX_ESTIMATOR_ACCELERGY_04, &wire);
    sx_estimate_component(&hop, SX_ESTIMATOR_ACCELERGY_04, &router);
    sx_input_free(read_with(NETWORK(", tile_width: 500"), SX_ESTIMATOR_PRESET, false, &a));
    assert_true(wire.read > 0 && fabs(a.level[0].energy_per_hop - 16 * 0.5 * wire.read) < 1e-9);
    assert_true(a.level[0].router_energy == router.read && a.level[1].router_energy == 0);
    sx_input_free(read_with(NETWORK(""), SX_ESTIMATOR_PRESET, false, &a));
    assert_true(a.level[0].energy_per_hop == 0 && a.level[0].router_energy == router.read);
    sx_input_free(read_with(NETWORK(", tile_width: 500, wire_energy: 2, router_energy: 3"),
                            SX_ESTIMATOR_PRESET, false, &a));
    assert_true(a.level[0].energy_per_hop == 16 && a.level[0].router_energy == 3);
    sx_input_free(read_with(NETWORK(", tile_width: 500, router_energy: 3"), SX_ESTIMATOR_PRESET, false, &a));
    assert_true(a.level[0].energy_per_hop > 0 && a.level[0].router_energy == 3);
    sx_input_free(read_with(NETWORK(", tile_width: 500, energy_per_hop: 0"), SX_ESTIMATOR_PRESET, false, &a));
    assert_true(a.level[0].energy_per_hop == 0);
    sx_input_free(read_with(NETWORK(", tile_width: 500"), SX_ESTIMATOR_PRESET, true, &a));
    assert_true(a.level[0].energy_per_hop == 0 && a.level[0].router_energy == 0);
}

static void refusals(void **state) {
    (void)state;
#define KEYS ", technology: 5000nm"
    static const sx_refused cases[] = {{"arch:\n" LEVELS, "4:88", "a process node of 5000 nm",
                                        "nodes from 1 to 1000 nm are taken, such as technology: 45nm"}};
    sx_assert_archs_refused(cases, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),        cmocka_unit_test(with_a_node),
        cmocka_unit_test(stated_energies), cmocka_unit_test(attributes_of_a_tree),
        cmocka_unit_test(networks),        cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
