#include "input/tensor_bits.h"

#include "input/tensor_option.h"
#include "text/document/document.h"

#include <stdlib.h>
#include <string.h>

/* The role that a word of --bits names, SX_OPERAND_UNKNOWN for another word. */
static sx_operand_role role_of(const char *word) {
    static const char *const words[SX_N_OPERAND_ROLES] = {NULL, "w", "kv", "a", "out"};
    for (int r = SX_OPERAND_WEIGHT; r < SX_N_OPERAND_ROLES; r++)
        if (strcmp(word, words[r]) == 0) return (sx_operand_role)r;
    return SX_OPERAND_UNKNOWN;
}

/* The error for a value that cannot be read. */
static sx_status malformed_bits(const char *text) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--bits '%s' is not [TENSOR=]N,...", text),
                         "such as --bits 8, --bits Weights=8,Outputs=32 or, by role, --bits "
                         "w=4,a=8,kv=8,out=16; elements have 1 to %d bits",
                         SX_MAX_ELEMENT_BITS);
}

/* Whether a layer has a tensor of that very name. */
static bool is_named(const sx_network *network, const char *name) {
    for (size_t i = 0; i < network->n_layers; i++)
        if (sx_problem_tensor(&network->layer[i].problem, name) >= 0) return true;
    return false;
}

/* The role of a tensor: that of the network's graph, else by the usual names of tensors. */
static sx_operand_role role_in(const sx_layer *layer, int v) {
    const sx_problem *problem = &layer->problem;
    if (layer->role[v]) return (sx_operand_role)layer->role[v];
    if (problem->tensor[v].output) return SX_OPERAND_OUTPUT;
    return sx_problem_role(problem, "Weights") == v ? SX_OPERAND_WEIGHT : SX_OPERAND_INPUT;
}

/* Gives all tensors of a role a width; one layer alone need not have the role. */
static sx_status apply_role(sx_operand_role role, const char *word, uint64_t bits, sx_network *network) {
    bool found = false;
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_layer *layer = &network->layer[i];
        for (int v = 0; v < layer->problem.n_tensors; v++) {
            if (role_in(layer, v) != role) continue;
            SX_TRY(sx_tensor_set_bits(&layer->problem.tensor[v], bits));
            found = true;
        }
    }
    if (found || network->n_layers == 1) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--bits %s: no layer has a tensor of this role", word),
                         "w: weights, a: other inputs, kv: caches and states, out: what is computed");
}

/* Gives a tensor a width in every layer that has it, or all tensors where no name is given. */
static sx_status apply_width(const char *name, uint64_t bits, sx_network *network) {
    bool found = false;
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_problem *problem = &network->layer[i].problem;
        int only = name ? sx_option_tensor(problem, name) : -1;
        for (int v = 0; v < problem->n_tensors; v++) {
            if (name && v != only) continue;
            SX_TRY(sx_tensor_set_bits(&problem->tensor[v], bits));
            found = true;
        }
    }
    return found ? SX_OK : sx_option_no_tensor("--bits", name, network);
}

/* Applies one [TENSOR=]N. */
static sx_status apply_part(const char *text, char *part, sx_network *network) {
    uint64_t bits;
    char *equal = strchr(part, '='), *value = equal ? equal + 1 : part;
    if (equal) *equal = 0;
    if (equal == part || !sx_text_u64(value, &bits) || bits < 1 || bits > SX_MAX_ELEMENT_BITS)
        return malformed_bits(text);
    const sx_operand_role role = equal ? role_of(part) : SX_OPERAND_UNKNOWN;
    if (role && !is_named(network, part)) return apply_role(role, part, bits, network);
    return apply_width(equal ? part : NULL, bits, network);
}

sx_status sx_bits_apply(const sx_args *args, sx_network *network) {
    return sx_option_apply(args, "bits", apply_part, network);
}

/* Gives the tensors of a graph the width of one [ROLE=]N; names of tensors are those of einsums and say nothing here. */
static void apply_to_graph(char *part, sx_graph *graph) {
    char *equal = strchr(part, '=');
    uint64_t bits;
    if (equal) *equal = 0;
    const sx_operand_role role = equal ? role_of(part) : SX_OPERAND_UNKNOWN;
    if (!sx_text_u64(equal ? equal + 1 : part, &bits) || (equal && !role)) return;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[graph->node[i].first + v];
            sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
            sx_operand_role own = sx_graph_role(graph, operand);
            if (tensor->state) own = SX_OPERAND_STATE;
            if (!role || own == role) tensor->bits = (uint32_t)bits;
        }
}

sx_status sx_bits_apply_graph(const sx_args *args, sx_graph *graph) {
    const char *text;
    for (size_t i = 0; (text = sx_args_text(args, "bits", i)); i++) {
        char *copy = strdup(text);
        if (!copy) return sx_error_memory();
        for (char *at = copy, *next; at; at = next) {
            next = strchr(at, ',');
            if (next) *next++ = 0;
            apply_to_graph(at, graph);
        }
        free(copy);
    }
    return SX_OK;
}
