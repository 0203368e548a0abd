#include "learn/layers/layer.h"

#include <string.h>

static void forward(const sx_nn_call *call) {
    float *y = call->y;
    size_t n = call->rows * call->layer->outputs;
    if (call->x != y) memcpy(y, call->x, n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        float x = y[i];
        y[i] = x < 0 ? 0 : x;
    }
}

static void backward(const sx_nn_call *call) {
    const float *restrict y = call->y, *restrict dy = call->dy;
    float *restrict dx = call->dx;
    size_t n = call->rows * call->layer->outputs;
    if (!dx) return;
    for (size_t i = 0; i < n; i++) {
        float gradient = dy[i];
        dx[i] = y[i] == 0 ? 0 : gradient;
    }
}

const sx_nn_type sx_nn_relu = {
    .name = "relu", .from_outputs = true, .forward = forward, .backward = backward};
