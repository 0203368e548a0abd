/* Building the graphs of the catalog's networks node by node. */
#include "frontend/catalog/networks.h"

#include "base/text.h"
#include "base/vector.h"
#include "ir/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t or_one(uint32_t value) {
    return value ? value : 1;
}

uint32_t sx_net_extent(const sx_net *net, size_t tensor, size_t rank) {
    return net->error ? 1 : (uint32_t)net->graph.tensor[tensor].extent[rank];
}

/* Adds a tensor that is the same as `like` under another name. */
static size_t add_tensor(sx_net *net, sx_graph_tensor like, const char *format, ...) SX_PRINTF(3, 4);
static size_t add_tensor(sx_net *net, sx_graph_tensor like, const char *format, ...) {
    char name[2 * SX_NAME_SIZE];
    size_t index = 0;
    va_list args;
    if (net->error) return 0;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    net->error = sx_text_name(like.name, sizeof like.name, name, "a tensor");
    if (!net->error) net->error = sx_graph_add_tensor(&net->graph, &like, &index);
    return index;
}

/* A tensor of that shape without a name. */
static sx_graph_tensor shaped_tensor(const sx_net *net, size_t n_ranks, const uint64_t *extent) {
    sx_graph_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.bits = net->bits;
    tensor.n_ranks = n_ranks;
    memcpy(tensor.extent, extent, n_ranks * sizeof *extent);
    return tensor;
}

size_t sx_net_tensor(sx_net *net, const char *name, size_t n_ranks, const uint64_t *extent) {
    return add_tensor(net, shaped_tensor(net, n_ranks, extent), "%s", name);
}

size_t sx_net_weights(sx_net *net, const char *name, size_t n_ranks, const uint64_t *extent) {
    sx_graph_tensor tensor = shaped_tensor(net, n_ranks, extent);
    tensor.weight = true;
    return add_tensor(net, tensor, "%s", name);
}

size_t sx_net_image(sx_net *net, uint32_t p) {
    return sx_net_tensor(net, "image", 4, (const uint64_t[]){net->batch, 3, p, p});
}

sx_graph_operand sx_net_operand(const sx_problem *einsum, int v, size_t tensor, const char *ranks,
                                int split) {
    sx_graph_operand operand = sx_graph_whole(tensor, einsum->tensor[v].output, 0);
    size_t g = 0, n = 0;
    operand.split = (int8_t)split;
    for (; *ranks; ranks++) {
        const char name[2] = {*ranks, 0};
        const int d = *ranks == '|' ? -1 : sx_problem_dim(einsum, name);
        g += *ranks == '|';
        for (uint8_t r = 0; d >= 0 && r < einsum->tensor[v].n_ranks; r++) {
            if (!einsum->tensor[v].coef[r][d]) continue;
            operand.rank[n++] = r;
            operand.n_of[g]++;
        }
    }
    return operand;
}

sx_graph_tensor sx_net_used(const sx_problem *einsum, int v, const char *ranks, int split, uint64_t repeat) {
    const sx_graph_operand operand = sx_net_operand(einsum, v, 0, ranks, split);
    sx_graph_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    for (tensor.n_ranks = 1; *ranks; ranks++) tensor.n_ranks += *ranks == '|';
    for (size_t g = 0; g < tensor.n_ranks; g++) {
        uint64_t stride;
        sx_graph_span(einsum, v, &operand, g, repeat, &tensor.extent[g], &stride);
    }
    return tensor;
}

/* A node of a kind and a name, called like its layer. */
static sx_graph_node new_node(sx_net *net, sx_op_kind kind, const char *name) {
    sx_graph_node node;
    memset(&node, 0, sizeof node);
    node.kind = kind;
    node.axis = -1;
    node.repeat = 1;
    if (!net->error) net->error = sx_text_name(node.name, sizeof node.name, name, "a node");
    memcpy(node.layer, node.name, sizeof node.layer);
    return node;
}

/* Notes what the einsum of the node to be added next is made from. */
static void note_layer(sx_net *net, sx_net_layer layer) {
    if (net->error) return;
    if (!sx_reserve(&net->layer, &net->room, net->n_layers + 1, sizeof *net->layer)) {
        net->error = sx_error_memory();
        return;
    }
    layer.node = net->graph.n_nodes;
    net->layer[net->n_layers++] = layer;
}

