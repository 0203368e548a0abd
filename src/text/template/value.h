/* Values of expressions in files and templates, with Python's arithmetic. */
#ifndef SX_TEXT_TEMPLATE_VALUE_H
#define SX_TEXT_TEMPLATE_VALUE_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum sx_value_kind {
    SX_VALUE_UNDEFINED, /* a name without a value; any use but a test is an error */
    SX_VALUE_NONE,
    SX_VALUE_BOOL,
    SX_VALUE_NUMBER,
    SX_VALUE_TEXT,
    SX_VALUE_LIST,
    SX_VALUE_FILES, /* files whose text is to be put here: a template's include_text */
} sx_value_kind;

/* The bytes of a text, and of all that a list holds. */
enum { SX_MAX_VALUE = 1 << 20 };

typedef struct sx_value {
    sx_value_kind kind;
    bool whole;                  /* a number of Python's type int */
    double number;               /* of a number; 0 or 1 of a boolean */
    const char *text;            /* of a text; the name of what is undefined */
    const struct sx_value *item; /* of a list; of files the name and the real path of each */
    size_t n;
    size_t size;   /* of all that a list holds */
    size_t indent; /* of files: spaces before their lines, the first one aside */
} sx_value;

sx_value sx_value_bool(bool is);
sx_value sx_value_number(double number, bool whole);
sx_value sx_value_text(const char *text);

/* How much a value takes when it is written, roughly; at most SX_MAX_VALUE. */
size_t sx_value_size(const sx_value *value);

/* Whether a value counts as true. */
bool sx_value_true(const sx_value *value);

/* Whether a value is a number or a boolean, which counts as one. */
bool sx_value_numeric(const sx_value *value);

/* x to a power: by multiplication where the power is a small whole number, so that whole results are exact.
 */
double sx_power(double x, double y);

/* Applies an operator: "+", "-", "*", "/", "//", "%", "**", and "~", which joins anything as texts. An error
 * without a place says what does not fit. Texts are made in the arena; without one they cannot be joined. */
SX_MUST_USE sx_status sx_value_operate(sx_arena *arena, const char *op, const sx_value *a, const sx_value *b,
                                       sx_value *out);

/* Compares by "==", "!=", "<", "<=", ">", ">=" or "in". */
SX_MUST_USE sx_status sx_value_compare(const char *op, const sx_value *a, const sx_value *b, bool *out);

/* Adds a value as Python's str() writes it. */
void sx_value_write(const sx_value *value, sx_text *out);

#endif
