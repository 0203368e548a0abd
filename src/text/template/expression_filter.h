/* Filters and tests of Jinja. */
#ifndef SX_TEXT_TEMPLATE_EXPRESSION_FILTER_H
#define SX_TEXT_TEMPLATE_EXPRESSION_FILTER_H

#include "text/template/value.h"

/* Their names, for hints. */
extern const char sx_filter_names[], sx_test_names[];

/* Whether a filter may be given what is undefined. */
bool sx_filter_takes_undefined(const char *name);

/* The position of an argument of a filter that is given by its name, -1 where there is none. */
int sx_filter_argument(const char *filter, const char *word);

/* Applies a filter; *known says whether there is one of that name. */
SX_MUST_USE sx_status sx_filter_apply(sx_arena *arena, const char *name, const sx_value *value,
                                      const sx_value *argument, size_t n, sx_value *out, bool *known);

/* What the test of a value says; *known says whether there is one of that name. */
bool sx_test_apply(const char *name, const sx_value *value, bool *known);

#endif
