#include "text/template/template.h"

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
        {"{{ [1, 2] * 2 }} {{ 2 * [n] + ['a'] }} {{ [1] * 0 }} {{ [] + [1] }} {{ [1] * -1 }}",
         "[1, 2, 1, 2] [8, 8, 'a'] [] [1] []"},
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
        {"{% if false %}{% if missing %}a{% else %}b{% endif %}{{missing}}{% macro m() %}{% endif %}c", "c"},
        {"{% if on %}{% set n = n + 1 %}{% endif %}{{n}}", "9"},
        {"{% set a = 'x' %}{%set a=a~'y'%}{{a}}", "xy"},
        {"a{# {{ missing }} {% #}b", "ab"},
        {"a\n{%- if on -%}\n  b\n{%- endif %}\nc", "ab\nc"},
        {"# {{ missing }}\n  # {# {% macro m() %}\n{{n}}", "# {{ missing }}\n  # {# {% macro m() %}\n8"},
        {"# {% if false %}\nx: 1\n# {% endif %}\ny: 2", "# \ny: 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_text(cases[i][0], cases[i][1]);
}

static void loops_repeat_the_text(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{% for i in [1, 'b', n] %}<{{i}}>{% endfor %}.", "<1><b><8>."},
        {"{% for i in [] %}{{ missing }}{% endfor %}.", "."},
        {"{% for i in range(3) %}{{i}}{% endfor %}", "012"},
        {"{% for i in range(2, 8, 3) %}{{i}},{% endfor %}", "2,5,"},
        {"{% for i in range(3, 0, -1) %}{{i}}{% endfor %}", "321"},
        {"{% for i in range(3, 3) %}{{i}}{% endfor %}", ""},
        {"{% for i in [1, 2] %}{% for j in ['a', 'b'] %}{{i}}{{j}} {% endfor %}{% endfor %}", "1a 1b 2a 2b "},
        {"{% for i in [1, 2, 3] %}{{loop.index}}{{loop.index0}}{% if loop.first %}f{% endif %}"
         "{% if not loop.last %}, {% else %} of {{loop.length}}{% endif %}{% endfor %}",
         "10f, 21, 32 of 3"},
        {"{% set k = 1 %}{% for i in [1, 2] %}{% set k = k + i %}{{k}}{% endfor %}{{k}}", "231"},
        {"{% set i = 7 %}{% for i in [1] %}{{i}}{% endfor %}{{i}}", "17"},
        {"{% if not on %}{% for i in missing %}x{% endfor %}{% endif %}y", "y"},
        {"{% for i in [1, 2] %}\n- {{i}}\n{%- endfor %}\nz", "\n- 1\n- 2\nz"},
        {"{% for i in [1, 2] -%}\n  - {{i}}\n{% endfor %}z", "- 1\n- 2\nz"},
        {"# {% for i in [1, 2] %}\nx{{i}}: 1\n# {% endfor %}", "# \nx1: 1\n# \nx2: 1\n# "},
        {"{{ len([1, 2]) + [3] | length + len('abc') }}", "6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_text(cases[i][0], cases[i][1]);
}

static void texts_are_indented(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{% set t = 'a\nb\n\nc' %}{{ t | indent(2) }}", "a\n  b\n\n  c"},
        {"{% set t = 'a\nb' %}{{ t | indent }}", "a\n    b"},
        {"{% set t = 'a\nb' %}{{ t | indent(1, true) }}", " a\n b"},
        {"{% set t = 'a\nb' %}{{ t | indent(first=true, width=1) }}", " a\n b"},
        {"{{ missing | default('') | indent(2) }}.", "."},
        {"{{ missing | default(default_value='x') }}", "x"},
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
        {"x\n {% macro m() %}{% endmacro %}", "t:2:2: {% macro %} is not supported\n  supported: if, elif"},
        {"{% set x %}{% endset %}", "t:1:1: this form of {% set %} is not supported"},
        {"{{ sum(3) }}", "t:1:4: the expression ' sum(3) ' is not valid: unknown function 'sum'"},
        {"{{ n | sort }}", "t:1:8: the filter 'sort' is not supported\n  supported: default, indent"},
        {"{{ n is odd }}", "t:1:9: the test 'is odd' is not supported\n  supported: defined,"},
        {"{{ n.x }}", "t:1:1: the variable 'n.x' of the template has no value"},
        {"{{ n. x }}", "unexpected text"},
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
        {"{{ [1] + 1 }}", "'+' needs two lists, or '*' a list and a whole number"},
        {"{{ [1] * 1.5 }}", "'*' needs two lists, or '*' a list and a whole number"},
        {"{{ [1] ** 2 }}", "'**' needs two lists, or '*' a list and a whole number"},
        {"{{ [1, 2] * 1000000 }}", "a list is too large"},
        {"{{ 1 in 2 }}", "'in' needs a list, or two texts"},
        {"{{ n | default(1, 2, 3) }}", "a filter has too many arguments"},
        {"{{ n | default(1, way=3) }}", "a filter has too many arguments, or one that it does not know"},
        {"{{ n | int(3) }}", "a filter has too many arguments"},
        {"{{ n | length }}", "only lists and texts have a length"},
        {"{{ 'a' | indent(-1) }}", "an indentation is a whole number up to 1000"},
        {"{{ 'a' | indent(1.5) }}", "an indentation is a whole number up to 1000"},
        {"{% for i in [1] %}", "t:1:1: {% for %} is not closed by {% endfor %}"},
        {"{% for i in [1] %}{% if on %}{% endfor %}", "t:1:30: {% endfor %} without a {% for %}"},
        {"{% for i in [1] %}{% endif %}", "t:1:19: {% endif %} without an {% if %}"},
        {"{% for i in [1] %}{% else %}{% endfor %}", "t:1:19: {% else %} without an {% if %}"},
        {"{% endfor %}", "t:1:1: {% endfor %} without a {% for %}"},
        {"{% for i, j in [1] %}{% endfor %}", "t:1:1: this form of {% for %} is not supported"},
        {"{% for i in n %}{% endfor %}", "t:1:1: {% for %} needs a list"},
        {"{% for i in missing %}{% endfor %}", "t:1:1: the variable 'missing'"},
        {"{% for i in [1] %}{% endfor %}{{ i }}", "t:1:31: the variable 'i'"},
        {"{{ range(1, 2, 0) }}", "'range' has a step of 0 or more than 10000 numbers"},
        {"{{ range(100000) }}", "'range' has a step of 0 or more than 10000 numbers"},
        {"{{ range(1.5) }}", "the arguments of 'range' must be whole numbers"},
        {"{% for i in range(1000) %}{% for j in range(101) %}{% endfor %}{% endfor %}",
         "t:1:27: loops of the templates have more than 100000 rounds"},
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
        cmocka_unit_test(loops_repeat_the_text),
        cmocka_unit_test(texts_are_indented),
        cmocka_unit_test(everything_else_is_named_with_its_place),
        cmocka_unit_test(places_are_those_of_the_file),
        cmocka_unit_test(size_and_nesting_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
