/* Products of batches of matrices, Outputs[B,M,N] += Weights[M,K] * Inputs[B,K,N] as in the catalog. The second
 * operand is the weights, unless only the first one is a tensor of the file, or only the second one has batches.
 * The first rank of batches is B. A second one that both operands have is repeated, as the heads of attention are;
 * any other is a dimension of its own: H, I, J, ... */
#include "frontend/catalog/networks.h"
#include "frontend/onnx/build.h"
#include "frontend/onnx/product.h"

#include <stdio.h>
#include <string.h>

/* What becomes of a product: letters of each rank of batches, of its rows and its columns. */
typedef struct plan {
    sx_onnx_matrices m;
    bool swapped; /* the first operand is the weights */
    bool paired;  /* both are computed, and have all ranks of batches */
    bool repeats; /* the second rank of batches is repeated */
    char rows, columns;
    char batch[SX_MAX_RANKS]; /* the letter of each rank of batches, 0: none */
} plan;

/* Whether the operand in the weights' place has a rank of batches, and that in the inputs' place. The first rank
 * of operands that are both computed is one of both, even if it has one element. */
static bool weights_have(const plan *p, int rank) {
    return (p->swapped ? p->m.a[rank] : p->m.b[rank]) > 1 || (rank == 0 && p->paired);
}

static bool inputs_have(const plan *p, int rank) {
    return (p->swapped ? p->m.b[rank] : p->m.a[rank]) > 1;
}

/* Chooses roles and letters. */
static plan plan_of(const sx_onnx_builder *b, const sx_onnx_op *op, size_t second,
                    const sx_onnx_matrices *m) {
    const bool weight_a = sx_onnx_is_weight(b, op->input[0]),
               weight_b = sx_onnx_is_weight(b, op->input[second]);
    const bool full = sx_onnx_input_shape(b->trace, op, 0)->n == sx_onnx_input_shape(b->trace, op, second)->n;
    plan p = {.m = *m};
    p.swapped = (weight_a && !weight_b) || (m->n > 0 && m->a[0] == 1 && m->b[0] > 1);
    p.repeats = m->n == 2 && m->a[1] > 1 && m->b[1] > 1;
    p.paired = !weight_a && !weight_b && m->n > 0 && m->out[0] == 1 && full;
    p.rows = p.swapped ? 'M' : 'N';
    p.columns = p.swapped ? 'N' : 'M';
    for (int i = 1; i < m->n; i++)
        if (m->out[i] > 1 && !(p.repeats && i == 1)) p.batch[i] = (char)('H' + i - 1 + (i > 3 ? 4 : 0));
    return p;
}

/* Adds a dimension to the tensors of an einsum that have it. */
static void add_dim(sx_problem *einsum, char letter, int64_t size, const bool has[3]) {
    const int d = einsum->n_dims++;
    einsum->dim_name[d][0] = letter;
    einsum->size[d] = (uint32_t)size;
    for (int v = 0; v < 3; v++)
        if (has[v]) einsum->tensor[v].coef[einsum->tensor[v].n_ranks++][d] = 1;
}

/* The einsum of a plan. */
static sx_status make_einsum(const plan *p, sx_problem *out) {
    const sx_onnx_matrices *m = &p->m;
    const sx_product product = {.b = m->n > 0 ? (uint32_t)m->out[0] : 1,
                                .m = (uint32_t)(p->swapped ? m->rows : m->columns),
                                .k = (uint32_t)m->sum,
                                .n = (uint32_t)(p->swapped ? m->columns : m->rows),
                                .paired = m->n > 0 && weights_have(p, 0)};
    SX_TRY(sx_layer_product(&product, "product", out));
    for (int i = 1; i < m->n; i++)
        if (p->batch[i])
            add_dim(out, p->batch[i], m->out[i], (const bool[]){true, weights_have(p, i), inputs_have(p, i)});
    return SX_OK;
}

/* The ranks of an operand as letters: n_batch ranks of batches, of which it has those with a flag, and its matrix.
 * Letters of extent 1 that have no rank are put before those of the first. */
