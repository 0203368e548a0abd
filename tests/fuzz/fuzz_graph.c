/* Any text is a graph that is sound and reads back from what is written of it, or is refused with a place. */
#include "fuzz/fuzz.h"

#include <string.h>

/* Reads the graph of a text. */
static bool read_graph(const char *text, size_t size, sx_graph *out) {
    sx_input *input;
    if (!succeeded(sx_input_new(&input))) return false;
    const bool read = succeeded(sx_input_add_text(input, "fuzz.yaml", text, size)) &&
                      sx_input_has(input, SX_DOCUMENT_GRAPH) && succeeded(sx_input_graph(input, out));
    sx_input_free(input);
    return read;
}

/* Writes a graph and reads it again. */
static void check_writing(const sx_graph *graph, sx_format format) {
    sx_graph copy;
    char *text, *again;
    if (!succeeded(sx_graph_write(graph, format, &text))) return;
    promise(read_graph(text, strlen(text), &copy));
    promise(copy.n_nodes == graph->n_nodes && copy.n_tensors == graph->n_tensors);
    promise(memcmp(copy.node, graph->node, copy.n_nodes * sizeof *copy.node) == 0);
    promise(memcmp(copy.operand, graph->operand, copy.n_operands * sizeof *copy.operand) == 0);
    promise(succeeded(sx_graph_write(&copy, format, &again)));
    promise(strcmp(text, again) == 0);
    free(text);
    free(again);
    sx_graph_fini(&copy);
}

/* A sound graph has an order in which nodes follow what they depend on, and layers if it has einsums. */
static void check_graph(const sx_graph *graph) {
    size_t *order = malloc(graph->n_nodes * sizeof *order);
    sx_network network;
    promise(order);
    promise(succeeded(sx_graph_check(graph)));
    promise(succeeded(sx_graph_order(graph, order)));
    if (succeeded(sx_graph_network(graph, &network))) {
        for (size_t i = 0; i < network.n_layers; i++)
            promise(succeeded(sx_problem_check(&network.layer[i].problem)));
        sx_network_fini(&network);
    }
    free(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_graph graph;
    if (!read_graph((const char *)data, size, &graph)) return 0;
    check_graph(&graph);
    check_writing(&graph, SX_YAML);
    check_writing(&graph, SX_JSON);
    sx_graph_fini(&graph);
    return 0;
}
