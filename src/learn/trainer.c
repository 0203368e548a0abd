#include "learn/trainer.h"

#include "learn/cuda/device.h"
#include "learn/names.h"

#include <stdlib.h>
#include <string.h>

struct sx_trainer {
    sx_nn *net;
    sx_optimizer *optimizer;
    sx_matrix_engine *engine;
    sx_trainer_options options;
    const float *input, *target;
    size_t n;
    double loss; /* summed over `steps` */
    uint64_t steps;
    sx_nn_pass *pass;
    float *batch_input, *batch_target, *output_gradient, *gradient;
    sx_cuda_trainer *cuda; /* NULL: on the CPU */
};

sx_status sx_trainer_device_find(const char *name, sx_trainer_device *out) {
    static const char *const names[] = {"cpu", "cuda"};
    size_t i;
    SX_TRY(sx_name_find("device", name, names, 2, &i));
    *out = (sx_trainer_device)i;
    return SX_OK;
}

sx_status sx_trainer_precision_find(const char *name, sx_trainer_precision *out) {
    static const char *const names[] = {"fp32", "tf32", "bf16"};
    size_t i;
    SX_TRY(sx_name_find("precision", name, names, 3, &i));
    *out = (sx_trainer_precision)i;
    return SX_OK;
}

/* The memory of batches and gradients on the CPU, in one block. */
static sx_status room_new(sx_trainer *t) {
    size_t batch = t->options.batch, inputs = batch * t->net->inputs, outputs = batch * t->net->outputs;
    SX_TRY(sx_nn_pass_new(t->net, t->engine, batch, &t->pass));
    t->gradient = malloc((t->net->n_parameters + inputs + 2 * outputs) * sizeof(float));
    if (!t->gradient) return sx_error_memory();
    t->batch_input = t->gradient + t->net->n_parameters;
    t->batch_target = t->batch_input + inputs;
    t->output_gradient = t->batch_target + outputs;
    return SX_OK;
}

sx_status sx_trainer_new(sx_nn *net, sx_optimizer *optimizer, sx_matrix_engine *engine,
                         const sx_trainer_options *options, sx_trainer **out) {
    if (options->batch < 1 || options->batch > SX_TRAINER_MAX_BATCH)
        return sx_error_new(SX_ERR_LIMIT, "a batch has %zu rows instead of 1 to %d", options->batch,
                            SX_TRAINER_MAX_BATCH);
    if (options->device == SX_DEVICE_CPU && options->precision != SX_FP32)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the CPU trains in fp32 only"),
                             "use --precision fp32");
    sx_trainer *t = calloc(1, sizeof *t);
    if (!t) return sx_error_memory();
    t->net = net;
    t->optimizer = optimizer;
    t->engine = engine;
    t->options = *options;
    sx_status status = options->device == SX_DEVICE_CUDA
                           ? sx_cuda_trainer_new(net, optimizer, options, &t->cuda)
                           : room_new(t);
    if (status) {
        sx_trainer_free(t);
        return status;
    }
    *out = t;
    return SX_OK;
}

void sx_trainer_free(sx_trainer *t) {
    if (!t) return;
    sx_cuda_trainer_free(t->cuda);
    sx_nn_pass_free(t->pass);
    free(t->gradient);
    free(t);
}

sx_status sx_trainer_data(sx_trainer *t, const float *input, const float *target, size_t n) {
    if (n < 1 || n > UINT32_MAX)
        return sx_error_new(SX_ERR_LIMIT, "a data set has %zu rows instead of 1 to %u", n, UINT32_MAX);
    t->n = 0;
    if (t->cuda) SX_TRY(sx_cuda_trainer_data(t->cuda, input, target, n));
    t->input = input;
    t->target = target;
    t->n = n;
    return SX_OK;
}

/* Copies the rows of a batch together. */
static void gather_rows(const float *from, const uint32_t *row, size_t n, size_t width, float *to) {
    for (size_t i = 0; i < n; i++) memcpy(to + i * width, from + row[i] * width, width * sizeof *to);
}

sx_status sx_trainer_step(sx_trainer *t, const uint32_t *row, float rate) {
    size_t batch = t->options.batch;
    for (size_t i = 0; i < batch; i++)
        if (row[i] >= t->n)
            return sx_error_new(SX_ERR_USAGE, "row %u of a data set of %zu rows", row[i], t->n);
    t->steps++;
    if (t->cuda) return sx_cuda_trainer_step(t->cuda, row, rate);
    gather_rows(t->input, row, batch, t->net->inputs, t->batch_input);
    gather_rows(t->target, row, batch, t->net->outputs, t->batch_target);
    const float *output = sx_nn_forward(t->pass, t->batch_input, batch);
    t->loss +=
        sx_loss_of(t->options.loss, output, t->batch_target, batch * t->net->outputs, t->output_gradient);
    sx_nn_backward(t->pass, t->output_gradient, t->gradient, NULL);
    sx_optimizer_step(t->optimizer, t->engine, t->net->parameter, t->gradient, rate);
    return SX_OK;
}

sx_status sx_trainer_loss(sx_trainer *t, double *out) {
    if (t->cuda) SX_TRY(sx_cuda_trainer_loss(t->cuda, &t->loss));
    *out = t->steps ? t->loss / (double)t->steps : 0;
    t->loss = 0;
    t->steps = 0;
    return SX_OK;
}

sx_status sx_trainer_sync(sx_trainer *t) {
    return t->cuda ? sx_cuda_trainer_sync(t->cuda, t->net, t->optimizer) : SX_OK;
}
