#include "frontend/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_ARGUMENTS 8
#define MAX_NAME 64

typedef struct parser {
    const char *text, *at;
    sx_place place;
    sx_name_lookup *lookup;
    void *user;
    int depth;
} parser;

static sx_status parse_sum(parser *p, double *out);

static void skip_space(parser *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
}

/* Takes an operator or a bracket where it comes next. */
static bool take(parser *p, const char *token) {
    skip_space(p);
    size_t size = strlen(token);
    if (strncmp(p->at, token, size) != 0) return false;
    p->at += size;
    return true;
}

static sx_status bad(const parser *p, const char *what) {
    return sx_error_at(p->place, "the expression '%s' is not understood: %s", p->text, what);
}

static sx_status finite(const parser *p, double value, double *out) {
    if (!isfinite(value)) return bad(p, "its value is not a finite number");
    *out = value;
    return SX_OK;
}

/* Reads a number; hexadecimal and names such as "inf" are not numbers here. */
static sx_status parse_number(parser *p, double *out) {
    if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X')) return bad(p, "numbers are decimal");
    char *end;
    double value = strtod(p->at, &end);
    if (end == p->at) return bad(p, "a number, a name or '(' should come next");
    p->at = end;
    return finite(p, value, out);
}

typedef struct function {
    const char *name;
    int least, most;
    double (*one)(double);
    double (*two)(double, double);
} function;

static double smaller(double a, double b) {
    return b < a ? b : a;
}

static double larger(double a, double b) {
    return b > a ? b : a;
}

/* x to a power: by multiplication where the power is a small whole number, so that whole results are exact.
 */
static double power(double x, double y) {
    if (y != floor(y) || fabs(y) > 1024) return pow(x, y);
    double value = 1;
    for (double i = 0; i < fabs(y); i++) value *= x;
    return y < 0 ? 1 / value : value;
}

static const function functions[] = {
    {"min", 1, MAX_ARGUMENTS, NULL, smaller},
    {"max", 1, MAX_ARGUMENTS, NULL, larger},
    {"pow", 2, 2, NULL, power},
    {"ceil", 1, 1, ceil, NULL},
    {"floor", 1, 1, floor, NULL},
    {"round", 1, 1, rint, NULL},
    {"int", 1, 1, trunc, NULL},
    {"abs", 1, 1, fabs, NULL},
    {"sqrt", 1, 1, sqrt, NULL},
    {"log2", 1, 1, log2, NULL},
};

/* Reads the arguments of a function, its opening bracket being behind, and applies it. */
static sx_status parse_call(parser *p, const char *name, double *out) {
    const function *f = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) f = &functions[i];
    if (!f)
        return sx_error_hint(bad(p, "it calls a function that is not known"),
                             "min, max, pow, ceil, floor, round, int, abs, sqrt and log2 are");
    double value = 0, argument;
    int n = 0;
    do {
        SX_TRY(parse_sum(p, &argument));
        value = n ? f->two ? f->two(value, argument) : 0 : argument;
        n++;
    } while (n < MAX_ARGUMENTS && take(p, ","));
    if (!take(p, ")")) return bad(p, "a ')' is missing");
    if (n < f->least || n > f->most) return bad(p, "a function has the wrong number of arguments");
    return finite(p, f->one ? f->one(value) : value, out);
}

static sx_status parse_name(parser *p, double *out) {
    char name[MAX_NAME];
    size_t size = 0;
    while (isalnum((unsigned char)p->at[size]) || p->at[size] == '_') size++;
    if (size >= sizeof name) return bad(p, "a name is too long");
    memcpy(name, p->at, size);
    name[size] = 0;
    p->at += size;
    if (take(p, "(")) return parse_call(p, name, out);
    bool found = false;
    SX_TRY(p->lookup(p->user, name, out, &found));
    if (found) return SX_OK;
    return sx_error_hint(
        sx_error_at(p->place, "'%s' is neither a number nor a known name", name),
        "names are attributes of the same component, of the containers around it, and variables");
}

static sx_status parse_atom(parser *p, double *out) {
    skip_space(p);
    if (isalpha((unsigned char)*p->at) || *p->at == '_') return parse_name(p, out);
    if (!take(p, "(")) return parse_number(p, out);
    SX_TRY(parse_sum(p, out));
    return take(p, ")") ? SX_OK : bad(p, "a ')' is missing");
}

/* Signs and powers: -2**2 is -4, 2**-1 is 0.5, 2**3**2 is 512. */
static sx_status parse_factor(parser *p, double *out) {
    if (++p->depth > MAX_DEPTH) return bad(p, "it is nested too deeply");
    double value, exponent;
    if (take(p, "-")) {
        SX_TRY(parse_factor(p, &value));
        value = -value;
    } else if (take(p, "+")) {
        SX_TRY(parse_factor(p, &value));
    } else {
        SX_TRY(parse_atom(p, &value));
        if (take(p, "**")) {
            SX_TRY(parse_factor(p, &exponent));
            value = power(value, exponent);
        }
    }
    p->depth--;
    return finite(p, value, out);
}

static sx_status parse_product(parser *p, double *out) {
    double value, right;
    SX_TRY(parse_factor(p, &value));
    for (;;) {
        skip_space(p);
        bool whole = take(p, "//");
        char op = whole ? 'w' : take(p, "*") ? '*' : take(p, "/") ? '/' : take(p, "%") ? '%' : 0;
        if (!op) break;
        SX_TRY(parse_factor(p, &right));
        if (op != '*' && right == 0) return bad(p, "it divides by zero");
        if (op == '*') value *= right;
        if (op == '/') value /= right;
        if (op == 'w') value = floor(value / right);
        if (op == '%') value -= right * floor(value / right);
    }
    return finite(p, value, out);
}

static sx_status parse_sum(parser *p, double *out) {
    double value, right;
    SX_TRY(parse_product(p, &value));
    for (;;) {
        bool plus = take(p, "+");
        if (!plus && !take(p, "-")) break;
        SX_TRY(parse_product(p, &right));
        value = plus ? value + right : value - right;
    }
    return finite(p, value, out);
}

sx_status sx_expression(const char *text, sx_place place, sx_name_lookup *lookup, void *user, double *out) {
    parser p = {.text = text, .at = text, .place = place, .lookup = lookup, .user = user};
    double value;
    SX_TRY(parse_sum(&p, &value));
    skip_space(&p);
    if (*p.at) return bad(&p, "something follows that does not belong to it");
    *out = value;
    return SX_OK;
}
