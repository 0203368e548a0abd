/* Values of a trace: what operations read of them and say of them. */
#include "frontend/onnx/trace.h"

#include <string.h>

int64_t sx_onnx_elements(const sx_onnx_shape *shape) {
    int64_t n = 1;
    for (int i = 0; i < shape->n; i++)
        if (shape->dim[i] == 0) return 0;
    for (int i = 0; i < shape->n; i++) {
        if (shape->dim[i] < 0 || shape->dim[i] > (INT64_C(1) << 62) / n) return -1;
        n *= shape->dim[i];
    }
    return shape->n < 0 ? -1 : n;
}

int64_t sx_onnx_times(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || (b && a > SX_ONNX_MAX_EXTENT / b)) return -1;
    return a * b;
}

bool sx_onnx_known(const sx_onnx_shape *shape) {
    for (int i = 0; i < shape->n; i++)
        if (shape->dim[i] < 0) return false;
    return shape->n >= 0;
}

int sx_onnx_axis(const sx_onnx_shape *shape, int64_t axis) {
    if (shape->n < 0 || axis < -(int64_t)shape->n || axis >= shape->n) return -1;
    return (int)(axis < 0 ? axis + shape->n : axis);
}

const sx_onnx_value *sx_onnx_input(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t index) {
    if (index >= op->n_inputs || op->input[index] == SX_ONNX_NONE) return NULL;
    return sx_onnx_value_at(trace, op->input[index]);
}

const sx_onnx_shape *sx_onnx_input_shape(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t index) {
    static const sx_onnx_shape nothing = {.n = -1};
    const sx_onnx_value *value = sx_onnx_input(trace, op, index);
    return value ? &value->shape : &nothing;
}

/* A number cut to what extents may be, in either direction. */
static int64_t whole_number(double number) {
    if (!(number > -0x1p40)) return -SX_ONNX_MAX_EXTENT;
    return number < 0x1p40 ? (int64_t)number : SX_ONNX_MAX_EXTENT;
}

int sx_onnx_input_ints(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, int64_t *out,
                       int room) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, index);
    const int64_t n = value && value->data ? sx_onnx_elements(&value->shape) : -1;
    if (n < 0 || n > room) return -1;
    for (int i = 0; i < (int)n; i++) out[i] = whole_number(value->data[i]);
    return (int)n;
}

void sx_onnx_set_shape(sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, sx_onnx_shape shape) {
    if (index >= op->n_outputs || op->output[index] == SX_ONNX_NONE) return;
    for (int i = 0; i < shape.n; i++)
        if (shape.dim[i] > SX_ONNX_MAX_EXTENT || shape.dim[i] < 0) shape.dim[i] = -1;
    sx_onnx_value_at(trace, op->output[index])->shape = shape;
}

void sx_onnx_set_type(sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, int type) {
    if (index < op->n_outputs && op->output[index] != SX_ONNX_NONE)
        sx_onnx_value_at(trace, op->output[index])->type = type;
}

void sx_onnx_copy_type(sx_onnx_trace *trace, const sx_onnx_op *op, size_t input, size_t output) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, input);
    if (value) sx_onnx_set_type(trace, op, output, value->type);
}

sx_status sx_onnx_set_data(sx_onnx_trace *trace, const sx_onnx_op *op, size_t index, const double *data) {
    if (index >= op->n_outputs || op->output[index] == SX_ONNX_NONE) return SX_OK;
    sx_onnx_value *value = sx_onnx_value_at(trace, op->output[index]);
    const int64_t n = sx_onnx_elements(&value->shape);
    if (n < 0 || n > SX_ONNX_MAX_DATA) return SX_OK;
    double *copy = sx_arena_alloc(&trace->arena, (size_t)n + 1, sizeof *copy);
    if (!copy) return sx_arena_error(&trace->arena);
    if (n) memcpy(copy, data, (size_t)n * sizeof *copy);
    value->data = copy;
    return SX_OK;
}
