/* From a graph to a placement graph. Nodes run in the topological order of the graph. An addition is part of
 * the einsum that computes one of its operands, where nothing else reads that operand: ResNet-50 has 57 nodes
 * and ResNet-101 108. */
#include "placement/build.h"

#include "base/status.h"
#include "sextant/network.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 4096 };

/* The bytes of a given number of elements of a tensor of the graph. */
static uint64_t bytes_of(const sx_place_build *build, const sx_graph_tensor *tensor, uint64_t words) {
    return build->bytes ? words * build->bytes : (words * tensor->bits + 7) / 8;
}

size_t sx_place_add(sx_place_build *build, const sx_place_node *node, const size_t *inputs, size_t n) {
    size_t first = build->input.n;
    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (size_t k = first; k < build->input.n; k++)
            known |= *(size_t *)sx_vector_at(&build->input, k) == inputs[i];
        if (known) continue;
        size_t *to = sx_vector_add(&build->input);
        if (!to) return 0;
        *to = inputs[i];
    }
    sx_place_node *to = sx_vector_add(&build->node);
    if (!to) return 0;
    *to = *node;
    to->first_input = first;
    to->n_inputs = build->input.n - first;
    return build->node.n - 1;
}

size_t sx_place_add_step(sx_place_build *build, const char *name, const char *step, sx_op_class op,
                         size_t input, uint64_t weight_bytes) {
    if (build->node.failed) return 0;
    sx_place_node node = *(const sx_place_node *)sx_vector_at(&build->node, input);
    memset(node.name, 0, sizeof node.name);
    snprintf(node.name, sizeof node.name, "%.*s.%s", (int)(sizeof node.name - strlen(step) - 2), name, step);
    node.op = op;
    node.ops = (uint64_t)node.feature[SX_FEATURE_OFM_SIZE];
    node.weight_bytes = node.weight_read = weight_bytes;
    memcpy(&node.feature[SX_FEATURE_IFM], &node.feature[SX_FEATURE_OFM], 3 * sizeof *node.feature);
    node.feature[SX_FEATURE_IFM_SIZE] = node.feature[SX_FEATURE_OFM_SIZE];
    for (int i = SX_FEATURE_GROUPS; i < SX_FEATURE_BATCH; i++) node.feature[i] = 0;
    return sx_place_add(build, &node, &input, 1);
}

/* The class of a node of the graph. */
static sx_op_class class_of(const sx_graph *graph, const sx_graph_node *node) {
    switch (node->kind) {
    case SX_OP_EINSUM:
        return sx_place_einsum_class(graph, node);
    case SX_OP_POOL:
        return SX_CLASS_POOL;
    case SX_OP_ELEMENT_WISE:
        return SX_CLASS_ELEMENT_WISE;
    case SX_OP_SOFTMAX:
        return SX_CLASS_SOFTMAX;
    case SX_OP_NORM:
        return SX_CLASS_NORM;
    default:
        return SX_CLASS_OTHER;
    }
}

/* Adds the bytes and inputs of node number `at` of the graph to a node; `skip` is a tensor that is not read. */
static sx_status gather_node(const sx_place_build *build, size_t at, size_t skip, sx_place_node *node,
                             size_t *inputs, size_t *n) {
    const sx_graph *graph = build->graph;
    const sx_graph_node *from = &graph->node[at];
    for (size_t i = from->first; i < from->first + from->n_operands; i++) {
        const sx_graph_operand *operand = &graph->operand[i];
        const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
        uint64_t words = sx_graph_words(tensor);
        if (words > (uint64_t)1 << 50)
            return sx_error_new(SX_ERR_LIMIT, "the tensor '%s' has more than 2^50 elements", tensor->name);
        if (operand->written)
            node->activation_bytes += bytes_of(build, tensor, words);
        else if (build->made[operand->tensor] != SX_NO_INDEX && operand->tensor != skip) {
            if (*n == MAX_INPUTS)
                return sx_error_new(SX_ERR_LIMIT, "the node '%s' reads more than %d tensors", from->name,
                                    MAX_INPUTS);
            inputs[(*n)++] = build->made[operand->tensor];
        } else if (tensor->weight)
            node->weight_bytes += bytes_of(build, tensor, words);
    }
    return SX_OK;
}

