#include "text/write/write.h"

#include <stdlib.h>

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

/* Whether every text of a tree is UTF-8. */
static bool tree_is_utf8(json_t *tree) {
    const char *text = json_is_string(tree) ? json_string_value(tree) : "", *key;
    bool good = true;
    size_t i;
    json_t *item;
    uint32_t code;
    for (size_t size; (size = sx_text_character(text, &code));) text += size;
    json_array_foreach(tree, i, item) good = good && tree_is_utf8(item);
    json_object_foreach(tree, key, item) good = good && tree_is_utf8(item);
    return good && *text == 0;
}

sx_status sx_json_write(json_t *root, sx_format format, char **out) {
    size_t flags = JSON_INDENT(2) | JSON_ENCODE_ANY;
    char *dump = format == SX_JSON_DIGITS ? sx_json_print(root, flags | JSON_REAL_PRECISION(17))
                                          : sx_json_dump(root, flags);
    sx_text text = {0};
    sx_status status = SX_OK;
    if (!dump && tree_is_utf8(root))
        status = sx_error_memory();
    else if (!dump)
        status = sx_error_hint(sx_error_new(SX_ERR_INPUT, "cannot be written"), "are all names UTF-8 text?");
    else if (format == SX_YAML)
        sx_yaml_print(&text, root);
    else
        add_json(&text, dump);
    json_decref(root);
    free(dump);
    return status ? status : sx_text_take(&text, out);
}