static void write_ranks(const plan *p, const sx_onnx_shape *shape, const bool *has, const char *matrix,
                        int n_matrix, bool has_b, char out[4 * SX_MAX_RANKS]) {
    const int own = shape->n - n_matrix, missing = p->m.n - own;
    size_t n = 0;
    if (has_b && own < p->m.n) out[n++] = 'B';
    if (has_b && p->m.n == 0) out[n++] = 'B';
    for (int i = missing; i < p->m.n; i++) {
        if (i == 0 && has_b) out[n++] = 'B';
        if (i > 0 && p->batch[i] && has[i]) out[n++] = p->batch[i];
        out[n++] = '|';
    }
    strcpy(out + n, matrix);
}

/* The operand of the einsum's tensor v that is a value. */
static sx_status add_operand(sx_onnx_builder *b, const plan *p, const sx_problem *einsum, int v,
                             uint32_t value, bool first, sx_graph_operand *out) {
    const sx_onnx_shape *shape = &sx_onnx_value_at(b->trace, value)->shape;
    char matrix[8], ranks[4 * SX_MAX_RANKS];
    bool has[SX_MAX_RANKS];
    for (int i = 0; i < p->m.n; i++) has[i] = (first ? p->m.a[i] : p->m.b[i]) > 1;
    if (first)
        snprintf(matrix, sizeof matrix, shape->n > 1 ? "%c|%c" : "%c%c", p->rows, 'K');
    else
        snprintf(matrix, sizeof matrix, shape->n > 1 ? "%c|%c" : "%c%c", 'K', p->columns);
    const bool has_b = v == 2 || (p->m.n > 0 && weights_have(p, 0));
    write_ranks(p, shape, has, matrix, shape->n > 1 ? 2 : 1, has_b, ranks);
    const int split = p->repeats ? shape->n - 3 : -1;
    return sx_onnx_operand(b, einsum, v, value, ranks, split, out);
}

/* The operand of the output, which lacks the rows of a first operand of one rank, and columns likewise. */
static sx_status add_output(sx_onnx_builder *b, const plan *p, const sx_problem *einsum, uint32_t value,
                            bool rows, bool columns, sx_graph_operand *out) {
    const sx_onnx_shape *shape = &sx_onnx_value_at(b->trace, value)->shape;
    char matrix[8], ranks[4 * SX_MAX_RANKS];
    bool has[SX_MAX_RANKS];
    for (int i = 0; i < SX_MAX_RANKS; i++) has[i] = true;
    snprintf(matrix, sizeof matrix, rows && columns ? "%c|%c" : "%c%c", p->rows, p->columns);
    write_ranks(p, shape, has, matrix, rows + columns, true, ranks);
    return sx_onnx_operand(b, einsum, 0, value, ranks, p->repeats ? 1 : -1, out);
}

/* Lowers the product of inputs number 0 and `second`. */
static sx_status lower_product(sx_onnx_builder *b, size_t index, size_t second) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    const sx_onnx_shape *x = sx_onnx_input_shape(b->trace, op, 0),
                        *w = sx_onnx_input_shape(b->trace, op, second);
    sx_onnx_matrices m;
    sx_problem einsum;
    sx_graph_operand operand[3];
    bool empty;
    SX_TRY(sx_onnx_ready(b, op, (const size_t[]){0, second}, 2, 0, &empty));
    if (empty) return SX_OK;
    SX_TRY(sx_onnx_matrices_of(op, x, w, &m));
    if (m.n > 9) return sx_onnx_error(op, "it has %d ranks of batches; at most 9 can be mapped", m.n);
    const plan p = plan_of(b, op, second, &m);
    SX_TRY(sx_onnx_named(op, make_einsum(&p, &einsum)));
    SX_TRY(add_operand(b, &p, &einsum, p.swapped ? 1 : 2, op->input[0], true, &operand[p.swapped ? 1 : 2]));
    SX_TRY(add_operand(b, &p, &einsum, p.swapped ? 2 : 1, op->input[second], false,
                       &operand[p.swapped ? 2 : 1]));
    SX_TRY(add_output(b, &p, &einsum, b->result[index], x->n > 1, w->n > 1, &operand[0]));
    return sx_onnx_add_einsum(b, op, "", &einsum, operand, p.repeats ? (uint64_t)m.out[1] : 1);
}

sx_status sx_lower_matmul(sx_onnx_builder *b, size_t op) {
    return lower_product(b, op, 1);
}

sx_status sx_lower_qlinear_matmul(sx_onnx_builder *b, size_t op) {
    return lower_product(b, op, 3);
}
