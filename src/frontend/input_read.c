/* Reading into an input, and nouns out of it: files and texts become sections, and the readers of a dialect answer for them. */
#include "base/file.h"
#include "frontend/graph_read.h"
#include "frontend/input.h"
#include "frontend/llm/sizes.h"
#include "frontend/onnx_input.h"
#include "frontend/sections.h"
#include "frontend/timeloop/nest_text.h"
#include "text/document/yaml.h"
#include "text/template/template.h"

#include <stdlib.h>
#include <string.h>

/* Whether constraints, which are read for a problem, have a name in them. */
static bool constraints_mention(const sx_input *input, const char *name) {
    const sx_pair *section;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++)
        if (sx_section_constrains_by(section, name)) return true;
    return false;
}

sx_status sx_input_check_settings(const sx_input *input) {
    const sx_template_options *o = sx_input_templates(input);
    for (size_t i = 0; i < o->n_variables; i++)
        if (!constraints_mention(input, o->name[i]))
            SX_TRY(sx_settings_check(o->settings, o->name[i], o->value[i]));
    return SX_OK;
}

#define CONFIG_TAG "!config"

/* A document that is a configuration as one with the section `graph`; NULL where memory is out. */
static const sx_node *wrap_config(sx_arena *arena, const sx_node *root) {
    sx_node *node = sx_arena_alloc(arena, 2, sizeof *node);
    sx_pair *pair = sx_arena_alloc(arena, 1, sizeof *pair);
    if (!node || !pair) return NULL;
    node[0] = *root;
    node[0].tag = CONFIG_TAG;
    *pair = (sx_pair){.key = "graph", .place = root->place, .value = &node[0]};
    node[1] = (sx_node){.kind = SX_NODE_MAP, .place = root->place, .n = 1, .pair = pair};
    node[1].weight = root->weight + 1;
    node[1].height = root->height + 1;
    return &node[1];
}

/* The map of the input's graph where that is a configuration, else NULL. */
static const sx_node *config_of(const sx_input *input) {
    const sx_pair *section = sx_input_first(input, "graph");
    const sx_node *value = section ? section->value : NULL;
    return value && value->kind == SX_NODE_MAP && value->tag && strcmp(value->tag, CONFIG_TAG) == 0 ? value
                                                                                                    : NULL;
}

/* Warns of tags that nothing reads. */
static SX_MUST_USE sx_status warn_tags(sx_input *input, const sx_node *node) {
    static const char *const known[] = {CONFIG_TAG,      SX_INCLUDED_TAG, "!nomerge",   "!ONNX",
                                        "!Component",    "!Element",      "!Container", "!ArrayContainer",
                                        "!Hierarchical", "!Parallel",     "!Pipelined", "!Nothing"};
    bool found = !node->tag;
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
        found = strcmp(node->tag, known[i]) == 0;
    if (!found)
        SX_TRY(sx_input_warn(input, node->place, "the tag '%.64s' is not known and not read", node->tag));
    for (size_t i = 0; i < node->n; i++)
        SX_TRY(warn_tags(input, node->kind == SX_NODE_MAP ? node->pair[i].value : node->item[i]));
    return SX_OK;
}

