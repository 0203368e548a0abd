/* Networks from ONNX files: a graph whose einsums are the operations with products, and what else the file has. */
#ifndef SX_FRONTEND_ONNX_ONNX_H
#define SX_FRONTEND_ONNX_ONNX_H

#include "base/arena.h"
#include "sextant/graph.h"

/* The extent of a symbol; *used, where not NULL, becomes true where it is used. */
typedef struct sx_onnx_symbol {
    const char *name;
    int64_t extent;
    bool *used;
} sx_onnx_symbol;

/* An operation of the file that is mapped. */
typedef struct sx_onnx_layer {
    const char *name, *op;
    uint64_t macs;
    size_t node, n_nodes; /* in the graph */
} sx_onnx_layer;

/* Operations of one name that are not mapped. */
typedef struct sx_onnx_rest {
    const char *op;
    size_t count, grouped; /* grouped: those that are a part of a node before them */
    uint64_t
        operations;    /* one for each element of an input or the output, whichever are more; 0: not known */
    bool heavy;        /* has products, or may have */
    bool unknown;      /* no operation of that name is known */
    const char *first; /* the first of them, with the shape that it writes */
} sx_onnx_rest;

typedef struct sx_onnx {
    sx_graph graph;
    sx_onnx_layer *layer; /* in the order of the file */
    sx_onnx_rest *rest;   /* unknown work first, then most operations */
    size_t n_layers, n_rest, n_nodes;
    uint64_t macs, operations; /* operations: of the rest */
    sx_arena arena;
} sx_onnx;

/* Reads bytes as if they were the file `name`. *out is freed with sx_onnx_fini. */
SX_MUST_USE sx_status sx_onnx_parse(const char *name, const void *bytes, size_t size,
                                    const sx_onnx_symbol *symbol, size_t n_symbols, sx_onnx *out);
void sx_onnx_fini(sx_onnx *onnx);

/* Whether a path is that of an ONNX file, by its ending. */
bool sx_onnx_is_path(const char *path);

#endif
