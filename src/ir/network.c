#include "sextant/network.h"

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_network_fini(sx_network *network) {
    free(network->layer);
    memset(network, 0, sizeof *network);
}

const sx_layer *sx_network_layer(const sx_network *network, const char *name) {
    for (size_t i = 0; i < network->n_layers; i++)
        if (strcmp(network->layer[i].name, name) == 0) return &network->layer[i];
    return NULL;
}

/* Problems that differ in nothing but their own name are the same computation. Names of dimensions and tensors
 * count: constraints and buffers built for one tensor go by them. */
size_t sx_network_distinct(const sx_network *network, size_t *first) {
    static const size_t after_name = sizeof network->layer->problem.name;
    const size_t at = offsetof(sx_layer, problem) + after_name;
    sx_hash_table table = {0};
    size_t n = 0;
    if (network->n_layers == 0) return 0;
    const sx_hash_keys keys = {(const char *)network->layer + at, sizeof *network->layer,
                               sizeof network->layer->problem - after_name};
    const bool hashed = sx_hash_table_begin(&table, network->n_layers);
    for (size_t i = 0; i < network->n_layers; i++) {
        const char *key = (const char *)keys.first + i * keys.stride;
        size_t j = 0;
        if (hashed)
            j = sx_hash_table_put(&table, keys, key, sx_hash_bytes(key, keys.size, 0), (uint32_t)i);
        else /* memory is out: the same, slower */
            while (memcmp((const char *)keys.first + j * keys.stride, key, keys.size) != 0) j++;
        if (first) first[i] = j;
        n += j == i;
    }
    sx_hash_table_clear(&table);
    return n;
}

sx_operand_role sx_graph_role(const sx_graph *graph, const sx_graph_operand *operand) {
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    if (tensor->weight) return SX_OPERAND_WEIGHT;
    if (operand->written) return SX_OPERAND_OUTPUT;
    return tensor->state ? SX_OPERAND_STATE : SX_OPERAND_INPUT;
}

/* Counts a node of a graph as a layer of the network; the layer's own name serves the problem where the
 * network's does not fit before it. */
static void count_node(const sx_graph *graph, const sx_graph_node *node, sx_network *network) {
    for (size_t i = 0; i < network->n_layers; i++) {
        if (strcmp(network->layer[i].name, node->layer) != 0) continue;
        network->layer[i].count += node->repeat;
        return;
    }
    sx_layer *layer = &network->layer[network->n_layers++];
    char name[2 * SX_NAME_SIZE];
    layer->count = node->repeat;
    for (size_t v = 0; v < node->n_operands && v < SX_MAX_TENSORS; v++)
        layer->role[v] = (uint8_t)sx_graph_role(graph, &graph->operand[node->first + v]);
    memcpy(layer->name, node->layer, sizeof layer->name);
    memcpy(&layer->problem, &graph->einsum[node->einsum], sizeof layer->problem);
    snprintf(name, sizeof name, "%s/%s", graph->name, node->layer);
    const char *chosen = strlen(name) < SX_NAME_SIZE ? name : node->layer;
    memcpy(layer->problem.name, chosen, strlen(chosen));
}

sx_status sx_graph_network(const sx_graph *graph, sx_network *out) {
    size_t n = 0;
    SX_TRY(sx_graph_check(graph));
    for (size_t i = 0; i < graph->n_nodes; i++) n += graph->node[i].kind == SX_OP_EINSUM;
    if (n == 0) return sx_error_new(SX_ERR_INPUT, "graph %s has no einsum to map", graph->name);
    sx_network network = {.layer = calloc(n, sizeof *network.layer)};
    if (!network.layer) return sx_error_memory();
    memcpy(network.name, graph->name, sizeof network.name);
    network.unmapped = graph->unmapped;
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->node[i].kind == SX_OP_EINSUM) count_node(graph, &graph->node[i], &network);
    *out = network;
    return SX_OK;
}

const char *sx_phase_name(sx_phase phase) {
    static const char *const names[SX_N_NETWORK_PHASES] = {NULL, "prefill", "decode", "forward", "encode"};
    return phase < SX_N_NETWORK_PHASES ? names[phase] : NULL;
}
