#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What the hint about a misspelt key ends with. */
#define LENIENT " --lenient ignores the key, with a warning"

#define N(array) (sizeof(array) / sizeof *(array))

static const char tree[] = "architecture:\n"
                           "  version: 0.3\n"
                           "  subtree:\n"
                           "  - name: system\n"
                           "    local:\n"
                           "    - name: DRAM\n"
                           "      class: DRAM\n"
                           "      attributes: {type: LPDDR4, width: 64, block-size: 4, word-bits: 16}\n"
                           "    subtree:\n"
                           "    - name: chip\n"
                           "      attributes: {technology: 45nm, datawidth: 8}\n"
                           "      local:\n"
                           "      - name: glb\n"
                           "        class: smartbuffer_SRAM\n"
                           "        attributes: {memory_depth: 1024, memory_width: 64, block-size: 4,\n"
                           "                     word-bits: 16, n_banks: 32, read_bandwidth: 16}\n"
                           "      - {name: noc, class: XY_NoC}\n"
                           "      - {name: row, class: wire_bundle}\n"
                           "      subtree:\n"
                           "      - name: PE[0..5]\n"
                           "        local:\n"
                           "        - name: weights[1..2]\n"
                           "          class: storage\n"
                           "          subclass: reg_storage\n"
                           "          attributes: {depth: 8, meshX: 6, word-bits: 24}\n"
                           "        - name: mac[0..3]\n"
                           "          class: intmac\n"
                           "          attributes: {datawidth: 8, meshX: 6}\n";

static void instances_multiply_down_the_tree(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(tree, &a);
    assert_string_equal(a.name, "system");
    assert_int_equal(a.n_levels, 3);
    assert_string_equal(a.level[0].name, "weights");
    assert_int_equal(a.level[0].instances, 12);
    assert_int_equal(a.level[0].mesh_x, 6);
    assert_int_equal(a.level[0].mesh_y, 2);
    assert_int_equal(a.level[0].entries, 8);
    assert_string_equal(a.level[1].name, "glb");
    assert_int_equal(a.level[1].word_bits, 16);
    assert_int_equal(a.level[1].entries, 4096);
    assert_true(a.level[1].read_bandwidth == 16);
    assert_string_equal(a.level[2].name, "DRAM");
    assert_true(a.level[2].technology == SX_DRAM);
    assert_false(a.level[2].reduction_supported);
    assert_string_equal(a.compute.name, "mac");
    assert_int_equal(a.compute.instances, 24);
    assert_int_equal(a.compute.mesh_y, 4);
    assert_int_equal(a.compute.word_bits, 8);
}

static void what_has_no_bearing_is_noted(void **state) {
    (void)state;
    assert_int_equal(sx_count_arch_notes(tree, "of a subtree does not reach its components"), 1);
    assert_int_equal(sx_count_arch_notes(tree, "is neither storage nor compute"), 1);
    assert_int_equal(sx_count_arch_notes(tree, "is not used"), 1);
    assert_int_equal(sx_count_arch_notes(tree, "'type' of the component 'DRAM'"), 0);
}

/* The same chip as its author writes it in v0.4, and as Timeloop's front end hands it on. */
static const char v4[] = "architecture:\n"
                         "  version: 0.4\n"
                         "  nodes:\n"
                         "  - !Container {name: system}\n"
                         "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}\n"
                         "  - !Component\n"
                         "    name: glb\n"
                         "    class: SRAM\n"
                         "    attributes: {depth: 64, width: 64, datawidth: 8}\n"
                         "    constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}\n"
                         "  - !Container {name: PE, spatial: {meshX: 4, meshY: 2}}\n"
                         "  - !Parallel\n"
                         "    nodes:\n"
                         "    - !Component\n"
                         "      name: weights\n"
                         "      class: regfile\n"
                         "      attributes: {depth: 4, width: 8, datawidth: 8}\n"
                         "      constraints: {dataspace: {keep: [Weights]}}\n"
                         "    - !Component\n"
                         "      name: rest\n"
                         "      class: regfile\n"
                         "      attributes: {depth: 4, width: 16, datawidth: 16}\n"
                         "      constraints: {dataspace: {keep: [Inputs, Outputs]}}\n"
                         "  - !Component {name: mac, class: intmac}\n";

