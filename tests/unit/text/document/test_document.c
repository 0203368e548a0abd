#include "frontend/keys.h"

#include "frontend/input.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The value of the anchored top-level section x of a text. */
static const sx_node *value_of(sx_input *input) {
    const sx_pair *pair = sx_input_section(input, "x", 0);
    assert_non_null(pair);
    return pair->value;
}

/* The error of adding a text alone. */
static sx_status add_alone(const char *text, size_t size) {
    sx_input *input = NULL;
    sx_expect_ok(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "t.yaml", text, size);
    sx_input_free(input);
    return status;
}

/* Lists and maps are equal with all that is in them; pairs may be in another order. */
static void equal_lists_and_maps_are_dropped(void **state) {
    (void)state;
    static const char *const equal[] = {
        "x: &x {a: [1, two, {c: 3, d: }], b: 0, a: [1, two, {d: , c: 3}]}\n",
        "x: &x {a: {}, b: 0, a: {}}\n",
        "x: &x {a: [!T [1]], b: 0, a: [!T [1]]}\n",
        "x: &x {a: {c: &e {f: 1}}, b: 0, a: {c: *e}}\n",
    };
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        sx_input *input = sx_expect_input(equal[i]);
        assert_int_equal(value_of(input)->n, 2);
        assert_string_equal(value_of(input)->pair[1].key, "b");
        sx_input_free(input);
    }
    static const char *const unequal[] = {
        "x: {a: [1, 2],\n  a: [1, 3]}\n",
        "x: {a: [1, 2],\n  a: [2, 1]}\n",
        "x: {a: [1, 2],\n  a: [1, 2, 3]}\n",
        "x: {a: {c: 1},\n  a: {c: 2}}\n",
        "x: {a: {c: 1},\n  a: {d: 1}}\n",
        "x: {a: {c: 1},\n  a: [c]}\n",
        "x: {a: {c: {d: 1}},\n  a: {c: {d: ''}}}\n",
        "x: {a: !T [1],\n  a: [1]}\n",
        "x: {a: [[1], 2],\n  a: [[1, 2]]}\n",
    };
    for (size_t i = 0; i < sizeof unequal / sizeof *unequal; i++)
        sx_expect_error(add_alone(unequal[i], strlen(unequal[i])),
                        "t.yaml:2:3: duplicate key 'a'\n  the first is at t.yaml:1:5");
}

static void kinds_places_and_tags_are_kept(void **state) {
    (void)state;
    sx_input *input =
        sx_expect_input("# comment\nx: &x\n  a: 1\n  b: 'q'\n  c: [1, two]\n  d: !T {e: ~}\n  f:\n");
    const sx_node *x = value_of(input), *c = sx_node_get(x, "c"), *d = sx_node_get(x, "d");
    assert_int_equal(x->kind, SX_NODE_MAP);
    assert_int_equal(x->n, 5);
    assert_true(x->anchored);
    assert_string_equal(sx_node_get(x, "a")->text, "1");
    assert_false(sx_node_get(x, "a")->quoted);
    assert_true(sx_node_get(x, "b")->quoted);
    assert_int_equal(c->kind, SX_NODE_LIST);
    assert_string_equal(c->item[1]->text, "two");
    assert_string_equal(c->place.file, "t.yaml");
    assert_int_equal(c->item[1]->place.line, 5);
    assert_int_equal(c->item[1]->place.column, 10);
    assert_string_equal(d->tag, "!T");
    assert_int_equal(sx_node_get(d, "e")->kind, SX_NODE_NULL);
    assert_int_equal(sx_node_get(x, "f")->kind, SX_NODE_NULL);
    assert_int_equal(sx_node_key_place(x, "d").line, 6);
    assert_int_equal(sx_node_key_place(x, "d").column, 3);
    assert_int_equal(sx_node_key_place(x, "none").line, 2);
    assert_null(sx_node_get(c, "a"));
    assert_null(sx_node_get(NULL, "a"));
    assert_true(sx_node_is(sx_node_get(x, "b"), "q"));
    assert_false(sx_node_is(NULL, "q"));
    assert_int_equal(x->height, 3);
    assert_int_equal(x->weight, 9);
    sx_input_free(input);
}

