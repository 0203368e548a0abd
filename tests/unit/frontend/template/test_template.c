#include "frontend/template/template.h"

#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Renders a text with variables n = 8, name = grid and on = True. */
static sx_status render(sx_arena *arena, const char *text, sx_source *out) {
    static const char *name[] = {"n", "name", "on"}, *value[] = {"8", "grid", "True"};
    const sx_template_options options = {.name = name, .value = value, .n_variables = 3};
    return sx_source_text(arena, &options, "t", text, strlen(text), out);
}

/* Asserts what a template becomes. */
static void expect_text(const char *template, const char *expected) {
    sx_arena arena = {0};
    sx_source source;
    sx_expect_ok(render(&arena, template, &source));
    assert_string_equal(source.text, expected);
    sx_source_fini(&source);
    sx_arena_free(&arena);
}

static void values_are_written_as_python_does(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"{{n}}", "8"},
        {"{{ n * 2 }} {{ n / 2 }} {{ n // 3 }} {{ 2 ** 10 }} {{ 2 ** -1 }}", "16 4.0 2 1024 0.5"},
        {"{{ 1e-9 }} {{ 0.1 + 0.2 }} {{ 100000000 }}", "1e-09 0.30000000000000004 100000000"},
        {"{{ name ~ '/' ~ n ~ '.yaml' }}", "grid/8.yaml"},
        {"{{ 'a' + \"b\" }} {{ 'it\\'s' }}", "ab it's"},
        {"{{ on }} {{ none }} {{ [1, 'a', true] }}", "True None [1, 'a', True]"},
        {"{{ x | default(3) }} {{ n | default(3) }} {{ '' | default('e', true) }} {{x|d}}", "3 8 e "},
        {"{{ '12' | int + 1 }} {{ 3 | float }} {{ 'Ab' | upper | lower }} {{ n | string ~ 1 }}",
         "13 3.0 ab 81"},
        {"{{ 'a' if n > 4 else missing }}{{ missing if n > 8 else 'b' }}", "ab"},
        {"{{ x is defined }} {{ n is not defined }} {{ x is undefined and not on }}", "False False False"},
        {"{{ n in [7, 8] }} {{ 'r' not in name }} {{ 'id' in name }}", "True False True"},
        {"{{ n == 8 and name != 'b' or missing }}", "True"},
        {"{{ 'a' < 'b' < 'c' }} {{ '}}' }}", "True }}"},
        {"{{- n -}}  x", "8x"},
        {"a  {{- n }} b {{+ n +}} c", "a8 b 8 c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_text(cases[i][0], cases[i][1]);
}

