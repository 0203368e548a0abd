#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What the hint about a misspelt key ends with. */
#define LENIENT " --lenient ignores the key, with a warning"

#define N(array) (sizeof(array) / sizeof *(array))

static const char chip[] =
    "variables: {version: 0.4, DATAWIDTH: 8, COLUMNS: 2 * 7, technology: \"45nm\"}\n"
    "architecture:\n"
    "  version: 0.4\n"
    "  nodes:\n"
    "  - !Container {name: system, attributes: {datawidth: DATAWIDTH, technology: \"40nm\"}}\n"
    "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, type: \"LPDDR4\"}}\n"
    "  - !Component\n"
    "    name: glb\n"
    "    class: smartbuffer_SRAM\n"
    "    attributes: {width: datawidth * 8, depth: 2 * width, read_bandwidth: width / datawidth}\n"
    "    constraints:\n"
    "      dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}\n"
    "      temporal: {permutation: [N, C], factors: N=1 C<=4}\n"
    "  - !Container\n"
    "    name: column\n"
    "    spatial: {meshX: COLUMNS}\n"
    "    constraints: {spatial: {permutation: [N, C], split: 999}}\n"
    "  - !Component {name: off, class: SRAM, enabled: false}\n"
    "  - !Container {name: PE, spatial: {meshY: 12}, attributes: {energy_per_hop: 0.5, datawidth: 16}}\n"
    "  - !Parallel\n"
    "    nodes:\n"
    "    - !Hierarchical\n"
    "      nodes:\n"
    "      - !Component\n"
    "        name: input_buffer\n"
    "        class: storage\n"
    "        attributes: {depth: 128, width: 16}\n"
    "      - !Component\n"
    "        name: input_spad\n"
    "        class: storage\n"
    "        attributes: {depth: 12, width: 16}\n"
    "        constraints: {dataspace: {keep: [Inputs]}}\n"
    "    - !Component\n"
    "      name: weight_spad\n"
    "      class: storage\n"
    "      attributes: {depth: 192, width: 16, power_gated_at: glb, reduction_supported: False}\n"
    "      constraints: {dataspace: {keep: [Weights]}}\n"
    "    - !Component {name: unused, class: storage, attributes: {depth: 1}}\n"
    "    - !Nothing {constraints: {dataspace: {keep: [Outputs]}}}\n"
    "  - !Component {name: mac, class: intmac, spatial: {meshX: 2}, attributes: {multiplier_width: 8}}\n";

static void levels_of_a_chip(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t x, y, entries;
        uint32_t word_bits, block_size;
        bool transparent;
    } levels[] = {
        {"inter_mac_spatial", 14, 12, 1, 1, 1, true},  {"unused", 14, 12, 1, 16, 1, true},
        {"weight_spad", 14, 12, 192, 16, 1, false},    {"input_spad", 14, 12, 12, 16, 1, false},
        {"input_buffer", 14, 12, 128, 16, 1, false},   {"inter_PE_spatial", 14, 1, 1, 1, 1, true},
        {"inter_column_spatial", 1, 1, 1, 1, 1, true}, {"glb", 1, 1, 1024, 8, 8, false},
        {"DRAM", 1, 1, SX_UNLIMITED, 8, 8, false},
    };
    static sx_arch a;
    sx_read_arch(chip, &a);
    assert_string_equal(a.name, "system");
    assert_int_equal(a.n_levels, N(levels));
    for (size_t s = 0; s < N(levels); s++) {
        assert_string_equal(a.level[s].name, levels[s].name);
        assert_int_equal(a.level[s].mesh_x, levels[s].x);
        assert_int_equal(a.level[s].mesh_y, levels[s].y);
        assert_true(a.level[s].entries == levels[s].entries);
        assert_int_equal(a.level[s].word_bits, levels[s].word_bits);
        assert_int_equal(a.level[s].block_size, levels[s].block_size);
        assert_int_equal(a.level[s].transparent, levels[s].transparent);
    }
    assert_int_equal(a.compute.mesh_x, 28);
    assert_int_equal(a.compute.mesh_y, 12);
    assert_int_equal(a.compute.word_bits, 16);
    assert_true(a.level[7].read_bandwidth == 8);
    assert_true(a.level[8].reduction_supported);
    assert_false(a.level[2].reduction_supported);
    assert_int_equal(a.level[2].power_gated_at, 7);
    assert_true(a.level[5].energy_per_hop == 0.5 && a.level[6].energy_per_hop == 0);
    assert_true(a.level[0].energy_per_hop == 0.5 && a.level[3].energy_per_hop == 0.5);
}

