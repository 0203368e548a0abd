/* Expressions in the values of files, such as "datawidth * 4" or "1 if depth > 8 else ceil(log2(depth))", and
 * in templates. */
#ifndef SX_TEXT_TEMPLATE_EXPRESSION_H
#define SX_TEXT_TEMPLATE_EXPRESSION_H

#include "text/template/value.h"

/* Finds the value of a name for an expression; *found says whether there is one. */
typedef sx_status sx_name_lookup(void *user, const char *name, double *value, bool *found);

/* The value of an expression: numbers, names, + - * / // % **, comparisons, and, or, not,
 * `a if b else c`, parentheses, and the functions of sx_math_call, all as in Python. Errors have the place
 * `place`. */
SX_MUST_USE sx_status sx_expression(const char *text, sx_place place, sx_name_lookup *lookup, void *user,
                                    double *out);

/* What an expression may refer to. */
typedef struct sx_names {
    sx_arena *arena; /* for lists and texts that are made; NULL: there are none */
    /* The value of a name; what has none is left undefined. */
    sx_status (*lookup)(void *user, const char *name, sx_value *out);
    /* Calls a function; *known says whether there is one of that name. */
    sx_status (*call)(void *user, sx_place place, const char *name, const sx_value *argument, size_t n,
                      sx_value *out, bool *known);
    const char *functions; /* their names, for a hint */
    void *user;
    bool jinja; /* with Jinja's "~", filters and tests, and with the place of each error in the text */
} sx_names;

/* The value of an expression that begins at `place`. A name without a value may come out as undefined. */
SX_MUST_USE sx_status sx_expression_value(const sx_names *names, const char *text, sx_place place,
                                          sx_value *out);

/* The error for the use of a name without a value. */
SX_ERROR sx_status sx_value_undefined(sx_place place, const sx_value *value);

/* The functions of arithmetic: min, max, pow, ceil, floor, round, int, float, abs, sqrt, exp, log, log2 and
 * log10. */
SX_MUST_USE sx_status sx_math_call(const char *name, const sx_value *argument, size_t n, sx_value *out,
                                   bool *known);
#define SX_MATH_FUNCTIONS "min, max, pow, ceil, floor, round, int, float, abs, sqrt, exp, log, log2 and log10"

#endif
