/* Nodes of operations that are not mapped: of the kind that the table says, where shapes are as that kind wants
 * them, else of kind other. Numbers that follow from constants, and what is computed from weights alone, are no
 * nodes. */
#include "base/text.h"
#include "frontend/catalog/networks.h"
#include "frontend/onnx/build.h"
#include "frontend/onnx/window.h"

#include <stdlib.h>
#include <string.h>

/* Whether a value is known before the network runs. */
static bool is_constant(const sx_onnx_builder *b, uint32_t value) {
    return sx_onnx_is_weight(b, value) || sx_onnx_value_at(b->trace, value)->data;
}

/* Whether an operation has an output that must be computed. */
static bool computes_output(const sx_onnx_builder *b, const sx_onnx_op *op) {
    for (size_t i = 0; i < op->n_outputs; i++)
        if (sx_onnx_is_tensor(b, op->output[i]) && b->alias[op->output[i]] == op->output[i] &&
            !is_constant(b, op->output[i]))
            return true;
    return false;
}

/* Whether a shape is broadcast to another. */
static bool broadcasts_to(const sx_graph_tensor *from, const sx_graph_tensor *to) {
    if (from->n_ranks > to->n_ranks) return false;
    for (size_t i = 1; i <= from->n_ranks; i++)
        if (from->extent[from->n_ranks - i] != 1 &&
            from->extent[from->n_ranks - i] != to->extent[to->n_ranks - i])
            return false;
    return true;
}

/* Whether the tensors of a node are as its kind wants them; the first operand is the output. */
static bool node_fits(const sx_graph *graph, sx_op_kind kind, int axis, const sx_graph_operand *operand,
                      size_t n) {
    const sx_graph_tensor *out = &graph->tensor[operand[0].tensor];
    uint64_t along = 0;
    if (n < 2) return false;
    for (size_t i = 1; i < n; i++) {
        const sx_graph_tensor *in = &graph->tensor[operand[i].tensor];
        if (kind == SX_OP_RESHAPE && sx_graph_words(in) != sx_graph_words(out)) return false;
        if (kind == SX_OP_CONCAT) {
            if (axis < 0 || in->n_ranks != out->n_ranks) return false;
            along += in->extent[axis];
            for (size_t d = 0; d < in->n_ranks; d++)
                if ((int)d != axis && in->extent[d] != out->extent[d]) return false;
        } else if (kind != SX_OP_RESHAPE && !broadcasts_to(in, out)) {
            return false;
        }
        if (i == 1 && (kind == SX_OP_SOFTMAX || kind == SX_OP_NORM) && !broadcasts_to(out, in)) return false;
    }
    const bool has_axis = kind == SX_OP_SOFTMAX || kind == SX_OP_NORM;
    return kind == SX_OP_CONCAT ? along == out->extent[axis] : !has_axis || axis >= 0;
}

/* The operands of a node: what it writes first, then what it reads; constants of one element are left out, and
 * so is all but the first input where the kind reads one tensor. */
static sx_status list_operands(sx_onnx_builder *b, size_t index, sx_graph_operand *out, size_t *n,
                               size_t *n_written) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    const sx_op_kind kind = op->rule ? op->rule->kind : SX_OP_OTHER;
    const bool one =
        kind == SX_OP_RESHAPE || kind == SX_OP_SOFTMAX || kind == SX_OP_NORM || kind == SX_OP_POOL;
    size_t tensor;
    *n = 0;
    for (size_t i = 0; i < op->n_outputs; i++) {
        const uint32_t value = i == 0 ? b->result[index] : op->output[i];
        if (!sx_onnx_is_tensor(b, value) || is_constant(b, value) || b->alias[value] != value) continue;
        SX_TRY(sx_onnx_tensor_of(b, value, &tensor));
        out[(*n)++] = sx_graph_whole(tensor, true, 0);
    }
    *n_written = *n;
    for (size_t i = 0; i < op->n_inputs && (i == 0 || !one); i++) {
        if (!sx_onnx_is_tensor(b, op->input[i])) continue;
        const sx_onnx_value *value = sx_onnx_value_at(b->trace, b->alias[op->input[i]]);
        if (value->data && (!value->weight || sx_onnx_elements(&value->shape) == 1)) continue;
        SX_TRY(sx_onnx_tensor_of(b, op->input[i], &tensor));
        out[(*n)++] = sx_graph_whole(tensor, false, 0);
    }
    return SX_OK;
}

