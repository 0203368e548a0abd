/* A pass over a net: activations are kept from forward to backward; a layer whose backward needs only its outputs replaces
 * its inputs by them where the layer before does not need those. */
#include "learn/graph_pass.h"

#include <assert.h>
#include <stdlib.h>

struct sx_nn_pass {
    const sx_nn *net;
    sx_matrix_engine *engine;
    size_t rows, n;          /* room, and rows of the last forward */
    sx_nn_graph_pass *graph; /* NULL: rows are independent */
    const float *input;
    float *output[SX_NN_MAX_LAYERS];
    float *gradient[2]; /* rows of the widest layer, in turn */
};

static bool in_place(const sx_nn *net, size_t i) {
    return i > 0 && sx_nn_type_of(net->layer[i].kind)->from_outputs &&
           !sx_nn_type_of(net->layer[i - 1].kind)->from_outputs;
}

/* Floats of a pass that begin a new cache line. */
static size_t padded_floats(size_t n) {
    return (n + 15) / 16 * 16;
}

/* The rows of a layer's outputs that there must be room for. */
static size_t rows_after(const sx_nn_graph_pass *graph, size_t rows, size_t i) {
    return graph ? sx_nn_graph_rows(graph, i + 1) : rows;
}

/* Makes a pass for rows that are independent, or are the nodes of a graph. */
static sx_status make_pass(const sx_nn *net, sx_matrix_engine *engine, size_t rows, sx_nn_graph_pass *graph,
                           sx_nn_pass **out) {
    size_t floats = 0, most = 0, head = (sizeof(sx_nn_pass) + 63) / 64 * 64;
    for (size_t i = 0; i < net->n_layers; i++) {
        size_t own = padded_floats(rows_after(graph, rows, i) * net->layer[i].outputs);
        if (!in_place(net, i)) floats += own;
        if (own > most) most = own;
    }
    size_t size = head + (floats + 2 * most) * sizeof(float);
    char *block = rows <= SX_NN_MAX_ROWS ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    if (!block) return sx_error_memory();
    sx_nn_pass *pass = (sx_nn_pass *)block;
    *pass = (sx_nn_pass){.net = net, .engine = engine, .rows = rows, .graph = graph};
    float *at = (float *)(block + head);
    for (size_t i = 0; i < net->n_layers; i++) {
        pass->output[i] = in_place(net, i) ? pass->output[i - 1] : at;
        if (!in_place(net, i)) at += padded_floats(rows_after(graph, rows, i) * net->layer[i].outputs);
    }
    pass->gradient[0] = at;
    pass->gradient[1] = at + most;
    *out = pass;
    return SX_OK;
}

sx_status sx_nn_pass_new(const sx_nn *net, sx_matrix_engine *engine, size_t rows, sx_nn_pass **out) {
    for (size_t i = 0; i < net->n_layers; i++)
        if (sx_nn_type_of(net->layer[i].kind)->on_graphs)
            return sx_error_new(SX_ERR_INPUT, "layer %zu (%s) of a network needs a graph", i + 1,
                                sx_nn_type_of(net->layer[i].kind)->name);
    return make_pass(net, engine, rows, NULL, out);
}

sx_status sx_nn_pass_new_on(const sx_nn *net, sx_matrix_engine *engine, const sx_nn_graph *graph,
                            sx_nn_pass **out) {
    sx_nn_graph_pass *part;
    SX_TRY(sx_nn_graph_pass_new(net, graph, &part));
    sx_status status = make_pass(net, engine, graph->n, part, out);
    if (status) sx_nn_graph_pass_free(part);
    return status;
}

void sx_nn_pass_free(sx_nn_pass *pass) {
    if (pass) sx_nn_graph_pass_free(pass->graph);
    free(pass);
}

/* The call of a layer, without gradients. */
static sx_nn_call call_of(const sx_nn_pass *pass, size_t i) {
    const sx_nn_layer *layer = &pass->net->layer[i];
    sx_nn_call call = {.layer = layer,
                       .engine = pass->engine,
                       .rows = pass->n,
                       .parameter = pass->net->parameter + layer->first,
                       .x = i ? pass->output[i - 1] : pass->input,
                       .y = pass->output[i]};
    if (!pass->graph) return call;
    size_t pool = sx_nn_graph_call(pass->graph, i, &call);
    if (pool < SX_NN_MAX_LAYERS) call.skip = pool ? pass->output[pool - 1] : pass->input;
    return call;
}

const float *sx_nn_forward(sx_nn_pass *pass, const float *input, size_t n) {
    assert(pass->graph ? n == pass->rows : n <= pass->rows);
    pass->input = input;
    pass->n = n;
    for (size_t i = 0; i < pass->net->n_layers; i++) {
        sx_nn_call call = call_of(pass, i);
        sx_nn_type_of(call.layer->kind)->forward(&call);
        if (call.failed && *call.failed) return NULL;
    }
    return pass->output[pass->net->n_layers - 1];
}

void sx_nn_backward(sx_nn_pass *pass, const float *output_gradient, float *parameter_gradient,
                    float *input_gradient) {
    const sx_nn *net = pass->net;
    const float *dy = output_gradient;
    for (size_t i = net->n_layers; i-- > 0;) {
        sx_nn_call call = call_of(pass, i);
        call.dy = dy;
        call.dx = i ? pass->gradient[i % 2] : input_gradient;
        if (parameter_gradient) call.d_parameter = parameter_gradient + call.layer->first;
        call.x_masks = i > 0 && net->layer[i - 1].kind == SX_NN_RELU;
        sx_nn_type_of(call.layer->kind)->backward(&call);
        dy = call.dx;
    }
}
