/* With z = (x - mean) / sqrt(variance + 1e-5) over a row: y = gain z + bias. With g = dy gain:
 * dx = (g - mean(g) - z mean(g z)) / deviation. */
#include "learn/layers/layer.h"

#include <math.h>
#include <string.h>

static size_t n_parameters(size_t inputs, size_t outputs) {
    return inputs + outputs;
}

static void initialise_norm(const sx_nn_layer *layer, float *parameter, sx_nn_init init, sx_rng *rng) {
    (void)init;
    (void)rng;
    for (size_t j = 0; j < layer->inputs; j++) parameter[j] = 1;
    memset(parameter + layer->inputs, 0, layer->outputs * sizeof *parameter);
}

/* The mean of a row, and one over its deviation. */
static void row_moments(const float *x, size_t n, double *mean, double *scale) {
    double sum = 0, squares = 0;
    for (size_t j = 0; j < n; j++) sum += (double)x[j];
    *mean = sum / (double)n;
    for (size_t j = 0; j < n; j++) squares += ((double)x[j] - *mean) * ((double)x[j] - *mean);
    *scale = 1 / sqrt(squares / (double)n + 1e-5);
}

static void forward_norm(const sx_nn_call *call) {
    size_t n = call->layer->outputs;
    const float *gain = call->parameter, *bias = gain + n;
    for (size_t i = 0; i < call->rows; i++) {
        const float *x = call->x + i * n;
        double mean, scale;
        row_moments(x, n, &mean, &scale);
        for (size_t j = 0; j < n; j++)
            call->y[i * n + j] = (float)(((double)x[j] - mean) * scale * (double)gain[j] + (double)bias[j]);
    }
}

static void backward_row(const sx_nn_call *call, size_t i) {
    size_t n = call->layer->outputs;
    const float *x = call->x + i * n, *dy = call->dy + i * n, *gain = call->parameter;
    double mean, scale, sum = 0, sum_z = 0;
    row_moments(x, n, &mean, &scale);
    for (size_t j = 0; j < n; j++) {
        double z = ((double)x[j] - mean) * scale, g = (double)dy[j] * (double)gain[j];
        sum += g;
        sum_z += g * z;
        if (!call->d_parameter) continue;
        call->d_parameter[j] += (float)((double)dy[j] * z);
        call->d_parameter[n + j] += dy[j];
    }
    for (size_t j = 0; call->dx && j < n; j++) {
        double z = ((double)x[j] - mean) * scale, g = (double)dy[j] * (double)gain[j];
        call->dx[i * n + j] = (float)((g - sum / (double)n - z * (sum_z / (double)n)) * scale);
    }
}

static void backward_norm(const sx_nn_call *call) {
    if (call->d_parameter) memset(call->d_parameter, 0, call->layer->n_parameters * sizeof(float));
    for (size_t i = 0; i < call->rows; i++) backward_row(call, i);
}

const sx_nn_type sx_nn_layer_norm = {.name = "layer norm",
                                     .n_parameters = n_parameters,
                                     .initialise = initialise_norm,
                                     .forward = forward_norm,
                                     .backward = backward_norm};