static void hyphen_and_underscore_are_the_same_in_keys(void **state) {
    (void)state;
    sx_input *input = sx_expect_input("x: &x {a-b_c: 1}");
    assert_non_null(sx_node_get(value_of(input), "a_b-c"));
    assert_null(sx_node_get(value_of(input), "a_b_cd"));
    assert_null(sx_node_get(value_of(input), "a_b_"));
    sx_input_free(input);
}

static void json_is_read(void **state) {
    (void)state;
    sx_input *input = sx_expect_input(
        "{\n\t\"problem\":{\"a\":[1,2.5,\"s\\u00fc\\n\",true,null]},\n\t\"mapping\": []\n}\n");
    const sx_node *a = sx_node_get(sx_input_section(input, "problem", 0)->value, "a");
    assert_int_equal(a->n, 5);
    assert_string_equal(a->item[2]->text, "s\xc3\xbc\n");
    assert_int_equal(a->item[4]->kind, SX_NODE_NULL);
    sx_input_free(input);
}

static void documents_and_texts_give_sections(void **state) {
    (void)state;
    sx_input *input = sx_expect_input("---\nproblem: {a: 1}\n---\nERT: {b: 1}\n...\n---\n---\nERT: {c: 1}\n");
    sx_expect_ok(sx_input_add_text(input, "u.yaml", "mapping: []\n", 12));
    const sx_pair *pair = NULL;
    sx_expect_ok(sx_input_single(input, "problem", &pair));
    assert_string_equal(pair->key, "problem");
    sx_expect_error(sx_input_single(input, "ERT", &pair),
                    "t.yaml:8:1: duplicate section 'ERT'\n  the first is at t.yaml:4:1");
    assert_string_equal(sx_input_section(input, "ERT", 1)->value->pair[0].key, "c");
    assert_null(sx_input_section(input, "ERT", 2));
    assert_string_equal(sx_input_section(input, NULL, 3)->key, "mapping");
    assert_null(sx_input_section(input, NULL, 4));
    sx_expect_ok(sx_input_single(input, "arch", &pair));
    assert_null(pair);
    assert_true(sx_input_has(input, SX_DOCUMENT_PROBLEM));
    assert_false(sx_input_has(input, SX_DOCUMENT_MAPPING));
    assert_false(sx_input_has(input, SX_DOCUMENT_ARCH));
    sx_expect_ok(sx_input_add_text(input, "v.yaml", "arch: {c: 1}\nmapping: [1]\n", 26));
    assert_true(sx_input_has(input, SX_DOCUMENT_ARCH));
    assert_true(sx_input_has(input, SX_DOCUMENT_MAPPING));
    sx_expect_ok(sx_input_single(input, "mapping", &pair));
    assert_string_equal(pair->place.file, "v.yaml");
    sx_input_free(input);
    sx_input_free(NULL);
}

static void whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        bool good;
    } cases[] = {
        {"0", 0, true},
        {"64", 64, true},
        {"+7", 7, true},
        {"0x40", 64, true},
        {"0XfF", 255, true},
        {"1e3", 1000, true},
        {"64.0", 64, true},
        {"2.5e1", 25, true},
        {"18446744073709551615", UINT64_MAX, true},
        {"18446744073709551616", 0, false},
        {"0x10000000000000000", 0, false},
        {"-1", 0, false},
        {"1.5", 0, false},
        {"1e9999", 0, false},
        {"1e30", 0, false},
        {"", 0, false},
        {"+", 0, false},
        {"0x", 0, false},
        {"12a", 0, false},
        {"1_000", 0, false},
        {" 1", 0, false},
        {"inf", 0, false},
        {"nan", 0, false},
        {".5", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 99;
        bool good = sx_text_u64(cases[i].text, &value);
        if (good != cases[i].good || (good && value != cases[i].value)) fail_msg("%s", cases[i].text);
    }
    int64_t value;
    assert_true(sx_text_i64("-9223372036854775807", &value) && value == -INT64_MAX);
    assert_true(sx_text_i64("-3", &value) && value == -3);
    assert_false(sx_text_i64("9223372036854775808", &value));
    assert_false(sx_text_i64("-+3", &value));
    assert_false(sx_text_i64("--3", &value));
}