static void what_a_level_keeps(void **state) {
    (void)state;
    static const char *const einsum = "Outputs[p,m] += Inputs[p,c] * Weights[c,m] {p:2,c:2,m:2}";
    static const uint8_t masks[] = {0, 0, 4, 2, 2, 0, 0, 3, 7};
    static sx_arch a;
    static sx_problem p;
    assert_null(sx_einsum_parse(einsum, &p));
    sx_read_arch(chip, &a);
    for (int s = 0; s < a.n_levels; s++) assert_int_equal(sx_arch_keep_mask(&a, s, &p), masks[s]);
}

#define NODES(nodes) "architecture:\n  version: 0.4\n  nodes:\n" nodes
#define MEMORY "  - !Component {name: M, class: DRAM, attributes: {width: 16, datawidth: 16}}\n"
#define MAC "  - !Component {name: mac, class: intmac}\n"
#define BUFFER(constraints)                                                                                  \
    NODES(MEMORY "  - !Component {name: B, class: SRAM, attributes: {depth: 8, width: 16, datawidth: 16},\n" \
                 "     constraints: {dataspace: {" constraints "}}}\n" MAC)

/* Outside of !Parallel, `keep` takes nothing away: tensors that are not named may be kept too. */
static void forms_of_keeping(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint8_t mask;
    } cases[] = {
        {BUFFER("keep: [A]"), 7},
        {BUFFER("keep: [A], bypass: [B]"), 3},
        {BUFFER("bypass: [A, Z]"), 4},
        {BUFFER("keep: ['*']"), 7},
        {BUFFER("bypass: ['*']"), 0},
        {BUFFER("keep_only: [A]"), 2},
        {BUFFER("keep_only: []"), 0},
        {BUFFER("keep_only: ['*']"), 7},
        {BUFFER("bypass_only: [A]"), 5},
        {BUFFER("") "constraints: {targets: [{type: dataspace, target: B, bypass: [A]}]}\n", 5},
        {BUFFER(
             "bypass: [A]") "mapspace_constraints: {targets: [{type: dataspace, target: B, bypass: [B]}]}\n",
         1},
        {BUFFER("") "constraints: {targets: [{type: temporal, target: B, factors: 'm=1'}]}\n", 7},
    };
    static sx_problem p;
    assert_null(sx_einsum_parse("Z[m,n] += A[m,k] * B[k,n] {m:2,n:2,k:2}", &p));
    for (size_t i = 0; i < N(cases); i++) {
        static sx_arch a;
        sx_read_arch(cases[i].text, &a);
        if (sx_arch_keep_mask(&a, 0, &p) != cases[i].mask) print_error("%s\n", cases[i].text);
        assert_int_equal(sx_arch_keep_mask(&a, 0, &p), cases[i].mask);
    }
}

/* A section of constraints counts for the branches of !Parallel too; there may be several. */
static void branches_named_elsewhere(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        NODES(
            MEMORY
            "  - !Parallel\n"
            "    nodes:\n"
            "    - !Component {name: B, class: SRAM, attributes: {depth: 8, width: 16, datawidth: 16}}\n"
            "    - !Component {name: C, class: SRAM, attributes: {depth: 8, width: 16, datawidth: 16},\n"
            "        constraints: {dataspace: {keep: B}}}\n" MAC) "constraints: {targets: [{type: "
                                                                  "dataspace, target: B, keep: [A]}]}\n"
                                                                  "constraints_II: {targets: [{type: "
                                                                  "dataspace, "
                                                                  "target: M, bypass: [Q]}]}\n"
                                                                  "extra_mapping_constraints: {version: 0.4, "
                                                                  "targets: [{type: spatial, target: x}]}\n",
        &a);
    assert_int_equal(a.level[1].n_keeps, 1);
    assert_string_equal(a.level[1].keeps[0], "A");
    assert_string_equal(a.level[0].keeps[0], "B");
    assert_string_equal(a.level[2].bypasses[0], "Q");
}

