#include "frontend/timeloop/shape.h"

#include "text/document/yaml.h"
#include "text/template/template.h"

#include <stdio.h>
#include <string.h>

/* The shapes that Timeloop knows by name; the first is what it takes where none is given. */
static const struct {
    const char *name, *text;
} built_in[] = {
    {"cnn-layer", "name: cnn-layer\n"
                  "dimensions: [R, S, P, Q, C, K, N]\n"
                  "coefficients:\n"
                  "- {name: Wstride, default: 1}\n"
                  "- {name: Hstride, default: 1}\n"
                  "- {name: Wdilation, default: 1}\n"
                  "- {name: Hdilation, default: 1}\n"
                  "data_spaces:\n"
                  "- {name: Weights, projection: [C, K, R, S]}\n"
                  "- {name: Inputs, projection: [N, C, R*Wdilation + P*Wstride, S*Hdilation + Q*Hstride]}\n"
                  "- {name: Outputs, projection: [N, K, Q, P], read_write: true}\n"},
    {"gemm-ABZ", "name: gemm-ABZ\n"
                 "dimensions: [M, N, K]\n"
                 "data_spaces:\n"
                 "- {name: A, projection: [M, K]}\n"
                 "- {name: B, projection: [N, K]}\n"
                 "- {name: Z, projection: [M, N], read_write: true}\n"},
};
enum { N_BUILT_IN = sizeof built_in / sizeof built_in[0] };

/* Reads the only document of a source, which is freed. */
static SX_MUST_USE sx_status read_document(sx_input *input, SX_TAKE sx_source *source, const sx_node **out) {
    const sx_node **roots;
    size_t n = 0;
    sx_status status = sx_yaml_read(sx_input_arena(input), source, &roots, &n);
    sx_source_fini(source);
    if (!status) *out = n ? roots[0] : NULL;
    return status;
}

static SX_MUST_USE sx_status read_built_in(sx_input *input, size_t index, const sx_node **out) {
    sx_source source;
    const char *text = built_in[index].text;
    SX_TRY(sx_source_text(sx_input_arena(input), NULL, built_in[index].name, text, strlen(text), &source));
    return read_document(input, &source, out);
}

/* Reads the shape of a file that lies in a folder beside the one that names it; NULL where there is none. */
static SX_MUST_USE sx_status read_beside(sx_input *input, const sx_node *name, const char *folder,
                                         const sx_node **out) {
    char path[512];
    sx_source source;
    bool found = false;
    const char *end = strstr(name->text, ".yaml") ? "" : ".yaml";
    int length = snprintf(path, sizeof path, "%s%s%s", folder, name->text, end);
    if (length < 0 || length >= (int)sizeof path || strpbrk(name->text, "*?[/")) return SX_OK;
    SX_TRY(sx_source_beside(sx_input_arena(input), sx_input_templates(input), name->place, path, &source,
                            &found));
    if (!found) return SX_OK;
    if (sx_input_is_like_timeloop(input)) sx_source_like_timeloop(&source);
    const sx_node *root = NULL, *shape;
    SX_TRY(read_document(input, &source, &root));
    if (sx_node_get(root, "problem")) root = sx_node_get(root, "problem");
    shape = sx_node_get(root, "shape");
    if (!shape && sx_node_get(root, "dimensions")) shape = root;
    if (!shape || shape->kind != SX_NODE_MAP)
        return sx_error_hint(sx_error_at(name->place, "'%s' has no shape", path),
                             "it is the section 'shape', a map");
    *out = shape;
    return SX_OK;
}

sx_status sx_shape_named(sx_input *input, const sx_node *name, const sx_node **out) {
    static const char *const folders[] = {"problem-shapes/", "../problem-shapes/"};
    const char *known[N_BUILT_IN];
    const sx_node *shape = NULL;
    if (!name) return read_built_in(input, 0, out);
    SX_TRY(read_beside(input, name, "", &shape));
    for (size_t i = 0; i < N_BUILT_IN && !shape; i++)
        if (sx_key_equal(built_in[i].name, name->text)) SX_TRY(read_built_in(input, i, &shape));
    for (size_t i = 0; i < 2 && !shape; i++) SX_TRY(read_beside(input, name, folders[i], &shape));
    for (size_t i = 0; i < N_BUILT_IN; i++) known[i] = built_in[i].name;
    if (!shape) return sx_error_unknown(name->place, "shape", name->text, known, N_BUILT_IN);
    *out = shape;
    return SX_OK;
}
