/* Arithmetic in attribute values, such as "datawidth * 4" or "ceil(log2(depth))". */
#ifndef SX_FRONTEND_EXPRESSION_H
#define SX_FRONTEND_EXPRESSION_H

#include "base/status.h"

#include <stdbool.h>

/* Finds the value of a name for an expression; *found says whether there is one. */
typedef sx_status sx_name_lookup(void *user, const char *name, double *value, bool *found);

/* The value of an expression: numbers, names, + - * / // % **, parentheses, and the functions min, max, ceil,
 * floor, round, int, abs, sqrt, log2 and pow, all as in Python. Errors stand at `place`. */
SX_MUST_USE sx_status sx_expression(const char *text, sx_place place, sx_name_lookup *lookup, void *user,
                                    double *out);

#endif
