#include "frontend/onnx/trace.h"

#include "base/text.h"
#include "frontend/onnx/rules.h"
#include "frontend/onnx/scope.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Limits of what is followed: memory, operations, values, calls within calls, bytes of the bodies of calls. */
enum {
    MAX_MEMORY = 256 << 20,
    MAX_OPS = 1 << 17,
    MAX_VALUES = 1 << 19,
    MAX_DEPTH = 32,
    MAX_UNROLLED = 1 << 14, /* nodes of one loop */
    MAX_CALLED = 64 << 20,
    MAX_MATRIX = 64 /* numbers of more than a list that are read */
};

/* A graph being followed: its names, the call it is the body of, and how deep calls are nested. */
typedef struct frame {
    sx_onnx_trace *trace;
    const sx_onnx_graph *graph;
    sx_onnx_scope scope;
    const sx_onnx_call *call;
    const char *prefix; /* before the names of its nodes */
    unsigned depth;
} frame;

static SX_MUST_USE sx_status follow_nodes(frame *f);

/* Adds a value of which nothing is known. */
static SX_MUST_USE sx_status add_value(sx_onnx_trace *trace, sx_bytes name, uint32_t *index) {
    if (trace->values.n == MAX_VALUES)
        return sx_error_new(SX_ERR_LIMIT, "the model has more than %d values", MAX_VALUES);
    sx_onnx_value *value = sx_vector_add(&trace->values);
    if (!value) return sx_error_memory();
    memset(value, 0, sizeof *value);
    value->name = name;
    value->shape.n = -1;
    *index = (uint32_t)(trace->values.n - 1);
    return SX_OK;
}

/* Whether the numbers of a tensor of n elements may decide shapes: those of lists, and few others. Matrices are weights. */
static bool decides_shapes(const sx_onnx_tensor *tensor, int64_t n) {
    return n >= 0 && n <= (tensor->shape.n <= 1 ? SX_ONNX_MAX_DATA : MAX_MATRIX);
}

/* Adds the value of a tensor of the file, with its numbers where these may decide shapes. */
static SX_MUST_USE sx_status add_tensor(frame *f, const sx_onnx_tensor *tensor) {
    sx_onnx_trace *trace = f->trace;
    sx_onnx_name *name = sx_onnx_scope_find(&f->scope, tensor->name);
    const int64_t n = sx_onnx_elements(&tensor->shape);
    uint32_t index;
    if (!name) return SX_OK;
    SX_TRY(add_value(trace, tensor->name, &index));
    sx_onnx_value *value = sx_onnx_value_at(trace, index);
    value->type = tensor->type;
    value->shape = tensor->shape;
    value->weight = true;
    name->value = index;
    if (!decides_shapes(tensor, n)) return SX_OK;
    double *data = sx_arena_alloc(&trace->arena, (size_t)n + 1, sizeof *data);
    if (!data) return sx_arena_error(&trace->arena);
    if (sx_onnx_tensor_data(tensor, data, (size_t)n)) value->data = data;
    return SX_OK;
}

/* The extent of a symbol, which is then used; -1 where it is not set. */
static int64_t symbol_extent(const sx_onnx_trace *trace, sx_bytes name) {
    for (size_t i = 0; i < trace->n_symbols; i++) {
        const sx_onnx_symbol *symbol = &trace->symbol[i];
        if (!sx_bytes_are(name, symbol->name)) continue;
        if (symbol->used) *symbol->used = true;
        return symbol->extent;
    }
    return -1;
}

/* The shape that is said of a value, with its symbols replaced. */
static sx_onnx_shape said_shape(const sx_onnx_trace *trace, const sx_onnx_info *info) {
    sx_onnx_shape shape = info->shape;
    for (int i = 0; i < shape.n; i++)
        if (shape.dim[i] < 0 && info->symbol[i].size) shape.dim[i] = symbol_extent(trace, info->symbol[i]);
    return shape;
}

/* The name by which the extent of a rank of an input can be set: its symbol, or INPUT_RANK. */
static void input_symbol(const sx_onnx_info *info, int rank, char name[SX_NAME_SIZE]) {
    if (info->symbol[rank].size) {
        sx_onnx_text(info->symbol[rank], name, SX_NAME_SIZE);
        return;
    }
    sx_onnx_text(info->name, name, SX_NAME_SIZE - 8);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    snprintf(name + strlen(name), 8, "_%d", rank);
}

