#include "frontend/onnx/build.h"

#include "base/hash.h"
#include "frontend/catalog/networks.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many problems may differ, those of pools included. */
enum { MAX_EINSUMS = 1024 };

/* The hash of a name. */
static uint64_t hash_name(const char name[SX_NAME_SIZE]) {
    return sx_hash_bytes(name, SX_NAME_SIZE, 0);
}

/* A name of at most the bytes that there are, which no item has yet: the end of the text, and a number where that
 * is needed. The items have their names first. */
static void unique_name(const sx_hash_table *table, sx_hash_keys keys, const char *text, size_t number,
                        char name[SX_NAME_SIZE]) {
    const size_t length = strlen(text);
    const char *tail = length < SX_NAME_SIZE ? text : text + length - (SX_NAME_SIZE - 1);
    while ((*tail & 0xC0) == 0x80) tail++;
    memset(name, 0, SX_NAME_SIZE);
    memcpy(name, tail, strlen(tail));
    if (!*name) name[0] = '_';
    for (size_t again = 0; sx_hash_table_find(table, keys, name, hash_name(name)) != SX_HASH_NONE; again++) {
        char end[24];
        snprintf(end, sizeof end, again ? "-%zu-%zu" : "-%zu", number, again);
        size_t kept = strlen(tail);
        if (kept + strlen(end) >= SX_NAME_SIZE) kept = SX_NAME_SIZE - 1 - strlen(end);
        while (kept && (tail[kept] & 0xC0) == 0x80) kept--;
        memset(name, 0, SX_NAME_SIZE);
        memcpy(name, tail, kept);
        memcpy(name + kept, end, strlen(end));
    }
}

/* Adds a tensor under a name that is made unique; the shape has extents above 0. */
static sx_status add_tensor(sx_onnx_builder *b, const char *name, const sx_onnx_shape *shape, uint32_t bits,
                            size_t *index) {
    sx_graph *graph = &b->out->graph;
    sx_graph_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.bits = bits;
    tensor.n_ranks = shape->n ? (size_t)shape->n : 1;
    tensor.extent[0] = 1;
    for (int i = 0; i < shape->n; i++) tensor.extent[i] = (uint64_t)shape->dim[i];
    const sx_hash_keys keys = {graph->tensor, sizeof tensor, SX_NAME_SIZE};
    unique_name(&b->tensors, keys, name, graph->n_tensors, tensor.name);
    SX_TRY(sx_graph_add_tensor(graph, &tensor, index));
    return sx_hash_table_add(&b->tensors, hash_name(tensor.name), (uint32_t)*index) ? SX_OK
                                                                                    : sx_error_memory();
}

sx_status sx_onnx_add_own_tensor(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix,
                                 sx_onnx_shape shape, size_t *index) {
    char name[1100];
    snprintf(name, sizeof name, "%s%s", op->name, suffix);
    return add_tensor(b, name, &shape, sx_onnx_type_bits(sx_onnx_input(b->trace, op, 0)->type), index);
}

sx_status sx_onnx_tensor_of(sx_onnx_builder *b, uint32_t value, size_t *index) {
    char name[512];
    assert(value != SX_ONNX_NONE);
    value = b->alias[value];
    const sx_onnx_value *from = sx_onnx_value_at(b->trace, value);
    if (b->tensor[value] == SX_NO_INDEX) {
        sx_onnx_text(from->name, name, sizeof name);
        SX_TRY(add_tensor(b, name, &from->shape, sx_onnx_type_bits(from->type), &b->tensor[value]));
        b->out->graph.tensor[b->tensor[value]].weight = from->weight;
        b->out->graph.tensor[b->tensor[value]].output = from->wanted && from->computed;
    }
    *index = b->tensor[value];
    return SX_OK;
}

bool sx_onnx_is_tensor(const sx_onnx_builder *b, uint32_t value) {
    return value != SX_ONNX_NONE && sx_onnx_elements(&sx_onnx_value_at(b->trace, b->alias[value])->shape) > 0;
}

bool sx_onnx_is_cache(const sx_onnx_builder *b, uint32_t before, uint32_t after) {
    if (before == SX_ONNX_NONE || after == SX_ONNX_NONE) return false;
    const sx_onnx_value *from = sx_onnx_value_at(b->trace, before), *to = sx_onnx_value_at(b->trace, after);
    return !from->computed && !from->weight && b->uses[before] == 1 && to->wanted && b->alias[after] == after;
}