/* Elements that a node of the graph writes. */
static uint64_t written_words(const sx_graph *graph, const sx_graph_node *node) {
    uint64_t words = 0;
    for (size_t i = node->first; i < node->first + node->n_operands; i++)
        if (graph->operand[i].written) words += sx_graph_words(&graph->tensor[graph->operand[i].tensor]);
    return words;
}

/* Describes node number `at` of the graph; `sum`, where it is one, is the addition that is computed with it. */
static sx_status describe_node(const sx_place_build *build, size_t at, size_t sum, sx_place_node *node,
                               size_t *inputs, size_t *n) {
    const sx_graph *graph = build->graph;
    const sx_graph_node *from = &graph->node[at];
    memset(node, 0, sizeof *node);
    memcpy(node->name, from->name, sizeof node->name);
    node->op = class_of(graph, from);
    node->ops = from->einsum == SX_NO_INDEX
                    ? written_words(graph, from)
                    : from->repeat * sx_problem_computes(&graph->einsum[from->einsum]);
    SX_TRY(gather_node(build, at, SX_NO_INDEX, node, inputs, n));
    sx_place_features(build, at, node);
    node->weight_read = node->weight_bytes;
    if (strcmp(from->function, "gather") == 0 && node->weight_read > node->activation_bytes)
        node->weight_read = node->activation_bytes;
    if (sum == SX_NO_INDEX) return SX_OK;
    node->activation_bytes = 0;
    return gather_node(build, sum, SX_NO_INDEX, node, inputs, n);
}

/* Takes note that a node computes what node number `at` of the graph writes. */
static void note_node(const sx_place_build *build, size_t at, size_t node) {
    const sx_graph_node *from = &build->graph->node[at];
    for (size_t i = from->first; i < from->first + from->n_operands; i++)
        if (build->graph->operand[i].written) build->made[build->graph->operand[i].tensor] = node;
}

/* Counts how often each tensor of the graph is read. */
static void count_reads(const sx_graph *graph, size_t *reads) {
    for (size_t i = 0; i < graph->n_operands; i++)
        if (!graph->operand[i].written) reads[graph->operand[i].tensor]++;
}

/* Finds, for each addition, the last einsum before it that computes one of its operands for it alone; `reads` is zero at
 * first. */
static void find_fused(sx_place_build *build, const size_t *order, const size_t *producer, size_t *rank,
                       size_t *reads) {
    const sx_graph *graph = build->graph;
    count_reads(graph, reads);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        rank[order[i]] = i;
        build->fused[i] = build->einsum[i] = SX_NO_INDEX;
    }
    for (size_t i = 0; i < graph->n_nodes && !build->operators; i++) {
        const sx_graph_node *sum = &graph->node[i];
        size_t best = SX_NO_INDEX;
        if (sum->kind != SX_OP_ELEMENT_WISE || strcmp(sum->function, "add") != 0) continue;
        for (size_t k = sum->first; k < sum->first + sum->n_operands; k++) {
            size_t tensor = graph->operand[k].tensor, from = producer[tensor];
            if (graph->operand[k].written || from == SX_NO_INDEX) continue;
            if (graph->node[from].kind != SX_OP_EINSUM || reads[tensor] != 1 || graph->tensor[tensor].output)
                continue;
            if (best == SX_NO_INDEX || rank[from] > rank[best]) best = from;
        }
        if (best == SX_NO_INDEX) continue;
        build->fused[best] = i;
        build->einsum[i] = best;
    }
}

/* Appends what node number `at` of the graph becomes. */
static sx_status add_node(sx_place_build *build, size_t at, size_t *inputs) {
    sx_place_node node;
    size_t n = 0, einsum = build->einsum[at];
    if (build->fused[at] != SX_NO_INDEX) return SX_OK;
    SX_TRY(describe_node(build, einsum == SX_NO_INDEX ? at : einsum, einsum == SX_NO_INDEX ? SX_NO_INDEX : at,
                         &node, inputs, &n));
    if (build->operators)
        sx_place_add_operators(build, at, &node, inputs, n);
    else
        (void)sx_place_add(build, &node, inputs, n);
    if (build->node.failed || build->input.failed) return sx_error_memory();
    note_node(build, at, build->node.n - 1);
    return SX_OK;
}