/* Whole numbers with leading zeros are refused where an octal reading would be another, or none. */
static void leading_zeros_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"0", true},     {"00", true},   {"07", true},    {"-07", true},   {"0.5", true},
        {"010.5", true}, {"0x10", true}, {"1e3", true},   {"100", true},   {"08", false},
        {"9", true},     {"010", false}, {"+012", false}, {"-012", false}, {"0018", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sx_node node = {.kind = SX_NODE_SCALAR, .text = cases[i].text};
        double number;
        sx_status status = sx_node_double(&node, "size", &number);
        bool hexadecimal = strchr(cases[i].text, 'x');
        if (!hexadecimal && (status == SX_OK) != cases[i].good) fail_msg("%s", cases[i].text);
        sx_status_free(status);
        status = sx_node_decimal(&node, "size");
        if ((status == SX_OK) != cases[i].good) fail_msg("%s", cases[i].text);
        sx_status_free(status);
    }
    const sx_node octal = {.kind = SX_NODE_SCALAR, .text = "010"};
    uint64_t whole;
    uint32_t small;
    int64_t any;
    sx_status status[] = {sx_node_u64(&octal, "size", &whole), sx_node_range(&octal, "size", 1, 20, &whole),
                          sx_node_u32(&octal, "size", &small), sx_node_i64(&octal, "size", &any)};
    for (size_t i = 0; i < sizeof status / sizeof status[0]; i++) {
        assert_non_null(status[i]);
        assert_non_null(strstr(status[i]->message, "octal"));
        sx_status_free(status[i]);
    }
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        bool good;
    } cases[] = {
        {"0", 0, true},
        {"-1.5", -1.5, true},
        {"1e-9", 1e-9, true},
        {".5", 0.5, true},
        {"5.", 5, true},
        {"1E+3", 1000, true},
        {"inf", INFINITY, true},
        {".inf", INFINITY, true},
        {"-.Inf", -INFINITY, true},
        {"Infinity", INFINITY, true},
        {"nan", 0, false},
        {".nan", 0, false},
        {"1e9999", 0, false},
        {"0x10", 0, false},
        {"1e", 0, false},
        {"e5", 0, false},
        {"1,5", 0, false},
        {"1.2.3", 0, false},
        {"", 0, false},
        {"-", 0, false},
        {".", 0, false},
        {"1e-400", 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 99;
        bool good = sx_text_double(cases[i].text, &value);
        if (good != cases[i].good || (good && value != cases[i].value)) fail_msg("%s", cases[i].text);
    }
    char longest[600];
    double value;
    memset(longest, '1', sizeof longest);
    longest[599] = 0;
    assert_false(sx_text_double(longest, &value));
}

static void typed_values_are_read_or_refused(void **state) {
    (void)state;
    sx_input *input =
        sx_expect_input("x: &x\n  n: 5\n  big: 4294967296\n  neg: -3\n  d: 2.5\n  t: Yes\n  f: '0'\n"
                        "  s: text\n  l: [1]\n  m: {a: 1}\n  z: ~\n  c: \"a\\x07\"\n");
    const sx_node *x = value_of(input);
    uint64_t u = 1;
    uint32_t u32 = 1;
    int64_t i = 1;
    double d = 1;
    bool b = false;
    const char *s = "untouched";
    char name[SX_NAME_SIZE];
    sx_expect_ok(sx_node_get_u64(x, "n", &u));
    sx_expect_ok(sx_node_get_u64(x, "missing", &u));
    assert_int_equal(u, 5);
    sx_expect_ok(sx_node_get_u32(x, "n", &u32));
    sx_expect_ok(sx_node_get_u32(x, "missing", &u32));
    assert_int_equal(u32, 5);
    sx_expect_ok(sx_node_get_i64(x, "neg", &i));
    sx_expect_ok(sx_node_get_i64(x, "missing", &i));
    assert_int_equal(i, -3);
    sx_expect_ok(sx_node_get_double(x, "d", &d));
    sx_expect_ok(sx_node_get_double(x, "missing", &d));
    assert_true(d == 2.5);
    sx_expect_ok(sx_node_get_bool(x, "t", &b));
    assert_true(b);
    sx_expect_ok(sx_node_get_bool(x, "f", &b));
    sx_expect_ok(sx_node_get_bool(x, "missing", &b));
    assert_false(b);
    sx_expect_ok(sx_node_get_text(x, "missing", &s));
    assert_string_equal(s, "untouched");
    sx_expect_ok(sx_node_get_text(x, "s", &s));
    assert_string_equal(s, "text");
    sx_expect_ok(sx_node_get_name(x, "s", name));
    sx_expect_ok(sx_node_get_name(x, "missing", name));
    assert_string_equal(name, "text");
    sx_expect_error(sx_node_get_u64(x, "neg", &u),
                    "t.yaml:4:8: 'neg' must be a whole number from 0 to 2^64-1, but is '-3'");
    sx_expect_error(sx_node_get_u32(x, "big", &u32),
                    "t.yaml:3:8: 'big' must be a whole number from 0 to 2^32-1");
    sx_expect_error(sx_node_get_i64(x, "d", &i),
                    "'d' must be a whole number from -(2^63-1) to 2^63-1, but is '2.5'");
    sx_expect_error(sx_node_get_double(x, "s", &d), "'s' must be a number, but is 'text'");
    sx_expect_error(sx_node_get_bool(x, "n", &b), "'n' must be true or false, but is '5'");
    sx_expect_error(sx_node_get_text(x, "l", &s), "'l' must be a text, but is a list");
    sx_expect_error(sx_node_get_text(x, "m", &s), "'m' must be a text, but is a map");
    sx_expect_error(sx_node_get_u64(x, "z", &u), "'z' must be a whole number from 0 to 2^64-1, but is empty");
    sx_expect_error(sx_node_get_name(x, "c", name), "'c' has characters that cannot be printed");
    sx_input_free(input);
}

