/* The operations that are known: one row each in rules.c. */
#ifndef SX_FRONTEND_ONNX_RULES_H
#define SX_FRONTEND_ONNX_RULES_H

#include "frontend/onnx/trace.h"
#include "sextant/graph.h"

struct sx_onnx_builder;

/* Gives the outputs of an operation their shapes and, where that can be, their numbers. What cannot be said
 * stays unknown. */
typedef sx_status sx_onnx_infer(sx_onnx_trace *trace, const sx_onnx_op *op);

/* Adds the nodes of an operation that is mapped. */
typedef sx_status sx_onnx_lower(struct sx_onnx_builder *builder, size_t op);

/* What an operation does to one element of each input, where that is all it does. */
typedef double sx_onnx_element(double a, double b);

typedef struct sx_onnx_rule {
    const char *name;
    const char *domain; /* NULL: any of those that are known */
    /* Its inputs in order, separated by blanks: "X" is required; "B?" may be left out; "B?C" may be left out where C
     * is, too; "B@b" may be left out where the node has the attribute b, as in old versions; "X*", the last one, is
     * one or more. NULL: not known. */
    const char *inputs;
    sx_op_kind kind; /* of its node in the graph */
    sx_onnx_infer *infer;
    sx_onnx_lower *lower; /* NULL: it is not mapped */
    sx_onnx_element *element;
    bool follows; /* may be a part of the node before it: activation functions, normalisations by constants */
    bool heavy;   /* has products that are not mapped */
    bool moves;   /* moves elements, or less: takes no operations */
} sx_onnx_rule;

/* Row number `index` of the table, NULL behind the last one. */
const sx_onnx_rule *sx_onnx_rule_at(size_t index);

/* The rule of an operation, NULL where there is none. */
const sx_onnx_rule *sx_onnx_rule_of(const sx_onnx_node *node);

/* Refuses an operation that lacks an input that its rule requires. Operations of a trace have passed it, so that
 * what infers and lowers them reads required inputs, and those that go with one that is there, without a check. */
SX_MUST_USE sx_status sx_onnx_check_inputs(const sx_onnx_op *op);

/* Shapes: by inputs, by windows, by products, by moving elements. */
sx_onnx_infer sx_infer_same, sx_infer_broadcast, sx_infer_bool, sx_infer_cast, sx_infer_where,
    sx_infer_reduce, sx_infer_arg, sx_infer_norm, sx_infer_dynamic_quantize, sx_infer_quantize,
    sx_infer_dequantize;
sx_onnx_infer sx_infer_conv, sx_infer_conv_transpose, sx_infer_pool, sx_infer_global_pool,
    sx_infer_qlinear_conv;
sx_onnx_infer sx_infer_gemm, sx_infer_matmul, sx_infer_qlinear_matmul, sx_infer_einsum, sx_infer_recurrent,
    sx_infer_attention;
sx_onnx_infer sx_infer_constant, sx_infer_shape, sx_infer_size, sx_infer_constant_of_shape, sx_infer_reshape,
    sx_infer_flatten, sx_infer_squeeze, sx_infer_unsqueeze, sx_infer_transpose, sx_infer_slice,
    sx_infer_split, sx_infer_concat, sx_infer_gather, sx_infer_gather_elements, sx_infer_gather_nd,
    sx_infer_expand, sx_infer_tile, sx_infer_pad, sx_infer_resize, sx_infer_range, sx_infer_one_hot,
    sx_infer_top_k, sx_infer_depth_to_space, sx_infer_space_to_depth;

/* Mapped operations. */
sx_onnx_lower sx_lower_conv, sx_lower_qlinear_conv, sx_lower_conv_transpose, sx_lower_gemm, sx_lower_matmul,
    sx_lower_qlinear_matmul, sx_lower_einsum, sx_lower_recurrent, sx_lower_attention;

#endif
