#include "text/write/write.h"

#include <stdlib.h>
#include <string.h>

static SX_OWN json_t *tensor_tree(const sx_graph_tensor *tensor) {
    json_t *map = json_object(), *shape = json_array();
    for (size_t g = 0; g < tensor->n_ranks; g++) sx_json_append(shape, sx_json_exact(tensor->extent[g]));
    sx_json_set(map, "name", sx_json_text(tensor->name));
    sx_json_set(map, "shape", shape);
    sx_json_set(map, "bits", sx_json_exact(tensor->bits));
    if (tensor->weight) sx_json_set(map, "weight", json_boolean(true));
    if (tensor->output) sx_json_set(map, "output", json_boolean(true));
    if (tensor->state) sx_json_set(map, "state", json_boolean(true));
    if (tensor->held) sx_json_set(map, "held", sx_json_exact(tensor->held));
    return map;
}

/* The ranks of the einsum's tensor that make up each rank of the graph's, NULL where they are the same. */
static SX_OWN json_t *ranks_tree(const sx_graph_operand *operand, size_t n_ranks) {
    json_t *list;
    size_t first = 0;
    bool same = true;
    for (size_t g = 0; g < n_ranks; g++) same &= operand->n_of[g] == 1 && operand->rank[g] == g;
    if (same) return NULL;
    list = json_array();
    for (size_t g = 0; g < n_ranks; first += operand->n_of[g++]) {
        json_t *ranks = json_array();
        for (size_t i = 0; i < operand->n_of[g]; i++)
            sx_json_append(ranks, sx_json_exact(operand->rank[first + i]));
        if (operand->n_of[g] == 1) {
            json_decref(ranks);
            ranks = sx_json_exact(operand->rank[first]);
        }
        sx_json_append(list, ranks);
    }
    return list;
}

/* The padding of each rank, NULL where there is none. */
static SX_OWN json_t *pad_tree(const sx_graph_operand *operand, size_t n_ranks) {
    bool any = false;
    for (size_t g = 0; g < n_ranks; g++) any |= operand->before[g] || operand->after[g];
    if (!any) return NULL;
    json_t *list = json_array();
    for (size_t g = 0; g < n_ranks; g++) {
        json_t *sides = json_array();
        sx_json_append(sides, sx_json_exact(operand->before[g]));
        sx_json_append(sides, sx_json_exact(operand->after[g]));
        sx_json_append(list, sides);
    }
    return list;
}

/* A number, where it is not 0. */
static void put_count(json_t *map, const char *key, uint64_t value) {
    if (value) sx_json_set(map, key, sx_json_exact(value));
}

/* The parts of ranks that an operand uses, NULL where it uses all. */
static SX_OWN json_t *parts_tree(const sx_graph_operand *operand) {
    json_t *list = NULL;
    for (size_t g = 0; g < SX_MAX_PART_RANKS; g++) {
        if (!operand->part[g].length) continue;
        json_t *map = json_object();
        sx_json_set(map, "rank", sx_json_exact(g));
        put_count(map, "offset", operand->part[g].offset);
        put_count(map, "length", operand->part[g].length);
        put_count(map, "block", operand->part[g].block);
        if (!list) list = json_array();
        sx_json_append(list, map);
    }
    return list;
}

/* What a node counts besides what its tensors say, NULL where it is nothing. */
static SX_OWN json_t *counts_tree(const sx_graph_counts *counts) {
    json_t *map = json_object();
    put_count(map, "useful", counts->useful);
    put_count(map, "elements", counts->elements);
    put_count(map, "row", counts->row);
    put_count(map, "reads", counts->reads);
    put_count(map, "state_reads", counts->state_reads);
    put_count(map, "state_writes", counts->state_writes);
    if (json_object_size(map)) return map;
    json_decref(map);
    return NULL;
}

/* The run that a graph is. */
static SX_OWN json_t *run_tree(const sx_graph_run *run) {
    json_t *map = json_object();
    sx_json_set(map, "phase", sx_json_text(run->phase));
    put_count(map, "batch", run->batch);
    put_count(map, "tokens", run->tokens);
    put_count(map, "context", run->context);
    put_count(map, "parameters", run->parameters);
    put_count(map, "active_parameters", run->active_parameters);
    return map;
}

