#include "frontend/onnx/window.h"

/* What strides, dilations, kernels and paddings may be at most. */
enum { MAX_WINDOW = 1 << 20 };

/* Reads a list of n numbers between two limits, which the attribute has or which all are `otherwise`. */
static SX_MUST_USE sx_status read_list(const sx_onnx_op *op, const char *name, int n, int64_t low,
                                       int64_t otherwise, int64_t *out) {
    const int there = sx_onnx_ints(op->at, name, out, SX_MAX_RANKS);
    for (int i = 0; i < n && there < 0; i++) out[i] = otherwise;
    if (there >= 0 && there != n)
        return sx_onnx_error(op, "its attribute '%s' has %d numbers; there must be %d", name, there, n);
    for (int i = 0; i < n; i++)
        if (out[i] < low || out[i] > MAX_WINDOW)
            return sx_onnx_error(op, "%lld of its attribute '%s' is not between %lld and %d",
                                 (long long)out[i], name, (long long)low, MAX_WINDOW);
    return SX_OK;
}

/* Reads kernel, strides, dilations and groups. */
static SX_MUST_USE sx_status read_window(const sx_onnx_op *op, const sx_onnx_shape *in,
                                         const sx_onnx_shape *weights, sx_onnx_window *w) {
    if (in->n < 3)
        return sx_onnx_error(op, "its input has %d ranks; a batch, channels and a plane are needed", in->n);
    if (in->n > 8) return sx_onnx_error(op, "its input has %d ranks; at most 8 are allowed", in->n);
    if (weights && weights->n != in->n)
        return sx_onnx_error(op, "its weights have %d ranks; its input has %d", weights->n, in->n);
    w->n = in->n - 2;
    w->groups = sx_onnx_int(op->at, "group", 1);
    if (w->groups < 1 || w->groups > MAX_WINDOW)
        return sx_onnx_error(op, "%lld groups are not possible", (long long)w->groups);
    SX_TRY(read_list(op, "strides", w->n, 1, 1, w->stride));
    SX_TRY(read_list(op, "dilations", w->n, 1, 1, w->dilation));
    if (!weights) return read_list(op, "kernel_shape", w->n, 1, 0, w->kernel);
    for (int i = 0; i < w->n; i++) w->kernel[i] = weights->dim[i + 2];
    for (int i = 0; i < w->n; i++)
        if (w->kernel[i] > MAX_WINDOW)
            return sx_onnx_error(op, "its filter has an extent above %d", MAX_WINDOW);
    return SX_OK;
}

/* How padding is said. */
typedef enum padding { AS_SAID, NONE, SAME_UPPER, SAME_LOWER } padding;

static padding padding_of(const sx_onnx_op *op) {
    const sx_bytes text = sx_onnx_string(op->at, "auto_pad");
    return sx_bytes_are(text, "VALID")        ? NONE
           : sx_bytes_are(text, "SAME_UPPER") ? SAME_UPPER
           : sx_bytes_are(text, "SAME_LOWER") ? SAME_LOWER
                                              : AS_SAID;
}

/* Splits padding into that before and that after; the odd one is after, or before. */
static void split_padding(sx_onnx_window *w, int i, int64_t total, bool odd_before) {
    w->before[i] = total < 0 ? 0 : odd_before ? total - total / 2 : total / 2;
    w->after[i] = total < 0 ? 0 : total - w->before[i];
}

/* Reads the padding that is said. */
static SX_MUST_USE sx_status read_padding(const sx_onnx_op *op, sx_onnx_window *w) {
    int64_t pads[SX_MAX_RANKS];
    if (padding_of(op) != AS_SAID) return SX_OK;
    SX_TRY(read_list(op, "pads", 2 * w->n, 0, 0, pads));
    for (int i = 0; i < w->n; i++) {
        w->before[i] = pads[i];
        w->after[i] = pads[i + w->n];
    }
    return SX_OK;
}

/* The extent of an output: as many windows as fit or, with ceil_mode, begin within input and padding before. */
static int64_t count_windows(const sx_onnx_window *w, int i, int64_t extent, bool up) {
    const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1, stride = w->stride[i];
    const int64_t room = extent + w->before[i] + w->after[i] - span;
    if (room < 0) return 0;
    const int64_t n = room / stride + 1, more = up && room % stride;
    return more && n * stride < extent + w->before[i] ? n + 1 : n;
}

sx_status sx_onnx_window_of(const sx_onnx_op *op, const sx_onnx_shape *in, const sx_onnx_shape *weights,
                            sx_onnx_window *out) {
    sx_onnx_window w = {0};
    const padding how = padding_of(op);
    const bool up = sx_onnx_int(op->at, "ceil_mode", 0) != 0;
    SX_TRY(read_window(op, in, weights, &w));
    SX_TRY(read_padding(op, &w));
    for (int i = 0; i < w.n; i++) {
        const int64_t extent = in->dim[i + 2];
        w.out[i] = -1;
        if (extent < 0 || w.kernel[i] < 0) continue;
        if (how == SAME_UPPER || how == SAME_LOWER) {
            const int64_t n = (extent + w.stride[i] - 1) / w.stride[i];
            split_padding(&w, i, (n - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - extent,
                          how == SAME_LOWER);
            w.out[i] = n;
        } else {
            w.out[i] = count_windows(&w, i, extent, up);
        }
    }
    *out = w;
    return SX_OK;
}

sx_status sx_onnx_window_transposed(const sx_onnx_op *op, const sx_onnx_shape *in,
                                    const sx_onnx_shape *weights, sx_onnx_window *out) {
    sx_onnx_window w = {0};
    int64_t more[SX_MAX_RANKS], wanted[SX_MAX_RANKS];
    const padding how = padding_of(op);
    const int n_wanted = sx_onnx_ints(op->at, "output_shape", wanted, SX_MAX_RANKS);
    SX_TRY(read_window(op, in, weights, &w));
    SX_TRY(read_padding(op, &w));
    SX_TRY(read_list(op, "output_padding", w.n, 0, 0, more));
    if (n_wanted >= 0 && n_wanted != w.n) return sx_onnx_error(op, "its output_shape does not fit its input");
    for (int i = 0; i < w.n; i++) {
        const int64_t extent = in->dim[i + 2];
        w.out[i] = -1;
        if (extent < 0 || w.kernel[i] < 0) continue;
        const int64_t whole =
            extent ? w.stride[i] * (extent - 1) + more[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 : 0;
        const bool same = how == SAME_UPPER || how == SAME_LOWER;
        if (n_wanted >= 0 || same) {
            w.out[i] = n_wanted >= 0 ? wanted[i] : extent * w.stride[i];
            split_padding(&w, i, whole - w.out[i], how != SAME_UPPER);
        } else {
            w.out[i] = whole - w.before[i] - w.after[i];
        }
        if (w.out[i] < 0) w.out[i] = 0;
    }
    *out = w;
    return SX_OK;
}
