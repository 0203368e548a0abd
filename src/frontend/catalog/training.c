/* The graph of a network's weight updates. Each layer becomes the einsum that computes the gradient of the
 * operand in its weights' place (layers.h) and keeps its name. It reads what the layer reads, which the
 * inference left behind, and the gradient of the layer's output. Where that is computed by the update of
 * another layer, as for the keys and values of attention, the two are connected; elsewhere it comes from
 * outside. training_step.c has the graph with gradients of data. */
#include "frontend/catalog/networks.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct training {
    sx_net *net;
    sx_graph graph;
    size_t *copy, *gradient; /* of each tensor of the inference; SX_NO_INDEX: not there yet */
} training;

/* The tensor of the training that is one of the inference, or its gradient. */
static SX_MUST_USE sx_status tensor_of(training *t, size_t tensor, bool gradient, size_t *index) {
    size_t *known = gradient ? &t->gradient[tensor] : &t->copy[tensor];
    if (*known == SX_NO_INDEX) {
        sx_graph_tensor added = t->net->graph.tensor[tensor];
        char name[2 * SX_NAME_SIZE];
        snprintf(name, sizeof name, "%s%s", added.name, gradient ? ".gradient" : "");
        SX_TRY(sx_text_name(added.name, sizeof added.name, name, "a tensor"));
        added.weight = false;
        SX_TRY(sx_graph_add_tensor(&t->graph, &added, known));
    }
    *index = *known;
    return SX_OK;
}

/* The letter of the dimension that takes the place of another in a gradient: see the head of layers.c. */
static char swapped_letter(char letter, const char *pairs) {
    for (; *pairs; pairs += 2)
        if (*pairs == letter) return pairs[1];
    return letter;
}

/* The einsum of the gradient of a layer's operand v: 1 the weights, 2 the inputs. */
static SX_MUST_USE sx_status gradient_einsum(const sx_net_layer *layer, int v, const char *name,
                                             sx_problem *out) {
    if (layer->product.b) {
        const sx_product product =
            v == 1 ? sx_product_weight_update(&layer->product) : sx_product_data_gradient(&layer->product);
        return sx_layer_product(&product, name, out);
    }
    if (v == 2) return sx_layer_conv_data_gradient(&layer->conv, name, out);
    const sx_conv update = sx_conv_weight_update(&layer->conv);
    return sx_layer_conv(&update, name, out);
}

sx_status sx_net_gradient_of(const sx_net_layer *layer, int v, const char *name,
                             const sx_graph_operand forward[3], const size_t tensor[3], sx_problem *einsum,
                             sx_graph_operand operand[3]) {
    static const int from[][3] = {[1] = {1, 0, 2}, [2] = {2, 1, 0}};
    static const char *const pairs[][2] = {[1] = {"NCCNRPPRSQQS", "KNNK"}, [2] = {"", "MKKM"}};
    SX_TRY(gradient_einsum(layer, v, name, einsum));
    for (int o = 0; o < 3; o++) {
        const sx_graph_operand *old = &forward[from[v][o]];
        char ranks[SX_NAME_SIZE] = "";
        strncpy(ranks, layer->ranks[from[v][o]], sizeof ranks - 1);
        for (char *at = ranks; *at; at++) *at = swapped_letter(*at, pairs[v][layer->product.b != 0]);
        operand[o] = sx_net_operand(einsum, o, tensor[from[v][o]], ranks, old->split);
        memcpy(operand[o].before, old->before, sizeof old->before);
        memcpy(operand[o].after, old->after, sizeof old->after);
    }
    return SX_OK;
}

/* Adds the update of a layer. Its Outputs are the gradient of the Weights, its Weights that of the Outputs.
 */
static SX_MUST_USE sx_status add_update(training *t, const sx_net_layer *layer) {
    const sx_graph *forward = &t->net->graph;
    const sx_graph_node *node = &forward->node[layer->node];
    const sx_graph_operand *old = &forward->operand[node->first];
    sx_graph_operand operand[3];
    sx_problem einsum;
    size_t tensor[3];
    SX_TRY(tensor_of(t, old[1].tensor, true, &tensor[1]));
    SX_TRY(tensor_of(t, old[0].tensor, true, &tensor[0]));
    SX_TRY(tensor_of(t, old[2].tensor, false, &tensor[2]));
    SX_TRY(sx_net_gradient_of(layer, 1, node->layer, old, tensor, &einsum, operand));
    return sx_graph_add_node(&t->graph, node, &einsum, operand, 3, NULL);
}

void sx_net_train(sx_net *net) {
    const size_t n = net->graph.n_tensors;
    training t = {.net = net, .copy = malloc((2 * n + 1) * sizeof *t.copy)};
    if (net->error || !t.copy) {
        if (!net->error) net->error = sx_error_memory();
        free(t.copy);
        return;
    }
    t.gradient = t.copy + n;
    for (size_t i = 0; i < 2 * n; i++) t.copy[i] = SX_NO_INDEX;
    memcpy(t.graph.name, net->graph.name, sizeof t.graph.name);
    for (size_t i = 0; i < net->n_layers && !net->error; i++) net->error = add_update(&t, &net->layer[i]);
    free(t.copy);
    sx_graph_fini(&net->graph);
    net->graph = t.graph;
}
