#include "text/write/write.h"

#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small problem and an architecture of two levels with 2 x 1 units. */
static sx_problem problem;
static sx_arch arch;

static int setup(void **state) {
    (void)state;
    sx_expect_ok(sx_einsum_parse("O[P] += I[R+2*P]*W[R] {R:3,P:5}", &problem));
    strcpy(problem.name, "conv 1");
    memset(&arch, 0, sizeof arch);
    arch.n_levels = 2;
    for (int s = 0; s < 2; s++) sx_storage_init(&arch.level[s]);
    sx_compute_init(&arch.compute);
    strcpy(arch.name, "toy");
    strcpy(arch.level[0].name, "Buf");
    strcpy(arch.level[1].name, "yes");
    strcpy(arch.compute.name, "MAC");
    arch.compute.instances = arch.compute.mesh_x = 2;
    arch.compute.energy = 0.1;
    arch.level[0].entries = 64;
    arch.level[0].read_bandwidth = 1.5;
    arch.level[0].n_keeps = 1;
    strcpy(arch.level[0].keeps[0], "I");
    arch.level[0].power_gated_at = 1;
    arch.level[1].technology = SX_DRAM;
    return 0;
}

static void a_problem_is_written(void **state) {
    (void)state;
    char *text;
    sx_expect_ok(sx_problem_write(&problem, SX_YAML, &text));
    assert_string_equal(text, "problem:\n"
                              "  shape:\n"
                              "    name: conv 1\n"
                              "    dimensions: [R, P]\n"
                              "    coefficients:\n"
                              "      - name: coef_2\n"
                              "        default: 2\n"
                              "    data-spaces:\n"
                              "      - name: O\n"
                              "        projection: [[[P]]]\n"
                              "        read-write: true\n"
                              "      - name: I\n"
                              "        projection: [[[R], [P, coef_2]]]\n"
                              "      - name: W\n"
                              "        projection: [[[R]]]\n"
                              "  instance:\n"
                              "    R: 3\n"
                              "    P: 5\n");
    free(text);
}

static void a_mapping_is_written(void **state) {
    (void)state;
    char *text;
    sx_mapping m;
    sx_mapping_init(&m, &problem, &arch);
    m.level[0].spatial[1] = 2;
    m.level[1].temporal[1] = 3;
    m.level[1].temporal_order[0] = 1;
    m.level[1].temporal_order[1] = 0;
    m.level[1].no_temporal_reuse = 2;
    sx_expect_ok(sx_mapping_write(&m, &problem, &arch, SX_YAML, &text));
    assert_string_equal(text, "mapping:\n"
                              "  - target: Buf\n"
                              "    type: bypass\n"
                              "    keep: [I]\n"
                              "    bypass: [O, W]\n"
                              "  - target: Buf\n"
                              "    type: spatial\n"
                              "    factors: R=1 P=2,1\n"
                              "    permutation: RP\n"
                              "    split: 0\n"
                              "  - target: Buf\n"
                              "    type: temporal\n"
                              "    factors: R=1 P=1\n"
                              "    permutation: RP\n"
                              "  - target: \"yes\"\n"
                              "    type: bypass\n"
                              "    keep: [O, I, W]\n"
                              "    bypass: []\n"
                              "  - target: \"yes\"\n"
                              "    type: temporal\n"
                              "    factors: R=3 P=3\n"
                              "    permutation: PR\n"
                              "    no_temporal_reuse: [I]\n");
    free(text);
}

static void an_architecture_is_written(void **state) {
    (void)state;
    char *text;
    sx_expect_ok(sx_arch_write(&arch, SX_YAML, &text));
    static const char head[] = "arch:\n"
                               "  name: toy\n"
                               "  arithmetic:\n"
                               "    name: MAC\n"
                               "    instances: 2\n"
                               "    meshX: 2\n"
                               "    meshY: 1\n"
                               "    word-bits: 16\n"
                               "    energy: 0.1\n"
                               "  storage:\n"
                               "    - name: Buf\n"
                               "      technology: SRAM\n"
                               "      entries: 64\n";
    assert_memory_equal(text, head, sizeof head - 1);
    assert_non_null(strstr(
        text, "      read_bandwidth: 1.5\n      reduction_supported: true\n      power_gated_at: \"yes\"\n"));
    assert_non_null(strstr(text, "      keep: [I]\n"));
    assert_null(strstr(text, "inf"));
    free(text);
    sx_expect_ok(sx_arch_write(&arch, SX_JSON, &text));
    assert_non_null(strstr(text, "\"energy\": 0.1"));
    free(text);
    arch.level[0].mesh_x = 3;
    text = NULL;
    sx_expect_error(sx_arch_write(&arch, SX_JSON, &text), "'Buf'");
    assert_null(text);
}