static void a_fanout_may_use_attributes_of_its_own_component(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        "architecture:\n"
        "  version: 0.4\n"
        "  nodes:\n"
        "  - !Container {name: top, attributes: {columns: 3}}\n"
        "  - !Component {name: B, class: SRAM, attributes: {depth: 4, width: 8, datawidth: 8, rows: 2},\n"
        "      spatial: {meshX: columns, meshY: 2 * rows}}\n"
        "  - !Component {name: mac, class: intmac}\n",
        &a);
    assert_int_equal(a.level[0].mesh_x, 3);
    assert_int_equal(a.level[0].mesh_y, 4);
}

static void inherited_attributes(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        NODES("  - !Container {name: c, attributes: {datawidth: 16, cluster_size: 2, read_bandwidth: 4}}\n"
              "  - !Component {name: M, class: DRAM, attributes: {width: 16, read_bandwidth: null}}\n" MAC),
        &a);
    assert_int_equal(a.level[0].cluster_size, 1);
    assert_true(a.level[0].read_bandwidth == 4);
    assert_int_equal(a.level[0].word_bits, 16);
    assert_int_equal(a.compute.word_bits, 16);
}

/* A variable may have a name that is also a number, and may be named with what holds it. */
static void names_of_variables(void **state) {
    (void)state;
    static sx_arch a;
    sx_read_arch(
        "variables: {INF: 4096, WIDTH: 16, HALF: 'spec.variables.WIDTH / 2'}\n" NODES(
            "  - !Component {name: M, class: DRAM, attributes: {width: 16}}\n"
            "  - !Component {name: B, class: SRAM, attributes: {depth: INF, width: WIDTH, datawidth: "
            "'variables.get(\"HALF\", 4)'}}\n"
            "  - !Component {name: C, class: SRAM, attributes: {depth: 'spec.variables.get(\"NONE\", "
            "WIDTH * 2)', width: WIDTH, datawidth: WIDTH}}\n" MAC),
        &a);
    assert_int_equal(a.level[1].word_bits, 8);
    assert_true(a.level[1].entries % 4096 == 0 && a.level[1].entries <= 2 * 4096);
    assert_int_equal(a.level[0].entries, 32);
}

static void notes(void **state) {
    (void)state;
    assert_int_equal(sx_count_arch_notes(chip, "applies to searches only"), 2);
    assert_int_equal(sx_count_arch_notes(chip, "'type' of the component 'DRAM' has no effect"), 0);
    const char *other = NODES("  - !Component {name: M, class: DRAM, attributes: {width: 16, cells: 4}}\n"
                              "  - !Component {name: net, class: XY_NoC}\n" MAC);
    assert_int_equal(
        sx_count_arch_warnings(other, "the attribute 'cells' of the component 'M' is not understood"), 1);
    assert_int_equal(sx_count_arch_notes(other, "the network 'net' is not used"), 1);
}

/* Attributes that expressions use as names are understood; so are synonyms of what a component has. */
static void names_of_expressions_are_understood(void **state) {
    (void)state;
    const char *text = NODES("  - !Container {name: c, attributes: {cells: 2, rows: 3}}\n"
                             "  - !Component {name: M, class: DRAM, attributes: {width: 16 * cells, "
                             "n_entries: 4, depth: 2 * n_entries}}\n" MAC);
    assert_int_equal(sx_count_arch_warnings(text, ""), 1);
    assert_int_equal(
        sx_count_arch_warnings(text, "the attribute 'rows' of the container 'c' is not understood"), 1);
}

