#include "frontend/onnx_input.h"

#include "base/file_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAG "!ONNX"

sx_status sx_onnx_input_add(sx_input *input, const char *path) {
    sx_arena *arena = sx_input_arena(input);
    sx_file_map map;
    SX_TRY(sx_file_map_open(path, &map));
    sx_file_unmap(&map);
    sx_node *node = sx_arena_alloc(arena, 2, sizeof *node);
    sx_pair *pair = sx_arena_alloc(arena, 1, sizeof *pair);
    const char *copy = sx_arena_copy(arena, path, strlen(path));
    if (!node || !pair || !copy) return sx_arena_error(arena);
    const sx_place place = {copy, 0, 0};
    node[0] =
        (sx_node){.kind = SX_NODE_SCALAR, .place = place, .tag = TAG, .text = copy, .weight = 1, .height = 1};
    *pair = (sx_pair){.key = "graph", .place = place, .value = &node[0]};
    node[1] = (sx_node){.kind = SX_NODE_MAP, .place = place, .n = 1, .pair = pair, .weight = 2, .height = 2};
    return sx_input_add_node(input, &node[1]);
}

const char *sx_onnx_input_path(const sx_input *input) {
    const sx_pair *section = sx_input_first(input, "graph");
    const sx_node *value = section ? section->value : NULL;
    return value && value->tag && strcmp(value->tag, TAG) == 0 && value->kind == SX_NODE_SCALAR ? value->text
                                                                                                : NULL;
}

/* Makes symbols of the variables that are whole numbers. */
static size_t list_symbols(const sx_input *input, sx_onnx_symbol *symbol, bool *used, size_t room) {
    const char *name, *value;
    size_t n = 0;
    for (size_t i = 0; n < room && (name = sx_input_setting(input, i, &value)); i++) {
        char *end;
        errno = 0;
        const long long extent = strtoll(value, &end, 10);
        if (end == value || *end || errno || extent < 1 || extent > SX_MAX_DIM_SIZE) continue;
        symbol[n] = (sx_onnx_symbol){name, extent, &used[n]};
        n++;
    }
    return n;
}

sx_status sx_onnx_input_read(const sx_input *input, const char *path, sx_onnx *out) {
    enum { MAX_SYMBOLS = 100 };
    sx_onnx_symbol symbol[MAX_SYMBOLS];
    bool used[MAX_SYMBOLS] = {0};
    sx_file_map map;
    SX_TRY(sx_file_map_open(path, &map));
    const size_t n = list_symbols(input, symbol, used, MAX_SYMBOLS);
    sx_onnx onnx;
    sx_status status = sx_onnx_parse(path, map.data, map.size, symbol, n, &onnx);
    sx_file_unmap(&map);
    SX_TRY(status);
    for (size_t i = 0; i < n && !status; i++)
        if (used[i]) status = sx_settings_know(sx_input_settings(input), symbol[i].name, true);
    if (status)
        sx_onnx_fini(&onnx);
    else
        *out = onnx;
    return status;
}

/* Warns of operations whose work is missing in what a network costs. */
static sx_status warn_unmapped(sx_input *input, const char *path, const sx_onnx_rest *rest) {
    if (rest->unknown)
        return sx_input_warn(input, (sx_place){0},
                             "%s: %zu %s (%s): not mapped, as no such operator is known; its work is missing",
                             path, rest->count, rest->op, rest->first);
    return sx_input_warn(input, (sx_place){0}, "%s: %zu %s: not mapped, though there may be products in it",
                         path, rest->count, rest->op);
}

sx_status sx_onnx_input_graph(sx_input *input, const char *path, sx_graph *out) {
    const sx_pair *section;
    sx_onnx onnx;
    SX_TRY(sx_input_single(input, "graph", &section));
    SX_TRY(sx_onnx_input_read(input, path, &onnx));
    sx_status status = SX_OK;
    for (size_t i = 0; i < onnx.n_rest && !status; i++)
        if (onnx.rest[i].heavy) status = warn_unmapped(input, path, &onnx.rest[i]);
    if (!status) {
        *out = onnx.graph;
        onnx.graph = (sx_graph){0};
    }
    sx_onnx_fini(&onnx);
    return status;
}