/* Adds a name to a list of those that are not set, unless it is there. */
static void add_missing(const char *name, sx_text *names, sx_text *cure) {
    char item[SX_NAME_SIZE + 4];
    snprintf(item, sizeof item, " %s,", name);
    if (names->data && strstr(names->data, item)) return;
    if (names->size > 400) return;
    sx_text_add(names, "%s", item);
    sx_text_add(cure, " --set %s=1", name);
}

/* Adds the inputs of the model; an error that names the symbols that are not set. */
static SX_MUST_USE sx_status add_inputs(frame *f) {
    sx_text names = {0}, cure = {0};
    sx_status status = SX_OK;
    for (size_t i = 0; i < f->graph->n_inputs && !status; i++) {
        const sx_onnx_info *info = &f->graph->input[i];
        sx_onnx_name *name = sx_onnx_scope_find(&f->scope, info->name);
        if (!name || name->value != SX_ONNX_NONE) continue;
        status = add_value(f->trace, info->name, &name->value);
        if (status) break;
        sx_onnx_value *value = sx_onnx_value_at(f->trace, name->value);
        value->type = info->type;
        value->shape = said_shape(f->trace, info);
        for (int rank = 0; rank < value->shape.n; rank++) {
            char symbol[SX_NAME_SIZE];
            if (value->shape.dim[rank] >= 0) continue;
            input_symbol(info, rank, symbol);
            const sx_bytes text = {(const unsigned char *)symbol, strlen(symbol)};
            value->shape.dim[rank] = symbol_extent(f->trace, text);
            if (value->shape.dim[rank] < 0) add_missing(symbol, &names, &cure);
        }
    }
    if (!status && (names.failed || cure.failed)) status = sx_error_memory();
    if (!status && names.size)
        status = sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "the model leaves sizes open:%.*s", (int)names.size - 1, names.data),
            "say how large they are, as in%s", cure.data);
    sx_text_free(&names);
    sx_text_free(&cure);
    return status;
}

/* The name of a node: its own, or made from its operation and its number, after those of the calls around it. */
static SX_MUST_USE sx_status name_node(const frame *f, uint32_t node, const char **out) {
    const sx_onnx_node *at = &f->graph->node[node];
    char own[512], full[1024];
    sx_onnx_text(at->name.size ? at->name : at->op, own, sizeof own - 16);
    if (!at->name.size) snprintf(own + strlen(own), 16, "_%u", (unsigned)node);
    snprintf(full, sizeof full, "%s%s%s", f->prefix, *f->prefix ? "/" : "", own);
    *out = sx_arena_copy(&f->trace->arena, full, strlen(full));
    return *out ? SX_OK : sx_arena_error(&f->trace->arena);
}

/* Takes what the graph says of outputs of which the operation's rule could not say it. */
static void take_said(const frame *f, const sx_onnx_op *op) {
    for (size_t i = 0; i < op->n_outputs; i++) {
        if (op->output[i] == SX_ONNX_NONE) continue;
        sx_onnx_value *value = sx_onnx_value_at(f->trace, op->output[i]);
        if (value->type && sx_onnx_known(&value->shape)) continue;
        const sx_onnx_info *info = sx_onnx_info_of(f->graph, value->name);
        if (info && !value->type) value->type = info->type;
        if (!info || sx_onnx_known(&value->shape) || info->shape.n < 0) continue;
        const sx_onnx_shape said = said_shape(f->trace, info);
        if (value->shape.n < 0) value->shape = said;
        for (int d = 0; d < said.n && said.n == value->shape.n; d++)
            if (value->shape.dim[d] < 0) value->shape.dim[d] = said.dim[d];
    }
}