static void names_must_fit_and_be_printable(void **state) {
    (void)state;
    char text[200] = "x: &x [ '', \"\\u0080\", \"\\uFEFF\", \"\\x7f\", \"\xc3\xbc\", ";
    memset(text + strlen(text), 'n', 64);
    strcat(text, "]");
    sx_input *input = sx_expect_input(text);
    const sx_node *x = value_of(input);
    char name[SX_NAME_SIZE];
    sx_expect_error(sx_node_name(x->item[0], "name", name), "t.yaml:1:9: name has an empty name");
    for (int i = 1; i < 4; i++) sx_expect_error(sx_node_name(x->item[i], "name", name), "cannot be printed");
    sx_expect_ok(sx_node_name(x->item[4], "name", name));
    sx_expect_error(sx_node_name(x->item[5], "name", name), "is 64 bytes long; at most 63");
    sx_input_free(input);
}

/* Joins names with bars. */
static sx_status join(void *user, const char *name, sx_place place) {
    char *all = user;
    if (strcmp(name, "bad") == 0) return sx_error_at(place, "bad name");
    strcat(all, name);
    strcat(all, "|");
    return SX_OK;
}

static void names_come_as_lists_or_words(void **state) {
    (void)state;
    sx_input *input = sx_expect_input("x: &x\n- [a, b c]\n- a, b  c\n-\n- {a: b}\n- [[a]]\n- 'a bad'\n");
    const sx_node *x = value_of(input);
    char all[64] = "";
    sx_expect_ok(sx_node_names(x->item[0], "names", join, all));
    assert_string_equal(all, "a|b c|");
    all[0] = 0;
    sx_expect_ok(sx_node_names(x->item[1], "names", join, all));
    assert_string_equal(all, "a|b|c|");
    sx_expect_ok(sx_node_names(x->item[2], "names", join, all));
    assert_string_equal(all, "a|b|c|");
    sx_expect_error(sx_node_names(x->item[3], "names", join, all),
                    "'names' must be a list of names, but is a map");
    sx_expect_error(sx_node_names(x->item[4], "names", join, all), "'names' must be a text, but is a list");
    sx_expect_error(sx_node_names(x->item[5], "names", join, all), "t.yaml:7:6: bad name");
    sx_input_free(input);
    char text[200] = "x: &x ";
    memset(text + strlen(text), 'n', 64);
    input = sx_expect_input(text);
    sx_expect_error(sx_node_names(value_of(input), "names", join, all),
                    "the name 'nnnnnnnnnnnnnnnn...' is longer than 63");
    sx_input_free(input);
}

static void kinds_and_keys_are_demanded(void **state) {
    (void)state;
    sx_input *input = sx_expect_input("x: &x {a: 1, l: [], n: }");
    const sx_node *x = value_of(input), *node = NULL;
    sx_expect_ok(sx_node_expect(x, SX_NODE_MAP, "'x'"));
    sx_expect_error(sx_node_expect(x, SX_NODE_LIST, "'x'"), "t.yaml:1:4: 'x' must be a list, but is a map");
    sx_expect_error(sx_node_expect(sx_node_get(x, "l"), SX_NODE_SCALAR, "'l'"),
                    "must be a single value, but is a list");
    sx_expect_error(sx_node_expect(sx_node_get(x, "n"), SX_NODE_MAP, "'n'"), "must be a map, but is empty");
    sx_expect_error(sx_node_expect(sx_node_get(x, "a"), SX_NODE_MAP, "'a'"),
                    "must be a map, but is a single value");
    sx_expect_ok(sx_node_require(x, "a", "the thing", &node));
    assert_string_equal(node->text, "1");
    sx_expect_error(sx_node_require(x, "q", "the thing", &node), "t.yaml:1:4: the thing has no 'q'");
    sx_input_free(input);
}