#define GIVEN                                                                                                \
    "n_banks: 2, has_power_gating: false, cluster_size: 1, reduction_supported: true, multiple_buffering: "  \
    "1, "                                                                                                    \
    "min_utilization: 0, allow_overbooking: false, power_gated_at: null"

static const char dumped[] =
    "dumped_by_timeloop_front_end: true\n"
    "architecture:\n"
    "  version: '0.4'\n"
    "  subtree:\n"
    "  - name: system_top_level\n"
    "    local:\n"
    "    - {name: 'DRAM[1..1]', class: DRAM, attributes: {width: 64, datawidth: 8, meshX: 1, meshY: 1, " GIVEN
    "}}\n"
    "    - {name: 'glb[1..1]', class: SRAM, attributes: {depth: 64, width: 64, datawidth: 8, meshX: 1, "
    "meshY: 1,\n"
    "       " GIVEN "}, enabled: true}\n"
    "    - {name: 'inter_PE_spatial[1..1]', class: dummy_storage, attributes: {width: 1, depth: 1, "
    "datawidth: 1,\n"
    "       technology: -1, meshX: 1, meshY: 1, " GIVEN "}}\n"
    "    - {name: 'weights[1..8]', class: regfile, attributes: {depth: 4, width: 8, datawidth: 8, meshX: 4,\n"
    "       meshY: 2, " GIVEN "}}\n"
    "    - {name: 'rest[1..8]', class: regfile, attributes: {depth: 4, width: 16, datawidth: 16, meshX: 4,\n"
    "       meshY: 2, " GIVEN "}}\n"
    "    - {name: 'mac[1..8]', class: intmac, attributes: {meshX: 4, meshY: 2}, required_actions: "
    "[compute]}\n"
    "architecture_constraints:\n"
    "  targets:\n"
    "  - {type: bypass, target: glb, keep: [Inputs, Outputs], bypass: [Weights]}\n"
    "  - {type: temporal, target: inter_PE_spatial, factors: 'C=1,M=1', permutation: CM}\n"
    "  - {type: bypass, target: inter_PE_spatial, bypass: [Weights, Inputs, Outputs]}\n"
    "  - {type: bypass, target: weights, keep: [Weights], bypass: [Inputs, Outputs]}\n"
    "  - {type: bypass, target: rest, keep: [Inputs, Outputs], bypass: [Weights]}\n";

static void the_front_ends_own_words(void **state) {
    (void)state;
    static sx_arch a, b;
    static sx_problem p;
    assert_null(sx_einsum_parse("Outputs[p,m] += Inputs[p,c] * Weights[c,m] {p:2,c:2,m:2}", &p));
    sx_read_arch(v4, &a);
    sx_read_arch(dumped, &b);
    assert_int_equal(a.n_levels, 5);
    for (int s = 0; s < a.n_levels; s++) {
        assert_int_equal(sx_arch_keep_mask(&a, s, &p), sx_arch_keep_mask(&b, s, &p));
        a.level[s].n_keeps = a.level[s].n_bypasses = 0;
        memset(a.level[s].keeps, 0, sizeof a.level[s].keeps);
        memset(a.level[s].bypasses, 0, sizeof a.level[s].bypasses);
        b.level[s].n_bypasses = 0;
        memset(b.level[s].bypasses, 0, sizeof b.level[s].bypasses);
    }
    assert_true(a.level[2].transparent);
    assert_memory_equal(&a, &b, sizeof a);
}

#define TREE(local) "architecture:\n  version: 0.3\n  subtree:\n  - name: top\n    local:\n" local
#define MAC "    - {name: mac, class: mac}\n"

