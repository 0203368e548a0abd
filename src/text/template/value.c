#include "text/template/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest whole number that a double holds exactly, with all below it. */
#define MAX_WHOLE 0x1p53

sx_value sx_value_bool(bool is) {
    return (sx_value){.kind = SX_VALUE_BOOL, .whole = true, .number = is};
}

sx_value sx_value_number(double number, bool whole) {
    return (sx_value){.kind = SX_VALUE_NUMBER, .whole = whole, .number = number};
}

sx_value sx_value_text(const char *text) {
    return (sx_value){.kind = SX_VALUE_TEXT, .text = text};
}

size_t sx_value_size(const sx_value *value) {
    return 1 + (value->kind == SX_VALUE_TEXT ? strlen(value->text) : value->size);
}

bool sx_value_true(const sx_value *value) {
    switch (value->kind) {
    case SX_VALUE_UNDEFINED:
    case SX_VALUE_NONE:
        return false;
    case SX_VALUE_BOOL:
    case SX_VALUE_NUMBER:
        return value->number != 0;
    case SX_VALUE_TEXT:
        return *value->text != 0;
    case SX_VALUE_LIST:
    case SX_VALUE_FILES:
        break;
    }
    return value->n > 0;
}

bool sx_value_numeric(const sx_value *value) {
    return value->kind == SX_VALUE_NUMBER || value->kind == SX_VALUE_BOOL;
}

/* Whether two values are equal. */
static bool equal_values(const sx_value *a, const sx_value *b) {
    if (sx_value_numeric(a) && sx_value_numeric(b)) return a->number == b->number;
    if (a->kind != b->kind) return false;
    if (a->kind == SX_VALUE_TEXT) return strcmp(a->text, b->text) == 0;
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!equal_values(&a->item[i], &b->item[i])) return false;
    return true;
}

double sx_power(double x, double y) {
    if (y != floor(y) || fabs(y) > 1024) return pow(x, y);
    double value = 1;
    for (double i = 0; i < fabs(y); i++) value *= x;
    return y < 0 ? 1 / value : value;
}

/* Joins two values as texts. */
static SX_MUST_USE sx_status join_values(sx_arena *arena, const sx_value *a, const sx_value *b,
                                         sx_value *out) {
    sx_text text = {0};
    if (!arena) return sx_error_new(SX_ERR_INPUT, "texts cannot be joined here");
    if (sx_value_size(a) + sx_value_size(b) > SX_MAX_VALUE)
        return sx_error_new(SX_ERR_INPUT, "a text is longer than %d bytes", SX_MAX_VALUE);
    sx_value_write(a, &text);
    sx_value_write(b, &text);
    const char *copy = text.failed ? NULL : sx_arena_copy(arena, text.data ? text.data : "", text.size);
    sx_text_free(&text);
    if (!copy) return sx_arena_error(arena);
    *out = sx_value_text(copy);
    return SX_OK;
}

/* Joins two lists, or repeats one. */
static SX_MUST_USE sx_status operate_list(sx_arena *arena, const char *op, const sx_value *a,
                                          const sx_value *b, sx_value *out) {
    const sx_value *list = a->kind == SX_VALUE_LIST ? a : b, *other = list == a ? b : a;
    bool join = strcmp(op, "+") == 0 && other->kind == SX_VALUE_LIST;
    bool repeat = strcmp(op, "*") == 0 && sx_value_numeric(other) && other->whole;
    if (!arena || !(join || repeat))
        return sx_error_new(SX_ERR_INPUT, "'%s' needs two lists, or '*' a list and a whole number", op);
    double times = repeat ? fmax(other->number, 0) : 1, all = (double)list->n * times;
    if (join) all += (double)other->n;
    if (all > SX_MAX_VALUE || (double)list->size * times + (double)other->size > SX_MAX_VALUE)
        return sx_error_new(SX_ERR_INPUT, "a list is too large");
    sx_value *item = sx_arena_alloc(arena, (size_t)all, sizeof *item);
    if (!item) return sx_arena_error(arena);
    for (size_t i = 0; i < (size_t)all; i++)
        item[i] = join && i >= a->n ? b->item[i - a->n] : list->item[i % list->n];
    size_t size = (size_t)((double)list->size * times) + (join ? other->size : 0);
    *out = (sx_value){.kind = SX_VALUE_LIST, .item = item, .n = (size_t)all, .size = size};
    return SX_OK;
}