/* The axis of an operation of a kind that has one, -1 for any other. */
static int axis_of(const sx_onnx_builder *b, const sx_onnx_op *op, sx_op_kind kind) {
    const sx_onnx_shape *shape = sx_onnx_input_shape(b->trace, op, 0);
    const bool old = b->trace->model.opset < 13;
    if (kind == SX_OP_NORM && !sx_onnx_attribute(op->at, "axis").data)
        return sx_onnx_axis(shape, sx_bytes_are(op->at.node->op, "LayerNormalization") ? -1 : 1);
    if (kind == SX_OP_SOFTMAX) return sx_onnx_axis(shape, sx_onnx_int(op->at, "axis", old ? 1 : -1));
    return kind == SX_OP_CONCAT || kind == SX_OP_NORM ? sx_onnx_axis(shape, sx_onnx_int(op->at, "axis", 0))
                                                      : -1;
}

/* The window of a pool; that of a global one is the whole plane. */
static sx_status pool_window(const sx_onnx_builder *b, const sx_onnx_op *op, sx_onnx_window *w) {
    const sx_onnx_shape *in = sx_onnx_input_shape(b->trace, op, 0);
    if (op->rule->infer != sx_infer_global_pool) return sx_onnx_window_of(op, in, NULL, w);
    memset(w, 0, sizeof *w);
    w->n = in->n - 2;
    for (int i = 0; i < w->n; i++) {
        w->kernel[i] = in->dim[i + 2];
        w->stride[i] = w->dilation[i] = w->out[i] = 1;
    }
    return SX_OK;
}

/* Adds a pool over a line or a plane, with the index space of its windows; *done is whether it is one. */
static sx_status add_pool(sx_onnx_builder *b, const sx_onnx_op *op, sx_graph_operand *operand, bool *done) {
    const sx_graph *graph = &b->out->graph;
    const sx_onnx_shape *in = sx_onnx_input_shape(b->trace, op, 0);
    sx_onnx_window w;
    sx_graph_node node;
    sx_problem einsum;
    *done = false;
    if (in->n < 3 || in->n > 4) return SX_OK;
    SX_TRY(pool_window(b, op, &w));
    for (int i = 0; i < w.n; i++) {
        const int64_t span = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
        const int64_t padded = in->dim[i + 2] + w.before[i] + w.after[i],
                      most = w.stride[i] > w.dilation[i] ? w.stride[i] : w.dilation[i];
        if (span > SX_MAX_DIM_SIZE || in->dim[i + 2] > SX_MAX_DIM_SIZE || w.out[i] < 1) return SX_OK;
        if (span > padded) w.after[i] += span - padded;
        if (padded - span >= most) return SX_OK;
    }
    if (in->dim[0] > SX_MAX_DIM_SIZE || in->dim[1] > SX_MAX_DIM_SIZE) return SX_OK;
    const bool plane = w.n == 2;
    const sx_conv window = {.n = (uint32_t)in->dim[0],
                            .groups = (uint32_t)in->dim[1],
                            .p = (uint32_t)w.out[0],
                            .q = plane ? (uint32_t)w.out[1] : 1,
                            .r = (uint32_t)w.kernel[0],
                            .s = plane ? (uint32_t)w.kernel[1] : 1,
                            .stride_p = (uint32_t)w.stride[0],
                            .stride_q = plane ? (uint32_t)w.stride[1] : 1,
                            .dilation_r = (uint32_t)w.dilation[0],
                            .dilation_s = plane ? (uint32_t)w.dilation[1] : 1};
    sx_onnx_new_node(b, op, "", SX_OP_POOL, &node);
    SX_TRY(sx_onnx_named(op, sx_layer_pool(&window, "pool", &einsum)));
    if (graph->tensor[operand[0].tensor].n_ranks != graph->tensor[operand[1].tensor].n_ranks) return SX_OK;
    for (int v = 0; v < 2; v++)
        operand[v] = sx_net_operand(&einsum, v, operand[v].tensor, plane ? "N|D|P|Q" : "N|DQ|P", -1);
    for (int i = 0; i < w.n; i++) {
        operand[1].before[i + 2] = (uint32_t)w.before[i];
        operand[1].after[i + 2] = (uint32_t)w.after[i];
    }
    *done = true;
    memset(node.function, 0, sizeof node.function);
    strcpy(node.function, strstr(op->rule->name, "Max") ? "max" : "average");
    return sx_onnx_add_node(b, &node, &einsum, operand, 2);
}