sx_status sx_onnx_append(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix, size_t state,
                         size_t added, size_t rank, uint64_t before) {
    sx_graph_tensor *tensor = &b->out->graph.tensor[state];
    sx_graph_operand operand[] = {sx_graph_whole(state, true, 0), sx_graph_whole(added, false, 0)};
    sx_graph_node node;
    tensor->state = true;
    tensor->output = false;
    operand[0].part[rank] = (sx_graph_part){.offset = before, .length = tensor->extent[rank] - before};
    sx_onnx_new_node(b, op, suffix, SX_OP_OTHER, &node);
    return sx_onnx_add_node(b, &node, NULL, operand, 2);
}

bool sx_onnx_is_weight(const sx_onnx_builder *b, uint32_t value) {
    return value != SX_ONNX_NONE && sx_onnx_value_at(b->trace, b->alias[value])->weight;
}

void sx_onnx_new_node(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix, sx_op_kind kind,
                      sx_graph_node *out) {
    char name[1100], function[SX_NAME_SIZE];
    memset(out, 0, sizeof *out);
    out->kind = kind;
    out->axis = -1;
    out->repeat = 1;
    snprintf(name, sizeof name, "%s%s", op->name, suffix);
    const sx_hash_keys keys = {b->out->graph.node, sizeof *out, SX_NAME_SIZE};
    unique_name(&b->nodes, keys, name, b->out->graph.n_nodes, out->name);
    memcpy(out->layer, out->name, sizeof out->layer);
    if (kind == SX_OP_EINSUM) return;
    sx_onnx_text(op->at.node->op, function, sizeof function);
    for (char *c = function; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    memcpy(out->function, function, strlen(function));
}

sx_status sx_onnx_add_node(sx_onnx_builder *b, const sx_graph_node *node, const sx_problem *einsum,
                           const sx_graph_operand *operand, size_t n_operands) {
    size_t index;
    SX_TRY(sx_graph_add_node(&b->out->graph, node, einsum, operand, n_operands, &index));
    if (b->out->graph.n_einsums > MAX_EINSUMS)
        return sx_error_new(SX_ERR_LIMIT, "the model has more than %d different layers", MAX_EINSUMS);
    return sx_hash_table_add(&b->nodes, hash_name(node->name), (uint32_t)index) ? SX_OK : sx_error_memory();
}

/* Gives the last node the layer of the first one with the same einsum. */
static void join_layer(sx_onnx_builder *b) {
    const sx_graph *graph = &b->out->graph;
    sx_graph_node *last = &graph->node[graph->n_nodes - 1];
    size_t *first = &b->first[last->einsum];
    if (*first == SX_NO_INDEX) *first = graph->n_nodes - 1;
    memcpy(last->layer, graph->node[*first].layer, sizeof last->layer);
}

/* The layer of an operation, which is added where the last one is of another. */
static sx_status layer_of(sx_onnx_builder *b, const sx_onnx_op *op, sx_onnx_layer **out) {
    sx_onnx *onnx = b->out;
    if (onnx->n_layers == 0 || onnx->layer[onnx->n_layers - 1].name != op->name) {
        char name[64];
        sx_onnx_text(op->at.node->op, name, sizeof name);
        const char *copy = sx_arena_copy(&b->trace->arena, name, strlen(name));
        if (!copy) return sx_arena_error(&b->trace->arena);
        onnx->layer[onnx->n_layers++] =
            (sx_onnx_layer){.name = op->name, .op = copy, .node = onnx->graph.n_nodes};
    }
    *out = &onnx->layer[onnx->n_layers - 1];
    return SX_OK;
}

sx_status sx_onnx_named(const sx_onnx_op *op, sx_status status) {
    if (!status || status->code == SX_ERR_MEMORY) return status;
    sx_status error = sx_onnx_error(op, "%s", status->message);
    sx_status_free(status);
    return error;
}

sx_status sx_onnx_add_einsum(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix,
                             const sx_problem *einsum, const sx_graph_operand *operand, uint64_t repeat) {
    sx_graph_node node;
    sx_onnx_layer *layer;
    SX_TRY(sx_onnx_named(op, sx_problem_check(einsum)));
    if ((double)sx_problem_computes(einsum) * (double)repeat >= 0x1p62)
        return sx_onnx_error(op, "it takes more than 2^62 multiply-accumulates");
    sx_onnx_new_node(b, op, suffix, SX_OP_EINSUM, &node);
    node.repeat = repeat;
    SX_TRY(layer_of(b, op, &layer));
    SX_TRY(sx_onnx_add_node(b, &node, einsum, operand, einsum->n_tensors));
    join_layer(b);
    layer->macs += sx_problem_computes(einsum) * repeat;
    layer->n_nodes++;
    return SX_OK;
}

sx_status sx_onnx_operand(sx_onnx_builder *b, const sx_problem *einsum, int v, uint32_t value,
                          const char *ranks, int split, sx_graph_operand *out) {
    size_t tensor;
    SX_TRY(sx_onnx_tensor_of(b, value, &tensor));
    *out = sx_net_operand(einsum, v, tensor, ranks, split);
    return SX_OK;
}

/* The error for a value of which a mapped operation needs the shape. */
static sx_status unknown_shape(const sx_onnx_op *op, const sx_onnx_value *value, const char *which) {
    char name[SX_NAME_SIZE];
    sx_onnx_text(value->name, name, sizeof name);
    return sx_error_hint(
        sx_onnx_error(op, "the shape of %s '%s' is not known", which, name),
        "an operation before it depends on data or is not known; a model with its shapes written "
        "down (shape inference of the exporter) can be read");
}

sx_status sx_onnx_ready(const sx_onnx_builder *b, const sx_onnx_op *op, const size_t *input, size_t n,
                        size_t output, bool *empty) {
    const uint32_t written = output < op->n_outputs ? op->output[output] : SX_ONNX_NONE;
    const size_t count = n + (written != SX_ONNX_NONE);
    *empty = written == SX_ONNX_NONE;
    for (size_t i = 0; i < count; i++) {
        const sx_onnx_value *value =
            i < n ? sx_onnx_input(b->trace, op, input[i]) : sx_onnx_value_at(b->trace, written);
        assert(value);
        if (!sx_onnx_known(&value->shape))
            return unknown_shape(op, value, i < n ? "its input" : "its output");
        for (int d = 0; d < value->shape.n; d++)
            if (value->shape.dim[d] > SX_MAX_DIM_SIZE)
                return sx_onnx_error(op, "a dimension of %lld is above %u", (long long)value->shape.dim[d],
                                     SX_MAX_DIM_SIZE);
        *empty |= sx_onnx_elements(&value->shape) == 0;
    }
    return SX_OK;
}

/* Makes room for what is known of values and operations. */
static sx_status make_room(sx_onnx_builder *b) {
    const size_t n = b->trace->values.n + 1, n_ops = b->trace->ops.n + 1;
    sx_arena *arena = &b->trace->arena;
    b->alias = sx_arena_alloc(arena, n, sizeof *b->alias);
    b->tensor = sx_arena_alloc(arena, n, sizeof *b->tensor);
    b->uses = sx_arena_alloc(arena, n, sizeof *b->uses);
    b->consumer = sx_arena_alloc(arena, n, sizeof *b->consumer);
    b->result = sx_arena_alloc(arena, n_ops, sizeof *b->result);
    b->grouped = sx_arena_alloc(arena, n_ops, sizeof *b->grouped);
    b->first = sx_arena_alloc(arena, MAX_EINSUMS, sizeof *b->first);
    b->out->layer = sx_arena_alloc(arena, n_ops, sizeof *b->out->layer);
    b->out->rest = sx_arena_alloc(arena, n_ops, sizeof *b->out->rest);
    if (!b->alias || !b->tensor || !b->uses || !b->consumer || !b->result || !b->grouped || !b->first ||
        !b->out->layer || !b->out->rest)
        return sx_arena_error(arena);
    for (size_t i = 0; i < n; i++) b->tensor[i] = SX_NO_INDEX;
    for (size_t i = 0; i < MAX_EINSUMS; i++) b->first[i] = SX_NO_INDEX;
    return SX_OK;
}

/* Builds all nodes. */
static sx_status build_nodes(sx_onnx_builder *b) {
    SX_TRY(make_room(b));
    sx_onnx_group(b);
    for (size_t i = 0; i < b->trace->ops.n; i++) {
        const sx_onnx_op *op = sx_onnx_op_at(b->trace, i);
        if (b->grouped[i]) continue;
        SX_TRY(op->rule && op->rule->lower ? op->rule->lower(b, i) : sx_onnx_add_plain(b, i));
    }
    return sx_onnx_count_rest(b);
}

sx_status sx_onnx_build(sx_onnx_trace *trace, sx_onnx *out) {
    sx_onnx_builder b = {.trace = trace, .out = out};
    sx_status status = build_nodes(&b);
    sx_hash_table_clear(&b.nodes);
    sx_hash_table_clear(&b.tensors);
    return status;
}
