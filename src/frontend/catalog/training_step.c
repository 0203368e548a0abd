/* The graph of a training step: the inference, and behind it the backward pass, from the last node to the
 * first. A layer NODE has two gradients: NODE.weight_update, of the operand in its weights' place, and
 * NODE.data_gradient, of its inputs (layers.h). A node of another kind has NODE.data_gradient for each tensor
 * that it reads; an addition has none, since the gradient of a sum is that of each summand. Where several
 * nodes read a tensor T, their gradients T.gradient1, T.gradient2, ... are added up to T.gradient. Tensors that
 * come from outside, other than weights, have no gradient. */
#include "frontend/catalog/networks.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A gradient of a tensor that one of its readers gives. */
typedef struct part {
    size_t of, tensor;
} part;

typedef struct backward {
    sx_net *net;
    size_t n_nodes, n_tensors; /* of the inference */
    size_t *order;             /* its nodes */
    bool *wanted;              /* by tensor: it has a gradient */
    size_t *readers;           /* by tensor */
    part *parts;
    size_t n_parts;
} backward;

/* A tensor or node name: a text and what follows it. */
static SX_MUST_USE sx_status name_of(char out[SX_NAME_SIZE], const char *text, const char *suffix) {
    char name[3 * SX_NAME_SIZE];
    snprintf(name, sizeof name, "%s%s", text, suffix);
    return sx_text_name(out, SX_NAME_SIZE, name, "a gradient");
}

/* Adds a tensor for the gradient of another. */
static SX_MUST_USE sx_status add_gradient(backward *b, size_t of, const char *suffix, size_t *index) {
    sx_graph_tensor tensor = b->net->graph.tensor[of];
    SX_TRY(name_of(tensor.name, b->net->graph.tensor[of].name, suffix));
    tensor.weight = tensor.output = false;
    return sx_graph_add_tensor(&b->net->graph, &tensor, index);
}

/* Takes a tensor as one of the gradients of another. */
static void take_part(backward *b, size_t of, size_t tensor) {
    b->parts[b->n_parts++] = (part){of, tensor};
}

static size_t count_parts(const backward *b, size_t of) {
    size_t n = 0;
    for (size_t i = 0; i < b->n_parts; i++) n += b->parts[i].of == of;
    return n;
}

/* Adds the tensor that the next reader of another gives its gradient in. */
static SX_MUST_USE sx_status add_part(backward *b, size_t of, size_t *index) {
    char suffix[40] = ".gradient";
    if (b->readers[of] > 1) snprintf(suffix, sizeof suffix, ".gradient%zu", count_parts(b, of) + 1);
    SX_TRY(add_gradient(b, of, suffix, index));
    take_part(b, of, *index);
    return SX_OK;
}

/* Adds a node without an einsum that writes one tensor and reads others. */
static SX_MUST_USE sx_status add_plain(backward *b, const sx_graph_node *node, size_t out, const size_t *in,
                                       size_t n) {
    sx_graph_operand *operand = malloc((n + 1) * sizeof *operand);
    if (!operand) return sx_error_memory();
    operand[0] = sx_graph_whole(out, true, 0);
    for (size_t i = 0; i < n; i++) operand[i + 1] = sx_graph_whole(in[i], false, 0);
    sx_status status = sx_graph_add_node(&b->net->graph, node, NULL, operand, n + 1, NULL);
    free(operand);
    return status;
}

/* A node of that kind and name, alone in its layer. */
static SX_MUST_USE sx_status new_node(sx_op_kind kind, const char *function, const char *text,
                                      const char *suffix, sx_graph_node *out) {
    memset(out, 0, sizeof *out);
    out->kind = kind;
    out->axis = -1;
    out->repeat = 1;
    if (function[0]) SX_TRY(sx_text_name(out->function, sizeof out->function, function, "a function"));
    SX_TRY(name_of(out->name, text, suffix));
    memcpy(out->layer, out->name, sizeof out->layer);
    return SX_OK;
}

/* The gradient of a tensor whose readers have all given theirs: their sum. No node reads an output of the
 * network: its gradient comes from outside. */
static SX_MUST_USE sx_status sum_gradients(backward *b, size_t of, size_t *out) {
    const size_t n = count_parts(b, of);
    if (n == 0) return add_gradient(b, of, ".gradient", out);
    size_t *in = malloc(n * sizeof *in), used = 0;
    if (!in) return sx_error_memory();
    for (size_t i = 0; i < b->n_parts; i++)
        if (b->parts[i].of == of) in[used++] = b->parts[i].tensor;
    sx_graph_node node;
    sx_status status = SX_OK;
    if (n == 1) {
        *out = in[0];
    } else {
        status = new_node(SX_OP_ELEMENT_WISE, "add", b->net->graph.tensor[of].name, ".gradient", &node);
        if (!status) status = add_gradient(b, of, ".gradient", out);
        if (!status) status = add_plain(b, &node, *out, in, n);
    }
    free(in);
    return status;
}

/* Adds the gradient of operand v of a layer. */
static SX_MUST_USE sx_status add_einsum(backward *b, const sx_net_layer *layer, int v, size_t gradient) {
    const char *suffix = v == 1 ? ".weight_update" : ".data_gradient";
    const sx_graph_node old = b->net->graph.node[layer->node];
    sx_graph_operand forward[3], operand[3];
    sx_graph_node node = old;
    sx_problem einsum;
    size_t tensor[3];
    memcpy(forward, &b->net->graph.operand[old.first], sizeof forward);
    for (int i = 0; i < 3; i++) tensor[i] = forward[i].tensor;
    tensor[0] = gradient;
    SX_TRY(add_part(b, forward[v].tensor, &tensor[v]));
    SX_TRY(name_of(node.name, old.name, suffix));
    SX_TRY(name_of(node.layer, old.layer, suffix));
    SX_TRY(sx_net_gradient_of(layer, v, node.layer, forward, tensor, &einsum, operand));
    return sx_graph_add_node(&b->net->graph, &node, &einsum, operand, 3, NULL);
}