/* Adds every document of a source. */
static SX_MUST_USE sx_status add_source(sx_input *input, sx_source *source) {
    const sx_node **roots;
    size_t n;
    if (sx_input_is_like_timeloop(input)) sx_source_like_timeloop(source);
    SX_TRY(sx_yaml_read(sx_input_arena(input), source, &roots, &n));
    for (size_t i = 0; i < n; i++) {
        if (!sx_sizes_given(roots[i])) continue;
        roots[i] = wrap_config(sx_input_arena(input), roots[i]);
        if (!roots[i]) return sx_arena_error(sx_input_arena(input));
    }
    for (size_t i = 0; i < n; i++) SX_TRY(warn_tags(input, roots[i]));
    for (size_t i = 0; i < n; i++) SX_TRY(sx_sections_check(input, roots[i]));
    for (size_t i = 0; i < n; i++) SX_TRY(sx_input_add_node(input, roots[i]));
    return SX_OK;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Adds a loop nest that Timeloop printed. */
static SX_MUST_USE sx_status add_nest(sx_input *input, const char *name, const char *text, size_t size) {
    const sx_node *root;
    SX_TRY(sx_nest_text_read(sx_input_arena(input), name, text, size, &root));
    return sx_input_add_node(input, root);
}

/* Whether a text is a loop nest, by its name and its first line. */
static bool is_nest(const char *name, const char *text, size_t size) {
    return ends_with(name, "map.txt") || (ends_with(name, ".txt") && sx_nest_text_begins(text, size));
}

/* Adds a file whose name ends in .txt, if it is a loop nest. */
static SX_MUST_USE sx_status add_nest_file(sx_input *input, const char *path, bool *nest) {
    char *text;
    size_t size;
    SX_TRY(sx_file_read(path, SX_MAX_TEXT, &text, &size));
    *nest = is_nest(path, text, size);
    sx_status status = *nest ? add_nest(input, path, text, size) : SX_OK;
    free(text);
    return status;
}

sx_status sx_input_add_file(sx_input *input, const char *path) {
    bool done = false;
    if (ends_with(path, ".cfg"))
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s': libconfig's format is not read", path),
                             "convert it to YAML; the sections and keys stay the same");
    SX_TRY(sx_input_added_before(input, path, &done));
    if (done) return SX_OK;
    const char *folder = sx_folder_of(sx_input_arena(input), path);
    if (!folder) return sx_arena_error(sx_input_arena(input));
    SX_TRY(sx_input_add_folder(input, folder));
    if (sx_onnx_is_path(path)) return sx_onnx_input_add(input, path);
    if (ends_with(path, ".txt")) SX_TRY(add_nest_file(input, path, &done));
    if (done) return SX_OK;
    sx_source source;
    SX_TRY(sx_source_file(sx_input_arena(input), sx_input_templates(input), path, &source));
    sx_status status = add_source(input, &source);
    sx_source_fini(&source);
    return sx_error_place(status, (sx_place){path, 0, 0});
}

sx_status sx_input_add_text(sx_input *input, const char *name, const char *text, size_t size) {
    sx_source source;
    if (is_nest(name, text, size)) return add_nest(input, name, text, size);
    SX_TRY(sx_source_text(sx_input_arena(input), sx_input_templates(input), name, text, size, &source));
    sx_status status = add_source(input, &source);
    sx_source_fini(&source);
    return sx_error_place(status, (sx_place){name, 0, 0});
}

bool sx_input_has(const sx_input *input, sx_document document) {
    static const char *const section[] = {"architecture", "problem", "mapping", "graph"};
    return sx_input_first(input, section[document]) ||
           (document == SX_DOCUMENT_ARCH && sx_input_first(input, "arch"));
}

sx_status sx_input_graph(sx_input *input, sx_graph *out) {
    const char *path = sx_onnx_input_path(input);
    const sx_node *config = config_of(input);
    if (config) return sx_config_graph(input, config, out);
    return path ? sx_onnx_input_graph(input, path, out) : sx_graph_read(input, out);
}

sx_status sx_input_nouns(const char *problem_text, const char *mapping_text, bool own, const sx_arch *arch,
                         sx_problem *problem, sx_mapping *mapping) {
    sx_input *input = NULL;
    sx_status status = sx_input_new(&input);
    if (!status && own) sx_input_is_own(input);
    if (!status && !own) sx_input_is_data(input);
    if (!status) status = sx_input_add_text(input, "problem", problem_text, strlen(problem_text));
    if (!status) status = sx_input_problem(input, problem);
    if (!status) status = sx_input_add_text(input, "mapping", mapping_text, strlen(mapping_text));
    if (!status) status = sx_input_mapping(input, problem, arch, mapping);
    sx_input_free(input);
    return status;
}