static void what_breaks_a_rule_is_not_written(void **state) {
    (void)state;
    char *text = NULL;
    sx_mapping m;
    sx_mapping_init(&m, &problem, &arch);
    m.level[0].temporal_order[0] = 1;
    sx_expect_error(sx_mapping_write(&m, &problem, &arch, SX_YAML, &text),
                    "not made for this problem and architecture");
    m.level[0].temporal_order[0] = 9;
    sx_expect_error(sx_mapping_write(&m, &problem, &arch, SX_YAML, &text), "not made for this problem");
    sx_mapping_init(&m, &problem, &arch);
    m.level[1].temporal[0] = 0;
    sx_expect_error(sx_mapping_write(&m, &problem, &arch, SX_YAML, &text), "not made for this problem");
    sx_mapping_init(&m, &problem, &arch);
    m.n_levels = 1;
    sx_expect_error(sx_mapping_write(&m, &problem, &arch, SX_YAML, &text), "not made for this problem");
    strcpy(problem.tensor[1].name, "\xff");
    sx_expect_error(sx_problem_write(&problem, SX_JSON, &text),
                    "cannot be written\n  are all names UTF-8 text?");
    problem.size[0] = 0;
    sx_expect_error(sx_problem_write(&problem, SX_JSON, &text), "dimension R has size 0");
    assert_null(text);
}

static void coefficients_get_names_of_their_own(void **state) {
    (void)state;
    char *text;
    sx_problem p;
    sx_expect_ok(sx_einsum_parse("O[coef_2] += I[2*coef_2-3*coef__] {coef_2:4,coef__:2}", &p));
    sx_expect_ok(sx_problem_write(&p, SX_YAML, &text));
    assert_non_null(strstr(text, "[[[coef_2, coef___2], [coef__, coef___m3]]]"));
    assert_null(strstr(text, "shape:\n    name"));
    free(text);
}

/* The cost of something, with every count told apart. */
static void fill_cost(sx_cost *cost) {
    memset(cost, 0, sizeof *cost);
    cost->n_levels = 2;
    cost->n_tensors = 3;
    cost->cycles = 15;
    cost->energy_pj = 2.5;
    cost->edp = 37.5;
    cost->utilization = 0.5;
    cost->computes = 15;
    cost->compute_cycles = 15;
    cost->compute_instances = 1;
    cost->level[0].instances = 2;
    cost->level[0].cycles = 14;
    cost->level[0].energy_pj = 1.25;
    cost->level[0].slowdown = 1;
    cost->level[0].tensor[1] =
        (sx_cost_tensor){.kept = true, .tile = 7, .reads = 30, .fills = 7, .updates = 4, .energy_pj = 0.5};
    cost->level[1].tensor[0].reads = 3;
    cost->network[1].energy_pj = 0.75;
    cost->network[1].tensor[2] = (sx_cost_net_tensor){.ingresses = 2.5, .multicast = 2, .hops = 1.5};
    cost->network[1].tensor[1].ingresses = INFINITY;
}

/* A value of a JSON tree by path: numbers index lists, a negative number ends it. */
static json_t *at(json_t *node, const char *list, int index, const char *key) {
    json_t *item = json_array_get(json_object_get(node, list), (size_t)index);
    return key ? json_object_get(item, key) : item;
}

