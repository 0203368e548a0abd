/* Shapes of convolutions and pools. */
#include "frontend/onnx/rules.h"
#include "frontend/onnx/window.h"

enum { TYPE_INT32 = 6, TYPE_INT64 = 7 };

/* Gives an output the plane of a window, with a batch and channels. */
static void set_plane(sx_onnx_trace *trace, const sx_onnx_op *op, size_t output, int64_t batch,
                      int64_t channels, const sx_onnx_window *window) {
    sx_onnx_shape shape = {.n = window->n + 2, .dim = {batch, channels}};
    for (int i = 0; i < window->n; i++) shape.dim[i + 2] = window->out[i];
    sx_onnx_set_shape(trace, op, output, shape);
}

/* The output of a convolution whose weights are input number `weights`. */
static sx_status infer_conv(sx_onnx_trace *trace, const sx_onnx_op *op, size_t weights) {
    const sx_onnx_shape *in = sx_onnx_input_shape(trace, op, 0),
                        *filter = sx_onnx_input_shape(trace, op, weights);
    sx_onnx_window window;
    if (in->n < 0 || filter->n < 0) return SX_OK;
    SX_TRY(sx_onnx_window_of(op, in, filter, &window));
    set_plane(trace, op, 0, in->dim[0], filter->dim[0], &window);
    return SX_OK;
}

sx_status sx_infer_conv(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_copy_type(trace, op, 0, 0);
    if (sx_bytes_are(op->at.node->op, "ConvInteger")) sx_onnx_set_type(trace, op, 0, TYPE_INT32);
    return infer_conv(trace, op, 1);
}

sx_status sx_infer_qlinear_conv(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_copy_type(trace, op, 7, 0);
    return infer_conv(trace, op, 3);
}

sx_status sx_infer_conv_transpose(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *in = sx_onnx_input_shape(trace, op, 0), *filter = sx_onnx_input_shape(trace, op, 1);
    sx_onnx_window window;
    sx_onnx_copy_type(trace, op, 0, 0);
    if (in->n < 0 || filter->n < 0) return SX_OK;
    SX_TRY(sx_onnx_window_transposed(op, in, filter, &window));
    const int64_t channels = filter->dim[1] < 0 ? -1 : filter->dim[1] * window.groups;
    set_plane(trace, op, 0, in->dim[0], channels, &window);
    return SX_OK;
}

sx_status sx_infer_pool(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *in = sx_onnx_input_shape(trace, op, 0);
    sx_onnx_window window;
    sx_onnx_copy_type(trace, op, 0, 0);
    if (in->n < 0) return SX_OK;
    SX_TRY(sx_onnx_window_of(op, in, NULL, &window));
    for (size_t i = 0; i < 2; i++) set_plane(trace, op, i, in->dim[0], in->dim[1], &window);
    sx_onnx_set_type(trace, op, 1, TYPE_INT64);
    return SX_OK;
}

sx_status sx_infer_global_pool(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    sx_onnx_copy_type(trace, op, 0, 0);
    for (int i = 2; i < shape.n; i++) shape.dim[i] = 1;
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}
