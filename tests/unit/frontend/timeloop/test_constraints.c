#include "sextant/input.h"
#include "support/expect.h"
#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* A convolution with the names of Timeloop's exercises. */
static const char convolution[] =
    "problem: {shape: {name: C, dimensions: [C, M, R, S, N, P, Q],\n"
    "  data_spaces: [{name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]},\n"
    "  {name: Inputs, projection: [[[N]], [[C]], [[R], [P]], [[S], [Q]]]},\n"
    "  {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]],"
    " read_write: True}]},\n"
    "  instance: {C: 8, M: 16, R: 3, S: 3, N: 1, P: 14, Q: 7}}\n";

enum { WEIGHTS = 1, INPUTS = 2, OUTPUTS = 4 };

/* What is read for a test. */
typedef struct reading {
    sx_input *input;
    sx_problem problem;
    sx_arch arch;
    sx_constraints limits;
} reading;

static reading r;

/* Reads a problem, an architecture and constraints from text; fails the test on an error. */
static void read_all(const char *problem, const char *arch, const char *constraints) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s", problem, arch, constraints);
    r.input = sx_expect_input(text);
    sx_expect_ok(sx_input_problem(r.input, &r.problem));
    sx_expect_ok(sx_input_arch(r.input, &r.arch));
    memset(&r.limits, 7, sizeof r.limits);
    sx_expect_ok(sx_input_constraints(r.input, &r.problem, &r.arch, &r.limits));
}

static int teardown(void **state) {
    (void)state;
    sx_input_free(r.input);
    r.input = NULL;
    return 0;
}

static sx_level_limits *level(const char *name) {
    int s = sx_arch_level(&r.arch, name);
    assert_true(s >= 0);
    return &r.limits.level[s];
}

