#include "learn/elementary.h"
#include "learn/layers/layer.h"

static void forward_tanh(const sx_nn_call *call) {
    size_t n = call->rows * call->layer->outputs;
    for (size_t i = 0; i < n; i++) call->y[i] = (float)sx_tanh((double)call->x[i]);
}

static void backward_tanh(const sx_nn_call *call) {
    size_t n = call->rows * call->layer->outputs;
    if (!call->dx) return;
    for (size_t i = 0; i < n; i++) call->dx[i] = call->dy[i] * (1 - call->y[i] * call->y[i]);
}

const sx_nn_type sx_nn_tanh = {
    .name = "tanh", .from_outputs = true, .forward = forward_tanh, .backward = backward_tanh};