static void a_cost_is_written(void **state) {
    (void)state;
    sx_cost cost;
    char *text;
    fill_cost(&cost);
    sx_expect_ok(sx_cost_write(&cost, &problem, &arch, &text));
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    assert_true(json_is_true(json_object_get(root, "legal")));
    assert_int_equal(json_integer_value(json_object_get(root, "cycles")), 15);
    assert_true(json_real_value(json_object_get(root, "energy_pj")) == 2.5);
    assert_true(json_real_value(json_object_get(root, "edp")) == 37.5);
    assert_true(json_real_value(json_object_get(root, "utilization")) == 0.5);
    assert_int_equal(json_integer_value(json_object_get(root, "computes")), 15);
    assert_string_equal(json_string_value(at(root, "levels", 0, "name")), "Buf");
    assert_int_equal(json_integer_value(at(root, "levels", 0, "instances_used")), 2);
    assert_int_equal(json_integer_value(at(root, "levels", 0, "cycles")), 14);
    assert_true(json_real_value(at(root, "levels", 0, "energy_pj")) == 1.25);
    json_t *buf = at(root, "levels", 0, NULL), *dram = at(root, "levels", 1, NULL);
    assert_string_equal(json_string_value(at(buf, "tensors", 1, "name")), "I");
    assert_true(json_is_true(at(buf, "tensors", 1, "kept")));
    assert_true(json_is_false(at(buf, "tensors", 0, "kept")));
    assert_int_equal(json_integer_value(at(buf, "tensors", 1, "utilized_capacity")), 7);
    assert_int_equal(json_integer_value(at(buf, "tensors", 1, "reads")), 15);
    assert_true(json_is_real(at(buf, "tensors", 1, "fills")));
    assert_true(json_real_value(at(buf, "tensors", 1, "fills")) == 3.5);
    assert_int_equal(json_integer_value(at(buf, "tensors", 1, "updates")), 2);
    assert_int_equal(json_integer_value(at(buf, "tensors", 1, "total_fills")), 7);
    assert_true(json_real_value(at(buf, "tensors", 1, "energy_pj")) == 0.5);
    assert_int_equal(json_integer_value(at(dram, "tensors", 0, "reads")), 3);
    assert_string_equal(json_string_value(at(root, "networks", 0, "name")), "Buf <==> MAC");
    assert_string_equal(json_string_value(at(root, "networks", 1, "name")), "yes <==> Buf");
    json_t *network = at(root, "networks", 1, NULL);
    assert_true(json_real_value(json_object_get(network, "energy_pj")) == 0.75);
    assert_true(json_real_value(at(network, "tensors", 2, "ingresses")) == 2.5);
    assert_true(json_is_null(at(network, "tensors", 1, "ingresses")));
    assert_int_equal(json_integer_value(at(network, "tensors", 2, "multicast")), 2);
    json_decref(root);
    cost.n_levels = 1;
    sx_expect_error(sx_cost_write(&cost, &problem, &arch, &text),
                    "the cost is not of this problem and architecture");
}

static void yaml_is_quoted_where_it_must_be(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"\"plain text\"", "plain text\n"},
        {"\"a,b\"", "a,b\n"},
        {"[\"a,b\", \"c\"]", "[\"a,b\", c]\n"},
        {"\"\"", "\"\"\n"},
        {"\"True\"", "\"True\"\n"},
        {"\"null\"", "\"null\"\n"},
        {"\"12\"", "\"12\"\n"},
        {"\"a: b\"", "\"a: b\"\n"},
        {"\"a \"", "\"a \"\n"},
        {"\"a  b\"", "\"a  b\"\n"},
        {"\"a#\"", "\"a#\"\n"},
        {"\"q\\\"\\\\\\n\"", "\"q\\\"\\\\\\x0a\"\n"},
        {"\"\xc3\xbc\"", "\"\xc3\xbc\"\n"},
        {"{}", "{}\n"},
        {"[]", "[]\n"},
        {"{\"a\": {}, \"b\": [], \"c\": null, \"d\": false, \"e\": 1e-9}",
         "a: {}\nb: []\nc: null\nd: false\ne: 1e-09\n"},
        {"{\"a b\": [[1, [2]], []]}", "a b: [[1, [2]], []]\n"},
        {"[[{\"a\": 1}], 2]", "- - a: 1\n- 2\n"},
        {"[{\"a\": [{\"b\": 1}, {\"c\": 2}], \"d\": 3}]", "- a:\n    - b: 1\n    - c: 2\n  d: 3\n"},
        {"{\"no\": 0.1}", "\"no\": 0.1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_text text = {0};
        json_t *root = json_loads(cases[i][0], JSON_DECODE_ANY, NULL);
        assert_non_null(root);
        sx_yaml_print(&text, root);
        assert_string_equal(text.data, cases[i][1]);
        sx_text_free(&text);
        json_decref(root);
    }
}

static void numbers_beyond_json_are_texts(void **state) {
    (void)state;
    char *text;
    sx_expect_ok(sx_json_write(sx_json_exact(UINT64_MAX - 1), SX_YAML, &text));
    assert_string_equal(text, "\"18446744073709551614\"\n");
    free(text);
    json_t *map = json_object();
    sx_json_set(map, "x", NULL);
    assert_true(sx_json_failed());
    sx_expect_error(sx_json_write(map, SX_YAML, &text), "out of memory");
    assert_false(sx_json_failed());
    for (sx_format format = SX_YAML; format <= SX_JSON_DIGITS; format++) {
        json_t *list = json_array();
        sx_json_append(list, sx_json_text("\xff"));
        sx_expect_error(sx_json_write(list, format, &text), "cannot be written");
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(a_problem_is_written),
        TEST(a_mapping_is_written),
        TEST(an_architecture_is_written),
        TEST(what_breaks_a_rule_is_not_written),
        TEST(coefficients_get_names_of_their_own),
        TEST(a_cost_is_written),
        TEST(yaml_is_quoted_where_it_must_be),
        TEST(numbers_beyond_json_are_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
