/* Attention as its two products: scores of queries and keys, and sums of values weighted by their softmax, which with
 * the mask is a part of the first. Both are repeated for every head of the keys and values; where several heads of
 * the queries share one, they are H. */
#include "frontend/catalog/networks.h"
#include "frontend/onnx/build.h"

#include <stdio.h>

/* The sizes of attention. Heads: of the keys and values; shared: heads of the queries for each. */
typedef struct sizes {
    int64_t batch, heads, shared, queries, keys, past, depth, width;
    bool flat; /* heads are a part of the last rank */
} sizes;

/* The inputs and outputs, by their places. */
enum { QUERY, KEY, VALUE, PAST_KEY = 4, PAST_VALUE };
enum { PRESENT_KEY = 1, PRESENT_VALUE };

static sx_status read_sizes(const sx_onnx_builder *b, const sx_onnx_op *op, sizes *out) {
    const sx_onnx_shape *q = sx_onnx_input_shape(b->trace, op, QUERY),
                        *k = sx_onnx_input_shape(b->trace, op, KEY),
                        *v = sx_onnx_input_shape(b->trace, op, VALUE);
    const bool flat = q->n == 3;
    const int64_t all = flat ? sx_onnx_int(op->at, "q_num_heads", 0) : q->dim[1],
                  heads = flat ? sx_onnx_int(op->at, "kv_num_heads", 0) : k->dim[1];
    const int row = flat ? 1 : 2, last = row + 1;
    if ((q->n != 3 && q->n != 4) || k->n != q->n || v->n != q->n)
        return sx_onnx_error(op, "queries, keys and values have %d, %d and %d ranks; 3 or 4 are needed", q->n,
                             k->n, v->n);
    if (all < 1 || heads < 1 || all % heads ||
        (flat && (q->dim[2] % all || k->dim[2] % heads || v->dim[2] % heads)))
        return sx_onnx_error(op, "%lld heads of queries and %lld of keys do not fit its inputs",
                             (long long)all, (long long)heads);
    *out = (sizes){.batch = q->dim[0],
                   .heads = heads,
                   .shared = all / heads,
                   .queries = q->dim[row],
                   .keys = k->dim[row],
                   .depth = q->dim[last] / (flat ? all : 1),
                   .width = v->dim[last] / (flat ? heads : 1),
                   .flat = flat};
    if (k->dim[last] / (flat ? heads : 1) != out->depth || v->dim[row] != out->keys ||
        k->dim[0] != out->batch || v->dim[0] != out->batch)
        return sx_onnx_error(op, "its queries, keys and values do not fit each other");
    return SX_OK;
}

/* Whether a shape is that of keys or values of the past, each of `width` elements. */
static bool is_past(const sx_onnx_shape *shape, const sizes *s, int64_t past, int64_t width) {
    return shape->n == 4 && shape->dim[0] == s->batch && shape->dim[1] == s->heads && shape->dim[2] == past &&
           shape->dim[3] == width;
}

/* Reads how many keys the past has, where it is given. */
static sx_status read_past(const sx_onnx_builder *b, const sx_onnx_op *op, sizes *s) {
    const sx_onnx_shape *keys = sx_onnx_input_shape(b->trace, op, PAST_KEY),
                        *values = sx_onnx_input_shape(b->trace, op, PAST_VALUE);
    bool empty;
    if (!sx_onnx_input(b->trace, op, PAST_KEY)) return SX_OK;
    SX_TRY(sx_onnx_ready(b, op, (const size_t[]){PAST_KEY, PAST_VALUE}, 2, 0, &empty));
    if (keys->n != 4 || !is_past(keys, s, keys->dim[2], s->depth) ||
        !is_past(values, s, keys->dim[2], s->width))
        return sx_onnx_error(op,
                             "its inputs 'past_key' and 'past_value' do not fit the others; [%lld, %lld, "
                             "past, %lld] and [%lld, %lld, past, %lld] are needed",
                             (long long)s->batch, (long long)s->heads, (long long)s->depth,
                             (long long)s->batch, (long long)s->heads, (long long)s->width);
    s->past = keys->dim[2];
    return SX_OK;
}

/* A tensor of keys or values with those of the past before them, written by a node of its own: a state, where the model is
 * given those of the past and gives all of them. */
