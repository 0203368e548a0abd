#include "text/write/write.h"

#include <stdlib.h>
#include <string.h>

static SX_OWN json_t *tensor_tree(sx_tree *tree, const sx_graph_tensor *tensor) {
    json_t *map = json_object(), *shape = json_array();
    for (size_t g = 0; g < tensor->n_ranks; g++)
        sx_tree_append(tree, shape, sx_tree_u64(tree, tensor->extent[g]));
    sx_tree_put(tree, map, "name", sx_tree_text(tree, tensor->name));
    sx_tree_put(tree, map, "shape", shape);
    sx_tree_put(tree, map, "bits", sx_tree_u64(tree, tensor->bits));
    if (tensor->weight) sx_tree_put(tree, map, "weight", sx_tree_bool(true));
    if (tensor->output) sx_tree_put(tree, map, "output", sx_tree_bool(true));
    if (tensor->state) sx_tree_put(tree, map, "state", sx_tree_bool(true));
    if (tensor->held) sx_tree_put(tree, map, "held", sx_tree_u64(tree, tensor->held));
    return map;
}

/* The ranks of the einsum's tensor that make up each rank of the graph's, NULL where they are the same. */
static SX_OWN json_t *ranks_tree(sx_tree *tree, const sx_graph_operand *operand, size_t n_ranks) {
    json_t *list;
    size_t first = 0;
    bool same = true;
    for (size_t g = 0; g < n_ranks; g++) same &= operand->n_of[g] == 1 && operand->rank[g] == g;
    if (same) return NULL;
    list = json_array();
    for (size_t g = 0; g < n_ranks; first += operand->n_of[g++]) {
        json_t *ranks = json_array();
        for (size_t i = 0; i < operand->n_of[g]; i++)
            sx_tree_append(tree, ranks, sx_tree_u64(tree, operand->rank[first + i]));
        if (operand->n_of[g] == 1) {
            json_decref(ranks);
            ranks = sx_tree_u64(tree, operand->rank[first]);
        }
        sx_tree_append(tree, list, ranks);
    }
    return list;
}

/* The padding of each rank, NULL where there is none. */
static SX_OWN json_t *pad_tree(sx_tree *tree, const sx_graph_operand *operand, size_t n_ranks) {
    bool any = false;
    for (size_t g = 0; g < n_ranks; g++) any |= operand->before[g] || operand->after[g];
    if (!any) return NULL;
    json_t *list = json_array();
    for (size_t g = 0; g < n_ranks; g++) {
        json_t *sides = json_array();
        sx_tree_append(tree, sides, sx_tree_u64(tree, operand->before[g]));
        sx_tree_append(tree, sides, sx_tree_u64(tree, operand->after[g]));
        sx_tree_append(tree, list, sides);
    }
    return list;
}

/* A number, where it is not 0. */
static void put_count(sx_tree *tree, json_t *map, const char *key, uint64_t value) {
    if (value) sx_tree_put(tree, map, key, sx_tree_u64(tree, value));
}

/* The parts of ranks that an operand uses, NULL where it uses all. */
static SX_OWN json_t *parts_tree(sx_tree *tree, const sx_graph_operand *operand) {
    json_t *list = NULL;
    for (size_t g = 0; g < SX_MAX_PART_RANKS; g++) {
        if (!operand->part[g].length) continue;
        json_t *map = json_object();
        sx_tree_put(tree, map, "rank", sx_tree_u64(tree, g));
        put_count(tree, map, "offset", operand->part[g].offset);
        put_count(tree, map, "length", operand->part[g].length);
        put_count(tree, map, "block", operand->part[g].block);
        if (!list) list = json_array();
        sx_tree_append(tree, list, map);
    }
    return list;
}

/* What a node counts besides what its tensors say, NULL where it is nothing. */
static SX_OWN json_t *counts_tree(sx_tree *tree, const sx_graph_counts *counts) {
    json_t *map = json_object();
    put_count(tree, map, "useful", counts->useful);
    put_count(tree, map, "elements", counts->elements);
    put_count(tree, map, "row", counts->row);
    put_count(tree, map, "reads", counts->reads);
    put_count(tree, map, "state_reads", counts->state_reads);
    put_count(tree, map, "state_writes", counts->state_writes);
    if (json_object_size(map)) return map;
    json_decref(map);
    return NULL;
}

/* The run that a graph is. */
static SX_OWN json_t *run_tree(sx_tree *tree, const sx_graph_run *run) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "phase", sx_tree_text(tree, run->phase));
    put_count(tree, map, "batch", run->batch);
    put_count(tree, map, "tokens", run->tokens);
    put_count(tree, map, "context", run->context);
    put_count(tree, map, "parameters", run->parameters);
    put_count(tree, map, "active_parameters", run->active_parameters);
    return map;
}

