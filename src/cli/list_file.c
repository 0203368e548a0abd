/* `sextant list FILE`: the sections of a file, and what those that say it alone consist of. */
#include "cli/list_network.h"

#include "frontend/input.h"
#include "input/layers.h"
#include "input/sources.h"
#include "report/json_parts.h"
#include "sextant/all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool sx_list_is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* How large a section is: the items of its list, or of the list that it is made of. */
static size_t section_size(const sx_node *value, const char **unit) {
    static const char *const lists[] = {"tables", "targets", "constraints", "nodes", "layers", "storage"};
    *unit = value->kind == SX_NODE_MAP ? "key" : "entry";
    if (value->kind == SX_NODE_SCALAR || value->kind == SX_NODE_NULL) return 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && value->kind == SX_NODE_MAP; i++) {
        const sx_node *list = sx_node_get(value, lists[i]);
        if (!list || list->kind != SX_NODE_LIST) continue;
        *unit = "entry";
        return list->n;
    }
    return value->n;
}

/* The sections with their places: a line each, or items of a list of JSON. */
static void add_sections(const sx_input *input, const char *path, json_t *list, sx_text *out) {
    const sx_pair *section;
    const char *unit;
    sx_text_add(out, "%s\n", path);
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++) {
        const size_t n = section_size(section->value, &unit);
        const bool key = strcmp(unit, "key") == 0;
        if (list)
            sx_json_append(list, json_pack("{s:s, s:i, s:I}", "name", section->key, "line",
                                           section->place.line, "size", (json_int_t)n));
        sx_text_add(out, "  line %-5d %s: %zu %s%s\n", section->place.line, section->key, n,
                    key      ? "key"
                    : n == 1 ? "entry"
                             : "entries",
                    key && n != 1 ? "s" : "");
    }
}

/* Adds the architecture of an input. */
static sx_status add_arch(sx_input *input, json_t *object, sx_text *out) {
    char *text = NULL;
    sx_arch *arch = malloc(sizeof *arch);
    sx_status status = arch ? sx_input_arch(input, arch) : sx_error_memory();
    if (!status && object) status = sx_arch_write(arch, SX_JSON, &text);
    if (!status && object) {
        json_t *noun = sx_json_noun(text);
        json_object_update(object, noun);
        json_decref(noun);
    }
    if (!status && !object) {
        sx_text_add(out, "\n");
        sx_list_draw_arch(arch, out);
    }
    free(arch);
    return status;
}

/* Adds the layers of an input. */
static sx_status add_network(const sx_args *args, sx_input *input, json_t *object, sx_text *out) {
    sx_sources sources = {.args = args};
    sx_network network;
    sx_status status = sx_layers_of_input(&sources, input, NULL, &network);
    if (!status) {
        sx_text_add(out, "\n");
        status = object ? sx_list_layers_json(&network, object) : sx_list_layers(&network, out);
        sx_network_fini(&network);
    }
    sx_sources_fini(&sources);
    return status;
}

/* Adds what the file says by itself. */
static sx_status add_contents(const sx_args *args, sx_input *input, sx_warnings *warnings, json_t *object,
                              sx_text *out) {
    const bool network = sx_input_has(input, SX_DOCUMENT_PROBLEM) || sx_input_has(input, SX_DOCUMENT_GRAPH) ||
                         sx_input_first(input, "network");
    if (sx_input_has(input, SX_DOCUMENT_ARCH)) SX_TRY(add_arch(input, object, out));
    if (network) SX_TRY(add_network(args, input, object, out));
    return sx_input_has(input, SX_DOCUMENT_ARCH) || network ? sx_input_warnings(input, warnings) : SX_OK;
}

sx_status sx_list_file(const sx_args *args, const char *path, sx_warnings *warnings, sx_text *out) {
    const bool json = sx_args_flag(args, "json");
    json_t *object = json ? json_pack("{s:o, s:[]}", "file", sx_json_string(path), "sections") : NULL;
    sx_input *input = NULL;
    sx_text text = {0};
    sx_status status = sx_sources_input(args, &input);
    if (!status) status = sx_input_add_file(input, path);
    if (!status) add_sections(input, path, json_object_get(object, "sections"), &text);
    if (!status) status = add_contents(args, input, warnings, object, &text);
    if (!status && !json) sx_text_add(out, "%s", text.data);
    if (!status && text.failed) status = sx_error_memory();
    if (!status && json) {
        status = sx_json_finish(object, out);
        object = NULL;
    }
    json_decref(object);
    sx_text_free(&text);
    sx_input_free(input);
    return status;
}
