#include "text/template/expression_filter.h"

#include "text/document/document.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char sx_filter_names[] = "default, indent, int, float, length, lower, string and upper";

enum { MAX_INDENT = 1000 };
const char sx_test_names[] = "defined, undefined, none, string and number";

static bool is_filter(const char *name, const char *filter) {
    return strcmp(name, filter) == 0;
}

bool sx_filter_takes_undefined(const char *name) {
    return is_filter(name, "default") || is_filter(name, "d");
}

/* The argument, or the value where there is one (and, with a second argument that is true, where it counts as
 * true). */
static sx_value default_value(const sx_value *value, const sx_value *argument, size_t n) {
    bool taken =
        value->kind != SX_VALUE_UNDEFINED && !(n > 1 && sx_value_true(&argument[1]) && !sx_value_true(value));
    if (taken) return *value;
    return n ? argument[0] : sx_value_text("");
}

/* A value as a number, 0 if it is not one. */
static sx_value number_of(const sx_value *value, bool whole) {
    double x = 0;
    if (sx_value_numeric(value)) x = value->number;
    if (value->kind == SX_VALUE_TEXT && (!sx_text_double(value->text, &x) || !isfinite(x))) x = 0;
    return sx_value_number(whole ? trunc(x) : x, whole);
}

/* A value as a text, its letters changed where that is asked for. */
static SX_MUST_USE sx_status text_of(sx_arena *arena, const sx_value *value, int (*letter)(int),
                                     sx_value *out) {
    sx_text written = {0};
    sx_value_write(value, &written);
    char *copy = written.failed ? NULL : sx_arena_copy(arena, written.data ? written.data : "", written.size);
    sx_text_free(&written);
    if (!copy) return sx_arena_error(arena);
    for (char *c = copy; letter && *c; c++) *c = (char)letter((unsigned char)*c);
    *out = sx_value_text(copy);
    return SX_OK;
}

int sx_filter_argument(const char *filter, const char *word) {
    static const char *const words[][2] = {{"width", "first"}, {"default_value", "boolean"}};
    bool indents = is_filter(filter, "indent");
    if (!indents && !sx_filter_takes_undefined(filter)) return -1;
    for (int i = 0; i < 2; i++)
        if (is_filter(word, words[!indents][i])) return i;
    return -1;
}

/* Puts spaces before the lines of a text or of files; before the first one only where that is asked for. */
static SX_MUST_USE sx_status indent_lines(sx_arena *arena, const sx_value *value, const sx_value *argument,
                                          size_t n, sx_value *out) {
    double width = n && sx_value_numeric(&argument[0]) ? argument[0].number : 4;
    bool first = n > 1 && sx_value_true(&argument[1]);
    sx_text text = {0};
    if (!(width >= 0 && width <= MAX_INDENT) || width != floor(width))
        return sx_error_new(SX_ERR_INPUT, "an indentation is a whole number up to %d", MAX_INDENT);
    if (value->kind == SX_VALUE_FILES && first)
        return sx_error_new(SX_ERR_INPUT, "the first line of include_text cannot be indented");
    if (value->kind == SX_VALUE_FILES) {
        *out = *value;
        out->indent += (size_t)width;
        return SX_OK;
    }
    sx_text written = {0};
    sx_value_write(value, &written);
    for (const char *at = written.data; at && *at;) {
        size_t length = strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        if (*at != '\n' && (first || at != written.data)) sx_text_add(&text, "%*s", (int)width, "");
        sx_text_add_bytes(&text, at, length);
        at += length;
    }
    bool good = !written.failed && !text.failed && text.size <= SX_MAX_VALUE;
    char *copy = good ? sx_arena_copy(arena, text.data ? text.data : "", text.size) : NULL;
    sx_text_free(&written);
    sx_text_free(&text);
    if (!copy)
        return good ? sx_arena_error(arena) : sx_error_new(SX_ERR_LIMIT, "an indented text is too long");
    *out = sx_value_text(copy);
    return SX_OK;
}

/* How many items a list has, or characters a text. */
static SX_MUST_USE sx_status length_of(const sx_value *value, sx_value *out) {
    if (value->kind != SX_VALUE_LIST && value->kind != SX_VALUE_TEXT)
        return sx_error_new(SX_ERR_INPUT, "only lists and texts have a length");
    *out = sx_value_number((double)(value->kind == SX_VALUE_LIST ? value->n : strlen(value->text)), true);
    return SX_OK;
}

sx_status sx_filter_apply(sx_arena *arena, const char *name, const sx_value *value, const sx_value *argument,
                          size_t n, sx_value *out, bool *known) {
    bool letters = is_filter(name, "lower") || is_filter(name, "upper");
    bool fallback = sx_filter_takes_undefined(name);
    bool indents = is_filter(name, "indent"), counts = is_filter(name, "length") || is_filter(name, "count");
    *known = fallback || letters || indents || counts || is_filter(name, "int") || is_filter(name, "float") ||
             is_filter(name, "string");
    if (!*known) return SX_OK;
    if (n > (fallback || indents ? 2 : 0))
        return sx_error_new(SX_ERR_INPUT, "a filter has too many arguments");
    if (indents) return indent_lines(arena, value, argument, n, out);
    if (counts) return length_of(value, out);
    if (value->kind == SX_VALUE_FILES)
        return sx_error_new(SX_ERR_INPUT,
                            "the result of include_text can only be inserted, not computed with");
    if (fallback)
        *out = default_value(value, argument, n);
    else if (is_filter(name, "int") || is_filter(name, "float"))
        *out = number_of(value, is_filter(name, "int"));
    else
        return text_of(arena, value, !letters ? NULL : is_filter(name, "lower") ? tolower : toupper, out);
    return SX_OK;
}

bool sx_test_apply(const char *name, const sx_value *value, bool *known) {
    *known = true;
    if (is_filter(name, "defined")) return value->kind != SX_VALUE_UNDEFINED;
    if (is_filter(name, "undefined")) return value->kind == SX_VALUE_UNDEFINED;
    if (is_filter(name, "none")) return value->kind == SX_VALUE_NONE;
    if (is_filter(name, "string")) return value->kind == SX_VALUE_TEXT;
    if (is_filter(name, "number")) return sx_value_numeric(value);
    *known = false;
    return false;
}
