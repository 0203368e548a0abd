#include "text/write/write.h"

#include "base/json.h"

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

/* Makes a text of printed JSON, which is freed, with a line break at the end. */
static SX_MUST_USE sx_status finish_json(SX_TAKE char *dump, char **out) {
    if (!dump) return sx_error_memory();
    sx_text text = {0};
    add_json(&text, dump);
    free(dump);
    return sx_text_take(&text, out);
}

/* Why a tree cannot be printed. */
static SX_MUST_USE sx_status check_tree(const sx_tree *tree, const json_t *root) {
    if (tree->not_utf8)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "cannot be written"), "are all names UTF-8 text?");
    return tree->failed || !root ? sx_error_memory() : SX_OK;
}

sx_status sx_tree_print(sx_tree *tree, json_t *root, sx_format format, char **out) {
    sx_text text = {0};
    sx_status status = check_tree(tree, root);
    if (!status && format == SX_YAML) {
        sx_yaml_print(&text, root);
        status = sx_text_take(&text, out);
    } else if (!status) {
        size_t flags = JSON_INDENT(2) | JSON_PRESERVE_ORDER;
        status = finish_json(format == SX_JSON ? sx_json_dump(root, flags)
                                               : sx_json_print(root, flags | JSON_REAL_PRECISION(17)),
                             out);
    }
    json_decref(root);
    return status;
}