static void statements_choose_the_text(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{% if on %}a{% else %}b{% endif %}", "a"},
        {"{% if n > 8 %}a{% elif n == 8 %}b{% elif missing %}c{% else %}d{% endif %}", "b"},
        {"{% if not on %}a{% else %}b{% endif %}c", "bc"},
        {"{% if false %}{% if missing %}a{% else %}b{% endif %}{{missing}}{% for %}{% endif %}c", "c"},
        {"{% if on %}{% set n = n + 1 %}{% endif %}{{n}}", "9"},
        {"{% set a = 'x' %}{%set a=a~'y'%}{{a}}", "xy"},
        {"a{# {{ missing }} {% #}b", "ab"},
        {"a\n{%- if on -%}\n  b\n{%- endif %}\nc", "ab\nc"},
        {"# {{ missing }}\n  # {# {% for %}\n{{n}}", "# {{ missing }}\n  # {# {% for %}\n8"},
        {"# {% if false %}\nx: 1\n# {% endif %}\ny: 2", "# \ny: 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_text(cases[i][0], cases[i][1]);
}

static void everything_else_is_named_with_its_place(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a: 1\nb: {{ missing }}",
         "t:2:4: the variable 'missing' of the template has no value\n  give it with --set "
         "missing=VALUE"},
        {"{{ 1 +\n missing }}", "t:2:2: the variable 'missing'"},
        {"{{ missing | lower }}", "t:1:4: the variable 'missing'"},
        {"{{ missing and 1 }}", "t:1:4: the variable 'missing'"},
        {"{% if missing %}{% endif %}", "t:1:1: the variable 'missing'"},
        {"{% set a = missing %}", "t:1:1: the variable 'missing'"},
        {"x\n {% for i in [1] %}{% endfor %}", "t:2:2: {% for %} is not supported\n  supported: if, elif"},
        {"{% set x %}{% endset %}", "t:1:1: this form of {% set %} is not supported"},
        {"{{ range(3) }}", "t:1:4: the expression ' range(3) ' is not valid: unknown function 'range'"},
        {"{{ n | sort }}", "t:1:8: the filter 'sort' is not supported\n  supported: default, int"},
        {"{{ n is odd }}", "t:1:9: the test 'is odd' is not supported\n  supported: defined,"},
        {"{{ n.x }}", "unexpected text"},
        {"{{ n", "t:1:1: '{{' is not closed by '}}'"},
        {"{{ 'n }}", "t:1:1: '{{' is not closed by '}}'"},
        {"a {# b", "t:1:3: '{#' is not closed by '#}'"},
        {"{% if on %}", "t:1:1: {% if %} is not closed by {% endif %}"},
        {"{% endif %}", "t:1:1: {% endif %} without an {% if %}"},
        {"{% if on %}{% else %}{% elif on %}{% endif %}", "{% elif %} after {% else %}"},
        {"{{ include('x') }}", "t:1:4: includes are only read from files"},
        {"{{ include(1) }}", "the arguments of 'include' must be texts"},
        {"{{ cwd(1) }}", "'cwd' has the wrong number of arguments"},
        {"{{ 1 < 'a' }}", "'<' needs two numbers or two texts"},
        {"{{ 1 in 2 }}", "'in' needs a list, or two texts"},
        {"{{ n | default(1, 2, 3) }}", "a filter has too many arguments"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_arena arena = {0};
        sx_source source;
        sx_expect_error(render(&arena, cases[i][0], &source), cases[i][1]);
        sx_arena_free(&arena);
    }
}

static void places_are_those_of_the_file(void **state) {
    (void)state;
    sx_arena arena = {0};
    sx_source source;
    sx_expect_ok(
        render(&arena, "{% set long = 'a text' %}\n{% if on %}\nx: {{ long }}, y\n{% endif %}z", &source));
    assert_string_equal(source.text, "\n\nx: a text, y\nz");
    sx_place y = sx_source_place(&source, 2, 11), z = sx_source_place(&source, 3, 0);
    assert_int_equal(y.line, 3);
    assert_int_equal(y.column, 16);
    assert_int_equal(z.line, 4);
    assert_int_equal(z.column, 12);
    assert_int_equal(sx_source_place(&source, 2, 3).column, 4);
    sx_source_fini(&source);
    sx_arena_free(&arena);
}

static void size_and_nesting_are_limited(void **state) {
    (void)state;
    sx_arena arena = {0};
    sx_source source;
    char text[1000] = "";
    for (int i = 0; i < 33; i++) strcat(text, "{% if on %}");
    char large[2000] = "{% set a = 'x' %}{% set b = [1, 2] %}";
    for (int i = 0; i < 40; i++) strcat(large, "{% set a = a ~ a %}");
    sx_expect_error(render(&arena, large, &source), "a text is longer than 1048576 bytes");
    for (int i = 0; i < 40; i++) memcpy(strstr(large, "a = a ~ a"), "b=[b,b,b]", 9);
    sx_expect_error(render(&arena, large, &source), "a list is too large");
    sx_expect_error(render(&arena, text, &source), "t:1:353: {% if %} is nested deeper than 32");
    sx_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_python_does),
        cmocka_unit_test(statements_choose_the_text),
        cmocka_unit_test(everything_else_is_named_with_its_place),
        cmocka_unit_test(places_are_those_of_the_file),
        cmocka_unit_test(size_and_nesting_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