static void keys_are_checked_against_rules(void **state) {
    (void)state;
    static const sx_key_rule rules[] = {
        SX_KEY("entries", NULL, NULL),
        SX_KEY("word-bits", NULL, NULL),
        SX_KEY_IDLE("area"),
        {"sparse", SX_KEY_UNSUPPORTED, "leave it out", NULL, NULL},
        {"skew", SX_KEY_UNSUPPORTED, NULL, NULL, NULL},
    };
    static const sx_keys keys = SX_KEYS("test", true, rules);
    sx_input *input = sx_expect_input(
        "x: &x\n- {word_bits: 1, area: 2, skew: []}\n- {entires: 1}\n- {sparse: 1}\n- {skew: 1}\n"
        "- {quite_different: 1}\n- {entries:5}\n- [1]\n");
    const sx_node *x = value_of(input);
#define CHECK(i) sx_node_check_keys(input, x->item[i], "the level", &keys)
    sx_expect_ok(CHECK(0));
    sx_expect_ok(CHECK(0));
    assert_int_equal(sx_count_notes(input, "t.yaml:2:18: 'area' of the level has no effect on the result"),
                     1);
    assert_null(sx_input_note(input, 1));
    sx_expect_error(CHECK(1), "t.yaml:3:4: unknown key of the level: 'entires'\n  did you mean 'entries'?");
    sx_expect_error(
        CHECK(2),
        "t.yaml:4:4: 'sparse' of the level is not supported and would change the result\n  leave it out");
    sx_expect_error(CHECK(3), "t.yaml:5:4: 'skew' of the level is not supported");
    sx_expect_ok(CHECK(4));
    assert_int_equal(sx_count_warnings(input, "'quite_different' of the level is not understood"), 1);
    sx_expect_error(sx_node_check_keys(NULL, x->item[4], "the level", &keys),
                    "unknown key of the level: 'quite_different'\n  known: entries, word-bits");
    sx_expect_error(
        CHECK(5),
        "unknown key of the level: 'entries:5'\n  YAML needs a space after the colon: 'entries: 5'");
    sx_expect_error(CHECK(6), "t.yaml:8:3: the level must be a map, but is a list");
    sx_input_free(input);
    sx_expect_error(sx_error_unknown((sx_place){0}, "thing", "a", NULL, 0), "unknown thing 'a'");
}

/* A key that is written twice with equal values is noted. */
static void equal_duplicates_are_noted(void **state) {
    (void)state;
    static const sx_key_rule rules[] = {SX_KEY("a", NULL, NULL), SX_KEY("b", NULL, NULL)};
    static const sx_keys keys = SX_KEYS("test", true, rules);
    sx_input *input = sx_expect_input("x: &x {a: 1, b: 2, a: 1, b: 2}\n");
    const sx_node *x = value_of(input);
    assert_int_equal(x->n, 2);
    assert_string_equal(sx_node_get(x, "b")->text, "2");
    sx_expect_ok(sx_node_check_keys(input, x, "the map", &keys));
    assert_int_equal(sx_count_notes(input, "duplicate key"), 1);
    sx_input_read_as(input, SX_READ_STRICT);
    sx_expect_error(sx_node_check_keys(input, x, "the map", &keys), "with an equal value");
    sx_input_free(input);
}