/* Makes an operation of a node: its inputs, and new values for its outputs. */
static SX_MUST_USE sx_status make_op(frame *f, uint32_t node, sx_onnx_op *out) {
    const sx_onnx_node *at = &f->graph->node[node];
    sx_onnx_trace *trace = f->trace;
    uint32_t *ids = sx_arena_alloc(&trace->arena, at->n_inputs + at->n_outputs + 1, sizeof *ids);
    if (!ids) return sx_arena_error(&trace->arena);
    *out = (sx_onnx_op){.at = {at, f->call},
                        .rule = sx_onnx_rule_of(at),
                        .input = ids,
                        .output = ids + at->n_inputs,
                        .n_inputs = at->n_inputs,
                        .n_outputs = at->n_outputs};
    SX_TRY(name_node(f, node, &out->name));
    for (size_t i = 0; i < at->n_inputs; i++) ids[i] = sx_onnx_scope_value(&f->scope, at->input[i]);
    for (size_t i = 0; i < at->n_outputs; i++) {
        sx_onnx_name *name = at->output[i].size ? sx_onnx_scope_find(&f->scope, at->output[i]) : NULL;
        ids[at->n_inputs + i] = SX_ONNX_NONE;
        if (!name) continue;
        SX_TRY(add_value(trace, at->output[i], &ids[at->n_inputs + i]));
        name->value = ids[at->n_inputs + i];
    }
    return SX_OK;
}

/* Marks the outputs of an operation that reads nothing but weights as weights, which can be computed beforehand,
 * and those of others as computed. */
static void pass_weights(const sx_onnx_trace *trace, const sx_onnx_op *op) {
    bool all = op->rule && !op->rule->heavy && (op->n_inputs || sx_bytes_are(op->at.node->op, "Constant"));
    for (size_t i = 0; i < op->n_inputs && all; i++) {
        const sx_onnx_value *value = sx_onnx_input(trace, op, i);
        all = !value || value->weight;
    }
    for (size_t i = 0; i < op->n_outputs; i++) {
        if (op->output[i] == SX_ONNX_NONE) continue;
        sx_onnx_value_at(trace, op->output[i])->weight = all;
        sx_onnx_value_at(trace, op->output[i])->computed = !all;
    }
}

/* Appends an operation and gives its outputs their shapes. */
static SX_MUST_USE sx_status follow_op(frame *f, uint32_t node) {
    sx_onnx_op op;
    SX_TRY(make_op(f, node, &op));
    sx_onnx_op *added = sx_vector_add(&f->trace->ops);
    if (!added) return sx_error_memory();
    *added = op;
    SX_TRY(sx_onnx_check_inputs(&op));
    if (op.rule) SX_TRY(op.rule->infer(f->trace, &op));
    take_said(f, &op);
    pass_weights(f->trace, &op);
    return SX_OK;
}

/* The function that a node calls, NULL where it calls none. */
static const sx_onnx_graph *function_of(const sx_onnx_model *model, const sx_onnx_node *node) {
    for (size_t i = 0; i < model->n_functions; i++) {
        const sx_onnx_graph *function = &model->function[i];
        if (sx_bytes_compare(function->name, node->op) == 0 &&
            sx_bytes_compare(function->domain, node->domain) == 0 &&
            sx_bytes_compare(function->overload, node->overload) == 0)
            return function;
    }
    return NULL;
}

/* Follows the body of a call: inputs and outputs of the node are those of the body, by their places. */
static SX_MUST_USE sx_status follow_body(const frame *f, uint32_t node, const sx_onnx_graph *body,
                                         bool inherits) {
    const sx_onnx_node *at = &f->graph->node[node];
    sx_onnx_trace *trace = f->trace;
    frame inner = {.trace = trace, .graph = body, .call = f->call, .depth = f->depth + 1};
    if (inner.depth > MAX_DEPTH)
        return sx_error_new(SX_ERR_LIMIT, "functions or branches are nested more than %d deep", MAX_DEPTH);
    SX_TRY(name_node(f, node, &inner.prefix));
    SX_TRY(sx_onnx_scope_of(&trace->arena, body, inherits ? &f->scope : NULL, &inner.scope));
    if (!inherits) {
        sx_onnx_call *call = sx_arena_alloc(&trace->arena, 1, sizeof *call);
        if (!call) return sx_arena_error(&trace->arena);
        *call = (sx_onnx_call){at, f->call, body, inner.prefix};
        inner.call = call;
        for (size_t i = 0; i < body->n_inputs && i < at->n_inputs; i++) {
            sx_onnx_name *name = sx_onnx_scope_find(&inner.scope, body->input[i].name);
            if (name) name->value = sx_onnx_scope_value(&f->scope, at->input[i]);
        }
    }
    SX_TRY(follow_nodes(&inner));
    for (size_t i = 0; i < at->n_outputs && i < body->n_outputs; i++) {
        sx_onnx_name *name = sx_onnx_scope_find(&f->scope, at->output[i]);
        if (name && at->output[i].size) name->value = sx_onnx_scope_value(&inner.scope, body->output[i].name);
    }
    return SX_OK;
}

