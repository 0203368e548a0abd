/* Shapes of operations on elements: functions of one or of several tensors, reductions, normalisations. */
#include "frontend/onnx/rules.h"

#include <string.h>

enum { TYPE_UINT8 = 2, TYPE_INT64 = 7, TYPE_BOOL = 9 };

/* Broadcasts a shape to another: extents of 1 stretch, missing first ranks too. False where they do not fit. */
static bool broadcast_shape(sx_onnx_shape *to, const sx_onnx_shape *from) {
    if (to->n < 0 || from->n < 0) {
        to->n = -1;
        return false;
    }
    sx_onnx_shape out = to->n >= from->n ? *to : *from;
    for (int i = 0; i < to->n && i < from->n; i++) {
        const int64_t a = to->dim[to->n - 1 - i], b = from->dim[from->n - 1 - i];
        int64_t *extent = &out.dim[out.n - 1 - i];
        *extent = a == 1 ? b : b == 1 || a == b ? a : a < 0 ? b : b < 0 ? a : -2;
        if (*extent == -2) {
            to->n = -1;
            return false;
        }
    }
    *to = out;
    return true;
}

/* Where in a tensor the element is that is broadcast to place `at` of a shape. */
static size_t source_of(const sx_onnx_shape *to, const sx_onnx_shape *from, size_t at) {
    size_t index = 0, stride = 1;
    for (int i = 0; i < to->n; i++) {
        const size_t extent = (size_t)to->dim[to->n - 1 - i], place = at % extent;
        at /= extent;
        if (i >= from->n) continue;
        const size_t own = (size_t)from->dim[from->n - 1 - i];
        index += own == 1 ? 0 : place * stride;
        stride *= own;
    }
    return index;
}

/* The shape to which all inputs are broadcast. */
static sx_onnx_shape broadcast_all(const sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    for (size_t i = 1; i < op->n_inputs && shape.n >= 0; i++)
        (void)broadcast_shape(&shape, sx_onnx_input_shape(trace, op, i));
    return shape;
}

/* Whether the numbers of all inputs are known, and how many the output has. */
static bool all_data(const sx_onnx_trace *trace, const sx_onnx_op *op, const sx_onnx_shape *shape,
                     size_t *n) {
    const int64_t elements = sx_onnx_elements(shape);
    if (elements < 0 || elements > SX_ONNX_MAX_DATA || !op->n_inputs) return false;
    for (size_t i = 0; i < op->n_inputs; i++) {
        const sx_onnx_value *value = sx_onnx_input(trace, op, i);
        if (!value || !value->data) return false;
    }
    *n = (size_t)elements;
    return true;
}

/* An element of an input as the operation sees it at place `at`. */
static double element_at(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t input,
                         const sx_onnx_shape *shape, size_t at) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, input);
    return value->data[source_of(shape, &value->shape, at)];
}

/* A quotient of whole numbers is a whole number. */
static double round_quotient(const sx_onnx_trace *trace, const sx_onnx_op *op, double value) {
    const sx_onnx_value *first = sx_onnx_input(trace, op, 0);
    const bool whole = first && sx_onnx_type_whole(first->type);
    return whole && value > -0x1p62 && value < 0x1p62 ? (double)(int64_t)value : value;
}

/* Computes the numbers of an operation on elements. */
static sx_status fold_numbers(sx_onnx_trace *trace, const sx_onnx_op *op, const sx_onnx_shape *shape) {
    double *data = trace->numbers;
    size_t n;
    if (!op->rule->element || !all_data(trace, op, shape, &n)) return SX_OK;
    for (size_t at = 0; at < n; at++) {
        data[at] = element_at(trace, op, 0, shape, at);
        if (op->n_inputs == 1) data[at] = op->rule->element(data[at], data[at]);
        for (size_t i = 1; i < op->n_inputs; i++)
            data[at] = op->rule->element(data[at], element_at(trace, op, i, shape, at));
        data[at] = round_quotient(trace, op, data[at]);
    }
    return sx_onnx_set_data(trace, op, 0, data);
}

/* The type of an input's elements, 0 where it is not known. */
static int type_of(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t input) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, input);
    return value ? value->type : 0;
}

sx_status sx_infer_same(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    sx_onnx_set_shape(trace, op, 0, shape);
    sx_onnx_set_type(trace, op, 0, type_of(trace, op, 0));
    return op->n_inputs == 1 ? fold_numbers(trace, op, &shape) : SX_OK;
}

sx_status sx_infer_norm(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_set_shape(trace, op, 0, *sx_onnx_input_shape(trace, op, 0));
    sx_onnx_set_type(trace, op, 0, type_of(trace, op, 0));
    return SX_OK;
}

sx_status sx_infer_broadcast(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape shape = broadcast_all(trace, op);
    sx_onnx_set_shape(trace, op, 0, shape);
    sx_onnx_set_type(trace, op, 0, type_of(trace, op, 0));
    return fold_numbers(trace, op, &shape);
}

sx_status sx_infer_bool(sx_onnx_trace *trace, const sx_onnx_op *op) {
    SX_TRY(sx_infer_broadcast(trace, op));
    sx_onnx_set_type(trace, op, 0, TYPE_BOOL);
    return SX_OK;
}