static void refusals_of_nodes(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {"architecture: {version: 0.5, nodes: []}\n", "1:25",
         "an architecture with 'nodes' is of version 0.4", NULL},
        {"architecture: {nodes: []}\n", "1:1", "the architecture has no compute unit", NULL},
        {"architecture: {nodes: 4}\n", "1:23", "'nodes' must be a list, but is a single value", NULL},
        {NODES("  - {name: a}\n"), "4:5", "this node has no tag",
         "write '- !Component' or '- !Container' before its keys"},
        {NODES("  - !Componnt {name: a}\n"), "4:5", "unknown kind of node '!Componnt'",
         "did you mean '!Component'?"},
        {NODES("  - !Component {class: DRAM}\n"), "4:5", "!Component has no 'name'", NULL},
        {NODES("  - !Component {name: a}\n"), "4:5", "the component has no 'class'", NULL},
        {NODES("  - !Component {name: a, class: crossbar}\n"), "4:33", "'crossbar' is not a known class",
         "a class has DRAM, SRAM, regfile, smartbuffer, storage, cache, mac or compute in its name, or is "
         "'vector'"},
        {NODES("  - !Component {name: a, class: DRAM, atributes: {}}\n"), "4:39",
         "unknown key of the component 'a': 'atributes'", "did you mean 'attributes'?" LENIENT},
        {NODES("  - !Component {name: a, class: DRAM, attributes: {meshX: 4}}\n"), "4:52",
         "'meshX' is not an attribute in this dialect", "write it as 'spatial: {meshX: ..., meshY: ...}'"},
        {NODES("  - !Component {name: a, class: SRAM, attributes: {dept: 1}}\n"), "4:52",
         "unknown attribute of the component 'a': 'dept'", "did you mean 'depth'?" LENIENT},
        {NODES("  - !Container {name: a, spatial: {meshX: 0}}\n"), "4:35", "a fan-out is at least 1", NULL},
        {NODES("  - !Container {name: a, spatial: {meshX: 1.5}}\n"), "4:43",
         "'meshX' must be a whole number from 0 to 2^53, but is 1.5", NULL},
        {NODES("  - !Container {name: a, spatial: {meshX: 2**40}}\n"), "4:35",
         "there are more than 2^31 instances", NULL},
        {NODES("  - !Container {name: a, spatial: {meshZ: 2}}\n"), "4:36",
         "unknown key of 'spatial': 'meshZ'", NULL},
        {NODES("  - !ArrayContainr {name: a}\n"), "4:5", "unknown kind of node '!ArrayContainr'",
         "did you mean '!ArrayContainer'?"},
        {NODES(MEMORY MAC MEMORY), "6:23", "'M' comes after the compute unit, which must be the last node",
         NULL},
        {NODES(MEMORY "  - !Component {name: M, class: SRAM, attributes: {depth: 1}}\n" MAC), "5:23",
         "two components are called 'M'", NULL},
        {NODES("  - !Container {name: a, sparse_optimizations: {representation_format: {}}}\n"), "4:48",
         "a container has no storage for sparse optimizations", "write them beside a component"},
    };
    sx_assert_archs_refused(cases, N(cases));
}

static void refusals_of_branches(void **state) {
    (void)state;
#define PARALLEL(nodes) NODES(MEMORY "  - !Parallel\n    nodes:\n" nodes MAC)
    static const sx_refused cases[] = {
        {PARALLEL("    - !Container {name: c}\n"), "7:7", "a branch of !Parallel cannot be a container",
         NULL},
        {PARALLEL("    - !Component {name: c, class: SRAM, spatial: {meshX: 2}}\n"), "7:50",
         "a branch of !Parallel cannot fan out", NULL},
        {PARALLEL("    - !Component {name: c, class: SRAM, constraints: {dataspace: {keep: [A]}}}\n"
                  "    - !Nothing {constraints: {dataspace: {keep: [A]}}}\n"),
         "8:7", "two branches of !Parallel keep 'A'", NULL},
        {NODES("  - !Parallel {node: []}\n"), "4:16", "unknown key of !Parallel: 'node'",
         "did you mean 'nodes'?" LENIENT},
        {NODES("  - !Hierarchical {}\n"), "4:5", "!Hierarchical has no 'nodes'", NULL},
        {BUFFER("keep: [A], bypass: [A]"), "6:43", "'A' is both kept and bypassed", NULL},
        {BUFFER("kep: [A]"), "6:32", "unknown key of a constraint: 'kep'", "did you mean 'keep'?" LENIENT},
        {BUFFER("passthrough: [A]"), "6:32",
         "'passthrough' of a constraint is not supported and would change the result", NULL},
        {BUFFER("keep: [a, b, c, d, e, f, g, h, i]"), "6:63", "at most 8 tensors can be named here", NULL},
        {BUFFER("keep_only: [A]") "constraints: [{type: bypass, target: C, keep: [A]}]\n", "8:38",
         "unknown storage level 'C'", NULL},
        {BUFFER("") "constraints: [{type: bypas, target: B}]\n", "8:22", "unknown kind of constraint 'bypas'",
         "did you mean 'bypass'?"},
        {BUFFER("") "constraints: [{type: bypass}]\n", "8:15", "the constraint has no 'target'", NULL},
        {BUFFER("") "constraints: {targets: [{type: bypass, target: B, passthrough: [A]}]}\n", "8:51",
         "'passthrough' of a constraint is not supported and would change the result", NULL},
        {NODES("  - !Container {name: a, constraints: {spacial: {}}}\n"), "4:40",
         "unknown kind of constraint 'spacial'", "did you mean 'spatial'?"},
    };
    sx_assert_archs_refused(cases, N(cases));
}