/* Follows the branch of a conditional whose condition is known; *done is whether it is. */
static SX_MUST_USE sx_status follow_branch(const frame *f, uint32_t node, bool *done) {
    const sx_onnx_node *at = &f->graph->node[node];
    const uint32_t condition = at->n_inputs ? sx_onnx_scope_value(&f->scope, at->input[0]) : SX_ONNX_NONE;
    const double *data = condition == SX_ONNX_NONE ? NULL : sx_onnx_value_at(f->trace, condition)->data;
    sx_onnx_graph *branch;
    sx_bytes message;
    *done = false;
    if (!data || sx_onnx_elements(&sx_onnx_value_at(f->trace, condition)->shape) != 1) return SX_OK;
    if (!sx_onnx_attribute_graph((sx_onnx_place){at, f->call}, *data != 0 ? "then_branch" : "else_branch",
                                 &message))
        return SX_OK;
    branch = sx_arena_alloc(&f->trace->arena, 1, sizeof *branch);
    if (!branch) return sx_arena_error(&f->trace->arena);
    SX_TRY(sx_onnx_graph_read(&f->trace->arena, message, branch));
    *done = true;
    return follow_body(f, node, branch, true);
}

/* A loop whose number of turns is known, which is followed turn by turn. States go from one turn to the next; slices
 * are the elements along an axis of its other inputs, and of what it stacks to its other outputs. */
typedef struct turns {
    const sx_onnx_node *at;
    sx_onnx_graph *body;
    int64_t n;
    size_t n_states, n_slices, n_stacked;
    size_t first_in;   /* of the states, among the node's inputs: a Loop has a count and a condition before */
    size_t first_out;  /* the same among the body's outputs: a Loop has a condition before */
    uint32_t *state;   /* their values */
    uint32_t *stacked; /* values of each turn */
    sx_onnx_place place; /* of the node */
} turns;

/* The axis of a slice or a stack, 0 where the node does not say. */
static int64_t axis_at(const turns *t, const char *attribute, size_t index) {
    int64_t axes[SX_MAX_RANKS];
    const int n = sx_onnx_ints(t->place, attribute, axes, SX_MAX_RANKS);
    return (int64_t)index < n ? axes[index] : 0;
}

/* The only number of a value, where it is known. */
static bool known_number(const frame *f, sx_bytes name, double *out) {
    const uint32_t value = name.size ? sx_onnx_scope_value(&f->scope, name) : SX_ONNX_NONE;
    const sx_onnx_value *at = value == SX_ONNX_NONE ? NULL : sx_onnx_value_at(f->trace, value);
    if (!at || !at->data || sx_onnx_elements(&at->shape) != 1) return false;
    *out = *at->data;
    return true;
}

/* How often a loop turns, 0: not known. Scan before opset 9 has other inputs. */
static int64_t count_turns(const frame *f, turns *t) {
    double limit, condition;
    if (sx_bytes_are(t->at->op, "Loop")) {
        if (t->at->n_inputs < 2 || !known_number(f, t->at->input[0], &limit)) return 0;
        if (t->at->input[1].size && (!known_number(f, t->at->input[1], &condition) || condition == 0))
            return 0;
        t->first_in = 2;
        t->first_out = 1;
        t->n_states = t->at->n_inputs - 2;
        return limit >= 1 && limit <= MAX_UNROLLED ? (int64_t)limit : 0;
    }
    const int64_t slices = sx_onnx_int(t->place, "num_scan_inputs", 0);
    if (f->trace->model.opset < 9 || slices < 1 || (size_t)slices > t->at->n_inputs) return 0;
    t->n_slices = (size_t)slices;
    t->n_states = t->at->n_inputs - t->n_slices;
    const uint32_t value = sx_onnx_scope_value(&f->scope, t->at->input[t->n_states]);
    const sx_onnx_shape *shape = value == SX_ONNX_NONE ? NULL : &sx_onnx_value_at(f->trace, value)->shape;
    const int axis = shape ? sx_onnx_axis(shape, axis_at(t, "scan_input_axes", 0)) : -1;
    return axis < 0 ? 0 : shape->dim[axis];
}