sx_status sx_value_operate(sx_arena *arena, const char *op, const sx_value *a, const sx_value *b,
                           sx_value *out) {
    bool texts = a->kind == SX_VALUE_TEXT && b->kind == SX_VALUE_TEXT;
    if (a->kind == SX_VALUE_FILES || b->kind == SX_VALUE_FILES)
        return sx_error_new(SX_ERR_INPUT,
                            "the result of include_text can only be inserted, not computed with");
    if (*op == '~' || (*op == '+' && texts)) return join_values(arena, a, b, out);
    if ((*op == '+' || *op == '*') && (a->kind == SX_VALUE_LIST || b->kind == SX_VALUE_LIST))
        return operate_list(arena, op, a, b, out);
    if (!sx_value_numeric(a) || !sx_value_numeric(b))
        return sx_error_new(SX_ERR_INPUT, "'%s' needs two numbers%s", op, *op == '+' ? " or two texts" : "");
    double x = a->number, y = b->number, value = 0;
    bool whole = a->whole && b->whole, power = strcmp(op, "**") == 0, floored = strcmp(op, "//") == 0;
    if ((*op == '/' || *op == '%') && y == 0) return sx_error_new(SX_ERR_INPUT, "it divides by zero");
    if (*op == '+') value = x + y;
    if (*op == '-') value = x - y;
    if (*op == '*') value = power ? sx_power(x, y) : x * y;
    if (*op == '/') value = floored ? floor(x / y) : x / y;
    if (*op == '%') value = x - y * floor(x / y);
    if (!isfinite(value)) return sx_error_new(SX_ERR_INPUT, "its value is not a finite number");
    if ((*op == '/' && !floored) || (power && y < 0) || fabs(value) > MAX_WHOLE) whole = false;
    *out = sx_value_number(value, whole);
    return SX_OK;
}

/* Whether a value is an item of a list or a part of a text. */
static SX_MUST_USE sx_status contains_value(const sx_value *part, const sx_value *all, bool *out) {
    bool texts = part->kind == SX_VALUE_TEXT && all->kind == SX_VALUE_TEXT;
    if (!texts && all->kind != SX_VALUE_LIST)
        return sx_error_new(SX_ERR_INPUT, "'in' needs a list, or two texts");
    *out = texts && strstr(all->text, part->text);
    for (size_t i = 0; i < all->n && !*out; i++) *out = equal_values(part, &all->item[i]);
    return SX_OK;
}

sx_status sx_value_compare(const char *op, const sx_value *a, const sx_value *b, bool *out) {
    if (*op == 'i') return contains_value(a, b, out);
    if (*op == '=' || *op == '!') {
        *out = equal_values(a, b) == (*op == '=');
        return SX_OK;
    }
    bool texts = a->kind == SX_VALUE_TEXT && b->kind == SX_VALUE_TEXT;
    if (!texts && !(sx_value_numeric(a) && sx_value_numeric(b)))
        return sx_error_new(SX_ERR_INPUT, "'%s' needs two numbers or two texts", op);
    int order = texts ? strcmp(a->text, b->text) : (a->number > b->number) - (a->number < b->number);
    *out = op[1] && order == 0 ? true : *op == '<' ? order < 0 : order > 0;
    return SX_OK;
}

/* Adds a number in the fewest digits that read back to it. */
static void write_number(const sx_value *value, sx_text *out) {
    char digits[40];
    if (value->whole) {
        sx_text_add(out, "%.0f", value->number);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value->number);
        if (strtod(digits, NULL) == value->number) break;
    }
    sx_text_add(out, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

void sx_value_write(const sx_value *value, sx_text *out) {
    switch (value->kind) {
    case SX_VALUE_UNDEFINED:
        return;
    case SX_VALUE_NONE:
        sx_text_add(out, "None");
        return;
    case SX_VALUE_BOOL:
        sx_text_add(out, "%s", value->number != 0 ? "True" : "False");
        return;
    case SX_VALUE_NUMBER:
        write_number(value, out);
        return;
    case SX_VALUE_TEXT:
        sx_text_add(out, "%s", value->text);
        return;
    case SX_VALUE_LIST:
    case SX_VALUE_FILES:
        break;
    }
    sx_text_add(out, "[");
    for (size_t i = 0; i < value->n; i++) {
        const char *quote = value->item[i].kind == SX_VALUE_TEXT ? "'" : "";
        sx_text_add(out, "%s%s", i ? ", " : "", quote);
        sx_value_write(&value->item[i], out);
        sx_text_add(out, "%s", quote);
    }
    sx_text_add(out, "]");
}
