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

/* An operand of a node with an einsum: the tensor's name where that says all, else a map. */
static SX_OWN json_t *operand_tree(sx_tree *tree, const sx_graph *graph, const sx_graph_operand *operand) {
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    json_t *ranks = ranks_tree(tree, operand, tensor->n_ranks);
    json_t *pad = pad_tree(tree, operand, tensor->n_ranks), *name = sx_tree_text(tree, tensor->name);
    if (!ranks && !pad && operand->split < 0) return name;
    json_t *map = json_object();
    sx_tree_put(tree, map, "tensor", name);
    if (ranks) sx_tree_put(tree, map, "ranks", ranks);
    if (operand->split >= 0) sx_tree_put(tree, map, "split", json_integer(operand->split));
    if (pad) sx_tree_put(tree, map, "pad", pad);
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
                    operand_tree(tree, graph, &graph->operand[node->first + v]));
    sx_tree_put(tree, map, "operands", operands);
    return SX_OK;
}

/* Adds the names of the tensors that a node reads, or those it writes. */
static void put_names(sx_tree *tree, const sx_graph *graph, const sx_graph_node *node, bool written,
                      json_t *map) {
    json_t *list = json_array();
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &graph->operand[node->first + v];
        if (operand->written == written)
            sx_tree_append(tree, list, sx_tree_text(tree, graph->tensor[operand->tensor].name));
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
    sx_tree_put(&tree, body, "tensors", tensors);
    sx_tree_put(&tree, body, "nodes", nodes);
    sx_tree_put(&tree, root, "graph", body);
    if (!status) return sx_tree_print(&tree, root, format, out);
    json_decref(root);
    return status;
}
