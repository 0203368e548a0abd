#include "frontend/input.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Adds a tree in JSON's manner, without quotes. */
static void print(const sx_node *node, char *out) {
    if (node->kind == SX_NODE_SCALAR || node->kind == SX_NODE_NULL) {
        strcat(out, node->text);
        return;
    }
    strcat(out, node->kind == SX_NODE_MAP ? "{" : "[");
    for (size_t i = 0; i < node->n; i++) {
        if (i) strcat(out, ",");
        if (node->kind == SX_NODE_MAP) strcat(strcat(out, node->pair[i].key), ":");
        print(node->kind == SX_NODE_MAP ? node->pair[i].value : node->item[i], out);
    }
    strcat(out, node->kind == SX_NODE_MAP ? "}" : "]");
}

static void merges_give_what_is_missing(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{<<: *a, b: 2}", "{b:2,k:1,m:{x:1,y:1},l:[1]}"},
        {"{b: 2, <<: *a}", "{b:2,k:1,m:{x:1,y:1},l:[1]}"},
        {"{k: 9, m: {x: 9}, l: [9], <<: *a}", "{k:9,m:{x:9},l:[9]}"},
        {"{k: 9, m: {x: 9}, l: [9], <<<: *a}", "{k:9,m:{x:9,y:1},l:[9,1]}"},
        {"{<<<: [*a, *b], m: {z: 9}}", "{m:{z:9,x:1,y:1},k:1,l:[1,2],q:2}"},
        {"{<<: [*a, *b]}", "{k:1,m:{x:1,y:1},l:[1],q:2}"},
        {"{<<: [*b, *a]}", "{k:2,m:{x:2,z:2},l:[2],q:2,y:}"},
        {"{<<<: {m: 5}, m: {x: 9}}", "{m:{x:9}}"},
        {"{<<<: *a, m: !nomerge {x: 9}, l: !nomerge [9]}", "{m:{x:9},l:[9],k:1}"},
        {"{<<<: {m: {x: 3, n: {o: 1}}}, m: {n: {p: 2}}}", "{m:{n:{p:2,o:1},x:3}}"},
        {"{<<: []}", "{}"},
        {"{<<: {<<: *a, k: 7}}", "{k:7,m:{x:1,y:1},l:[1]}"},
        {"[{<<: *a}, *a]", "[{k:1,m:{x:1,y:1},l:[1]},{k:1,m:{x:1,y:1},l:[1]}]"},
        {"{<<<: *a, L: [1], k_l: 1, k-m: 2}", "{L:[1],k_l:1,k-m:2,k:1,m:{x:1,y:1},l:[1]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512], out[512] = "";
        bool y = strstr(cases[i][1], ",y:}") != NULL;
        snprintf(text, sizeof text,
                 "a: &a {k: 1, m: {x: 1, y: 1}, l: [1]}\nb: &b {k: 2, m: {x: 2, z: 2}, l: [2], q: 2%s}\n"
                 "problem: %s\n",
                 y ? ", y: " : "", cases[i][0]);
        sx_input *input = sx_expect_input(text);
        print(sx_input_section(input, "problem", 0)->value, out);
        assert_string_equal(out, cases[i][1]);
        sx_input_free(input);
    }
}

static void bad_merges_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"problem: {<<: 1}", "t.yaml:1:15: '<<' must be a map or a list of maps"},
        {"problem: {<<<: [{a: 1}, b]}", "t.yaml:1:25: '<<<' must be a map or a list of maps"},
        {"problem: {<<: {a: 1}, <<<: {b: 1}}",
         "t.yaml:1:23: a map has both '<<' and '<<<'\n  give one of them a list"},
        {"problem: {<<: {a: 1}, <<: {b: 1}}", "duplicate key '<<'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_input *input;
        sx_expect_ok(sx_input_new(&input));
        sx_expect_error(sx_input_add_text(input, "t.yaml", cases[i][0], strlen(cases[i][0])), cases[i][1]);
        sx_input_free(input);
    }
}

static void merged_values_keep_their_places(void **state) {
    (void)state;
    sx_input *input = sx_expect_input("a: &a\n  k: 1\nproblem:\n  <<: *a\n  b: 2\n");
    const sx_node *problem = sx_input_section(input, "problem", 0)->value;
    assert_int_equal(sx_node_get(problem, "k")->place.line, 2);
    assert_int_equal(sx_node_key_place(problem, "k").column, 3);
    assert_int_equal(problem->place.line, 4);
    sx_input_free(input);
}

/* A thousand maps that each merge a map of a thousand keys: refused before memory grows. */
static void merges_cannot_explode(void **state) {
    (void)state;
    enum { N = 1000, SIZE = 64 * N };
    char *text = malloc(SIZE), *at = text;
    assert_non_null(text);
    at += sprintf(at, "a: &a {");
    for (int i = 0; i < N; i++) at += sprintf(at, "k%d: 1,", i);
    at += sprintf(at, "}\nproblem: [");
    for (int i = 0; i < N; i++) at += sprintf(at, "{<<<: *a, k%d: 2},", i);
    sprintf(at, "]\n");
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "t.yaml", text, strlen(text));
    sx_input_free(input);
    free(text);
    sx_expect_error(status, "t.yaml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_give_what_is_missing),
        cmocka_unit_test(bad_merges_are_refused),
        cmocka_unit_test(merged_values_keep_their_places),
        cmocka_unit_test(merges_cannot_explode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