/* Adds an operation of our own that moves elements, with a value for its output. */
static SX_MUST_USE sx_status add_move(frame *f, const char *kind, const uint32_t *input, size_t n,
                                      sx_onnx_shape shape, uint32_t *out) {
    sx_onnx_trace *trace = f->trace;
    sx_onnx_node *node = sx_arena_alloc(&trace->arena, 1, sizeof *node);
    uint32_t *ids = sx_arena_alloc(&trace->arena, n + 1, sizeof *ids);
    if (!node || !ids) return sx_arena_error(&trace->arena);
    if (trace->n_nodes++ == MAX_OPS)
        return sx_error_new(SX_ERR_LIMIT, "the model has more than %d nodes", MAX_OPS);
    node->op = (sx_bytes){(const unsigned char *)kind, strlen(kind)};
    memcpy(ids, input, n * sizeof *ids);
    SX_TRY(add_value(trace, sx_onnx_value_at(trace, input[0])->name, &ids[n]));
    sx_onnx_op *op = sx_vector_add(&trace->ops);
    if (!op) return sx_error_memory();
    *op = (sx_onnx_op){.at = {node, NULL},
                       .name = f->prefix,
                       .rule = sx_onnx_rule_of(node),
                       .input = ids,
                       .output = ids + n,
                       .n_inputs = n,
                       .n_outputs = 1};
    sx_onnx_set_shape(trace, op, 0, shape);
    sx_onnx_copy_type(trace, op, 0, 0);
    pass_weights(trace, op);
    *out = ids[n];
    return SX_OK;
}

/* Adds a number as a value of the body. */
static SX_MUST_USE sx_status set_number(frame *f, sx_bytes text, double number) {
    sx_onnx_name *name = sx_onnx_scope_find(&f->scope, text);
    double *data = sx_arena_alloc(&f->trace->arena, 1, sizeof *data);
    if (!name || !data) return data ? SX_OK : sx_arena_error(&f->trace->arena);
    SX_TRY(add_value(f->trace, text, &name->value));
    *data = number;
    sx_onnx_value *value = sx_onnx_value_at(f->trace, name->value);
    value->shape.n = 0;
    value->weight = true;
    value->data = data;
    return SX_OK;
}

/* Gives the inputs of the body their values in a turn. */
static SX_MUST_USE sx_status enter_turn(const frame *f, frame *inner, const turns *t, int64_t turn) {
    const sx_onnx_info *input = t->body->input;
    if (t->first_in) {
        SX_TRY(set_number(inner, input[0].name, (double)turn));
        SX_TRY(set_number(inner, input[1].name, 1));
    }
    for (size_t i = 0; i < t->n_states; i++) {
        sx_onnx_name *name = sx_onnx_scope_find(&inner->scope, input[t->first_in + i].name);
        if (name) name->value = t->state[i];
    }
    for (size_t i = 0; i < t->n_slices; i++) {
        const uint32_t from = sx_onnx_scope_value(&f->scope, t->at->input[t->n_states + i]);
        sx_onnx_name *name = sx_onnx_scope_find(&inner->scope, input[t->n_states + i].name);
        if (from == SX_ONNX_NONE || !name) continue;
        sx_onnx_shape shape = sx_onnx_value_at(f->trace, from)->shape;
        const int axis = sx_onnx_axis(&shape, axis_at(t, "scan_input_axes", i));
        if (axis < 0) shape.n = -1;
        for (int d = axis; d >= 0 && d + 1 < shape.n; d++) shape.dim[d] = shape.dim[d + 1];
        if (axis >= 0) shape.n--;
        SX_TRY(add_move(inner, "Slice", &from, 1, shape, &name->value));
    }
    return SX_OK;
}