sx_status sx_infer_where(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape shape = broadcast_all(trace, op);
    double *data = trace->numbers;
    size_t n;
    sx_onnx_set_shape(trace, op, 0, shape);
    sx_onnx_set_type(trace, op, 0, type_of(trace, op, 1));
    if (op->n_inputs != 3 || !all_data(trace, op, &shape, &n)) return SX_OK;
    for (size_t at = 0; at < n; at++)
        data[at] = element_at(trace, op, element_at(trace, op, 0, &shape, at) != 0 ? 1 : 2, &shape, at);
    return sx_onnx_set_data(trace, op, 0, data);
}

sx_status sx_infer_cast(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, 0);
    const int type = op->n_inputs > 1 ? type_of(trace, op, 1) : (int)sx_onnx_int(op->at, "to", 0);
    double *data = trace->numbers;
    sx_onnx_set_shape(trace, op, 0, *sx_onnx_input_shape(trace, op, 0));
    sx_onnx_set_type(trace, op, 0, type);
    const int64_t n = value && value->data ? sx_onnx_elements(&value->shape) : -1;
    for (int64_t i = 0; i < n; i++) {
        const double number = value->data[i];
        const bool small = number > -0x1p62 && number < 0x1p62;
        data[i] = type == TYPE_BOOL                   ? number != 0
                  : sx_onnx_type_whole(type) && small ? (double)(int64_t)number
                                                      : number;
    }
    return n >= 0 ? sx_onnx_set_data(trace, op, 0, data) : SX_OK;
}

sx_status sx_infer_quantize(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const int zero = type_of(trace, op, 2), said = (int)sx_onnx_int(op->at, "output_dtype", 0);
    SX_TRY(sx_infer_norm(trace, op));
    sx_onnx_set_type(trace, op, 0, zero ? zero : said ? said : TYPE_UINT8);
    return SX_OK;
}

sx_status sx_infer_dequantize(sx_onnx_trace *trace, const sx_onnx_op *op) {
    SX_TRY(sx_infer_norm(trace, op));
    sx_onnx_set_type(trace, op, 0, type_of(trace, op, 1));
    return SX_OK;
}

sx_status sx_infer_dynamic_quantize(sx_onnx_trace *trace, const sx_onnx_op *op) {
    SX_TRY(sx_infer_quantize(trace, op));
    sx_onnx_set_type(trace, op, 0, TYPE_UINT8);
    for (size_t i = 1; i < 3; i++) sx_onnx_set_shape(trace, op, i, (sx_onnx_shape){.n = 0});
    return SX_OK;
}

/* The axes that are reduced, from the input or the attribute; -1 where they are not known. */
static int read_axes(const sx_onnx_trace *trace, const sx_onnx_op *op, int64_t *axes) {
    if (op->n_inputs > 1 && op->input[1] != SX_ONNX_NONE)
        return sx_onnx_input_ints(trace, op, 1, axes, SX_MAX_RANKS);
    const int n = sx_onnx_ints(op->at, "axes", axes, SX_MAX_RANKS);
    return n < 0 ? 0 : n;
}

/* Removes the axes that are marked, or leaves extents of 1. */
static sx_onnx_shape reduced_shape(const sx_onnx_shape *from, const bool *axis, bool keep) {
    sx_onnx_shape shape = {0};
    for (int i = 0; i < from->n; i++) {
        if (axis[i] && !keep) continue;
        shape.dim[shape.n++] = axis[i] ? 1 : from->dim[i];
    }
    return shape;
}

/* Computes the numbers of a reduction to one element. */
static sx_status fold_all(sx_onnx_trace *trace, const sx_onnx_op *op, const sx_onnx_shape *to) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, 0);
    const int64_t n = value && value->data ? sx_onnx_elements(&value->shape) : 0;
    if (!op->rule->element || n < 1 || sx_onnx_elements(to) != 1) return SX_OK;
    double result = value->data[0];
    for (int64_t i = 1; i < n; i++) result = op->rule->element(result, value->data[i]);
    return sx_onnx_set_data(trace, op, 0, &result);
}

sx_status sx_infer_reduce(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    int64_t axes[SX_MAX_RANKS];
    bool marked[SX_MAX_RANKS] = {false};
    const int n = read_axes(trace, op, axes);
    const bool keep = sx_onnx_int(op->at, "keepdims", 1) != 0;
    const bool nothing = n == 0 && sx_onnx_int(op->at, "noop_with_empty_axes", 0) != 0;
    sx_onnx_set_type(trace, op, 0, type_of(trace, op, 0));
    if (from->n < 0 || n < 0) return SX_OK;
    for (int i = 0; i < from->n; i++) marked[i] = n == 0 && !nothing;
    for (int i = 0; i < n; i++) {
        const int axis = sx_onnx_axis(from, axes[i]);
        if (axis < 0) return SX_OK;
        marked[axis] = true;
    }
    const sx_onnx_shape shape = reduced_shape(from, marked, keep);
    sx_onnx_set_shape(trace, op, 0, shape);
    return fold_all(trace, op, &shape);
}

sx_status sx_infer_arg(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    const int axis = sx_onnx_axis(from, sx_onnx_int(op->at, "axis", 0));
    bool marked[SX_MAX_RANKS] = {false};
    sx_onnx_set_type(trace, op, 0, TYPE_INT64);
    if (axis < 0) return SX_OK;
    marked[axis] = true;
    sx_onnx_set_shape(trace, op, 0, reduced_shape(from, marked, sx_onnx_int(op->at, "keepdims", 1) != 0));
    return SX_OK;
}
