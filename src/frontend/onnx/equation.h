/* The equation of Einsum: which letter each rank of each tensor is. */
#ifndef SX_FRONTEND_ONNX_EQUATION_H
#define SX_FRONTEND_ONNX_EQUATION_H

#include "frontend/onnx/trace.h"

enum { SX_EQUATION_OPERANDS = SX_MAX_TENSORS - 1 };

/* The ranks of a tensor as letters; those that an ellipsis stands for are '0', '1', ..., the last being '0'. */
typedef struct sx_letters {
    int n;
    char letter[SX_MAX_RANKS];
} sx_letters;

typedef struct sx_equation {
    size_t n_operands;
    sx_letters operand[SX_EQUATION_OPERANDS], output;
    char letter[2 * SX_MAX_RANKS]; /* all of them, each once, and their extents */
    int64_t extent[2 * SX_MAX_RANKS];
    size_t n_letters;
} sx_equation;

/* Reads the equation of an operation against the shapes of its inputs, which must be known in rank. */
SX_MUST_USE sx_status sx_onnx_equation(const sx_onnx_trace *trace, const sx_onnx_op *op, sx_equation *out);

/* The extent of a letter, -1 where it is not known. */
int64_t sx_equation_extent(const sx_equation *equation, char letter);

#endif
