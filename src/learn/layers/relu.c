#include "learn/layers/layer.h"

static void forward(const sx_nn_call *call) {
    const float *x = call->x;
    float *y = call->y;
    size_t n = call->rows * call->layer->outputs;
    for (size_t i = 0; i < n; i++) y[i] = x[i] <= 0 ? 0 : x[i];
}

static void backward(const sx_nn_call *call) {
    const float *restrict y = call->y, *restrict dy = call->dy;
    float *restrict dx = call->dx;
    size_t n = call->rows * call->layer->outputs;
    if (!dx) return;
    for (size_t i = 0; i < n; i++) dx[i] = y[i] == 0 ? 0 : dy[i];
}

const sx_nn_type sx_nn_relu = {
    .name = "relu", .from_outputs = true, .forward = forward, .backward = backward};