/* The convolution that a filter is for a tensor. */
static sx_conv conv_of(const sx_net *net, size_t in, const sx_filter *f) {
    const uint32_t groups = or_one(f->groups), stride = or_one(f->stride), s = f->s ? f->s : f->r;
    return (sx_conv){.n = net->batch,
                     .c = sx_net_extent(net, in, 1) / groups,
                     .k = f->k / groups,
                     .p = (sx_net_extent(net, in, 2) + 2 * f->pad_r - f->r) / stride + 1,
                     .q = (sx_net_extent(net, in, 3) + 2 * f->pad_s - s) / stride + 1,
                     .r = f->r,
                     .s = s,
                     .groups = groups,
                     .stride_p = stride,
                     .stride_q = stride};
}

/* The ranks of an image as an operand of a convolution, and of the operand that is padded. */
#define OUTPUT_RANKS "N|GDK|P|Q"
#define INPUT_RANKS "N|GDC|P|Q"

static sx_graph_operand padded_operand(const sx_problem *einsum, int v, size_t in, const sx_filter *f) {
    sx_graph_operand operand = sx_net_operand(einsum, v, in, INPUT_RANKS, -1);
    operand.before[2] = operand.after[2] = f->pad_r;
    operand.before[3] = operand.after[3] = f->pad_s;
    return operand;
}

/* Adds a node with an einsum and its output, whose ranks are given. */
static size_t add_einsum(sx_net *net, const sx_graph_node *node, const sx_problem *einsum,
                         sx_graph_operand operand[], const char *ranks, int split) {
    if (net->error) return 0;
    sx_graph_tensor out = sx_net_used(einsum, 0, ranks, split, node->repeat);
    out.bits = net->bits;
    const size_t index = add_tensor(net, out, "%s.out", node->name);
    operand[0] = sx_net_operand(einsum, 0, index, ranks, split);
    if (!net->error)
        net->error = sx_graph_add_node(&net->graph, node, einsum, operand, einsum->n_tensors, NULL);
    return index;
}

/* Adds the weights of a node with an einsum. */
static size_t add_weights(sx_net *net, const sx_graph_node *node, const sx_problem *einsum,
                          const char *ranks) {
    sx_graph_tensor tensor = sx_net_used(einsum, 1, ranks, -1, 1);
    tensor.bits = net->bits;
    tensor.weight = true;
    return add_tensor(net, tensor, "%s.weights", node->name);
}

static size_t add_conv(sx_net *net, size_t in, const sx_filter *filter, const char *name) {
    const sx_conv conv = conv_of(net, in, filter);
    const sx_graph_node node = new_node(net, SX_OP_EINSUM, name);
    const char *weights = conv.groups == 1             ? "C|K|R|S"
                          : conv.c == 1 && conv.k == 1 ? "GDCK|R|S"
                                                       : "GD|C|K|R|S";
    sx_problem einsum;
    sx_graph_operand operand[3];
    if (!net->error) net->error = sx_layer_conv(&conv, name, &einsum);
    if (net->error) return 0;
    operand[1] = sx_net_operand(&einsum, 1, add_weights(net, &node, &einsum, weights), weights, -1);
    operand[2] = padded_operand(&einsum, 2, in, filter);
    note_layer(net, (sx_net_layer){.conv = conv, .ranks = {OUTPUT_RANKS, weights, INPUT_RANKS}});
    return add_einsum(net, &node, &einsum, operand, OUTPUT_RANKS, -1);
}

