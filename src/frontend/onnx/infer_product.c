/* Shapes of products: Gemm, MatMul, Einsum and recurrent networks. */
#include "frontend/onnx/equation.h"
#include "frontend/onnx/product.h"
#include "frontend/onnx/rules.h"

enum { TYPE_INT32 = 6 };

/* The error for two extents that a product sums over. */
static SX_ERROR sx_status uneven_extents(const sx_onnx_op *op, int64_t a, int64_t b) {
    return sx_onnx_error(op, "it sums over %lld elements of one input and %lld of the other", (long long)a,
                         (long long)b);
}

sx_status sx_infer_gemm(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *a = sx_onnx_input_shape(trace, op, 0), *b = sx_onnx_input_shape(trace, op, 1);
    const int ta = sx_onnx_int(op->at, "transA", 0) != 0, tb = sx_onnx_int(op->at, "transB", 0) != 0;
    sx_onnx_copy_type(trace, op, 0, 0);
    if (a->n < 0 || b->n < 0) return SX_OK;
    if (a->n != 2 || b->n != 2)
        return sx_onnx_error(op, "its inputs have %d and %d ranks; matrices are needed", a->n, b->n);
    if (a->dim[!ta] >= 0 && b->dim[tb] >= 0 && a->dim[!ta] != b->dim[tb])
        return uneven_extents(op, a->dim[!ta], b->dim[tb]);
    sx_onnx_set_shape(trace, op, 0, (sx_onnx_shape){.n = 2, .dim = {a->dim[ta], b->dim[!tb]}});
    return SX_OK;
}

sx_status sx_onnx_matrices_of(const sx_onnx_op *op, const sx_onnx_shape *a, const sx_onnx_shape *b,
                              sx_onnx_matrices *out) {
    sx_onnx_matrices m = {.rows = a->n > 1 ? a->dim[a->n - 2] : 1,
                          .columns = b->n > 1 ? b->dim[b->n - 1] : 1,
                          .n = (a->n > b->n ? a->n : b->n) - 2};
    if (a->n < 1 || b->n < 1) return sx_onnx_error(op, "an input has no ranks");
    m.sum = a->dim[a->n - 1] >= 0 ? a->dim[a->n - 1] : b->dim[b->n > 1 ? b->n - 2 : 0];
    const int64_t other = b->dim[b->n > 1 ? b->n - 2 : 0];
    if (other >= 0 && m.sum != other) return uneven_extents(op, m.sum, other);
    if (m.n < 0) m.n = 0;
    for (int i = 0; i < m.n; i++) {
        const int at_a = a->n - 2 - m.n + i, at_b = b->n - 2 - m.n + i;
        m.a[i] = at_a < 0 ? 1 : a->dim[at_a];
        m.b[i] = at_b < 0 ? 1 : b->dim[at_b];
        m.out[i] = m.a[i] == 1 ? m.b[i] : m.b[i] == 1 || m.a[i] == m.b[i] || m.b[i] < 0 ? m.a[i] : m.b[i];
        if (m.a[i] > 1 && m.b[i] > 1 && m.a[i] != m.b[i])
            return sx_onnx_error(op, "its inputs have batches of %lld and %lld matrices", (long long)m.a[i],
                                 (long long)m.b[i]);
    }
    *out = m;
    return SX_OK;
}

