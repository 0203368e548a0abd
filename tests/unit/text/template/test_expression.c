#include "text/template/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Knows `width` and `zero`. */
static sx_status lookup(void *user, const char *name, double *value, bool *found) {
    *found = strcmp(name, "width") == 0 || strcmp(name, "zero") == 0;
    *value = strcmp(name, "width") == 0 ? *(double *)user : 0;
    return SX_OK;
}

static void values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"64*1024", 65536},
        {" 1 + 2 * 3 ", 7},
        {"(1+2)*3", 9},
        {"-2**2", -4},
        {"2**-1", 0.5},
        {"2**3**2", 512},
        {"7 // 2", 3},
        {"-7 // 2", -4},
        {"-7 % 3", 2},
        {"7 % -3", -2},
        {"7 / 2", 3.5},
        {"1e-9 * 1e9", 1},
        {"width // 8", 8},
        {"width*2 - zero", 128},
        {"min(3, 1, 2)", 1},
        {"max(1,width)", 64},
        {"ceil(log2(100))", 7},
        {"floor(2.9)", 2},
        {"round(2.5)", 2},
        {"abs(-3)", 3},
        {"int(2.9) + int(-2.9)", 0},
        {"sqrt(16)", 4},
        {"pow(2, 10)", 1024},
        {"2 - -1", 3},
        {"+5", 5},
        {"10**3 // (width // 2)", 31},
        {"max(1, ceil(log2(width)))", 6},
        {"1 > 0", 1},
        {"width >= 64 and zero == 0", 1},
        {"1 if width > 8 else 1/zero", 1},
        {"1/zero if width < 8 else 2", 2},
        {"1 if zero else 2 if width else 3", 2},
        {"(1 if zero else 2) * 3 + min(4 if width else 5, 9)", 10},
        {"0 or 7", 7},
        {"zero and 1/zero", 0},
        {"not zero", 1},
        {"not not width != 64", 0},
        {"1 < 2 < 3", 1},
        {"1 < 3 < 2", 0},
        {"True + 1", 2},
        {"log(8, 2)", 3},
        {"float(3) / 2", 1.5},
    };
    double width = 64;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -1e9;
        sx_status error = sx_expression(cases[i].text, (sx_place){"f", 1, 2}, lookup, &width, &value);
        if (error) print_error("%s: %s\n", cases[i].text, error->message);
        assert_null(error);
        if (value != cases[i].value) print_error("%s is %g\n", cases[i].text, value);
        assert_true(value == cases[i].value);
    }
}

static void refusals(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "a number, a name or '(' is expected next"},
        {"1 +", "a number, a name or '(' is expected next"},
        {"(1", "a ')' is missing"},
        {"min(1", "a ')' is missing"},
        {"1 2", "unexpected text at the end"},
        {"1 if width", "an 'else' is missing"},
        {"if 1 else 2", "unexpected text at the end"},
        {"1 = 2", "unexpected text at the end"},
        {"'a'", "a number, a name or '(' is expected next"},
        {"1 not 2", "'in' should follow 'not'"},
        {"1 + None", "'+' needs two numbers or two texts"},
        {"1/zero", "it divides by zero"},
        {"1//0", "it divides by zero"},
        {"1%0", "it divides by zero"},
        {"10**400", "its value is not a finite number"},
        {"0 ** -1", "its value is not a finite number"},
        {"sqrt(-1)", "its value is not a finite number"},
        {"1e999", "its value is not a finite number"},
        {"0x10", "numbers must be decimal"},
        {"sin(1)", "unknown function 'sin'"},
        {"sqrt(1, 2)", "a function has the wrong number of arguments"},
        {"pow(2)", "a function has the wrong number of arguments"},
    };
    double width = 64, value = 7;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[256];
        snprintf(message, sizeof message, "the expression '%s' is not valid: %s", cases[i][0], cases[i][1]);
        sx_status error = sx_expression(cases[i][0], (sx_place){"f", 3, 4}, lookup, &width, &value);
        assert_non_null(error);
        assert_string_equal(error->message, message);
        assert_int_equal(error->line, 3);
        sx_status_free(error);
    }
    sx_status error = sx_expression("2 * height", (sx_place){"f", 3, 4}, lookup, &width, &value);
    assert_string_equal(error->message, "'height' is neither a number nor a known name");
    sx_status_free(error);
    assert_true(value == 7);
}

static void depth_is_limited(void **state) {
    (void)state;
    char text[1001];
    double value;
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < 1000; i++) text[i] = "-(["[kind];
        text[1000] = 0;
        sx_status error = sx_expression(text, (sx_place){"f", 1, 1}, lookup, NULL, &value);
        assert_non_null(strstr(error->message, "it is nested too deeply"));
        sx_status_free(error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(refusals),
        cmocka_unit_test(depth_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
