/* Any bytes are a weight file whose net can be used, or an error. The checksum is made right first, so that what it protects
 * is met as well. */
#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "learn/graph.h"
#include "learn/layers/layer.h"
#include "learn/weights.h"

#include <math.h>
#include <string.h>

enum { HEAD = 24, MOST = 1 << 14, NODES = 6 };

/* Whether a net has a layer whose rows are the nodes of a graph. */
static bool needs_graph(const sx_nn *net) {
    for (size_t i = 0; i < net->n_layers; i++)
        if (sx_nn_type_of(net->layer[i].kind)->on_graphs) return true;
    return false;
}

/* Runs rows through a net: one, or the nodes of a small graph. A net may not fit any graph. */
static void check_net(const sx_nn *net) {
    static const uint32_t edge[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {1, 4}};
    const bool on_graph = needs_graph(net);
    const size_t rows = on_graph ? NODES : 1, in = rows * net->inputs, out = rows * net->outputs;
    sx_matrix_engine *engine;
    sx_nn_graph *graph = NULL;
    sx_nn_pass *pass = NULL;
    float *input = calloc(in + out + in, sizeof *input);
    promise(input);
    promise(succeeded(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine)));
    if (on_graph) promise(succeeded(sx_nn_graph_new(NODES, edge, sizeof edge / sizeof *edge, &graph)));
    bool fits = succeeded(on_graph ? sx_nn_pass_new_on(net, engine, graph, &pass)
                                   : sx_nn_pass_new(net, engine, 1, &pass));
    promise(fits || on_graph);
    if (fits) {
        promise(sx_nn_forward(pass, input, rows) != NULL);
        sx_nn_backward(pass, input + in, NULL, input + in + out);
        sx_nn_pass_free(pass);
    }
    sx_nn_graph_free(graph);
    sx_matrix_engine_free(engine);
    free(input);
}

static void check_bytes(const char *bytes, size_t size) {
    sx_weights w;
    if (!succeeded(sx_weights_parse("fuzz.sxw", bytes, size, &w))) return;
    promise(w.net && w.text && strlen(w.text) <= SX_WEIGHTS_MAX_TEXT);
    for (size_t i = 0; i < w.net->n_parameters; i++) promise(isfinite(w.net->parameter[i]));
    promise(w.net->n_parameters * sizeof(float) <= size);
    if (w.optimizer) promise(w.optimizer->n_parameters == w.net->n_parameters);
    check_net(w.net);
    sx_weights_fini(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_bytes((const char *)data, size);
    if (size < HEAD || size > MOST) return 0;
    char *copy = malloc(size);
    promise(copy);
    memcpy(copy, data, size);
    uint64_t sum = sx_hash_bytes(copy + HEAD, size - HEAD, SX_WEIGHTS_VERSION);
    memcpy(copy + HEAD - sizeof sum, &sum, sizeof sum);
    check_bytes(copy, size);
    free(copy);
    return 0;
}