/* The output of a product of matrices that are inputs number 0 and `second`. */
static sx_status infer_matmul(sx_onnx_trace *trace, const sx_onnx_op *op, size_t second) {
    const sx_onnx_shape *a = sx_onnx_input_shape(trace, op, 0), *b = sx_onnx_input_shape(trace, op, second);
    sx_onnx_matrices m;
    if (a->n < 0 || b->n < 0) return SX_OK;
    SX_TRY(sx_onnx_matrices_of(op, a, b, &m));
    sx_onnx_shape shape = {.n = m.n};
    for (int i = 0; i < m.n; i++) shape.dim[i] = m.out[i];
    if (a->n > 1) shape.dim[shape.n++] = m.rows;
    if (b->n > 1) shape.dim[shape.n++] = m.columns;
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_matmul(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_copy_type(trace, op, 0, 0);
    if (sx_bytes_are(op->at.node->op, "MatMulInteger")) sx_onnx_set_type(trace, op, 0, TYPE_INT32);
    return infer_matmul(trace, op, 1);
}

sx_status sx_infer_qlinear_matmul(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_copy_type(trace, op, 7, 0);
    return infer_matmul(trace, op, 3);
}

sx_status sx_infer_einsum(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_equation equation;
    sx_onnx_copy_type(trace, op, 0, 0);
    for (size_t i = 0; i < op->n_inputs; i++)
        if (sx_onnx_input_shape(trace, op, i)->n < 0) return SX_OK;
    SX_TRY(sx_onnx_equation(trace, op, &equation));
    sx_onnx_shape shape = {.n = equation.output.n};
    for (int i = 0; i < shape.n; i++) shape.dim[i] = sx_equation_extent(&equation, equation.output.letter[i]);
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_recurrent(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *in = sx_onnx_input_shape(trace, op, 0), *w = sx_onnx_input_shape(trace, op, 1);
    const sx_onnx_shape *r = sx_onnx_input_shape(trace, op, 2);
    const bool batch_first = sx_onnx_int(op->at, "layout", 0) != 0;
    for (size_t i = 0; i < 3; i++) sx_onnx_copy_type(trace, op, 0, i);
    if (in->n < 0 || w->n < 0 || r->n < 0) return SX_OK;
    if (in->n != 3 || w->n != 3 || r->n != 3)
        return sx_onnx_error(op, "its inputs have %d, %d and %d ranks; 3 each are needed", in->n, w->n, r->n);
    const int64_t steps = in->dim[batch_first], batch = in->dim[!batch_first];
    const int64_t hidden = r->dim[2], directions = w->dim[0];
    const sx_onnx_shape all = batch_first
                                  ? (sx_onnx_shape){.n = 4, .dim = {batch, steps, directions, hidden}}
                                  : (sx_onnx_shape){.n = 4, .dim = {steps, directions, batch, hidden}};
    const sx_onnx_shape state = batch_first ? (sx_onnx_shape){.n = 3, .dim = {batch, directions, hidden}}
                                            : (sx_onnx_shape){.n = 3, .dim = {directions, batch, hidden}};
    sx_onnx_set_shape(trace, op, 0, all);
    for (size_t i = 1; i < 3; i++) sx_onnx_set_shape(trace, op, i, state);
    return SX_OK;
}

/* The shape of the keys or values of attention with those of the past before them. */
static sx_onnx_shape present_shape(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t input,
                                   size_t past, int64_t heads) {
    const sx_onnx_shape *now = sx_onnx_input_shape(trace, op, input),
                        *before = sx_onnx_input_shape(trace, op, past);
    const bool flat = now->n == 3;
    sx_onnx_shape shape = {.n = -1};
    if ((now->n != 3 && now->n != 4) || (flat && heads < 1)) return shape;
    const int64_t rows = now->dim[flat ? 1 : 2], last = now->dim[now->n - 1],
                  old = before->n == 4 ? before->dim[2] : 0;
    shape = (sx_onnx_shape){.n = 4,
                            .dim = {now->dim[0], flat ? heads : now->dim[1],
                                    rows < 0 || old < 0 ? -1 : rows + old,
                                    flat && last >= 0 ? last / heads : last}};
    return shape;
}

sx_status sx_infer_attention(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *query = sx_onnx_input_shape(trace, op, 0),
                        *value = sx_onnx_input_shape(trace, op, 2);
    sx_onnx_shape shape = *query;
    for (size_t i = 0; i < 4; i++) sx_onnx_copy_type(trace, op, 0, i);
    if (query->n < 1 || value->n != query->n) return SX_OK;
    const int64_t heads = sx_onnx_int(op->at, "q_num_heads", 0),
                  sources = sx_onnx_int(op->at, "kv_num_heads", 0);
    const int64_t wide = value->dim[value->n - 1];
    shape.dim[shape.n - 1] = query->n == 4 || wide < 0                     ? wide
                             : heads > 0 && sources > 0 && heads < 1 << 20 ? wide / sources * heads
                                                                           : -1;
    sx_onnx_set_shape(trace, op, 0, shape);
    const sx_onnx_shape keys = present_shape(trace, op, 1, 4, sources);
    sx_onnx_set_shape(trace, op, 1, keys);
    sx_onnx_set_shape(trace, op, 2, present_shape(trace, op, 2, 5, sources));
    const int64_t all = query->n == 4 ? query->dim[1] : heads,
                  rows = query->n < 3 ? -1 : query->dim[query->n - 2];
    if (keys.n == 4)
        sx_onnx_set_shape(trace, op, 3,
                          (sx_onnx_shape){.n = 4, .dim = {query->dim[0], all, rows, keys.dim[2]}});
    return SX_OK;
}
