/* y_j = exp(x_j) / sum exp(x), over a row; dx_j = y_j (dy_j - sum dy y). */
#include "learn/elementary.h"
#include "learn/layers/layer.h"

static void forward_row(const float *x, float *y, size_t n) {
    float most = x[0];
    for (size_t j = 1; j < n; j++)
        if (x[j] > most) most = x[j];
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double e = sx_exp((double)x[j] - (double)most);
        y[j] = (float)e;
        sum += e;
    }
    for (size_t j = 0; j < n; j++) y[j] = (float)((double)y[j] / sum);
}

static void forward_softmax(const sx_nn_call *call) {
    size_t n = call->layer->outputs;
    for (size_t i = 0; i < call->rows; i++) forward_row(call->x + i * n, call->y + i * n, n);
}

static void backward_row(const float *y, const float *dy, float *dx, size_t n) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += (double)dy[j] * (double)y[j];
    for (size_t j = 0; j < n; j++) dx[j] = (float)((double)y[j] * ((double)dy[j] - sum));
}

static void backward_softmax(const sx_nn_call *call) {
    size_t n = call->layer->outputs;
    if (!call->dx) return;
    for (size_t i = 0; i < call->rows; i++)
        backward_row(call->y + i * n, call->dy + i * n, call->dx + i * n, n);
}

const sx_nn_type sx_nn_softmax = {
    .name = "softmax", .from_outputs = true, .forward = forward_softmax, .backward = backward_softmax};