static void sections_are_checked(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[1, 2]", "t.yaml:1:1: the document must be a map, but is a list"},
        {"word", "t.yaml:1:1: the document must be a map, but is a single value"},
        {"problm: {}", "t.yaml:1:1: unknown key of the document: 'problm'\n  did you mean 'problem'?"},
        {"mapper: {optimizatin_metrics: delay}", "unknown key of 'mapper': 'optimizatin_metrics'"},
        {"mapspace_constraints: {tarets: []}", "unknown key of mapspace_constraints: 'tarets'"},
        {"mapspace: {version: 0.4, targts: []}", "did you mean 'targets'?"},
        {"constraints: {targets: {tragets: []}}", "t.yaml:1:25: unknown key of constraints: 'tragets'"},
        {"globals: {environment_variables: {TIMELOOP_ENABLE_FIRST_READ_ELISION: 0}}",
         "t.yaml:1:35: 'TIMELOOP_ENABLE_FIRST_READ_ELISION' cannot be read from a file"},
        {"globals: {environment_variables: {TIMELOOP_DISABLE_LINK_TRANSFERS: 1}}", "would change the result"},
        {"globals: {environment_variables: {TIMELOOP_DISABLE_LINK_TRANSFERS: x}}", "must be true or false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        sx_expect_error(add_alone(cases[i][0], strlen(cases[i][0])), cases[i][1]);
    sx_input *input = sx_expect_input(
        "mapper: {timeout: 1, log-stats: 1, algoithm: x}\nsparse_optimizations: {version: 0.4, targets: []}\n"
        "globals: {environment_variables: {TIMELOOP_ENABLE_FIRST_READ_ELISION: 1}}\n"
        "template: &t {a: 1}\n");
    assert_int_equal(sx_count_notes(input, "t.yaml:1:1: 'mapper': timeout, log-stats are settings"), 1);
    sx_input_free(input);
}

static void syntax_errors_have_places_and_cures(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"problem:\n\ta: 1\n",
         "t.yaml:2:1: while scanning for the next token: found character that cannot start any "
         "token\n  indent with spaces, not tabs"},
        {"problem: {a: [1, 2}\n",
         "t.yaml:1:19: while parsing a flow sequence: did not find expected ',' or ']'\n  is a "
         "bracket not closed, or a comma missing?"},
        {"problem: {a: 1", "is a bracket not closed"},
        {"problem:\n  a: 1\n b: 2\n",
         "t.yaml:3:2: while parsing a block mapping: did not find expected key\n  entries of "
         "one map or list must be indented alike"},
        {"problem: a: 1\n",
         "t.yaml:1:11: mapping values are not allowed in this context\n  is a line indented too far"},
        {"problem:\n  a\n  b: 1\n", "t.yaml:3:4: mapping values are not allowed"},
        {"problem:\n  - a\n  b: 1\n", "did not find expected '-' indicator\n  entries of one map"},
        {"problem: 1\nword\n",
         "could not find expected ':'\n  a map's key is followed by a colon and a space"},
        {"problem: {a:}\n", "found unexpected ':'\n  a map's key is followed by a colon and a space"},
        {"problem: 'open\n", "t.yaml:2:1: while scanning a quoted scalar: found unexpected end of stream"},
        {"problem: \"\xff\"\n", "t.yaml:1:11: invalid leading UTF-8 octet\n  the text must be UTF-8"},
        {"problem: \"\x01\"\n", "t.yaml:1:11: control characters are not allowed"},
        {"problem: *none\n",
         "t.yaml:1:10: there is no anchor for the alias '*none'\n  an anchor '&none' must come before it"},
        {"problem: &a [*a]\n", "t.yaml:1:14: the alias '*a' is inside its own anchor"},
        {"problem: {a: 1, b: 2, a: 3}\n", "t.yaml:1:23: duplicate key 'a'\n  the first is at t.yaml:1:11"},
        {"problem: {a-b: 1, a_b: 2}\n", "t.yaml:1:19: duplicate key 'a_b'"},
        {"problem: {[a]: 1}\n", "t.yaml:1:11: a key must be a single word"},
        {"problem: !include other.yaml\n", "t.yaml:1:10: includes are only read from files"},
        {"problem: !includedir other\n", "t.yaml:1:10: '!includedir' is not supported here\n  write"},
        {"problem: {%YAML: 1}\n", "t.yaml:1:10: '{%' is not closed by '%}'"},
        {"problem: 1\n...\n---\nx: *p\n", "t.yaml:4:4: there is no anchor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        sx_expect_error(add_alone(cases[i][0], strlen(cases[i][0])), cases[i][1]);
    sx_expect_error(add_alone("problem: \"a\0b\"", 14), "t.yaml:1:12: control characters are not allowed");
    sx_expect_error(add_alone("problem: \"a\\0b\"", 15), "t.yaml:1:10: a text has a zero byte");
    char tag[400] = "problem: !";
    memset(tag + 10, 't', 300);
    strcat(tag, " 1");
    sx_expect_error(add_alone(tag, strlen(tag)), "a tag is longer than 256 bytes");
}

/* n copies of a piece between a head and a tail; the caller frees it. */
static char *repeat(const char *head, const char *piece, size_t n, const char *tail) {
    size_t size = strlen(head) + n * strlen(piece) + strlen(tail) + 1;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < n; i++) at += sprintf(at, "%s", piece);
    sprintf(at, "%s", tail);
    return text;
}

