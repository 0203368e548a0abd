/* The messages of an ONNX model: nodes, tensors and what is said of values, as they stand in the file. Texts and
 * messages point into it; the data of tensors is not looked at. */
#ifndef SX_FRONTEND_ONNX_MODEL_H
#define SX_FRONTEND_ONNX_MODEL_H

#include "base/arena.h"
#include "frontend/onnx/wire.h"
#include "sextant/problem.h"

/* What dimensions may be at most; larger ones are refused. */
#define SX_ONNX_MAX_EXTENT (INT64_C(1) << 40)

/* A shape: n is -1 where it is not known; an extent is -1 where it is not. */
typedef struct sx_onnx_shape {
    int n;
    int64_t dim[SX_MAX_RANKS];
} sx_onnx_shape;

typedef struct sx_onnx_node {
    sx_bytes name, op, domain, overload;
    sx_bytes message; /* which has the attributes */
    sx_bytes *input, *output;
    size_t n_inputs, n_outputs;
} sx_onnx_node;

/* A tensor of the file. */
typedef struct sx_onnx_tensor {
    sx_bytes name, message;
    int type;
    sx_onnx_shape shape;
} sx_onnx_tensor;

/* What is said of a value's type. */
typedef struct sx_onnx_info {
    sx_bytes name;
    int type;
    sx_onnx_shape shape;
    sx_bytes symbol[SX_MAX_RANKS]; /* for extents that are not known; may be empty */
} sx_onnx_info;

/* A graph, or the body of a function, of which inputs and outputs have names only. */
typedef struct sx_onnx_graph {
    sx_bytes name, domain, overload, message;
    bool is_function;
    sx_onnx_node *node;
    sx_onnx_tensor *tensor; /* initializers */
    sx_onnx_info *input, *output;
    sx_onnx_info *info; /* of any values, outputs among them, by their names */
    size_t n_nodes, n_tensors, n_inputs, n_outputs, n_infos;
} sx_onnx_graph;

typedef struct sx_onnx_model {
    sx_onnx_graph graph;
    sx_onnx_graph *function;
    size_t n_functions;
    int64_t opset; /* of the standard's own operations */
} sx_onnx_model;

/* Reads a whole model, a graph within it, and a tensor. */
SX_MUST_USE sx_status sx_onnx_model_read(sx_arena *arena, sx_bytes file, sx_onnx_model *out);
SX_MUST_USE sx_status sx_onnx_graph_read(sx_arena *arena, sx_bytes message, sx_onnx_graph *out);
SX_MUST_USE sx_status sx_onnx_tensor_read(sx_bytes message, sx_onnx_tensor *out);

/* What a graph says of the value of a name, NULL where it says nothing. */
const sx_onnx_info *sx_onnx_info_of(const sx_onnx_graph *graph, sx_bytes name);

/* Reads the first n elements of a tensor as numbers; false where the file does not have them, or they are no
 * numbers. */
bool sx_onnx_tensor_data(const sx_onnx_tensor *tensor, double *data, size_t n);

/* How many bits an element of a type has, and whether it is a whole number. */
uint32_t sx_onnx_type_bits(int type);
bool sx_onnx_type_whole(int type);

#endif
