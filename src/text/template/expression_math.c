/* The functions of arithmetic that expressions may call. */
#include "text/template/expression.h"

#include <math.h>
#include <string.h>

typedef struct function {
    const char *name;
    size_t least, most;
    bool whole; /* gives an int, whatever it is given */
    bool keeps; /* gives an int for ints */
    double (*one)(double);
    double (*two)(double, double);
} function;

static double smaller_of(double a, double b) {
    return b < a ? b : a;
}

static double larger_of(double a, double b) {
    return b > a ? b : a;
}

static double same_value(double a) {
    return a;
}

static double log_to(double x, double base) {
    return log(x) / log(base);
}

enum { ANY = 64 };

static const function functions[] = {
    {"min", 1, ANY, false, true, NULL, smaller_of}, {"max", 1, ANY, false, true, NULL, larger_of},
    {"pow", 2, 2, false, true, NULL, sx_power},     {"ceil", 1, 1, true, true, ceil, NULL},
    {"floor", 1, 1, true, true, floor, NULL},       {"round", 1, 1, true, true, rint, NULL},
    {"int", 1, 1, true, true, trunc, NULL},         {"float", 1, 1, false, false, same_value, NULL},
    {"abs", 1, 1, false, true, fabs, NULL},         {"sqrt", 1, 1, false, false, sqrt, NULL},
    {"exp", 1, 1, false, false, exp, NULL},         {"log", 1, 2, false, false, log, log_to},
    {"log2", 1, 1, false, false, log2, NULL},       {"log10", 1, 1, false, false, log10, NULL},
};

sx_status sx_math_call(const char *name, const sx_value *argument, size_t n, sx_value *out, bool *known) {
    const function *f = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) f = &functions[i];
    *known = f != NULL;
    if (!f) return SX_OK;
    if (n < f->least || n > f->most)
        return sx_error_new(SX_ERR_INPUT, "a function has the wrong number of arguments");
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        if (!sx_value_numeric(&argument[i])) return sx_error_new(SX_ERR_INPUT, "'%s' needs numbers", name);
        whole &= argument[i].whole;
    }
    double value = argument[0].number;
    for (size_t i = 1; i < n; i++) value = f->two(value, argument[i].number);
    if (n == 1 && f->one) value = f->one(value);
    if (!isfinite(value)) return sx_error_new(SX_ERR_INPUT, "its value is not a finite number");
    *out = sx_value_number(value, f->whole || (f->keeps && whole && value == floor(value)));
    return SX_OK;
}
