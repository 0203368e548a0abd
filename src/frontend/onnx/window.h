/* The windows of convolutions and pools: extents, strides, dilations and padding per rank of the plane. */
#ifndef SX_FRONTEND_ONNX_WINDOW_H
#define SX_FRONTEND_ONNX_WINDOW_H

#include "frontend/onnx/trace.h"

typedef struct sx_onnx_window {
    int n; /* ranks of the plane; 0: not known */
    int64_t kernel[SX_MAX_RANKS], stride[SX_MAX_RANKS], dilation[SX_MAX_RANKS];
    int64_t before[SX_MAX_RANKS], after[SX_MAX_RANKS]; /* padding, or what a transposed convolution cuts */
    int64_t out[SX_MAX_RANKS];                         /* extents of the output; -1: not known */
    int64_t groups;
} sx_onnx_window;

/* The window of a convolution or a pool over an input, whose kernel is that of the weights (NULL: the
 * attribute). */
SX_MUST_USE sx_status sx_onnx_window_of(const sx_onnx_op *op, const sx_onnx_shape *in,
                                        const sx_onnx_shape *weights, sx_onnx_window *out);

/* The window of a transposed convolution. */
SX_MUST_USE sx_status sx_onnx_window_transposed(const sx_onnx_op *op, const sx_onnx_shape *in,
                                                const sx_onnx_shape *weights, sx_onnx_window *out);

#endif
