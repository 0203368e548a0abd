#include "frontend/onnx/model.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FUNCTIONS = 4096 };

/* The numbers of fields of onnx.proto. */
enum { MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_FUNCTION = 25 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_TENSOR = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_INFO = 13
};
enum { GRAPH_SPARSE = 15 };
enum { FUNCTION_NAME = 1, FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_NODE = 7 };
enum { FUNCTION_DOMAIN = 10, FUNCTION_INFO = 12, FUNCTION_OVERLOAD = 13 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { NODE_OVERLOAD = 8 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8 };
enum { SPARSE_VALUES = 1, SPARSE_DIM = 3 };
enum { INFO_NAME = 1, INFO_TYPE = 2, TYPE_TENSOR = 1, TENSOR_TYPE_ELEMENT = 1, TENSOR_TYPE_SHAPE = 2 };
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_SYMBOL = 2 };

/* Refuses a message whose fields are not complete. */
static SX_MUST_USE sx_status check_message(sx_bytes message, const char *what) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    while (sx_wire_next(&wire, &field)) {
    }
    if (!wire.broken) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "this is not a whole ONNX model: %s is cut or damaged", what),
        "copy the file again; a model of Git LFS may be a pointer only");
}

/* Room for the fields of a number in a message. */
static SX_MUST_USE sx_status make_room(sx_arena *arena, sx_bytes message, uint32_t number, size_t size,
                                       void *out) {
    void *items = sx_arena_alloc(arena, sx_wire_count(message, number) + 1, size);
    if (!items) return sx_arena_error(arena);
    memcpy(out, &items, sizeof items);
    return SX_OK;
}

/* Appends an extent to a shape; a shape of too many ranks is not known. */
static SX_MUST_USE sx_status add_extent(sx_onnx_shape *shape, int64_t extent) {
    if (extent > SX_ONNX_MAX_EXTENT || extent < -1)
        return sx_error_new(SX_ERR_LIMIT, "a dimension of %lld is not between 0 and 2^40", (long long)extent);
    if (shape->n == SX_MAX_RANKS) shape->n = -1;
    if (shape->n >= 0) shape->dim[shape->n++] = extent;
    return SX_OK;
}

/* Reads the dims of a tensor, packed or not. */
static SX_MUST_USE sx_status read_dims(const sx_field *field, sx_onnx_shape *shape) {
    uint64_t extent;
    if (!field->is_bytes) return add_extent(shape, (int64_t)field->value);
    for (sx_wire packed = sx_wire_of(field->bytes); packed.at < packed.end && shape->n >= 0;) {
        if (!sx_wire_varint(&packed, &extent))
            return sx_error_new(SX_ERR_INPUT, "the dimensions of a tensor are damaged");
        SX_TRY(add_extent(shape, (int64_t)extent));
    }
    return SX_OK;
}

sx_status sx_onnx_tensor_read(sx_bytes message, sx_onnx_tensor *out) {
    sx_onnx_tensor tensor = {.message = message};
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    SX_TRY(check_message(message, "a tensor"));
    while (sx_wire_next(&wire, &field)) {
        if (field.number == TENSOR_DIM && tensor.shape.n >= 0) SX_TRY(read_dims(&field, &tensor.shape));
        if (field.number == TENSOR_TYPE) tensor.type = (int)field.value;
        if (field.number == TENSOR_NAME) tensor.name = field.bytes;
    }
    for (int i = 0; i < tensor.shape.n; i++)
        if (tensor.shape.dim[i] < 0) return sx_error_new(SX_ERR_INPUT, "a tensor has a dimension below 0");
    *out = tensor;
    return SX_OK;
}

/* Reads a sparse tensor, of which only name, type and shape matter. */
static SX_MUST_USE sx_status read_sparse(sx_bytes message, sx_onnx_tensor *out) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    SX_TRY(check_message(message, "a sparse tensor"));
    SX_TRY(sx_onnx_tensor_read(sx_wire_text(message, SPARSE_VALUES), out));
    out->shape = (sx_onnx_shape){0};
    out->message = (sx_bytes){0};
    while (sx_wire_next(&wire, &field))
        if (field.number == SPARSE_DIM && out->shape.n >= 0) SX_TRY(read_dims(&field, &out->shape));
    return SX_OK;
}

