/* The names of a graph: which value each stands for, and which node writes it. */
#ifndef SX_FRONTEND_ONNX_SCOPE_H
#define SX_FRONTEND_ONNX_SCOPE_H

#include "frontend/onnx/trace.h"

typedef struct sx_onnx_name {
    sx_bytes text;
    uint32_t value; /* SX_ONNX_NONE: not known yet */
    uint32_t node;  /* that writes it; SX_ONNX_NONE: none */
} sx_onnx_name;

/* A branch of a conditional sees the names of the graph around it. */
typedef struct sx_onnx_scope {
    const struct sx_onnx_scope *outer;
    sx_onnx_name *name; /* in the order of their texts */
    size_t n;
} sx_onnx_scope;

/* The names of a graph; an error where two nodes write one. */
SX_MUST_USE sx_status sx_onnx_scope_of(sx_arena *arena, const sx_onnx_graph *graph,
                                       const sx_onnx_scope *outer, sx_onnx_scope *out);

/* The name of that text in this scope alone, NULL where there is none. */
sx_onnx_name *sx_onnx_scope_find(const sx_onnx_scope *scope, sx_bytes text);

/* The value of a text here or further out; SX_ONNX_NONE where there is none. */
uint32_t sx_onnx_scope_value(const sx_onnx_scope *scope, sx_bytes text);

/* All nodes of a graph, each after those that write its inputs, else in their order; an error where nodes wait
 * for each other. */
SX_MUST_USE sx_status sx_onnx_scope_order(sx_arena *arena, const sx_onnx_graph *graph,
                                          const sx_onnx_scope *scope, SX_OWN uint32_t **order);

#endif
