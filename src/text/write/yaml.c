/* YAML from a tree: maps and lists in lines, lists of single values (and lists of those) in brackets. */
#include "base/decimal.h"
#include "text/write/write.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whether a text can stand without quotes and reads back as that text for every reader. */
static bool reads_back_plain(const char *text, bool in_brackets) {
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off"};
    if (!isalpha((unsigned char)*text) && *text != '_') return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0) return false;
    for (const char *c = text; *c; c++) {
        if (isalnum((unsigned char)*c) || strchr("_-.=+*/<>", *c)) continue;
        if (*c == ',' && !in_brackets) continue;
        if (*c != ' ' || c[1] == 0 || c[1] == ' ') return false;
    }
    return true;
}

static void print_text(sx_text *out, const char *text, bool in_brackets) {
    if (reads_back_plain(text, in_brackets)) {
        sx_text_add(out, "%s", text);
        return;
    }
    sx_text_add(out, "\"");
    char shown[SX_SHOWN_ROOM];
    for (size_t size; (size = sx_text_shown(text, shown)); text += size) {
        if (sx_begins_tag(text))
            sx_text_add(out, "\\x7b");
        else
            sx_text_add(out, "%s%s", *text == '"' || *text == '\\' ? "\\" : "", shown);
    }
    sx_text_add(out, "\"");
}

static void print_double(sx_text *out, double value) {
    char digits[SX_DECIMAL_SIZE];
    sx_decimal_text(value, digits);
    sx_text_add(out, "%s", digits);
}

/* Whether a value fits behind its key: a single value, nothing, or a list of such. */
static bool inline_value(const json_t *value) {
    if (json_is_object(value)) return json_object_size(value) == 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (json_is_object(item) || !inline_value(item)) return false;
    }
    return true;
}

static void print_inline(sx_text *out, const json_t *value, bool in_brackets) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        sx_text_add(out, "{}");
        break;
    case JSON_STRING:
        print_text(out, json_string_value(value), in_brackets);
        break;
    case JSON_INTEGER:
        sx_text_add(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        print_double(out, json_real_value(value));
        break;
    case JSON_TRUE:
        sx_text_add(out, "true");
        break;
    case JSON_FALSE:
        sx_text_add(out, "false");
        break;
    case JSON_NULL:
        sx_text_add(out, "null");
        break;
    case JSON_ARRAY:
        sx_text_add(out, "[");
        for (size_t i = 0; i < json_array_size(value); i++) {
            sx_text_add(out, "%s", i ? ", " : "");
            print_inline(out, json_array_get(value, i), true);
        }
        sx_text_add(out, "]");
        break;
    }
}

/* Prints the lines of a map or list; the first is not indented where `started`. */
static void print_lines(sx_text *out, const json_t *value, int indent, bool started) {
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            const json_t *item = json_array_get(value, i);
            sx_text_add(out, "%*s- ", started && i == 0 ? 0 : indent, "");
            if (inline_value(item)) {
                print_inline(out, item, false);
                sx_text_add(out, "\n");
            } else {
                print_lines(out, item, indent + 2, true);
            }
        }
        return;
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)value); at;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
        const json_t *item = json_object_iter_value(at);
        sx_text_add(out, "%*s", started ? 0 : indent, "");
        started = false;
        print_text(out, json_object_iter_key(at), false);
        if (inline_value(item)) {
            sx_text_add(out, ": ");
            print_inline(out, item, false);
            sx_text_add(out, "\n");
        } else {
            sx_text_add(out, ":\n");
            print_lines(out, item, indent + 2, false);
        }
    }
}

void sx_yaml_print(sx_text *text, const json_t *root) {
    if (!inline_value(root)) {
        print_lines(text, root, 0, false);
        return;
    }
    print_inline(text, root, false);
    sx_text_add(text, "\n");
}
