/* Which names that a user sets are used, and what the error for the others says. */
#include "text/settings.h"

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

/* Asserts the hint of an error. */
static void expect_hint(sx_status status, const char *hint) {
    assert_non_null(status);
    assert_int_equal(status->code, SX_ERR_USAGE);
    assert_string_equal(status->hint, hint);
    sx_status_free(status);
}

/* The names are listed by their distance, the name itself and what is beyond eight left out. */
static void names_are_listed(void **state) {
    (void)state;
    sx_settings s = {0};
    expect_hint(sx_settings_check(&s, "batch", "4"),
                "the input has no variable and no open size: leave it out");
    sx_expect_ok(sx_settings_know(&s, "batch", false));
    expect_hint(sx_settings_check(&s, "batch", "4"),
                "it is a variable of the files that no expression uses: leave it out");
    sx_expect_ok(sx_settings_know(&s, "rows", false));
    sx_expect_ok(sx_settings_know(&s, "bath", true));
    sx_expect_ok(sx_settings_know(&s, "bath", false));
    for (int twice = 0; twice < 2; twice++)
        expect_hint(sx_settings_check(&s, "batch", "4"), "names that can be set here: bath, rows");
    sx_expect_ok(sx_settings_check(&s, "bath", "4"));
    for (int i = 0; i < 7; i++) {
        const char name[] = {(char)('0' + i), 0};
        sx_expect_ok(sx_settings_know(&s, name, false));
    }
    expect_hint(sx_settings_check(&s, "batch", "4"),
                "names that can be set here: bath, rows, 0, 1, 2, 3, 4, 5, ...");
    sx_expect_ok(sx_settings_know(&s, "batch", true));
    sx_expect_ok(sx_settings_check(&s, "batch", "4"));
    sx_expect_ok(sx_settings_know(NULL, "batch", true));
    sx_settings_fini(&s);
}

#define SHAPE                                                                                                \
    "problem: {shape: {name: p, dimensions: [M], data_spaces: [{name: A, projection: [M]}, "                 \
    "{name: Z, projection: [M], read_write: true}]}, instance: {M: "

/* Whether a text uses the variable n that is set. */
static bool uses(const char *text) {
    sx_input *input;
    sx_problem problem;
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_set(input, "n", "4"));
    sx_expect_ok(sx_input_add_text(input, "t", text, strlen(text)));
    sx_expect_ok(sx_input_problem(input, &problem));
    sx_status status = sx_input_check_settings(input);
    bool used = !status;
    if (status) assert_string_equal(status->message, "'n' is set to '4', but nothing uses it");
    sx_status_free(status);
    sx_input_free(input);
    return used;
}

/* Expressions and templates use a variable where its value counts. */
static void files_use_names(void **state) {
    (void)state;
    assert_false(uses(SHAPE "8}}"));
    assert_true(uses(SHAPE "n}}"));
    assert_true(uses(SHAPE "2 * n}}"));
    assert_true(uses(SHAPE "m}}\nvariables: {m: n + 1, n: 2}"));
    assert_false(uses(SHAPE "m}}\nvariables: {m: 3, n: 2}"));
    assert_false(uses(SHAPE "3 if 1 > 0 else n}}"));
    assert_true(uses(SHAPE "{{n}}}}"));
    assert_true(uses(SHAPE "{{n | default(3)}}}}"));
    assert_true(uses(SHAPE "{% if n > 3 %}2{% else %}3{% endif %}}}"));
    assert_false(uses("{% set n = 3 %}" SHAPE "{{n}}}}"));
    assert_true(uses("{% set n = n + 1 %}" SHAPE "{{n}}}}"));
    assert_false(uses("{% set m = 3 %}" SHAPE "{% if m > 3 %}{{n}}{% else %}2{% endif %}}}"));
    assert_false(uses(SHAPE "{% for n in [5] %}{{n}}{% endfor %}}}"));
    assert_true(uses(SHAPE "{% for n in [5] %}{{n}}{% endfor %} + {{n}}}}"));
}

/* Constraints, which are read for a problem, use a name that stands in their text. */
static void constraints_use_names(void **state) {
    (void)state;
#define LEVEL(key) "\narchitecture: {nodes: [{name: L, " key ": {temporal: {factors: [M=n]}}}]}"
    assert_true(uses(SHAPE "8}}" LEVEL("constraints")));
    assert_false(uses(SHAPE "8}}" LEVEL("attributes")));
    assert_true(uses(SHAPE "8}}\nmapspace: {targets: [{factors: [M=<n]}]}"));
    assert_true(uses(SHAPE "8}}\narchitecture_constraints: {targets: [{factors: n=1}]}"));
    assert_false(uses(SHAPE "8}}\nconstraints: [{factors: mn=1, permutation: n_0 2n}]"));
}

/* A variable is set once. */
static void names_are_set_once(void **state) {
    (void)state;
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_set(input, "n", "4"));
    sx_expect_ok(sx_input_set(input, "m", "4"));
    sx_expect_error(sx_input_set(input, "n", "5"), "'n' is set twice: to '4' and to '5'");
    sx_input_free(input);
}

/* Inputs that share what they keep count together. */
static void inputs_share(void **state) {
    (void)state;
    static const char *const texts[] = {SHAPE "8}}", SHAPE "n}}"};
    sx_settings shared = {0};
    for (int i = 0; i < 2; i++) {
        sx_input *input;
        sx_problem problem;
        sx_expect_ok(sx_input_new(&input));
        sx_input_share_settings(input, &shared);
        sx_expect_ok(sx_input_set(input, "n", "4"));
        sx_expect_ok(sx_input_add_text(input, "t", texts[i], strlen(texts[i])));
        sx_expect_ok(sx_input_problem(input, &problem));
        sx_input_free(input);
        sx_status status = sx_settings_check(&shared, "n", "4");
        assert_int_equal(status == SX_OK, i == 1);
        sx_status_free(status);
    }
    sx_settings_fini(&shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_listed),      cmocka_unit_test(files_use_names),
        cmocka_unit_test(constraints_use_names), cmocka_unit_test(names_are_set_once),
        cmocka_unit_test(inputs_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