/* Whether an operation puts what a run computes behind what earlier runs left: a concatenation of an input of the model
 * that is called after the past, and something computed. */
static bool appends_to_past(const sx_onnx_builder *b, const sx_onnx_op *op, int axis) {
    char name[512];
    if (!op->rule || op->rule->kind != SX_OP_CONCAT || op->n_inputs != 2 || axis < 0 ||
        axis >= SX_MAX_PART_RANKS)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!sx_onnx_is_tensor(b, op->input[i])) return false;
    sx_onnx_text(sx_onnx_value_at(b->trace, op->input[0])->name, name, sizeof name);
    return strstr(name, "past") && sx_onnx_is_cache(b, op->input[0], op->output[0]) &&
           sx_onnx_value_at(b->trace, b->alias[op->input[1]])->computed;
}

/* Adds the node of such an operation. */
static sx_status add_append(sx_onnx_builder *b, const sx_onnx_op *op, int axis) {
    const uint64_t before = (uint64_t)sx_onnx_input_shape(b->trace, op, 0)->dim[axis];
    size_t state, added;
    SX_TRY(sx_onnx_tensor_of(b, op->output[0], &state));
    SX_TRY(sx_onnx_tensor_of(b, op->input[1], &added));
    return sx_onnx_append(b, op, "", state, added, (size_t)axis, before);
}

sx_status sx_onnx_add_plain(sx_onnx_builder *b, size_t index) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    sx_op_kind kind = op->rule && !op->rule->lower ? op->rule->kind : SX_OP_OTHER;
    sx_graph_node node;
    size_t n, n_written;
    bool done = false;
    if (!computes_output(b, op)) return SX_OK;
    const int axis = axis_of(b, op, kind);
    if (appends_to_past(b, op, axis)) return add_append(b, op, axis);
    sx_graph_operand *operand =
        sx_arena_alloc(&b->trace->arena, op->n_inputs + op->n_outputs, sizeof *operand);
    if (!operand) return sx_arena_error(&b->trace->arena);
    SX_TRY(list_operands(b, index, operand, &n, &n_written));
    if (n_written == 0) return SX_OK;
    if (kind == SX_OP_POOL && n == 2 && n_written == 1) SX_TRY(add_pool(b, op, operand, &done));
    if (done) return SX_OK;
    if (kind == SX_OP_POOL || n_written > 1 || !node_fits(&b->out->graph, kind, axis, operand, n))
        kind = SX_OP_OTHER;
    sx_onnx_new_node(b, op, "", kind, &node);
    node.axis = kind == SX_OP_OTHER ? -1 : axis;
    return sx_onnx_add_node(b, &node, NULL, operand, n);
}

/* Whether nobody knows how many operations an operation takes that is not mapped. */
static bool work_is_unknown(const sx_onnx_op *op) {
    return !op->rule || op->rule->heavy;
}

/* How many operations an operation that is not mapped takes: one for each element of its output or of its input. */
static uint64_t operations_of(const sx_onnx_builder *b, const sx_onnx_op *op) {
    int64_t most = 0;
    if (work_is_unknown(op) || op->rule->moves || !computes_output(b, op)) return 0;
    for (size_t i = 0; i < 2; i++) {
        const uint32_t value = i ? op->output[0] : op->n_inputs ? op->input[0] : SX_ONNX_NONE;
        if (value == SX_ONNX_NONE) continue;
        const int64_t elements = sx_onnx_elements(&sx_onnx_value_at(b->trace, value)->shape);
        if (elements > most && elements < INT64_C(1) << 40) most = elements;
    }
    return (uint64_t)most;
}