size_t sx_net_conv(sx_net *net, size_t in, sx_filter filter, const char *format, ...) {
    char name[SX_NAME_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return add_conv(net, in, &filter, name);
}

size_t sx_net_dense(sx_net *net, size_t in, uint32_t k, const char *name) {
    return add_conv(net, in, &(sx_filter){.k = k, .r = 1}, name);
}

size_t sx_net_product_of(sx_net *net, const sx_net_product *p, const char *name) {
    sx_product product = p->product;
    sx_graph_node node = new_node(net, SX_OP_EINSUM, name);
    sx_problem einsum;
    sx_graph_operand operand[3];
    product.b = net->batch;
    node.repeat = or_one(p->repeat);
    if (!net->error) net->error = sx_text_name(node.layer, sizeof node.layer, p->layer, "a layer");
    if (!net->error) net->error = sx_layer_product(&product, p->layer, &einsum);
    if (net->error) return 0;
    const size_t weights =
        p->weights == SX_NO_INDEX ? add_weights(net, &node, &einsum, p->ranks[1]) : p->weights;
    operand[1] = sx_net_operand(&einsum, 1, weights, p->ranks[1], p->split[1]);
    operand[2] = sx_net_operand(&einsum, 2, p->in, p->ranks[2], p->split[2]);
    note_layer(net, (sx_net_layer){.product = product, .ranks = {p->ranks[0], p->ranks[1], p->ranks[2]}});
    return add_einsum(net, &node, &einsum, operand, p->ranks[0], p->split[0]);
}

size_t sx_net_pool(sx_net *net, size_t in, sx_filter window, const char *function, const char *name) {
    sx_graph_node node = new_node(net, SX_OP_POOL, name);
    sx_problem einsum;
    sx_graph_operand operand[2];
    strncpy(node.function, function, sizeof node.function - 1);
    window.k = window.groups = sx_net_extent(net, in, 1);
    const sx_conv conv = conv_of(net, in, &window);
    if (!net->error) net->error = sx_layer_pool(&conv, name, &einsum);
    if (net->error) return 0;
    operand[1] = padded_operand(&einsum, 1, in, &window);
    return add_einsum(net, &node, &einsum, operand, OUTPUT_RANKS, -1);
}

size_t sx_net_global_pool(sx_net *net, size_t in) {
    const sx_filter window = {.r = sx_net_extent(net, in, 2), .s = sx_net_extent(net, in, 3)};
    return sx_net_pool(net, in, window, "average", "avgpool");
}

/* Adds a node without an einsum and its output. */
static size_t add_plain(sx_net *net, const sx_graph_node *node, const sx_graph_tensor *out, const size_t *in,
                        size_t n) {
    enum { MAX_READ = 16 };
    sx_graph_operand operand[MAX_READ + 1];
    if (!net->error && n > MAX_READ)
        net->error =
            sx_error_new(SX_ERR_INTERNAL, "node '%s' reads more than %d tensors", node->name, MAX_READ);
    if (net->error) return 0;
    const size_t index = add_tensor(net, *out, "%s.out", node->name);
    operand[0] = sx_graph_whole(index, true, 0);
    for (size_t i = 0; i < n; i++) operand[i + 1] = sx_graph_whole(in[i], false, 0);
    if (!net->error) net->error = sx_graph_add_node(&net->graph, node, NULL, operand, n + 1, NULL);
    return index;
}

size_t sx_net_shaped(sx_net *net, const sx_graph_node *node, size_t n_ranks, const uint64_t *extent,
                     const size_t *in, size_t n) {
    sx_graph_node added = new_node(net, node->kind, node->name);
    const sx_graph_tensor out = shaped_tensor(net, n_ranks, extent);
    memcpy(added.function, node->function, sizeof added.function);
    if (node->layer[0]) memcpy(added.layer, node->layer, sizeof added.layer);
    return add_plain(net, &added, &out, in, n);
}

size_t sx_net_other(sx_net *net, const sx_graph_node *node, const size_t *in, size_t n) {
    sx_graph_node added = new_node(net, node->kind, node->name);
    if (net->error) return 0;
    sx_graph_tensor out = net->graph.tensor[in[0]];
    memcpy(added.function, node->function, sizeof added.function);
    if (node->layer[0]) memcpy(added.layer, node->layer, sizeof added.layer);
    if (node->kind != SX_OP_ELEMENT_WISE) added.axis = node->axis;
    for (size_t i = 1; i < n && node->kind == SX_OP_CONCAT; i++)
        out.extent[node->axis] += net->graph.tensor[in[i]].extent[node->axis];
    return add_plain(net, &added, &out, in, n);
}

size_t sx_net_add(sx_net *net, size_t a, size_t b, const char *format, ...) {
    sx_graph_node node = {.kind = SX_OP_ELEMENT_WISE, .function = "add"};
    va_list args;
    va_start(args, format);
    vsnprintf(node.name, sizeof node.name, format, args);
    va_end(args);
    return sx_net_other(net, &node, (const size_t[]){a, b}, 2);
}

size_t sx_net_flatten(sx_net *net, size_t in, const char *name) {
    const sx_graph_node node = new_node(net, SX_OP_RESHAPE, name);
    if (net->error) return 0;
    sx_graph_tensor out = net->graph.tensor[in];
    for (size_t g = 2; g < out.n_ranks; g++) {
        out.extent[1] *= out.extent[g];
        out.extent[g] = 1;
    }
    return add_plain(net, &node, &out, &in, 1);
}

void sx_net_classify(sx_net *net, size_t in, uint32_t k, const char *name) {
    const sx_graph_node softmax = {.kind = SX_OP_SOFTMAX, .name = "softmax", .axis = 1};
    const size_t scores = sx_net_dense(net, in, k, name);
    (void)sx_net_other(net, &softmax, &scores, 1);
}

sx_status sx_net_finish(sx_net *net, sx_graph *out) {
    if (!net->error) net->error = sx_graph_check(&net->graph);
    free(net->layer);
    if (net->error)
        sx_graph_fini(&net->graph);
    else
        *out = net->graph;
    return net->error;
}
