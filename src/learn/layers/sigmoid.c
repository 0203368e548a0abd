#include "learn/elementary.h"
#include "learn/layers/layer.h"

static void forward_sigmoid(const sx_nn_call *call) {
    size_t n = call->rows * call->layer->outputs;
    for (size_t i = 0; i < n; i++) call->y[i] = (float)sx_sigmoid((double)call->x[i]);
}

static void backward_sigmoid(const sx_nn_call *call) {
    size_t n = call->rows * call->layer->outputs;
    if (!call->dx) return;
    for (size_t i = 0; i < n; i++) call->dx[i] = call->dy[i] * (call->y[i] * (1 - call->y[i]));
}

const sx_nn_type sx_nn_sigmoid = {
    .name = "sigmoid", .from_outputs = true, .forward = forward_sigmoid, .backward = backward_sigmoid};