/* Lists the readers of every output, and when it is read last. */
static void list_users(sx_place_graph *graph) {
    size_t at = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) graph->node[i].last = i;
    for (size_t e = 0; e < graph->n_edges; e++) graph->node[graph->input[e]].n_users++;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        graph->node[i].first_user = at;
        at += graph->node[i].n_users;
        graph->node[i].n_users = 0;
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->node[i].n_inputs; k++) {
            sx_place_node *from = &graph->node[graph->input[graph->node[i].first_input + k]];
            graph->user[from->first_user + from->n_users++] = i;
            assert(from->last <= i);
            from->last = i;
        }
}

/* Hands over what was built. */
static sx_status hand_over_graph(sx_place_build *build, sx_place_graph *out) {
    sx_place_graph g = {.n_nodes = build->node.n, .n_edges = build->input.n};
    double weights = 0;
    memcpy(g.name, build->graph->name, sizeof g.name);
    g.user = calloc(g.n_edges + 1, sizeof *g.user);
    if (!g.user) return sx_error_memory();
    g.node = (sx_place_node *)(void *)build->node.data;
    g.input = (size_t *)(void *)build->input.data;
    build->node = build->input = (sx_vector){0};
    list_users(&g);
    for (size_t i = g.n_nodes; i-- > 0;) {
        sx_place_node *node = &g.node[i];
        weights += (double)node->weight_bytes;
        node->feature[SX_FEATURE_OPID] = node->op;
        node->feature[SX_FEATURE_WEIGHT_SIZE] = (double)node->weight_bytes;
        node->feature[SX_FEATURE_OPS_LEFT] = (double)(g.n_nodes - 1 - i);
        node->feature[SX_FEATURE_WEIGHTS_LEFT] = weights;
    }
    *out = g;
    return SX_OK;
}

sx_status sx_place_graph_of(const sx_graph *graph, uint32_t bytes, bool operators, sx_place_graph *out) {
    sx_place_build build = {.graph = graph,
                            .bytes = bytes,
                            .operators = operators,
                            .node = {.size = sizeof(sx_place_node)},
                            .input = {.size = sizeof(size_t)},
                            .mask = SX_NO_INDEX};
    size_t n = graph->n_nodes + 1, *order = calloc(n, sizeof *order), *rank = calloc(n, sizeof *rank),
           *producer = calloc(graph->n_tensors + 1, sizeof *producer),
           *reads = calloc(graph->n_tensors + 1, sizeof *reads),
           *inputs = calloc(2 * MAX_INPUTS, sizeof *inputs);
    build.fused = calloc(n, sizeof *build.fused);
    build.einsum = calloc(n, sizeof *build.einsum);
    build.made = calloc(graph->n_tensors + 1, sizeof *build.made);
    bool made = order && rank && producer && reads && inputs && build.fused && build.einsum && build.made;
    sx_status status = made ? SX_OK : sx_error_memory();
    if (!status) status = sx_graph_check(graph);
    if (!status) status = sx_graph_order(graph, order);
    if (!status) {
        sx_graph_producers(graph, producer);
        find_fused(&build, order, producer, rank, reads);
        for (size_t i = 0; i < graph->n_tensors; i++) build.made[i] = SX_NO_INDEX;
    }
    for (size_t i = 0; !status && i < graph->n_nodes; i++) status = add_node(&build, order[i], inputs);
    if (!status) status = hand_over_graph(&build, out);
    sx_vector_clear(&build.node);
    sx_vector_clear(&build.input);
    free(order);
    free(rank);
    free(producer);
    free(reads);
    free(inputs);
    free(build.fused);
    free(build.einsum);
    free(build.made);
    return status;
}

sx_status sx_catalog_place_graph(const char *name, uint32_t batch, uint32_t bytes, sx_place_graph *out) {
    const sx_network_options options = {.batch = batch, .bits = 8};
    sx_graph graph = {0};
    SX_TRY(sx_catalog_graph(strcmp(name, "bert") == 0 ? "bert-base-128" : name, &options, &graph));
    sx_status status = sx_place_graph_of(&graph, bytes, strncmp(graph.name, "bert", 4) == 0, out);
    sx_graph_fini(&graph);
    return status;
}

void sx_place_graph_fini(sx_place_graph *graph) {
    free(graph->node);
    free(graph->input);
    free(graph->user);
    *graph = (sx_place_graph){0};
}