/* Follows one turn; *n becomes the number of turns, 0 where it depends on data. */
static SX_MUST_USE sx_status follow_turn(const frame *f, const turns *t, const char *name, int64_t turn,
                                         int64_t *n) {
    frame inner = {.trace = f->trace, .graph = t->body, .call = f->call, .depth = f->depth + 1};
    char prefix[1100];
    double go = 1;
    snprintf(prefix, sizeof prefix, "%s.%lld", name, (long long)turn);
    inner.prefix = sx_arena_copy(&f->trace->arena, prefix, strlen(prefix));
    if (!inner.prefix) return sx_arena_error(&f->trace->arena);
    SX_TRY(sx_onnx_scope_of(&f->trace->arena, t->body, &f->scope, &inner.scope));
    SX_TRY(enter_turn(f, &inner, t, turn));
    SX_TRY(follow_nodes(&inner));
    if (t->first_out && !known_number(&inner, t->body->output[0].name, &go)) *n = 0;
    if (go == 0) *n = turn + 1;
    for (size_t i = 0; i < t->n_states; i++)
        t->state[i] = sx_onnx_scope_value(&inner.scope, t->body->output[t->first_out + i].name);
    for (size_t i = 0; i < t->n_stacked; i++)
        t->stacked[i * (size_t)t->n + (size_t)turn] =
            sx_onnx_scope_value(&inner.scope, t->body->output[t->first_out + t->n_states + i].name);
    return SX_OK;
}

/* Gives an output what the turns stacked. */
static SX_MUST_USE sx_status stack_turns(frame *f, const turns *t, int64_t n, size_t index) {
    const uint32_t *part = t->stacked + index * (size_t)t->n;
    sx_onnx_name *name = sx_onnx_scope_find(&f->scope, t->at->output[t->n_states + index]);
    for (int64_t i = 0; i < n; i++)
        if (part[i] == SX_ONNX_NONE) return SX_OK;
    if (!name) return SX_OK;
    sx_onnx_shape shape = sx_onnx_value_at(f->trace, part[0])->shape;
    if (shape.n >= 0 && shape.n < SX_MAX_RANKS) {
        shape.n++;
        const int axis = sx_onnx_axis(&shape, axis_at(t, "scan_output_axes", index));
        for (int d = shape.n - 1; d > axis && axis >= 0; d--) shape.dim[d] = shape.dim[d - 1];
        shape.dim[axis < 0 ? 0 : axis] = n;
    } else {
        shape.n = -1;
    }
    return add_move(f, "Concat", part, (size_t)n, shape, &name->value);
}

/* Follows all turns; *done is false, and nothing is followed, where their number depends on data. */
static SX_MUST_USE sx_status follow_turns(frame *f, uint32_t node, const turns *t, bool *done) {
    sx_onnx_trace *trace = f->trace;
    const size_t ops = trace->ops.n, values = trace->values.n, nodes = trace->n_nodes;
    const char *name;
    int64_t n = t->n;
    SX_TRY(name_node(f, node, &name));
    for (int64_t turn = 0; turn < n; turn++) SX_TRY(follow_turn(f, t, name, turn, &n));
    *done = n > 0;
    if (!*done) {
        trace->ops.n = ops;
        trace->values.n = values;
        trace->n_nodes = nodes;
        return SX_OK;
    }
    frame named = *f;
    named.prefix = name;
    for (size_t i = 0; i < t->n_states && i < t->at->n_outputs; i++) {
        sx_onnx_name *out = sx_onnx_scope_find(&f->scope, t->at->output[i]);
        if (out && t->at->output[i].size) out->value = t->state[i];
    }
    for (size_t i = 0; i < t->n_stacked; i++)
        if (t->at->output[t->n_states + i].size) SX_TRY(stack_turns(&named, t, n, i));
    return SX_OK;
}

