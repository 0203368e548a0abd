#include "frontend/write/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Notes a value that could not be made. */
static json_t *made(sx_tree *tree, json_t *value) {
    tree->failed |= !value;
    return value;
}

json_t *sx_tree_text(sx_tree *tree, const char *text) {
    const char *end = text;
    uint32_t code;
    for (size_t size; (size = sx_text_character(end, &code));) end += size;
    tree->not_utf8 |= *end != 0;
    return made(tree, json_string(text));
}

json_t *sx_tree_u64(sx_tree *tree, uint64_t value) {
    char digits[24];
    if (value <= INT64_MAX) return made(tree, json_integer((json_int_t)value));
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return sx_tree_text(tree, digits);
}

json_t *sx_tree_double(sx_tree *tree, double value) {
    return isfinite(value) ? made(tree, json_real(value)) : json_null();
}

json_t *sx_tree_bool(bool value) {
    return json_boolean(value);
}

void sx_tree_put(sx_tree *tree, json_t *map, const char *key, json_t *value) {
    tree->failed |= json_object_set_new(map, key, value) != 0;
}

void sx_tree_append(sx_tree *tree, json_t *list, json_t *value) {
    tree->failed |= json_array_append_new(list, value) != 0;
}

bool sx_begins_tag(const char *text) {
    return text[0] == '{' && (text[1] == '{' || text[1] == '%' || text[1] == '#');
}

/* Adds JSON, in which only strings can have tags of templates, and a line break. */
static void add_json(sx_text *text, const char *dump) {
    const char *from = dump;
    for (const char *at = dump; *at; at++) {
        if (!sx_begins_tag(at)) continue;
        sx_text_add_bytes(text, from, (size_t)(at - from));
        sx_text_add(text, "\\u007b");
        from = at + 1;
    }
    sx_text_add(text, "%s\n", from);
}

/* Prints as JSON, with a line break at the end. */
static SX_MUST_USE sx_status print_json(const json_t *root, char **out) {
    char *dump = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17) | JSON_PRESERVE_ORDER);
    if (!dump) return sx_error_memory();
    sx_text text = {0};
    add_json(&text, dump);
    free(dump);
    return sx_text_take(&text, out);
}

sx_status sx_tree_print(sx_tree *tree, json_t *root, sx_format format, char **out) {
    sx_status status;
    sx_text text = {0};
    if (tree->not_utf8) {
        status = sx_error_hint(sx_error_new(SX_ERR_INPUT, "cannot be written"), "are all names UTF-8 text?");
    } else if (tree->failed || !root) {
        status = sx_error_memory();
    } else if (format == SX_JSON) {
        status = print_json(root, out);
    } else {
        sx_yaml_print(&text, root);
        status = sx_text_take(&text, out);
    }
    json_decref(root);
    return status;
}