/* The limits of a slot in words: "C=1 P<=4 M2..8 | CRS_N". */
static const char *loops(const sx_loop_limits *limits) {
    static char text[512];
    size_t n = 0;
    text[0] = 0;
    for (int d = 0; d < r.problem.n_dims; d++) {
        const char *name = r.problem.dim_name[d];
        uint32_t min = limits->min[d], max = limits->max[d];
        if (min == max)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%u", n ? " " : "", name, min);
        else if (min > 1 && max < SX_MAX_DIM_SIZE)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%u..%u", n ? " " : "", name, min, max);
        else if (min > 1)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s>=%u", n ? " " : "", name, min);
        else if (max < SX_MAX_DIM_SIZE)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s<=%u", n ? " " : "", name, max);
        assert_false(limits->rest[d]);
    }
    if (limits->n_inner + limits->n_outer) n += (size_t)snprintf(text + n, sizeof text - n, " | ");
    for (int i = 0; i < limits->n_inner; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", r.problem.dim_name[limits->inner[i]]);
    if (limits->n_outer) n += (size_t)snprintf(text + n, sizeof text - n, "_");
    for (int i = 0; i < limits->n_outer; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", r.problem.dim_name[limits->outer[i]]);
    return text;
}

/* The row-stationary constraints of Timeloop's exercises in the dialect of v0.3, on 12 x 14 elements. */
static void row_stationary_of_v3(void **state) {
    (void)state;
    read_all(
        convolution,
        "architecture:\n"
        "  version: 0.3\n"
        "  subtree:\n"
        "  - name: system\n"
        "    local: [{name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}]\n"
        "    subtree:\n"
        "    - name: eyeriss\n"
        "      local:\n"
        "      - {name: shared_glb, class: SRAM, attributes: {depth: 16384, word-bits: 16, width: 64}}\n"
        "      - name: DummyBuffer[0..13]\n"
        "        class: regfile\n"
        "        attributes: {depth: 16, word-bits: 16, meshX: 14}\n"
        "      subtree:\n"
        "      - name: PE[0..167]\n"
        "        local:\n"
        "        - {name: ifmap_spad, class: regfile, attributes: {depth: 12, word-bits: 16, meshX: 14}}\n"
        "        - {name: weights_spad, class: regfile, attributes: {depth: 192, word-bits: 16, meshX: 14}}\n"
        "        - {name: psum_spad, class: regfile, attributes: {depth: 16, word-bits: 16, meshX: 14}}\n"
        "        - {name: mac, class: intmac, attributes: {meshX: 14}}\n",
        "architecture_constraints:\n"
        "  targets:\n"
        "  - {target: psum_spad, type: bypass, bypass: [Inputs, Weights], keep: [Outputs]}\n"
        "  - {target: weights_spad, type: bypass, bypass: [Inputs, Outputs], keep: [Weights]}\n"
        "  - {target: ifmap_spad, type: bypass, bypass: [Weights, Outputs], keep: [Inputs]}\n"
        "  - {target: DummyBuffer, type: bypass, bypass: [Inputs, Outputs, Weights]}\n"
        "  - {target: shared_glb, type: bypass, bypass: [Weights], keep: [Inputs, Outputs]}\n"
        "  - {target: DummyBuffer, type: spatial, split: 4, permutation: NPQR SCM,\n"
        "     factors: N=1 P=1 Q=1 R=1 S=0}\n"
        "  - {target: shared_glb, type: spatial, split: 7, permutation: NCPRSQM,\n"
        "     factors: N=1 C=1 P=1 R=1 S=1}\n"
        "  - {target: psum_spad, type: temporal, permutation: NCPQRS M,\n"
        "     factors: N=1 C=1 R=1 S=1 P=1 Q=1}\n"
        "  - {target: weights_spad, type: temporal, permutation: NMPQS CR,\n"
        "     factors: N=1 M=1 P=1 Q=1 S=1 R=0}\n"
        "  - {target: ifmap_spad, type: temporal, permutation: NMCPQRS,\n"
        "     factors: N=1 M=1 C=1 P=1 Q=1 R=1 S=1}\n"
        "  - {target: DummyBuffer, type: temporal, factors: N=1 M=1 C=1 P=1 Q=1 R=1 S=1}\n"
        "mapspace_constraints:\n"
        "  targets:\n"
        "  - {target: shared_glb, type: temporal, permutation: QRSC PNM, factors: Q=1 R=1 S=1 P=0}\n"
        "  - {target: DRAM, type: temporal, permutation: RSP CMNQ, factors: R=1 S=1 P=1}\n");
    assert_string_equal(loops(&level("DummyBuffer")->spatial), "R=1 S=3 N=1 P=1 Q=1 | NPQRSCM");
    assert_string_equal(loops(&level("shared_glb")->spatial), "C=1 R=1 S=1 N=1 P=1 | NCPRSQM");
    assert_string_equal(loops(&level("psum_spad")->temporal), "C=1 R=1 S=1 N=1 P=1 Q=1 | NCPQRSM");
    assert_string_equal(loops(&level("weights_spad")->temporal), "M=1 R=3 S=1 N=1 P=1 Q=1 | NMPQSCR");
    assert_string_equal(loops(&level("ifmap_spad")->temporal), "C=1 M=1 R=1 S=1 N=1 P=1 Q=1 | NMCPQRS");
    assert_string_equal(loops(&level("DummyBuffer")->temporal), "C=1 M=1 R=1 S=1 N=1 P=1 Q=1");
    assert_string_equal(loops(&level("shared_glb")->temporal), "R=1 S=1 P=14 Q=1 | QRSCPNM");
    assert_string_equal(loops(&level("DRAM")->temporal), "R=1 S=1 P=1 | RSPCMNQ");
    assert_int_equal(level("DummyBuffer")->split, 4);
    assert_int_equal(level("shared_glb")->split, 7);
    assert_int_equal(level("psum_spad")->must_keep, OUTPUTS);
    assert_int_equal(level("psum_spad")->must_bypass, INPUTS | WEIGHTS);
    assert_int_equal(level("DummyBuffer")->must_bypass, 7);
    assert_int_equal(level("shared_glb")->must_keep, INPUTS | OUTPUTS);
    assert_int_equal(level("DRAM")->must_keep, 0);
    assert_int_equal(sx_count_notes(r.input, "the factor 0 of 'R' means its whole size, 3"), 1);
}

/* The constraints that the exercises write beside the parts of the same chip in the dialect of v0.4. */
static void row_stationary_of_v4(void **state) {
    (void)state;
    read_all(
        convolution,
        "architecture:\n"
        "  version: 0.4\n"
        "  nodes:\n"
        "  - !Container {name: system, constraints: {temporal: {factors: [C=1, R<=2]}}}\n"
        "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}\n"
        "  - !Component\n"
        "    name: shared_glb\n"
        "    class: smartbuffer_SRAM\n"
        "    attributes: {depth: 16384, width: 64, datawidth: 8}\n"
        "    constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}\n"
        "  - !Container\n"
        "    name: PE_column\n"
        "    spatial: {meshX: 14}\n"
        "    constraints:\n"
        "      spatial: {permutation: [N, C, P, R, S, Q, M], factors: [N=1, C=1, P=1, R=1, S=1],\n"
        "                split: 999}\n"
        "  - !Container\n"
        "    name: PE\n"
        "    spatial: {meshY: 12}\n"
        "    constraints:\n"
        "      spatial: {split: 0, permutation: [N, P, Q, R, S, C, M], factors: [N=1, P=1, Q=1, R=1]}\n"
        "  - !Parallel\n"
        "    nodes:\n"
        "    - !Component\n"
        "      name: ifmap_spad\n"
        "      class: smartbuffer_RF\n"
        "      attributes: {depth: 12, width: 16, datawidth: 8}\n"
        "      constraints:\n"
        "        dataspace: {keep: [Inputs]}\n"
        "        temporal: {permutation: [N, M, C, P, Q, R, S],\n"
        "                   factors: [N=1, M=1, C=1, P=1, Q=1, R=1, S=1]}\n"
        "    - !Component\n"
        "      name: weights_spad\n"
        "      class: smartbuffer_RF\n"
        "      attributes: {depth: 192, width: 16, datawidth: 8}\n"
        "      constraints:\n"
        "        dataspace: {keep: [Weights]}\n"
        "        temporal: {permutation: [N, M, P, Q, S, C, R], factors: [N=1, M=1, P=1, Q=1, S=1]}\n"
        "    - !Component {name: off, class: SRAM, enabled: false, constraints: {spatial: {factors: X=4}}}\n"
        "    - !Nothing {constraints: {dataspace: {keep: [Outputs]}}}\n"
        "  - !Component {name: mac, class: intmac, constraints: {temporal: {factors: [C=1]}}}\n",
        "constraints:\n"
        "  targets:\n"
        "  - {type: spatial, target: PE, factors: [S=0]}\n"
        "  - {type: temporal, target: PE, factors_only: []}\n"
        "  - {type: temporal, target: system, permutation: [C, M]}\n"
        "  - {type: dataspace, target: mac, bypass: [Weights]}\n"
        "  - {type: utilization, target: weights_spad, min: 0.5}\n"
        "  - {type: max_overbooked_proportion, target: shared_glb, proportion: 0}\n");
    assert_string_equal(loops(&level("inter_PE_column_spatial")->spatial), "C=1 R=1 S=1 N=1 P=1 | NCPRSQM");
    assert_string_equal(loops(&level("inter_PE_spatial")->spatial), "R=1 S=3 N=1 P=1 Q=1 | NPQRSCM");
    assert_string_equal(loops(&level("inter_PE_spatial")->temporal), "C=1 M=1 R=1 S=1 N=1 P=1 Q=1");
    assert_string_equal(loops(&level("weights_spad")->temporal), "M=1 S=1 N=1 P=1 Q=1 | NMPQSCR");
    assert_string_equal(loops(&level("DRAM")->temporal), "");
    assert_int_equal(level("inter_PE_column_spatial")->split, 7);
    assert_int_equal(level("inter_PE_spatial")->split, 0);
    assert_int_equal(level("ifmap_spad")->must_keep, INPUTS);
    assert_int_equal(level("shared_glb")->must_bypass, WEIGHTS);
    assert_true(level("DRAM")->min_parallelism == 0.5);
    assert_true(level("weights_spad")->min_parallelism == 0);
}

/* Two levels over 4 x 4 units for small cases; L0 is inside. */
static const char small_problem[] = "problem: {shape: {name: P, dimensions: [M, K, N],\n"
                                    "  data_spaces: [{name: A, projection: [[[M]], [[K]]]},\n"
                                    "  {name: B, projection: [[[K]], [[N]]]},\n"
                                    "  {name: Z, projection: [[[M]], [[N]]], read_write: True}]},\n"
                                    "  instance: {M: 16, K: 8, N: 12}}\n";
static const char small_arch[] =
    "arch:\n"
    "  arithmetic: {instances: 16, meshX: 4}\n"
    "  storage: [{name: L0, entries: 64, instances: 1}, {name: L1, technology: DRAM, instances: 1}]\n";

/* Every form of a temporal constraint on L1. */
static void forms_of_temporal_constraints(void **state) {
    (void)state;
    static const struct {
        const char *text, *limits;
    } cases[] = {
        {"factors: M=4 K=2", "M=4 K=2"},
        {"factors: M4 K 2", "M=4 K=2"},
        {"factors: 'M=4,K=2'", "M=4 K=2"},
        {"factors: [M=4, K<=2, 'N >= 3']", "M=4 K<=2 N>=3"},
        {"factors: {M: 4, K: <=2, N: '>= 3'}", "M=4 K<=2 N>=3"},
        {"factors: [K>=2, K<=4]", "K2..4"},
        {"factors: [K<=4, K<=2]", "K<=2"},
        {"factors: M=0", "M=16"},
        {"factors: K<=1000", "K<=1000"},
        {"factors: null, permutation: [], split: null, remainders: null", ""},
        {"default_max_factor: 4", "M<=4 K<=4 N<=4"},
        {"factors: M=8 K<=2 N>=3, default_max_factor: 4", "M=8 K<=2 N3..4"},
        {"factors: M=1 K<=2 N>=3, default_min_factor: 2", "M=1 K=2 N>=3"},
        {"default_min_factor: 2, factors_only: M=4", "M=4 K=1 N=1"},
        {"factors_only: [M=4, K<=2]", "M=4 K<=2 N=1"},
        {"factors: N>=2, factors_only: [M=4]", "M=4 K=1 N>=2"},
        {"factors_only: []", "M=1 K=1 N=1"},
        {"factors_only: null", ""},
        {"no_iteration_over_dataspaces: [A]", "M=1 K=1"},
        {"no_iteration_over_dataspaces: []", ""},
        {"no_iteration_over_dataspaces: ['*']", "M=1 K=1 N=1"},
        {"must_iterate_over_dataspaces: [A]", "N=1"},
        {"must_iterate_over_dataspaces: [A, Z]", ""},
        {"must_iterate_over_dataspaces: []", "M=1 K=1 N=1"},
        {"no_iteration_over_dataspaces: null, must_iterate_over_dataspaces: null", ""},
        {"maximize_dims: [], maximize_dims_capacity: null, no_reuse: []", ""},
        {"permutation: KM", " | KM"},
        {"permutation: [N, K, M]", " | NKM"},
        {"permutation: K_M", " | K_M"},
        {"permutation: [K, _, M]", " | K_M"},
        {"permutation: _KM", " | _KM"},
        {"permutation: _", ""},
        {"factors: K=2, permutation: N", "K=2 | N"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "mapspace: {targets: [{type: temporal, target: L1, %s}]}\n",
                 cases[i].text);
        read_all(small_problem, small_arch, text);
        assert_string_equal(loops(&level("L1")->temporal), cases[i].limits);
        assert_string_equal(loops(&level("L1")->spatial), "");
        assert_string_equal(loops(&level("L0")->temporal), "");
        sx_input_free(r.input);
    }
    r.input = NULL;
}

/* Constraints that say the same, or more of it, join. */
static void constraints_join(void **state) {
    (void)state;
    static const struct {
        const char *first, *second, *limits;
    } cases[] = {
        {"factors: M=4", "factors: M=4", "M=4"},           {"factors: M<=4", "factors: M=2", "M=2"},
        {"factors: M<=4", "factors: M>=2", "M2..4"},       {"factors: M=4", "factors: K=2", "M=4 K=2"},
        {"permutation: K", "permutation: KMN", " | KMN"},  {"permutation: KM", "permutation: KM", " | KM"},
        {"permutation: KMN", "permutation: K", " | KMN"},  {"permutation: K_", "permutation: _N", " | K_N"},
        {"permutation: _MN", "permutation: _N", " | _MN"}, {"permutation: KMN", "permutation: _MN", " | KMN"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "constraints: [{type: temporal, target: L1, %s}]\n"
                 "more_constraints: {targets: [{type: temporal, target: 1, %s}]}\n",
                 cases[i].first, cases[i].second);
        read_all(small_problem, small_arch, text);
        assert_string_equal(loops(&level("L1")->temporal), cases[i].limits);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

static void forms_of_tensor_constraints(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned keep, bypass;
    } cases[] = {
        {"keep: [A]", 1, 0},
        {"keep: [A, A]", 1, 0},
        {"keep: A B, bypass: Z", 3, 4},
        {"keep: ['*']", 7, 0},
        {"bypass: ['*']", 0, 7},
        {"keep_only: [A]", 1, 6},
        {"keep_only: []", 0, 7},
        {"keep_only: null, bypass_only: null, keep: null", 0, 0},
        {"bypass_only: [A, B]", 4, 3},
        {"bypass_only: []", 7, 0},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "mapspace: {constraints: [{type: datatype, target: L0, %s}]}\n",
                 cases[i].text);
        read_all(small_problem, small_arch, text);
        assert_int_equal(level("L0")->must_keep, cases[i].keep);
        assert_int_equal(level("L0")->must_bypass, cases[i].bypass);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

/* Without constraints, or with empty sections, everything is free. */
static void nothing_is_fine(void **state) {
    (void)state;
    static const char *const texts[] = {"", "constraints:\n", "mapspace_constraints: {targets: []}\n",
                                        "mapspace: {template: uber, version: 0.4}\n",
                                        "arch_constraints: {version: 0.3, targets: null}\n"};
    for (size_t i = 0; i < N(texts); i++) {
        sx_constraints none;
        read_all(small_problem, small_arch, texts[i]);
        sx_constraints_init(&none, &r.problem, &r.arch);
        assert_memory_equal(&none, &r.limits, sizeof none);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

static void remainders_are_noted(void **state) {
    (void)state;
    read_all(small_problem, small_arch,
             "constraints: [{type: temporal, target: L0, factors: N=5, remainders: 1},\n"
             "  {type: temporal, target: L1, factors: N=3}]\n");
    assert_int_equal(sx_count_notes(r.input, "remainders are allowed for a whole search or not at all"), 1);
    assert_string_equal(loops(&level("L0")->temporal), "N=5");
}

/* One target with a list of constraints, constraints with attributes, lists by name. */
static void forms_of_sections(void **state) {
    (void)state;
    static const char *const texts[] = {
        "mapspace: {targets: [{name: L1, constraints: [{type: temporal, attributes: {factors: M=4,\n"
        "  permutation: KM}}]}]}\n",
        "constraints: {targets: [{target: L1, constraints: [{type: temporal, factors: M=4, permutation: "
        "KM}]}]}"
        "\n",
        "mapspace: {constraints_os: [{type: temporal, target: L1, factors: M=4, permutation: KM}],\n"
        "  constraints_ws: [{type: temporal, target: L9, factors: M=4}], constraints: os}\n",
        "constraints: os\nconstraints_os: [{type: temporal, target: L1, factors: M=4, permutation: KM}]\n"
        "constraints_ws: [{type: temporal, target: L9, factors: M=4}]\n",
        "constraints: [{type: temporal, target: L1, attributes: {factors: M=4}, permutation: KM}]\n",
        "constraints: {constraints: {targets: [{type: temporal, name: L1, factors: M=4, permutation: "
        "KM}]}}\n",
    };
    for (size_t i = 0; i < N(texts); i++) {
        read_all(small_problem, small_arch, texts[i]);
        assert_string_equal(loops(&level("L1")->temporal), "M=4 | KM");
        assert_true(sx_input_n_constraints(r.input) > 0);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

/* Constraints of the flat and the v0.3 architecture itself. */
static void constraints_within_an_architecture(void **state) {
    (void)state;
    char arch[1024];
    snprintf(arch, sizeof arch, "%s%s", small_arch,
             "  constraints: [{type: temporal, target: L1, factors: M=4}]\n");
    read_all(small_problem, arch, "");
    assert_string_equal(loops(&level("L1")->temporal), "M=4");
}

/* Fixed factors that cannot be are free, going outward, and said to be. */
static void factors_that_cannot_be_are_ignored(void **state) {
    (void)state;
    static const struct {
        const char *inner, *outer, *limits[2], *warning;
    } cases[] = {
        {"M=32", "K=1", {"", "K=1"}, "the temporal factor M=32 of 'L0' exceeds the size 16 and is ignored"},
        {"N=5", "N=4", {"", "N=4"}, "the temporal factor N=5 of 'L0' does not divide 12 and is ignored"},
        {"N=6", "N=4", {"N=6", ""}, "N=4 of 'L1' does not divide 2, all that inner factors leave, and is"},
        {"N=6", "N=2", {"N=6", "N=2"}, NULL},
        {"N=0", "N=4", {"N=12", ""}, "N=4 of 'L1' does not divide 1, all that inner factors leave, and is"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "constraints: [{type: temporal, target: L0, factors: %s},\n"
                 "  {type: temporal, target: L1, factors: %s}]\n",
                 cases[i].inner, cases[i].outer);
        read_all(small_problem, small_arch, text);
        assert_string_equal(loops(&level("L0")->temporal), cases[i].limits[0]);
        assert_string_equal(loops(&level("L1")->temporal), cases[i].limits[1]);
        assert_int_equal(sx_count_warnings(r.input, ""), cases[i].warning != NULL);
        if (cases[i].warning) assert_int_equal(sx_count_warnings(r.input, cases[i].warning), 1);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

/* Reads constraints of the small problem where remainders are allowed. */
static void read_remainders(const char *constraints) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s", small_problem, small_arch, constraints);
    r.input = sx_expect_input(text);
    sx_input_read_as(r.input, SX_READ_REMAINDERS);
    sx_expect_ok(sx_input_problem(r.input, &r.problem));
    sx_expect_ok(sx_input_arch(r.input, &r.arch));
    sx_expect_ok(sx_input_constraints(r.input, &r.problem, &r.arch, &r.limits));
}

/* With remainders, a factor need not divide. */
static void remainders_keep_factors(void **state) {
    (void)state;
    read_remainders("constraints: [{type: temporal, target: L0, factors: N=5}]\n");
    assert_string_equal(loops(&level("L0")->temporal), "N=5");
    assert_int_equal(sx_count_warnings(r.input, ""), 0);
}

/* Several layers that a constraint cannot hold for make one warning that counts them. */
static void warnings_of_layers_are_counted(void **state) {
    (void)state;
    read_all(small_problem, small_arch, "constraints: [{type: temporal, target: L0, factors: M=32}]\n");
    for (uint32_t size = 4; size <= 16; size *= 2) {
        r.problem.size[0] = size;
        sx_expect_ok(sx_input_constraints(r.input, &r.problem, &r.arch, &r.limits));
    }
    assert_int_equal(sx_count_warnings(r.input, ""), 1);
    assert_int_equal(sx_count_warnings(r.input, "exceeds the size 16"), 1);
    assert_int_equal(sx_count_warnings(r.input, " (and 2 more of this kind there)"), 1);
}

/* As Timeloop's front end turns it into factors, on 4 x 4 units. */
static void dimensions_are_maximized(void **state) {
    (void)state;
    static const struct {
        const char *text, *limits;
    } cases[] = {
        {"maximize_dims: [M]", "M=16"},
        {"maximize_dims: [N]", "N=12"},
        {"maximize_dims: [M, K]", "M=16 K=1"},
        {"maximize_dims: [N, K]", "K=4 N=4"},
        {"maximize_dims: [[K], [M]]", "M=2 K=8"},
        {"maximize_dims: [[N], [M, K]]", "M=1 K=1 N=12"},
        {"factors: K=4, maximize_dims: [[N], [M]]", "M=1 K=4 N=4"},
        {"maximize_dims: [M], maximize_dims_capacity: 5", "M=4"},
        {"maximize_dims: [M], maximize_dims_capacity: attributes.depth // 32", "M=2"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "constraints: [{type: spatial, target: L0, %s}]\n", cases[i].text);
        read_all(small_problem, small_arch, text);
        assert_string_equal(loops(&level("L0")->spatial), cases[i].limits);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

/* What is fixed elsewhere leaves less to maximize; inner loops come first, spatial before temporal ones. */
static void maximizing_takes_what_is_left(void **state) {
    (void)state;
    read_all(
        small_problem, small_arch,
        "constraints:\n"
        "- {type: temporal, target: L1, factors: M=8, maximize_dims: [K, N], maximize_dims_capacity: 6}\n"
        "- {type: temporal, target: L0, maximize_dims: [K], maximize_dims_capacity: 3}\n"
        "- {type: spatial, target: L0, maximize_dims: [[M, N]]}\n");
    assert_string_equal(loops(&level("L0")->spatial), "M=2");
    assert_string_equal(loops(&level("L0")->temporal), "");
    assert_string_equal(loops(&level("L1")->temporal), "M=8 K=1 N=1");
}

/* Where a dimension is larger than what is left, nearly equal parts may use more of it than a divisor. As
 * Timeloop's mapper ignores factors that do not divide, so does a search without remainders. */
static void maximized_parts_need_not_divide(void **state) {
    (void)state;
    static const struct {
        const char *text, *kept, *without, *warning;
    } cases[] = {
        {"maximize_dims: [K], maximize_dims_capacity: 3", "K=3", "",
         "the spatial factor K=3 of 'L0' does not divide 8 and is ignored, as by Timeloop; "
         "--remainders keeps it"},
        {"maximize_dims: [N], maximize_dims_capacity: 8", "N=8", "", "N=8 of 'L0' does not divide 12"},
        {"maximize_dims: [N], maximize_dims_capacity: 5", "N=4", "N=4", NULL},
        {"maximize_dims: [[M], [N]], maximize_dims_capacity: 15", "M=8 N=1", "M=8 N=1", NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "constraints: [{type: spatial, target: L0, %s}]\n", cases[i].text);
        read_all(small_problem, small_arch, text);
        assert_string_equal(loops(&level("L0")->spatial), cases[i].without);
        assert_int_equal(sx_count_warnings(r.input, ""), cases[i].warning != NULL);
        if (cases[i].warning) assert_int_equal(sx_count_warnings(r.input, cases[i].warning), 1);
        sx_input_free(r.input);
        read_remainders(text);
        assert_string_equal(loops(&level("L0")->spatial), cases[i].kept);
        assert_int_equal(sx_count_warnings(r.input, ""), 0);
        sx_input_free(r.input);
    }
    r.input = NULL;
}

/* Values that the front end of Timeloop 0.4 computes. */
static void values_are_computed(void **state) {
    (void)state;
    read_all(small_problem, small_arch,
             "variables: {BITS: 4, HALF: BITS // 2}\n"
             "constraints:\n"
             "- {type: temporal, target: L0, factors: [(\"M=\" + str(HALF)), N=-1]}\n"
             "- {type: temporal, target: L1, factors_only: [M=-1, ('N=' + str(BITS - 3))]}\n"
             "- {type: spatial, target: L0, split: len(spec.problem.instance)}\n");
    assert_int_equal(level("L0")->temporal.min[0], 2);
    assert_int_equal(level("L0")->temporal.max[0], 2);
    assert_int_equal(level("L0")->temporal.max[2], 12);
    assert_int_equal(level("L1")->temporal.max[0], 16);
    assert_int_equal(level("L1")->temporal.min[0], 1);
    assert_int_equal(level("L1")->temporal.max[1], 1);
    assert_int_equal(level("L1")->temporal.max[2], 1);
    assert_int_equal(level("L0")->split, r.problem.n_dims);
}

/* The kinds of reuse that all mappings are to forbid. */
static void forbidden_reuse(void **state) {
    (void)state;
    read_all(small_problem, small_arch,
             "constraints:\n"
             "- {type: temporal, target: L0, no_reuse: [A], rmw_first_update: [Z]}\n"
             "- {type: temporal, target: L1, no_temporal_reuse: [B, Z]}\n"
             "- {type: spatial, target: L0, no_reuse: [A], no_link_transfer: ['*']}\n"
             "- {type: spatial, target: L0, no_multicast_no_reduction: [Z]}\n"
             "- {type: dataspace, target: L0, no_coalesce: [B]}\n");
    assert_int_equal(level("L0")->no_temporal_reuse, 1);
    assert_int_equal(level("L0")->no_coalesce, 2);
    assert_int_equal(level("L0")->rmw_first_update, 4);
    assert_int_equal(level("L1")->no_temporal_reuse, 6);
    assert_int_equal(level("L0")->no_multicast, 5);
    assert_int_equal(level("L0")->no_link_transfer, 7);
    sx_mapping mapping;
    char why[256];
    sx_mapping_init(&mapping, &r.problem, &r.arch);
    assert_false(sx_constraints_allow(&r.limits, &mapping, &r.problem, &r.arch, why, sizeof why));
    assert_string_equal(why, "L0: the mapping must say 'no_temporal_reuse' of A");
    for (int s = 0; s < 2; s++) sx_level_limits_impose(&r.limits.level[s], &mapping.level[s]);
    assert_true(sx_constraints_allow(&r.limits, &mapping, &r.problem, &r.arch, why, sizeof why));
}

/* The limits of names in a search do not stop an evaluation, which only notes them. */
static void an_evaluation_only_notes(void **state) {
    (void)state;
    sx_arch arch;
    char text[2048];
    snprintf(
        text, sizeof text, "%s%s", small_arch,
        "mapspace: uber\nconstraints: [{type: temporal, target: L9, factors: X=4, maximize_dims: [X]}]\n");
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, &arch));
    assert_int_equal(sx_count_notes(input, "the temporal constraint of 'L9' applies to searches only"), 1);
    sx_input_free(input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(row_stationary_of_v3, teardown),
        cmocka_unit_test_teardown(row_stationary_of_v4, teardown),
        cmocka_unit_test_teardown(forms_of_temporal_constraints, teardown),
        cmocka_unit_test_teardown(constraints_join, teardown),
        cmocka_unit_test_teardown(forms_of_tensor_constraints, teardown),
        cmocka_unit_test_teardown(nothing_is_fine, teardown),
        cmocka_unit_test_teardown(remainders_are_noted, teardown),
        cmocka_unit_test_teardown(forms_of_sections, teardown),
        cmocka_unit_test_teardown(constraints_within_an_architecture, teardown),
        cmocka_unit_test_teardown(factors_that_cannot_be_are_ignored, teardown),
        cmocka_unit_test_teardown(remainders_keep_factors, teardown),
        cmocka_unit_test_teardown(warnings_of_layers_are_counted, teardown),
        cmocka_unit_test_teardown(dimensions_are_maximized, teardown),
        cmocka_unit_test_teardown(maximizing_takes_what_is_left, teardown),
        cmocka_unit_test_teardown(maximized_parts_need_not_divide, teardown),
        cmocka_unit_test_teardown(values_are_computed, teardown),
        cmocka_unit_test_teardown(forbidden_reuse, teardown),
        cmocka_unit_test(an_evaluation_only_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