/* Follows a loop whose number of turns is known, and not too large; *done is whether it is. */
static SX_MUST_USE sx_status follow_loop(frame *f, uint32_t node, bool *done) {
    sx_arena *arena = &f->trace->arena;
    turns t = {.at = &f->graph->node[node], .place = {&f->graph->node[node], f->call}};
    sx_bytes message;
    *done = false;
    t.n = count_turns(f, &t);
    if (t.n < 1 || t.n > MAX_UNROLLED || f->depth >= MAX_DEPTH ||
        !sx_onnx_attribute_graph(t.place, "body", &message))
        return SX_OK;
    t.body = sx_arena_alloc(arena, 1, sizeof *t.body);
    if (!t.body) return sx_arena_error(arena);
    SX_TRY(sx_onnx_graph_read(arena, message, t.body));
    if (t.body->n_inputs != t.first_in + t.n_states + t.n_slices ||
        t.body->n_outputs < t.first_out + t.n_states || t.at->n_outputs < t.n_states ||
        (size_t)t.n * (t.body->n_nodes + 1) > MAX_UNROLLED)
        return SX_OK;
    t.n_stacked = t.at->n_outputs - t.n_states;
    if (t.n_stacked > t.body->n_outputs - t.first_out - t.n_states) return SX_OK;
    t.state = sx_arena_alloc(arena, t.n_states + 1, sizeof *t.state);
    t.stacked = sx_arena_alloc(arena, t.n_stacked * (size_t)t.n + 1, sizeof *t.stacked);
    if (!t.state || !t.stacked) return sx_arena_error(arena);
    for (size_t i = 0; i < t.n_states; i++)
        t.state[i] = sx_onnx_scope_value(&f->scope, t.at->input[t.first_in + i]);
    return follow_turns(f, node, &t, done);
}

/* Follows a node, or what it calls. */
static SX_MUST_USE sx_status follow_node(frame *f, uint32_t node) {
    const sx_onnx_node *at = &f->graph->node[node];
    const sx_onnx_graph *function = function_of(&f->trace->model, at);
    bool done = false;
    if (f->trace->n_nodes++ == MAX_OPS)
        return sx_error_new(SX_ERR_LIMIT, "the model has more than %d nodes", MAX_OPS);
    if (f->depth) f->trace->called += at->message.size;
    if (f->trace->called > MAX_CALLED)
        return sx_error_new(SX_ERR_LIMIT, "the model's functions are larger than %d bytes in all",
                            MAX_CALLED);
    if (function) return follow_body(f, node, function, false);
    if (sx_bytes_are(at->op, "If")) SX_TRY(follow_branch(f, node, &done));
    if (sx_bytes_are(at->op, "Loop") || sx_bytes_are(at->op, "Scan")) SX_TRY(follow_loop(f, node, &done));
    return done ? SX_OK : follow_op(f, node);
}

static SX_MUST_USE sx_status follow_nodes(frame *f) {
    uint32_t *order;
    for (size_t i = 0; i < f->graph->n_tensors; i++) SX_TRY(add_tensor(f, &f->graph->tensor[i]));
    if (!f->graph->is_function && !f->depth) SX_TRY(add_inputs(f));
    SX_TRY(sx_onnx_scope_order(&f->trace->arena, f->graph, &f->scope, &order));
    for (size_t i = 0; i < f->graph->n_nodes; i++) SX_TRY(follow_node(f, order[i]));
    return SX_OK;
}

sx_status sx_onnx_trace_model(sx_bytes file, const sx_onnx_symbol *symbol, size_t n_symbols,
                              sx_onnx_trace *out) {
    *out = (sx_onnx_trace){.arena = {.limit = MAX_MEMORY},
                           .symbol = symbol,
                           .n_symbols = n_symbols,
                           .values = {.size = sizeof(sx_onnx_value)},
                           .ops = {.size = sizeof(sx_onnx_op)}};
    frame f = {.trace = out, .graph = &out->model.graph, .prefix = ""};
    out->numbers = sx_arena_alloc(&out->arena, SX_ONNX_MAX_DATA, sizeof *out->numbers);
    out->whole = sx_arena_alloc(&out->arena, SX_ONNX_MAX_DATA, sizeof *out->whole);
    if (!out->numbers || !out->whole) return sx_arena_error(&out->arena);
    SX_TRY(sx_onnx_model_read(&out->arena, file, &out->model));
    SX_TRY(sx_onnx_scope_of(&out->arena, f.graph, NULL, &f.scope));
    SX_TRY(follow_nodes(&f));
    for (size_t i = 0; i < f.graph->n_outputs; i++) {
        const uint32_t value = sx_onnx_scope_value(&f.scope, f.graph->output[i].name);
        if (value != SX_ONNX_NONE) sx_onnx_value_at(out, value)->wanted = true;
    }
    return SX_OK;
}

void sx_onnx_trace_fini(sx_onnx_trace *trace) {
    sx_vector_clear(&trace->values);
    sx_vector_clear(&trace->ops);
    sx_arena_free(&trace->arena);
}
