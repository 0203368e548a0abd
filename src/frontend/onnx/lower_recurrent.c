/* LSTM, GRU and RNN as their products: that of the inputs of all steps, once for each direction, and that of the
 * state, once for each step. A graph has no cycles, so that all steps read the first state; the gates of both
 * products go into a node that writes the outputs. */
#include "frontend/catalog/networks.h"
#include "frontend/onnx/build.h"

#include <string.h>

/* The sizes of a recurrent network; `gates` are the rows of its weights. */
typedef struct cell {
    int64_t steps, batch, inputs, hidden, gates, directions;
    bool batch_first;
} cell;

static sx_status read_cell(const sx_onnx_builder *b, const sx_onnx_op *op, cell *out) {
    const sx_onnx_shape *in = sx_onnx_input_shape(b->trace, op, 0), *w = sx_onnx_input_shape(b->trace, op, 1);
    const sx_onnx_shape *r = sx_onnx_input_shape(b->trace, op, 2);
    const bool first = sx_onnx_int(op->at, "layout", 0) != 0;
    *out = (cell){.steps = in->dim[first],
                  .batch = in->dim[!first],
                  .inputs = in->dim[2],
                  .hidden = r->dim[2],
                  .gates = w->dim[1],
                  .directions = w->dim[0],
                  .batch_first = first};
    if (w->dim[2] != in->dim[2] || r->dim[1] != w->dim[1] || r->dim[0] != w->dim[0])
        return sx_onnx_error(op, "its weights and its input do not fit each other");
    return SX_OK;
}

/* The gates of the inputs: all steps at once, repeated for each direction. */
static sx_status add_inputs(sx_onnx_builder *b, const sx_onnx_op *op, const cell *c, size_t *gates) {
    const sx_product product = {
        .b = (uint32_t)c->batch, .m = (uint32_t)c->gates, .k = (uint32_t)c->inputs, .n = (uint32_t)c->steps};
    sx_problem einsum;
    sx_graph_operand operand[3];
    SX_TRY(sx_onnx_named(op, sx_layer_product(&product, "inputs", &einsum)));
    SX_TRY(sx_onnx_add_own_tensor(
        b, op, ".input-gates", (sx_onnx_shape){.n = 4, .dim = {c->directions, c->steps, c->batch, c->gates}},
        gates));
    operand[0] = sx_net_operand(&einsum, 0, *gates, "|N|B|M", 0);
    SX_TRY(sx_onnx_operand(b, &einsum, 1, op->input[1], "|M|K", 0, &operand[1]));
    SX_TRY(sx_onnx_operand(b, &einsum, 2, op->input[0], c->batch_first ? "B|N|K" : "N|B|K", -1, &operand[2]));
    return sx_onnx_add_einsum(b, op, ".input", &einsum, operand, (uint64_t)c->directions);
}

/* The tensor of the first state: an input of the operation, or one that stands for zeros. */
static sx_status state_of(sx_onnx_builder *b, const sx_onnx_op *op, const cell *c, size_t *out) {
    const sx_onnx_shape *shape = sx_onnx_input_shape(b->trace, op, 5);
    const int64_t front = c->batch_first ? c->batch : c->directions,
                  next = c->batch_first ? c->directions : c->batch;
    const bool fits =
        shape->n == 3 && shape->dim[0] == front && shape->dim[1] == next && shape->dim[2] == c->hidden;
    if (fits) return sx_onnx_tensor_of(b, op->input[5], out);
    return sx_onnx_add_own_tensor(b, op, ".state", (sx_onnx_shape){.n = 3, .dim = {front, next, c->hidden}},
                                  out);
}

/* The gates of the state: all directions at once, repeated for each step. */
static sx_status add_steps(sx_onnx_builder *b, const sx_onnx_op *op, const cell *c, size_t *gates) {
    const sx_product product = {
        .b = (uint32_t)c->batch, .m = (uint32_t)c->gates, .k = (uint32_t)c->hidden, .n = 1};
    sx_problem einsum;
    sx_graph_operand operand[3];
    size_t state;
    SX_TRY(sx_onnx_named(op, sx_layer_product(&product, "state", &einsum)));
    if (c->directions > 1) {
        const int d = einsum.n_dims++;
        einsum.dim_name[d][0] = 'D';
        einsum.size[d] = (uint32_t)c->directions;
        for (int v = 0; v < 3; v++) einsum.tensor[v].coef[einsum.tensor[v].n_ranks++][d] = 1;
    }
    SX_TRY(sx_onnx_add_own_tensor(
        b, op, ".state-gates", (sx_onnx_shape){.n = 4, .dim = {c->steps, c->directions, c->batch, c->gates}},
        gates));
    SX_TRY(state_of(b, op, c, &state));
    operand[0] = sx_net_operand(&einsum, 0, *gates, "|D|BN|M", 0);
    SX_TRY(sx_onnx_operand(b, &einsum, 1, op->input[2], "D|M|K", -1, &operand[1]));
    operand[2] = sx_net_operand(&einsum, 2, state, c->batch_first ? "BN|D|K" : "D|BN|K", -1);
    return sx_onnx_add_einsum(b, op, ".state", &einsum, operand, (uint64_t)c->steps);
}

sx_status sx_lower_recurrent(sx_onnx_builder *b, size_t index) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    enum { MAX_OUTPUTS = 3 };
    sx_graph_operand operand[MAX_OUTPUTS + 2];
    sx_graph_node node;
    size_t gates[2], n = 0;
    size_t first = 0;
    bool empty;
    cell c;
    while (first < op->n_outputs && op->output[first] == SX_ONNX_NONE) first++;
    SX_TRY(sx_onnx_ready(b, op, (const size_t[]){0, 1, 2}, 3, first, &empty));
    if (empty) return SX_OK;
    SX_TRY(read_cell(b, op, &c));
    SX_TRY(add_inputs(b, op, &c, &gates[0]));
    SX_TRY(add_steps(b, op, &c, &gates[1]));
    for (size_t i = 0; i < op->n_outputs && i < MAX_OUTPUTS; i++) {
        size_t tensor;
        if (!sx_onnx_is_tensor(b, op->output[i])) continue;
        SX_TRY(sx_onnx_tensor_of(b, i == 0 ? b->result[index] : op->output[i], &tensor));
        operand[n++] = sx_graph_whole(tensor, true, 0);
    }
    for (size_t i = 0; i < 2; i++) operand[n++] = sx_graph_whole(gates[i], false, 0);
    if (n == 2) return SX_OK;
    sx_onnx_new_node(b, op, ".cell", SX_OP_OTHER, &node);
    return sx_onnx_add_node(b, &node, NULL, operand, n);
}
