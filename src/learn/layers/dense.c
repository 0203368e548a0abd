/* y = x W + b, with W of inputs x outputs. dW = x^T dy, db = the sum of dy's rows, dx = dy W^T. */
#include "learn/elementary.h"
#include "learn/layers/layer.h"

#include <math.h>
#include <string.h>

enum { SUMMED = 128 }; /* columns whose sums are one job */

static size_t n_parameters(size_t inputs, size_t outputs) {
    return inputs * outputs + outputs;
}

void sx_nn_draw_weights(float *weight, size_t inputs, size_t outputs, sx_nn_init init, sx_rng *rng) {
    double deviation = sqrt(2.0 / (double)inputs), bound = sqrt(6.0 / ((double)inputs + (double)outputs));
    for (size_t i = 0; i < inputs * outputs; i++)
        weight[i] =
            (float)(init == SX_NN_HE ? deviation * sx_normal(rng) : bound * (2 * sx_rng_double(rng) - 1));
}

static void initialise_dense(const sx_nn_layer *layer, float *parameter, sx_nn_init init, sx_rng *rng) {
    sx_nn_draw_weights(parameter, layer->inputs, layer->outputs, init, rng);
    memset(parameter + (size_t)layer->inputs * layer->outputs, 0, layer->outputs * sizeof *parameter);
}

static void forward_dense(const sx_nn_call *call) {
    size_t inputs = call->layer->inputs, outputs = call->layer->outputs;
    const sx_matmul product = {.m = call->rows,
                               .n = outputs,
                               .k = inputs,
                               .a = call->x,
                               .b = call->parameter,
                               .c = call->y,
                               .bias = call->parameter + inputs * outputs};
    sx_matrix_product(call->engine, &product);
}

/* Some columns of the sum of dy's rows. */
static void sum_columns(void *user, size_t first, size_t n) {
    const sx_nn_call *call = user;
    size_t width = call->layer->outputs;
    float *restrict sum = call->d_parameter + call->layer->inputs * width + first;
    const float *restrict row = call->dy + first;
    memset(sum, 0, n * sizeof *sum);
    for (size_t i = 0; i < call->rows; i++, row += width)
        for (size_t j = 0; j < n; j++) sum[j] += row[j];
}

static void backward_dense(const sx_nn_call *call) {
    sx_nn_call sums = *call;
    sx_nn_backward_product(call, call->dy);
    if (call->d_parameter)
        sx_matrix_engine_spans(call->engine, call->layer->outputs, SUMMED, sum_columns, &sums);
}

const sx_nn_type sx_nn_dense = {.name = "dense",
                                .n_parameters = n_parameters,
                                .initialise = initialise_dense,
                                .forward = forward_dense,
                                .backward = backward_dense};