static void too_many_levels(void **state) {
    (void)state;
    char text[4096] = "architecture:\n  nodes:\n";
    for (int i = 0; i <= SX_MAX_LEVELS; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "  - !Container {name: c%d, spatial: {meshX: 2}}\n", i);
    }
    const sx_refused one = {text, "27:23", "there are more than 24 storage levels, fan-outs counted", NULL};
    sx_assert_archs_refused(&one, 1);
}

/* The vector unit stands beside the rest. */
static void vector_unit(void **state) {
    (void)state;
    sx_arch a;
    sx_read_arch("architecture:\n"
                 "  version: 0.4\n"
                 "  vector: {lanes: 2 * WIDE, energy: 0.5, exp: 20, passes: 1, row: 64}\n"
                 "  nodes:\n"
                 "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}\n"
                 "  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}\n"
                 "variables: {version: 0.4, WIDE: 64}\n",
                 &a);
    assert_true(a.vector.lanes == 128 && a.vector.energy == 0.5 && a.vector.exp == 20);
    assert_int_equal(a.vector.passes, 1);
    assert_int_equal(a.vector.row, 64);
}

/* A component of class vector may come after the compute units; the containers around it multiply its lanes. */
static void vector_component(void **state) {
    (void)state;
    sx_arch a;
    sx_read_arch(
        "architecture:\n"
        "  version: 0.4\n"
        "  nodes:\n"
        "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}\n"
        "  - !Container {name: PE, spatial: {meshX: 16, meshY: 2}, attributes: {energy: 0.25}}\n"
        "  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}\n"
        "  - !Component {name: V, class: vector, attributes: {lanes: WIDE, row: 64, technology: 7nm}}\n"
        "variables: {version: 0.4, WIDE: 4}\n",
        &a);
    assert_true(a.vector.lanes == 128 && a.vector.energy == 0.25);
    assert_int_equal(a.vector.row, 64);
    assert_int_equal(a.n_levels, 2);
    assert_int_equal(a.compute.instances, 32);
}

static void refusals_of_vector_units(void **state) {
    (void)state;
    static const sx_refused cases[] = {
        {NODES("  - !Component {name: V, class: vector}\n"), "4:5", "the vector unit 'V' has no 'attributes'",
         NULL},
        {NODES("  - !Component {name: V, class: vector, attributes: {energy: 1}}\n"), "4:53",
         "the vector unit has no 'lanes'", NULL},
        {NODES("  - !Component {name: V, class: vector, attributes: {lanes: 4}, spatial: {meshX: 2}}\n"),
         "4:74", "a vector unit has no 'spatial'",
         "mappings do not use it; a container around it gives more than one"},
        {NODES("  - !Component {name: V, class: vector, attributes: {lanes: 4}}\n"
               "  - !Component {name: W, class: vector, attributes: {lanes: 4}}\n"),
         "5:53", "the architecture has a second vector unit", NULL},
    };
    sx_assert_archs_refused(cases, N(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_unit),
        cmocka_unit_test(vector_component),
        cmocka_unit_test(refusals_of_vector_units),
        cmocka_unit_test(levels_of_a_chip),
        cmocka_unit_test(what_a_level_keeps),
        cmocka_unit_test(forms_of_keeping),
        cmocka_unit_test(branches_named_elsewhere),
        cmocka_unit_test(a_fanout_may_use_attributes_of_its_own_component),
        cmocka_unit_test(inherited_attributes),
        cmocka_unit_test(names_of_variables),
        cmocka_unit_test(notes),
        cmocka_unit_test(names_of_expressions_are_understood),
        cmocka_unit_test(refusals_of_nodes),
        cmocka_unit_test(refusals_of_branches),
        cmocka_unit_test(too_many_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