static sx_status with_past(sx_onnx_builder *b, const sx_onnx_op *op, const sizes *s, int input, int past,
                           int present, const char *suffix, int64_t width, size_t *out) {
    sx_graph_operand operand[3];
    sx_graph_node node;
    size_t from[2];
    const uint32_t written = op->n_outputs > (size_t)present ? op->output[present] : SX_ONNX_NONE;
    SX_TRY(sx_onnx_tensor_of(b, op->input[input], &from[1]));
    if (sx_onnx_is_tensor(b, written) && sx_onnx_is_cache(b, op->input[past], written)) {
        SX_TRY(sx_onnx_tensor_of(b, written, out));
        return sx_onnx_append(b, op, suffix, *out, from[1], 2, (uint64_t)s->past);
    }
    SX_TRY(sx_onnx_tensor_of(b, op->input[past], &from[0]));
    if (sx_onnx_is_tensor(b, written))
        SX_TRY(sx_onnx_tensor_of(b, written, out));
    else
        SX_TRY(sx_onnx_add_own_tensor(
            b, op, suffix, (sx_onnx_shape){.n = 4, .dim = {s->batch, s->heads, s->past + s->keys, width}},
            out));
    operand[0] = sx_graph_whole(*out, true, 0);
    for (size_t i = 0; i < 2; i++) operand[i + 1] = sx_graph_whole(from[i], false, 0);
    sx_onnx_new_node(b, op, suffix, SX_OP_OTHER, &node);
    return sx_onnx_add_node(b, &node, NULL, operand, 3);
}

/* The tensor of keys or values. */
static sx_status source_tensor(sx_onnx_builder *b, const sx_onnx_op *op, const sizes *s, bool keys,
                               size_t *out) {
    if (!s->past) return sx_onnx_tensor_of(b, op->input[keys ? KEY : VALUE], out);
    return keys ? with_past(b, op, s, KEY, PAST_KEY, PRESENT_KEY, ".all-keys", s->depth, out)
                : with_past(b, op, s, VALUE, PAST_VALUE, PRESENT_VALUE, ".all-values", s->width, out);
}

/* The einsum of a product with keys (M keys of K elements) or values (K keys, M elements). */
static sx_status make_einsum(const sizes *s, bool scores, sx_problem *out) {
    const int64_t keys = s->past + s->keys;
    const sx_product product = {.b = (uint32_t)s->batch,
                                .m = (uint32_t)(scores ? keys : s->width),
                                .k = (uint32_t)(scores ? s->depth : keys),
                                .n = (uint32_t)s->queries,
                                .paired = true};
    SX_TRY(sx_layer_product(&product, scores ? "scores" : "values", out));
    if (s->shared == 1) return SX_OK;
    const int d = out->n_dims++;
    out->dim_name[d][0] = 'H';
    out->size[d] = (uint32_t)s->shared;
    for (int v = 0; v < 3; v += 2) out->tensor[v].coef[out->tensor[v].n_ranks++][d] = 1;
    return SX_OK;
}

sx_status sx_lower_attention(sx_onnx_builder *b, size_t index) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    size_t from[2], scores;
    sx_graph_operand operand[3];
    sx_problem einsum;
    bool empty;
    sizes s;
    SX_TRY(sx_onnx_ready(b, op, (const size_t[]){QUERY, KEY, VALUE}, 3, 0, &empty));
    if (empty) return SX_OK;
    SX_TRY(read_sizes(b, op, &s));
    SX_TRY(read_past(b, op, &s));
    const sx_onnx_shape shape = {.n = 4, .dim = {s.batch, s.heads * s.shared, s.queries, s.past + s.keys}};
    const bool flat = s.flat && !s.past;
    const int heads = s.flat ? 2 : 1;
    for (int i = 0; i < 2; i++) SX_TRY(source_tensor(b, op, &s, i == 0, &from[i]));
    SX_TRY(sx_onnx_add_own_tensor(b, op, ".scores", shape, &scores));
    SX_TRY(sx_onnx_named(op, make_einsum(&s, true, &einsum)));
    operand[0] = sx_net_operand(&einsum, 0, scores, "B|H|N|M", 1);
    operand[1] = sx_net_operand(&einsum, 1, from[0], flat ? "B|M|K" : "B||M|K", flat ? 2 : 1);
    SX_TRY(
        sx_onnx_operand(b, &einsum, 2, op->input[QUERY], s.flat ? "B|N|HK" : "B|H|N|K", heads, &operand[2]));
    SX_TRY(sx_onnx_add_einsum(b, op, ".scores", &einsum, operand, (uint64_t)s.heads));
    SX_TRY(sx_onnx_named(op, make_einsum(&s, false, &einsum)));
    SX_TRY(
        sx_onnx_operand(b, &einsum, 0, b->result[index], s.flat ? "B|N|HM" : "B|H|N|M", heads, &operand[0]));
    operand[1] = sx_net_operand(&einsum, 1, from[1], flat ? "B|K|M" : "B||K|M", flat ? 2 : 1);
    operand[2] = sx_net_operand(&einsum, 2, scores, "B|H|N|K", 1);
    return sx_onnx_add_einsum(b, op, ".values", &einsum, operand, (uint64_t)s.heads);
}