/* An operand, `projected` of a node with an einsum: the tensor's name where that says all, else a map. */
static SX_OWN json_t *operand_tree(sx_tree *tree, const sx_graph *graph, const sx_graph_operand *operand,
                                   bool projected) {
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    json_t *ranks = projected ? ranks_tree(tree, operand, tensor->n_ranks) : NULL;
    json_t *pad = pad_tree(tree, operand, tensor->n_ranks), *name = sx_tree_text(tree, tensor->name);
    json_t *parts = parts_tree(tree, operand);
    if (!ranks && !pad && !parts && operand->split < 0) return name;
    json_t *map = json_object();
    sx_tree_put(tree, map, "tensor", name);
    if (ranks) sx_tree_put(tree, map, "ranks", ranks);
    if (operand->split >= 0) sx_tree_put(tree, map, "split", json_integer(operand->split));
    if (pad) sx_tree_put(tree, map, "pad", pad);
    if (parts) sx_tree_put(tree, map, "part", parts);
    put_count(tree, map, "of", operand->of);
    return map;
}

/* Adds the einsum of a node and its operands. */
static SX_MUST_USE sx_status put_einsum(sx_tree *tree, const sx_graph *graph, const sx_graph_node *node,
                                        json_t *map) {
    const sx_problem *einsum = &graph->einsum[node->einsum];
    char *text;
    SX_TRY(sx_einsum_text(einsum, &text));
    sx_tree_put(tree, map, "einsum", sx_tree_text(tree, text));
    free(text);
    json_t *operands = json_object();
    for (size_t v = 0; v < node->n_operands; v++)
        sx_tree_put(tree, operands, einsum->tensor[v].name,
                    operand_tree(tree, graph, &graph->operand[node->first + v], true));
    sx_tree_put(tree, map, "operands", operands);
    return SX_OK;
}

/* Adds the tensors that a node without an einsum reads, or those it writes. */
static void put_names(sx_tree *tree, const sx_graph *graph, const sx_graph_node *node, bool written,
                      json_t *map) {
    json_t *list = json_array();
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &graph->operand[node->first + v];
        if (operand->written == written)
            sx_tree_append(tree, list, operand_tree(tree, graph, operand, false));
    }
    sx_tree_put(tree, map, written ? "writes" : "reads", list);
}

/* Appends a node to a list. */
static SX_MUST_USE sx_status append_node(sx_tree *tree, const sx_graph *graph, const sx_graph_node *node,
                                         json_t *list) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, node->name));
    if (strcmp(node->layer, node->name) != 0)
        sx_tree_put(tree, map, "layer", sx_tree_text(tree, node->layer));
    sx_tree_put(tree, map, "kind", sx_tree_text(tree, sx_op_kind_name(node->kind)));
    if (node->function[0]) sx_tree_put(tree, map, "function", sx_tree_text(tree, node->function));
    if (node->axis >= 0) sx_tree_put(tree, map, "axis", json_integer(node->axis));
    if (node->repeat > 1) sx_tree_put(tree, map, "repeat", sx_tree_u64(tree, node->repeat));
    json_t *counts = counts_tree(tree, &node->counts);
    if (counts) sx_tree_put(tree, map, "counts", counts);
    sx_status status = SX_OK;
    if (node->einsum != SX_NO_INDEX) {
        status = put_einsum(tree, graph, node, map);
    } else {
        put_names(tree, graph, node, false, map);
        put_names(tree, graph, node, true, map);
    }
    sx_tree_append(tree, list, map);
    return status;
}

sx_status sx_graph_write(const sx_graph *graph, sx_format format, char **out) {
    SX_TRY(sx_graph_check(graph));
    sx_tree tree = {0};
    json_t *root = json_object(), *body = json_object(), *tensors = json_array(), *nodes = json_array();
    sx_status status = SX_OK;
    for (size_t t = 0; t < graph->n_tensors; t++)
        sx_tree_append(&tree, tensors, tensor_tree(&tree, &graph->tensor[t]));
    for (size_t i = 0; i < graph->n_nodes && !status; i++)
        status = append_node(&tree, graph, &graph->node[i], nodes);
    sx_tree_put(&tree, body, "name", sx_tree_text(&tree, graph->name));
    if (graph->run.phase[0]) sx_tree_put(&tree, body, "run", run_tree(&tree, &graph->run));
    sx_tree_put(&tree, body, "tensors", tensors);
    sx_tree_put(&tree, body, "nodes", nodes);
    sx_tree_put(&tree, root, "graph", body);
    if (!status) return sx_tree_print(&tree, root, format, out);
    json_decref(root);
    return status;
}