/* Whether two tensors have one shape. */
static bool same_shape(const sx_graph_tensor *a, const sx_graph_tensor *b) {
    return a->n_ranks == b->n_ranks && memcmp(a->extent, b->extent, a->n_ranks * sizeof *a->extent) == 0;
}

/* What the gradient of operand v of a node without an einsum reads beside that of its output: what the node
 * read or wrote, as far as the gradient depends on it. `in` has room for all operands. */
static size_t list_reads(const sx_graph *graph, const sx_graph_node *node, size_t v, size_t *in) {
    const sx_graph_operand *operand = &graph->operand[node->first];
    size_t n = 0;
    switch (node->kind) {
    case SX_OP_POOL:
        if (strcmp(node->function, "max") == 0) in[n++] = operand[v].tensor;
        break;
    case SX_OP_SOFTMAX:
        in[n++] = operand[0].tensor;
        break;
    case SX_OP_ELEMENT_WISE:
        if (strcmp(node->function, "add") != 0) in[n++] = operand[v].tensor;
        break;
    case SX_OP_NORM:
        in[n++] = operand[v].tensor;
        break;
    case SX_OP_OTHER:
        for (size_t i = 1; i < node->n_operands; i++)
            if (i != v) in[n++] = operand[i].tensor;
        break;
    default:
        break;
    }
    return n;
}

/* Adds the gradient of operand v of a node that is no layer. */
static SX_MUST_USE sx_status add_other(backward *b, size_t index, size_t v, size_t gradient) {
    const sx_graph *graph = &b->net->graph;
    const sx_graph_node old = graph->node[index];
    const size_t of = graph->operand[old.first + v].tensor;
    const bool reshape = old.kind == SX_OP_RESHAPE, slice = old.kind == SX_OP_CONCAT;
    char function[SX_NAME_SIZE], suffix[40] = ".data_gradient";
    sx_graph_node node;
    if (old.kind == SX_OP_ELEMENT_WISE && strcmp(old.function, "add") == 0 &&
        same_shape(&graph->tensor[of], &graph->tensor[gradient])) {
        take_part(b, of, gradient);
        return SX_OK;
    }
    if (old.n_operands > 2) snprintf(suffix, sizeof suffix, ".data_gradient%zu", v);
    if (graph->tensor[of].weight) strcpy(suffix, ".weight_update");
    SX_TRY(name_of(function, old.function[0] ? old.function : sx_op_kind_name(old.kind), "-gradient"));
    SX_TRY(new_node(reshape ? SX_OP_RESHAPE : SX_OP_OTHER,
                    reshape ? ""
                    : slice ? "slice"
                            : function,
                    old.name, suffix, &node));
    size_t *in = malloc((old.n_operands + 1) * sizeof *in), out;
    if (!in) return sx_error_memory();
    in[0] = gradient;
    const size_t n = 1 + list_reads(graph, &old, v, in + 1);
    sx_status status = add_part(b, of, &out);
    if (!status) status = add_plain(b, &node, out, in, n);
    free(in);
    return status;
}

/* Adds the gradients of all that a node reads. */
static SX_MUST_USE sx_status add_node(backward *b, size_t index) {
    const sx_graph_node node = b->net->graph.node[index];
    const sx_net_layer *layer = NULL;
    size_t gradient = SX_NO_INDEX;
    for (size_t i = 0; i < b->net->n_layers; i++)
        if (b->net->layer[i].node == index) layer = &b->net->layer[i];
    for (size_t v = 1; v < node.n_operands; v++) {
        if (!b->wanted[b->net->graph.operand[node.first + v].tensor]) continue;
        if (gradient == SX_NO_INDEX)
            SX_TRY(sum_gradients(b, b->net->graph.operand[node.first].tensor, &gradient));
        SX_TRY(layer ? add_einsum(b, layer, (int)v, gradient) : add_other(b, index, v, gradient));
    }
    return SX_OK;
}

/* Finds out which tensors have a gradient, and how many nodes read each. */
static void count_readers(backward *b) {
    const sx_graph *graph = &b->net->graph;
    for (size_t t = 0; t < b->n_tensors; t++) b->wanted[t] = graph->tensor[t].weight;
    for (size_t i = 0; i < graph->n_operands; i++) {
        const sx_graph_operand *operand = &graph->operand[i];
        if (operand->written)
            b->wanted[operand->tensor] = true;
        else
            b->readers[operand->tensor]++;
    }
}

void sx_net_backward(sx_net *net) {
    if (net->error) return;
    backward b = {.net = net, .n_nodes = net->graph.n_nodes, .n_tensors = net->graph.n_tensors};
    b.order = malloc((b.n_nodes + 1) * sizeof *b.order);
    b.wanted = calloc(b.n_tensors + 1, sizeof *b.wanted);
    b.readers = calloc(b.n_tensors + 1, sizeof *b.readers);
    b.parts = malloc((net->graph.n_operands + 1) * sizeof *b.parts);
    net->error = b.order && b.wanted && b.readers && b.parts ? sx_graph_order(&net->graph, b.order)
                                                             : sx_error_memory();
    if (!net->error) count_readers(&b);
    for (size_t i = b.n_nodes; i-- > 0 && !net->error;) net->error = add_node(&b, b.order[i]);
    free(b.order);
    free(b.wanted);
    free(b.readers);
    free(b.parts);
}