/* Reads the type of a value; one that is no tensor has no shape. */
static SX_MUST_USE sx_status read_info(sx_bytes message, sx_onnx_info *out) {
    SX_TRY(check_message(message, "what is said of a value"));
    const sx_bytes type = sx_wire_text(sx_wire_text(message, INFO_TYPE), TYPE_TENSOR);
    out->name = sx_wire_text(message, INFO_NAME);
    out->type = (int)sx_wire_number(type, TENSOR_TYPE_ELEMENT, 0);
    out->shape.n = sx_wire_count(type, TENSOR_TYPE_SHAPE) ? 0 : -1;
    sx_wire wire = sx_wire_of(sx_wire_text(type, TENSOR_TYPE_SHAPE));
    sx_field field;
    while (out->shape.n >= 0 && sx_wire_next(&wire, &field)) {
        if (field.number != SHAPE_DIM) continue;
        const int rank = out->shape.n;
        const int64_t extent = sx_wire_number(field.bytes, DIM_VALUE, -1);
        SX_TRY(add_extent(&out->shape, extent));
        if (out->shape.n > rank && extent < 0) out->symbol[rank] = sx_wire_text(field.bytes, DIM_SYMBOL);
    }
    return SX_OK;
}

static SX_MUST_USE sx_status read_node(sx_arena *arena, sx_bytes message, sx_onnx_node *out) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    SX_TRY(check_message(message, "a node"));
    out->message = message;
    SX_TRY(make_room(arena, message, NODE_INPUT, sizeof *out->input, &out->input));
    SX_TRY(make_room(arena, message, NODE_OUTPUT, sizeof *out->output, &out->output));
    while (sx_wire_next(&wire, &field)) {
        if (field.number == NODE_INPUT) out->input[out->n_inputs++] = field.bytes;
        if (field.number == NODE_OUTPUT) out->output[out->n_outputs++] = field.bytes;
        if (field.number == NODE_NAME) out->name = field.bytes;
        if (field.number == NODE_OP) out->op = field.bytes;
        if (field.number == NODE_DOMAIN) out->domain = field.bytes;
        if (field.number == NODE_OVERLOAD) out->overload = field.bytes;
        if (field.number == NODE_ATTRIBUTE) SX_TRY(check_message(field.bytes, "an attribute"));
    }
    if (out->op.size == 0)
        return sx_error_new(SX_ERR_INPUT, "this is not an ONNX model: a node has no operation");
    return SX_OK;
}

/* Reads a field of a graph. */
static SX_MUST_USE sx_status read_graph_field(sx_arena *arena, const sx_field *field, sx_onnx_graph *out) {
    switch (field->number) {
    case GRAPH_NODE:
        return read_node(arena, field->bytes, &out->node[out->n_nodes++]);
    case GRAPH_TENSOR:
        return sx_onnx_tensor_read(field->bytes, &out->tensor[out->n_tensors++]);
    case GRAPH_SPARSE:
        return read_sparse(field->bytes, &out->tensor[out->n_tensors++]);
    case GRAPH_INPUT:
        return read_info(field->bytes, &out->input[out->n_inputs++]);
    case GRAPH_OUTPUT:
        return read_info(field->bytes, &out->output[out->n_outputs++]);
    case GRAPH_INFO:
        return read_info(field->bytes, &out->info[out->n_infos++]);
    case GRAPH_NAME:
        out->name = field->bytes;
        return SX_OK;
    default:
        return SX_OK;
    }
}

/* Compares what is said of two values by their names. */
static int by_name(const void *a, const void *b) {
    const sx_onnx_info *x = a, *y = b;
    return sx_bytes_compare(x->name, y->name);
}

const sx_onnx_info *sx_onnx_info_of(const sx_onnx_graph *graph, sx_bytes name) {
    const sx_onnx_info key = {.name = name};
    return graph->n_infos ? bsearch(&key, graph->info, graph->n_infos, sizeof key, by_name) : NULL;
}