/* An operand, `projected` of a node with an einsum: the tensor's name where that says all, else a map. */
static SX_OWN json_t *operand_tree(const sx_graph *graph, const sx_graph_operand *operand, bool projected) {
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    json_t *ranks = projected ? ranks_tree(operand, tensor->n_ranks) : NULL;
    json_t *pad = pad_tree(operand, tensor->n_ranks), *name = sx_json_text(tensor->name);
    json_t *parts = parts_tree(operand);
    if (!ranks && !pad && !parts && operand->split < 0) return name;
    json_t *map = json_object();
    sx_json_set(map, "tensor", name);
    if (ranks) sx_json_set(map, "ranks", ranks);
    if (operand->split >= 0) sx_json_set(map, "split", json_integer(operand->split));
    if (pad) sx_json_set(map, "pad", pad);
    if (parts) sx_json_set(map, "part", parts);
    put_count(map, "of", operand->of);
    return map;
}

/* Adds the einsum of a node and its operands. */
static SX_MUST_USE sx_status put_einsum(const sx_graph *graph, const sx_graph_node *node, json_t *map) {
    const sx_problem *einsum = &graph->einsum[node->einsum];
    char *text;
    SX_TRY(sx_einsum_text(einsum, &text));
    sx_json_set(map, "einsum", sx_json_text(text));
    free(text);
    json_t *operands = json_object();
    for (size_t v = 0; v < node->n_operands; v++)
        sx_json_set(operands, einsum->tensor[v].name,
                    operand_tree(graph, &graph->operand[node->first + v], true));
    sx_json_set(map, "operands", operands);
    return SX_OK;
}

/* Adds the tensors that a node without an einsum reads, or those it writes. */
static void put_names(const sx_graph *graph, const sx_graph_node *node, bool written, json_t *map) {
    json_t *list = json_array();
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &graph->operand[node->first + v];
        if (operand->written == written) sx_json_append(list, operand_tree(graph, operand, false));
    }
    sx_json_set(map, written ? "writes" : "reads", list);
}

/* Appends a node to a list. */
static SX_MUST_USE sx_status append_node(const sx_graph *graph, const sx_graph_node *node, json_t *list) {
    json_t *map = json_object();
    sx_json_set(map, "name", sx_json_text(node->name));
    if (strcmp(node->layer, node->name) != 0) sx_json_set(map, "layer", sx_json_text(node->layer));
    sx_json_set(map, "kind", sx_json_text(sx_op_kind_name(node->kind)));
    if (node->function[0]) sx_json_set(map, "function", sx_json_text(node->function));
    if (node->axis >= 0) sx_json_set(map, "axis", json_integer(node->axis));
    if (node->repeat > 1) sx_json_set(map, "repeat", sx_json_exact(node->repeat));
    json_t *counts = counts_tree(&node->counts);
    if (counts) sx_json_set(map, "counts", counts);
    sx_status status = SX_OK;
    if (node->einsum != SX_NO_INDEX) {
        status = put_einsum(graph, node, map);
    } else {
        put_names(graph, node, false, map);
        put_names(graph, node, true, map);
    }
    sx_json_append(list, map);
    return status;
}

sx_status sx_graph_write(const sx_graph *graph, sx_format format, char **out) {
    SX_TRY(sx_graph_check(graph));
    json_t *root = json_object(), *body = json_object(), *tensors = json_array(), *nodes = json_array();
    sx_status status = SX_OK;
    for (size_t t = 0; t < graph->n_tensors; t++) sx_json_append(tensors, tensor_tree(&graph->tensor[t]));
    for (size_t i = 0; i < graph->n_nodes && !status; i++)
        status = append_node(graph, &graph->node[i], nodes);
    sx_json_set(body, "name", sx_json_text(graph->name));
    if (graph->run.phase[0]) sx_json_set(body, "run", run_tree(&graph->run));
    sx_json_set(body, "tensors", tensors);
    sx_json_set(body, "nodes", nodes);
    sx_json_set(root, "graph", body);
    if (!status) return sx_json_write(root, format, out);
    json_decref(root);
    return status;
}
