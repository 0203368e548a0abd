/* Convolutions and matrix products of two matrices as einsums of the catalog's form. A convolution over a line has
 * a plane of one column; one over a volume has T and Z beside R, S, P and Q. Gemm is a fully connected layer: a
 * convolution of 1 x 1. */
#include "frontend/catalog/networks.h"
#include "frontend/onnx/build.h"
#include "frontend/onnx/window.h"

/* The ranks of the output, the weights and the input, by how many ranks the plane has. */
static const char *const output_ranks[] = {"", "N|GDKQ|P", "N|GDK|P|Q", "N|GDK|Z|P|Q"};
static const char *const weight_ranks[] = {"", "GDK|CS|R", "GDK|C|R|S", "GDK|C|T|R|S"};
static const char *const input_ranks[] = {"", "N|GDCQ|P", "N|GDC|P|Q", "N|GDC|Z|P|Q"};
enum { MAX_PLANE = 3 };

/* The convolution of a window: planes of `out`, with c channels in and k out per group. */
static sx_conv conv_of(const sx_onnx_window *w, int64_t batch, int64_t c, int64_t k, const int64_t *out) {
    const int row = w->n > 2, column = row + 1;
    sx_conv conv = {.n = (uint32_t)batch, .c = (uint32_t)c, .k = (uint32_t)k, .groups = (uint32_t)w->groups};
    conv.p = (uint32_t)out[row];
    conv.r = (uint32_t)w->kernel[row];
    conv.stride_p = (uint32_t)w->stride[row];
    conv.dilation_r = (uint32_t)w->dilation[row];
    conv.q = w->n > 1 ? (uint32_t)out[column] : 1;
    conv.s = w->n > 1 ? (uint32_t)w->kernel[column] : 1;
    conv.stride_q = w->n > 1 ? (uint32_t)w->stride[column] : 1;
    conv.dilation_s = w->n > 1 ? (uint32_t)w->dilation[column] : 1;
    if (w->n < 3) return conv;
    conv.z = (uint32_t)out[0];
    conv.t = (uint32_t)w->kernel[0];
    conv.stride_z = (uint32_t)w->stride[0];
    conv.dilation_t = (uint32_t)w->dilation[0];
    return conv;
}

/* Pads the ranks of the plane of an operand. */
static void pad_plane(sx_graph_operand *operand, const sx_onnx_window *w) {
    for (int i = 0; i < w->n; i++) {
        operand->before[i + 2] = (uint32_t)w->before[i];
        operand->after[i + 2] = (uint32_t)w->after[i];
    }
}

/* Refuses channels that do not fit, and planes of too many ranks. */
static sx_status check_channels(const sx_onnx_op *op, const sx_onnx_window *w, int64_t in, int64_t per_group,
                                int64_t out) {
    if (w->n > MAX_PLANE)
        return sx_onnx_error(op, "a plane of %d ranks cannot be mapped; at most %d can", w->n, MAX_PLANE);
    if (in != per_group * w->groups || out % w->groups != 0)
        return sx_onnx_error(op, "%lld channels, a filter of %lld and %lld outputs do not fit %lld groups",
                             (long long)in, (long long)per_group, (long long)out, (long long)w->groups);
    return SX_OK;
}

/* Lowers a convolution whose weights are input number `weights`, or a transposed one: the gradient of one whose output is its
 * input. */
static sx_status lower_conv(sx_onnx_builder *b, size_t index, size_t weights, bool transposed) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    const sx_onnx_shape *in = sx_onnx_input_shape(b->trace, op, 0),
                        *filter = sx_onnx_input_shape(b->trace, op, weights);
    sx_onnx_window w;
    sx_problem einsum;
    sx_graph_operand operand[3];
    bool empty;
    SX_TRY(sx_onnx_ready(b, op, (const size_t[]){0, weights}, 2, 0, &empty));
    if (empty) return SX_OK;
    if (transposed) {
        SX_TRY(sx_onnx_window_transposed(op, in, filter, &w));
        SX_TRY(check_channels(op, &w, filter->dim[0], filter->dim[0] / w.groups, in->dim[1]));
        if (in->dim[1] != filter->dim[0])
            return sx_onnx_error(op, "its filter is for %lld channels, its input has %lld",
                                 (long long)filter->dim[0], (long long)in->dim[1]);
    } else {
        SX_TRY(sx_onnx_window_of(op, in, filter, &w));
        SX_TRY(check_channels(op, &w, in->dim[1], filter->dim[1], filter->dim[0]));
    }
    const sx_conv conv =
        conv_of(&w, in->dim[0], filter->dim[1], filter->dim[0] / w.groups, transposed ? in->dim + 2 : w.out);
    const char *const *written = transposed ? input_ranks : output_ranks, *const *read = transposed
                                                                                             ? output_ranks
                                                                                             : input_ranks;
    SX_TRY(sx_onnx_named(op, transposed ? sx_layer_conv_data_gradient(&conv, "conv", &einsum)
                                        : sx_layer_conv(&conv, "conv", &einsum)));
    SX_TRY(sx_onnx_operand(b, &einsum, 0, b->result[index], written[w.n], -1, &operand[0]));
    SX_TRY(sx_onnx_operand(b, &einsum, 1, op->input[weights], weight_ranks[w.n], -1, &operand[1]));
    SX_TRY(sx_onnx_operand(b, &einsum, 2, op->input[0], read[w.n], -1, &operand[2]));
    pad_plane(&operand[transposed ? 0 : 2], &w);
    return sx_onnx_add_einsum(b, op, "", &einsum, operand, 1);
}

sx_status sx_lower_conv(sx_onnx_builder *b, size_t op) {
    return lower_conv(b, op, 1, false);
}

sx_status sx_lower_qlinear_conv(sx_onnx_builder *b, size_t op) {
    return lower_conv(b, op, 3, false);
}

sx_status sx_lower_conv_transpose(sx_onnx_builder *b, size_t op) {
    return lower_conv(b, op, 1, true);
}

sx_status sx_lower_gemm(sx_onnx_builder *b, size_t index) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    const sx_onnx_shape *x = sx_onnx_input_shape(b->trace, op, 0), *w = sx_onnx_input_shape(b->trace, op, 1);
    const int tx = sx_onnx_int(op->at, "transA", 0) != 0, tw = sx_onnx_int(op->at, "transB", 0) != 0;
    sx_problem einsum;
    sx_graph_operand operand[3];
    bool empty;
    SX_TRY(sx_onnx_ready(b, op, (const size_t[]){0, 1}, 2, 0, &empty));
    if (empty) return SX_OK;
    const sx_conv conv = {.n = (uint32_t)x->dim[tx],
                          .c = (uint32_t)x->dim[!tx],
                          .k = (uint32_t)w->dim[!tw],
                          .p = 1,
                          .q = 1,
                          .r = 1,
                          .s = 1};
    SX_TRY(sx_onnx_named(op, sx_layer_conv(&conv, "gemm", &einsum)));
    SX_TRY(sx_onnx_operand(b, &einsum, 0, b->result[index], "N|KPQ", -1, &operand[0]));
    SX_TRY(sx_onnx_operand(b, &einsum, 1, op->input[1], tw ? "KRS|C" : "C|KRS", -1, &operand[1]));
    SX_TRY(sx_onnx_operand(b, &einsum, 2, op->input[0], tx ? "CPQ|N" : "N|CPQ", -1, &operand[2]));
    return sx_onnx_add_einsum(b, op, "", &einsum, operand, 1);
}