sx_status sx_onnx_graph_read(sx_arena *arena, sx_bytes message, sx_onnx_graph *out) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    SX_TRY(check_message(message, "the graph"));
    memset(out, 0, sizeof *out);
    const size_t n_tensors = sx_wire_count(message, GRAPH_TENSOR) + sx_wire_count(message, GRAPH_SPARSE);
    const size_t n_infos = sx_wire_count(message, GRAPH_INFO) + sx_wire_count(message, GRAPH_OUTPUT);
    out->message = message;
    out->tensor = sx_arena_alloc(arena, n_tensors + 1, sizeof *out->tensor);
    if (!out->tensor) return sx_arena_error(arena);
    SX_TRY(make_room(arena, message, GRAPH_NODE, sizeof *out->node, &out->node));
    SX_TRY(make_room(arena, message, GRAPH_INPUT, sizeof *out->input, &out->input));
    SX_TRY(make_room(arena, message, GRAPH_OUTPUT, sizeof *out->output, &out->output));
    out->info = sx_arena_alloc(arena, n_infos + 1, sizeof *out->info);
    if (!out->info) return sx_arena_error(arena);
    while (sx_wire_next(&wire, &field)) SX_TRY(read_graph_field(arena, &field, out));
    for (size_t i = 0; i < out->n_outputs; i++) out->info[out->n_infos++] = out->output[i];
    qsort(out->info, out->n_infos, sizeof *out->info, by_name);
    return SX_OK;
}

static SX_MUST_USE sx_status read_function(sx_arena *arena, sx_bytes message, sx_onnx_graph *out) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    SX_TRY(check_message(message, "a function"));
    out->message = message;
    out->is_function = true;
    SX_TRY(make_room(arena, message, FUNCTION_NODE, sizeof *out->node, &out->node));
    SX_TRY(make_room(arena, message, FUNCTION_INPUT, sizeof *out->input, &out->input));
    SX_TRY(make_room(arena, message, FUNCTION_OUTPUT, sizeof *out->output, &out->output));
    SX_TRY(make_room(arena, message, FUNCTION_INFO, sizeof *out->info, &out->info));
    while (sx_wire_next(&wire, &field)) {
        if (field.number == FUNCTION_NAME) out->name = field.bytes;
        if (field.number == FUNCTION_DOMAIN) out->domain = field.bytes;
        if (field.number == FUNCTION_OVERLOAD) out->overload = field.bytes;
        if (field.number == FUNCTION_INPUT) out->input[out->n_inputs++].name = field.bytes;
        if (field.number == FUNCTION_OUTPUT) out->output[out->n_outputs++].name = field.bytes;
        if (field.number == FUNCTION_NODE) SX_TRY(read_node(arena, field.bytes, &out->node[out->n_nodes++]));
        if (field.number == FUNCTION_INFO) SX_TRY(read_info(field.bytes, &out->info[out->n_infos++]));
    }
    qsort(out->info, out->n_infos, sizeof *out->info, by_name);
    return SX_OK;
}

/* Notes the version of the standard's operations, where a message is about them. */
static void read_opset(sx_bytes message, int64_t *opset) {
    const sx_bytes domain = sx_wire_text(message, OPSET_DOMAIN);
    if (domain.size == 0 || sx_bytes_are(domain, "ai.onnx"))
        *opset = sx_wire_number(message, OPSET_VERSION, *opset);
}

sx_status sx_onnx_model_read(sx_arena *arena, sx_bytes file, sx_onnx_model *out) {
    sx_wire wire = sx_wire_of(file);
    sx_field field;
    sx_bytes graph = {0};
    SX_TRY(check_message(file, "the file"));
    memset(out, 0, sizeof *out);
    out->opset = 1;
    if (sx_wire_count(file, MODEL_FUNCTION) > MAX_FUNCTIONS)
        return sx_error_new(SX_ERR_LIMIT, "the model has more than %d functions", MAX_FUNCTIONS);
    SX_TRY(make_room(arena, file, MODEL_FUNCTION, sizeof *out->function, &out->function));
    while (sx_wire_next(&wire, &field)) {
        if (field.number == MODEL_GRAPH) graph = field.bytes;
        if (field.number == MODEL_OPSET) read_opset(field.bytes, &out->opset);
        if (field.number == MODEL_FUNCTION)
            SX_TRY(read_function(arena, field.bytes, &out->function[out->n_functions++]));
    }
    if (!graph.data)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "this is not an ONNX model: it has no graph"),
                             "it may be cut short, or be another file with that ending");
    return sx_onnx_graph_read(arena, graph, &out->graph);
}