static void refusals(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {"architecture: {version: 0.1, subtree: [{name: a}]}\n", "1:25",
         "unknown version of the architecture format", "supported: 0.2, 0.3, 0.4"},
        {"architecture: {subtree: [{name: a}, {name: b}]}\n", "1:25",
         "a subtree has 2 subtrees; exactly one is allowed", NULL},
        {"architecture: {subtree: {name: a}}\n", "1:25", "'subtree' must be a list, but is a map", NULL},
        {"architecture: {subtree: [{}]}\n", "1:26", "the subtree has no 'name'", NULL},
        {"architecture: {subtree: [{name: a, locals: []}]}\n", "1:36", "unknown key of a subtree: 'locals'",
         "did you mean 'local'?" LENIENT},
        {"architecture: {subtrees: []}\n", "1:15", "'architecture' has no known format", NULL},
        {TREE("    - {name: A, class: SRAM, attributes: {depth: 1}}\n"), "1:1",
         "the architecture has no compute unit", NULL},
        {TREE(MAC), "1:1", "the architecture has no storage level", NULL},
        {TREE(MAC "    - {name: mac2, class: mac}\n"), "7:14", "'mac2' is a second compute unit beside 'mac'",
         NULL},
        {TREE("    - {name: A}\n" MAC), "6:7", "the component has no 'class'", NULL},
        {TREE("    - {name: 'A[0..', class: SRAM}\n" MAC), "6:14", "the range of 'A[0..' is not valid", NULL},
        {TREE("    - {name: 'A[3..1]', class: SRAM}\n" MAC), "6:14", "the range of 'A[3..1]' is reversed",
         "the smaller index comes first: 'A[1..3]'"},
        {TREE("    - {name: 'A[7]', class: SRAM}\n" MAC), "6:14", "the range of 'A[7]' is not valid", NULL},
        {TREE("    - {name: 'A[1..99999999999]', class: SRAM}\n" MAC), "6:14",
         "the range of 'A[1..99999999999]' is not valid", NULL},
        {TREE("    - {name: A, class: SRAM, attributes: {dept: 1}}\n" MAC), "6:43",
         "unknown attribute of the component 'A': 'dept'", "did you mean 'depth'?" LENIENT},
        {TREE("    - {name: A, class: SRAM, atributes: {}}\n" MAC), "6:30",
         "unknown key of the component 'A': 'atributes'", "did you mean 'attributes'?" LENIENT},
        {TREE("    - {name: A, class: SRAM, attributes: [1]}\n" MAC), "6:42",
         "'attributes' must be a map, but is a list", NULL},
        {TREE("    - {name: A, class: SRAM, attributes: {depth: 1, has_power_gating: true}}\n" MAC), "6:71",
         "'has_power_gating' is not supported and would change the result",
         "name the level that gates this one with 'power_gated_at'"},
    };
    sx_assert_archs_refused(cases, N(cases));
}

/* The vector unit stands beside the rest. */
static void vector_unit(void **state) {
    (void)state;
    sx_arch a;
    sx_read_arch("architecture:\n"
                 "  version: 0.3\n"
                 "  vector: {lanes: 128, energy: 0.5, exp: 20, passes: 1, row: 64}\n"
                 "  subtree:\n"
                 "  - name: system\n"
                 "    local:\n"
                 "    - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 8}}\n"
                 "    subtree:\n"
                 "    - name: chip\n"
                 "      local:\n"
                 "      - {name: mac, class: intmac, attributes: {word-bits: 8}}\n",
                 &a);
    assert_true(a.vector.lanes == 128 && a.vector.energy == 0.5 && a.vector.exp == 20);
    assert_int_equal(a.vector.passes, 1);
    assert_int_equal(a.vector.row, 64);
}

/* A component of class vector has the lanes of all instances. */
static void vector_component(void **state) {
    (void)state;
    sx_arch a;
    sx_read_arch("architecture:\n"
                 "  version: 0.3\n"
                 "  subtree:\n"
                 "  - name: system\n"
                 "    local:\n"
                 "    - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 8}}\n"
                 "    subtree:\n"
                 "    - name: chip[0..3]\n"
                 "      local:\n"
                 "      - {name: 'V[0..7]', class: vector, attributes: {lanes: 4, passes: 1}}\n"
                 "      - {name: mac, class: intmac, attributes: {word-bits: 8}}\n",
                 &a);
    assert_true(a.vector.lanes == 128);
    assert_int_equal(a.vector.passes, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_unit),
        cmocka_unit_test(vector_component),
        cmocka_unit_test(instances_multiply_down_the_tree),
        cmocka_unit_test(what_has_no_bearing_is_noted),
        cmocka_unit_test(the_front_ends_own_words),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
