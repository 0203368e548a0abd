/* The two operands of MatMul as batches of matrices. */
#ifndef SX_FRONTEND_ONNX_PRODUCT_H
#define SX_FRONTEND_ONNX_PRODUCT_H

#include "frontend/onnx/trace.h"

/* rows x sum by sum x columns; n ranks of batches, of the operands (1: the same for all) and of the output. */
typedef struct sx_onnx_matrices {
    int64_t rows, sum, columns;
    int n;
    int64_t a[SX_MAX_RANKS], b[SX_MAX_RANKS], out[SX_MAX_RANKS];
} sx_onnx_matrices;

/* Reads two shapes of known ranks so; an error where they do not fit. */
SX_MUST_USE sx_status sx_onnx_matrices_of(const sx_onnx_op *op, const sx_onnx_shape *a,
                                          const sx_onnx_shape *b, sx_onnx_matrices *out);

#endif