static void limits_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *head, *piece, *tail, *error;
        size_t n;
    } cases[] = {
        {"problem: ", "[", "", "nested deeper than 64", 100000},
        {"problem: ", "{a: ", "", "nested deeper than 64", 1000},
        {"problem:\n", "- - - - ", "1", "nested deeper than 64", 100},
        {"problem: [", "1,", "]", "more than 500000 values", 600000},
        {"problem: \"", "aaaaaaaaaaaaaaaa", "\"", "a text is longer than 1 MB", 70000},
        {"problem: [", "&a 1,", "]", "more than 1000 anchors", 1001},
        {"problem: [&a 1", ",*a", "]", "more than 500000 values", 600000},
        {"", "---\nproblem: 1\n", "", "more than 10000 sections", 10001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = repeat(cases[i].head, cases[i].piece, cases[i].n, cases[i].tail);
        sx_status status = add_alone(text, strlen(text));
        free(text);
        sx_expect_error(status, cases[i].error);
    }
    char *text = repeat("problem: ", "[", 62, "");
    char *closed = repeat(text, "]", 62, "");
    sx_expect_ok(add_alone(closed, strlen(closed)));
    free(text);
    free(closed);
}

static void aliases_cannot_explode(void **state) {
    (void)state;
    char text[4096] = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
    for (int i = 1; i < 9; i++) {
        char line[128];
        snprintf(line, sizeof line, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        strcat(text, line);
    }
    sx_expect_error(add_alone(text, strlen(text)),
                    "t.yaml:6:5: with aliases expanded, the text has more than 500000 values");
    char deep[4096] = "a0: &a0 [1]\n";
    for (int i = 1; i < 80; i++) {
        char line[128];
        snprintf(line, sizeof line, "a%d: &a%d [*a%d]\n", i, i, i - 1);
        strcat(deep, line);
    }
    sx_expect_error(add_alone(deep, strlen(deep)), "t.yaml:64:6: lists and maps are nested deeper than 64");
}

static void notes_are_limited(void **state) {
    (void)state;
    sx_input *input = sx_expect_input("problem: 1");
    for (int i = 0; i < 2000; i++)
        sx_expect_ok(sx_input_add_note(input, (sx_place){"f", i, 1}, "note %d", i));
    sx_expect_ok(sx_input_add_note(input, (sx_place){0}, "placeless"));
    assert_non_null(sx_input_note(input, 999));
    assert_null(sx_input_note(input, 1000));
    sx_input_free(input);
}

/* Names of two letters are near to nothing but themselves. */
static void short_names_are_near_to_nothing(void **state) {
    (void)state;
    static const char *const known[] = {"ab", "abcd"};
    assert_string_equal(sx_name_nearest("AB", known, 2), "ab");
    assert_string_equal(sx_name_nearest("abc", known + 1, 1), "abcd");
    assert_null(sx_name_nearest("ac", known, 2));
    assert_null(sx_name_nearest("ad", (const char *const[]){"add"}, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_places_and_tags_are_kept),
        cmocka_unit_test(hyphen_and_underscore_are_the_same_in_keys),
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(documents_and_texts_give_sections),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(leading_zeros_are_refused),
        cmocka_unit_test(numbers),
        cmocka_unit_test(typed_values_are_read_or_refused),
        cmocka_unit_test(names_must_fit_and_be_printable),
        cmocka_unit_test(names_come_as_lists_or_words),
        cmocka_unit_test(kinds_and_keys_are_demanded),
        cmocka_unit_test(keys_are_checked_against_rules),
        cmocka_unit_test(equal_duplicates_are_noted),
        cmocka_unit_test(equal_lists_and_maps_are_dropped),
        cmocka_unit_test(sections_are_checked),
        cmocka_unit_test(syntax_errors_have_places_and_cures),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(aliases_cannot_explode),
        cmocka_unit_test(notes_are_limited),
        cmocka_unit_test(short_names_are_near_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
