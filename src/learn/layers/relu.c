#include "learn/layers/layer.h"

#include <string.h>

enum { SPAN = 1 << 15 }; /* elements of a job */

static void forward_span(void *user, size_t first, size_t n) {
    const sx_nn_call *call = user;
    float *y = call->y + first;
    if (call->x != call->y) memcpy(y, call->x + first, n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        float x = y[i];
        y[i] = x < 0 ? 0 : x;
    }
}

static void forward_relu(const sx_nn_call *call) {
    sx_nn_call whole = *call;
    sx_matrix_engine_spans(call->engine, call->rows * call->layer->outputs, SPAN, forward_span, &whole);
}

static void backward_span(void *user, size_t first, size_t n) {
    const sx_nn_call *call = user;
    const float *restrict y = call->y + first, *restrict dy = call->dy + first;
    float *restrict dx = call->dx + first;
    for (size_t i = 0; i < n; i++) {
        float gradient = dy[i];
        dx[i] = y[i] == 0 ? 0 : gradient;
    }
}

static void backward_relu(const sx_nn_call *call) {
    sx_nn_call whole = *call;
    if (call->dx)
        sx_matrix_engine_spans(call->engine, call->rows * call->layer->outputs, SPAN, backward_span, &whole);
}

const sx_nn_type sx_nn_relu = {
    .name = "relu", .from_outputs = true, .forward = forward_relu, .backward = backward_relu};
