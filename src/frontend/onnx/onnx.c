#include "frontend/onnx/onnx.h"

#include "frontend/onnx/build.h"

#include <string.h>

/* The name of the graph: that of the file without its folder and its last ending. */
static void name_graph(const char *path, char name[SX_NAME_SIZE]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    sx_onnx_text((sx_bytes){(const unsigned char *)base, length}, name, SX_NAME_SIZE);
    if (!*name) strcpy(name, "model");
}

sx_status sx_onnx_parse(const char *name, const void *bytes, size_t size, const sx_onnx_symbol *symbol,
                        size_t n_symbols, sx_onnx *out) {
    sx_onnx_trace trace;
    sx_onnx onnx;
    memset(&onnx, 0, sizeof onnx);
    name_graph(name, onnx.graph.name);
    sx_status status = sx_onnx_trace_model((sx_bytes){bytes, size}, symbol, n_symbols, &trace);
    if (!status) status = sx_onnx_build(&trace, &onnx);
    if (!status && onnx.graph.n_nodes) status = sx_graph_check(&onnx.graph);
    if (!status) {
        onnx.arena = trace.arena;
        trace.arena = (sx_arena){0};
    }
    sx_onnx_trace_fini(&trace);
    if (status)
        sx_graph_fini(&onnx.graph);
    else
        *out = onnx;
    return sx_error_place(status, (sx_place){name, 0, 0});
}

void sx_onnx_fini(sx_onnx *onnx) {
    sx_graph_fini(&onnx->graph);
    sx_arena_free(&onnx->arena);
}

bool sx_onnx_is_path(const char *path) {
    const size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".onnx") == 0;
}
