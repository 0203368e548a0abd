/* What a model computes, operation by operation: functions and chosen branches in place of the nodes that call
 * them, each value with its shape and, where it is small and follows from constants, its numbers. */
#ifndef SX_FRONTEND_ONNX_TRACE_H
#define SX_FRONTEND_ONNX_TRACE_H

#include "base/vector.h"
#include "frontend/onnx/attribute.h"
#include "frontend/onnx/onnx.h"

/* No value: an optional input that is left out. */
#define SX_ONNX_NONE UINT32_MAX

/* Numbers are followed through tensors of at most this many elements. */
enum { SX_ONNX_MAX_DATA = 4096 };

typedef struct sx_onnx_value {
    sx_bytes name;
    int type;
    bool weight;   /* a tensor of the file, or made from such alone */
    bool computed; /* an operation writes it, and not from weights alone */
    bool wanted;   /* an output of the model */
    sx_onnx_shape shape;
    const double *data; /* its numbers, NULL: not known */
} sx_onnx_value;

typedef struct sx_onnx_op {
    sx_onnx_place at;
    const char *name;                /* unique within the model, but for damaged ones */
    const struct sx_onnx_rule *rule; /* NULL: an operation of which nothing is known */
    const uint32_t *input, *output;
    size_t n_inputs, n_outputs;
} sx_onnx_op;

typedef struct sx_onnx_trace {
    sx_arena arena;
    sx_onnx_model model;
    const sx_onnx_symbol *symbol;
    size_t n_symbols;
    sx_vector values, ops;  /* of sx_onnx_value and sx_onnx_op */
    size_t n_nodes, called; /* followed so far, and bytes of those in functions and branches */
    double *numbers;        /* SX_ONNX_MAX_DATA each, for the inference of one operation */
    int64_t *whole;
} sx_onnx_trace;

/* Follows a model whose bytes must outlive the trace. *out is freed with sx_onnx_trace_fini, also after an
 * error. */
SX_MUST_USE sx_status sx_onnx_trace_model(sx_bytes file, const sx_onnx_symbol *symbol, size_t n_symbols,
                                          sx_onnx_trace *out);
void sx_onnx_trace_fini(sx_onnx_trace *trace);

static inline sx_onnx_value *sx_onnx_value_at(const sx_onnx_trace *trace, uint32_t index) {
    return sx_vector_at(&trace->values, index);
}

static inline const sx_onnx_op *sx_onnx_op_at(const sx_onnx_trace *trace, size_t index) {
    return sx_vector_at(&trace->ops, index);
}

/* An input of an operation; NULL where it is left out. */
const sx_onnx_value *sx_onnx_input(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t index);

/* The shape of an input, of which n is -1 where it is left out or not known. */
const sx_onnx_shape *sx_onnx_input_shape(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t index);

/* Reads the numbers of an input as whole ones, at most `room`; -1 where they are not known or too many. */
int sx_onnx_input_ints(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, int64_t *out,
                       int room);

/* Gives an output its shape (n = -1: not known), and the type of element. */
void sx_onnx_set_shape(sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, sx_onnx_shape shape);
void sx_onnx_set_type(sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, int type);

/* Gives an output the type of an input, where that is there. */
void sx_onnx_copy_type(sx_onnx_trace *trace, const sx_onnx_op *op, size_t input, size_t output);

/* Gives an output numbers, as many as its shape says; too many are forgotten. */
SX_MUST_USE sx_status sx_onnx_set_data(sx_onnx_trace *trace, const sx_onnx_op *op, size_t index,
                                       const double *data);

/* How many elements a shape has, -1 where that is not known or beyond 2^62. */
int64_t sx_onnx_elements(const sx_onnx_shape *shape);

/* A product of extents, -1 where one is not known or it is too large. */
int64_t sx_onnx_times(int64_t a, int64_t b);

/* Whether all extents are known. */
bool sx_onnx_known(const sx_onnx_shape *shape);

/* An axis counted from the front, -1 where there is none such. */
int sx_onnx_axis(const sx_onnx_shape *shape, int64_t axis);

/* The error of an operation that breaks a rule of the standard. */
SX_ERROR sx_status sx_onnx_error(const sx_onnx_op *op, const char *format, ...) SX_PRINTF(2, 3);

/* A text of the file as it may be shown, cut to what a name may have. */
void sx_onnx_text(sx_bytes bytes, char *out, size_t size);

#endif