/* Operations of more names are counted as one. */
enum { MAX_REST = 256 };

/* Where operations of a name are counted; the entry is added where there is none. */
static sx_onnx_rest *rest_of(sx_onnx *out, const char *op) {
    for (size_t i = 0; i < out->n_rest; i++)
        if (strcmp(out->rest[i].op, op) == 0 || i == MAX_REST) return &out->rest[i];
    out->rest[out->n_rest] = (sx_onnx_rest){.op = op};
    return &out->rest[out->n_rest++];
}

/* An operation and the shape of its output, as "'name', output 1x16x8x8", in the arena. */
static const char *describe_op(const sx_onnx_builder *b, const sx_onnx_op *op) {
    const uint32_t value = op->n_outputs ? op->output[0] : SX_ONNX_NONE;
    const sx_onnx_shape *shape = value == SX_ONNX_NONE ? NULL : &sx_onnx_value_at(b->trace, value)->shape;
    const bool known = shape && shape->n > 0 && sx_onnx_elements(shape) > 0;
    sx_text text = {0};
    sx_text_add(&text, "'%s', output %s", op->name, known ? "" : "of unknown shape");
    for (int i = 0; known && i < shape->n; i++)
        sx_text_add(&text, "%s%lld", i ? "x" : "", (long long)shape->dim[i]);
    const char *copy = text.failed ? NULL : sx_arena_copy(&b->trace->arena, text.data, text.size);
    sx_text_free(&text);
    return copy;
}

/* Counts an operation that is not mapped. */
static sx_status count_unmapped(sx_onnx_builder *b, size_t index) {
    const sx_onnx_op *op = sx_onnx_op_at(b->trace, index);
    sx_unmapped *sum = &b->out->graph.unmapped;
    char name[SX_NAME_SIZE];
    sx_onnx_text(op->at.node->op, name, sizeof name);
    const char *copy = sx_arena_copy(&b->trace->arena, name, strlen(name));
    if (!copy) return sx_arena_error(&b->trace->arena);
    sx_onnx_rest *rest = rest_of(b->out, copy);
    rest->count++;
    rest->grouped += b->grouped[index];
    rest->operations += operations_of(b, op);
    rest->heavy |= work_is_unknown(op);
    rest->unknown |= !op->rule;
    if (!rest->first) rest->first = describe_op(b, op);
    if (!rest->first) return sx_error_memory();
    b->out->operations += operations_of(b, op);
    sum->operators++;
    sum->unknown += work_is_unknown(op);
    return SX_OK;
}

/* Compares entries for qsort: unknown work first, then most operations, then most often, then by name. */
static int by_operations(const void *a, const void *b) {
    const sx_onnx_rest *x = a, *y = b;
    if (x->heavy != y->heavy) return x->heavy ? -1 : 1;
    if (x->operations != y->operations) return x->operations < y->operations ? 1 : -1;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->op, y->op);
}

sx_status sx_onnx_count_rest(sx_onnx_builder *b) {
    sx_onnx *out = b->out;
    size_t layer = 0;
    out->n_nodes = b->trace->ops.n;
    for (size_t i = 0; i < b->trace->ops.n; i++) {
        const sx_onnx_op *op = sx_onnx_op_at(b->trace, i);
        if (layer < out->n_layers && out->layer[layer].name == op->name) {
            out->macs += out->layer[layer++].macs;
            continue;
        }
        SX_TRY(count_unmapped(b, i));
    }
    const double work = (double)out->macs + (double)out->operations;
    out->graph.unmapped.of = out->n_nodes;
    out->graph.unmapped.share = work > 0 ? (double)out->operations / work : 0;
    if (out->n_rest) qsort(out->rest, out->n_rest, sizeof *out->rest, by_operations);
    return SX_OK;
}
