#include "learn/cuda/device.h"

#include "base/module.h"
#include "learn/cuda/module.h"
#include "learn/layers/layer.h"

#include <stdlib.h>

/* The build says which file to load; without CUDA there is none. */
#ifndef SX_CUDA_FILE
#define SX_CUDA_FILE ""
#endif

struct sx_cuda_trainer {
    const sx_cuda_module *module;
    sx_cuda_state *state;
    uint64_t steps; /* made, of the optimizer */
};

/* Loads the module, which then stays loaded. */
static sx_status load_module(const sx_cuda_module **out) {
    const char *name = SX_CUDA_FILE;
    if (!name[0])
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "this build has no CUDA"),
                             "install CUDA's compiler and cuBLAS and build again, or train on the CPU");
    sx_cuda_module_getter *getter;
    SX_TRY(sx_module_load(name, "CUDA", "sx_cuda_module_get", false, &getter));
    *out = getter();
    return (*out)->version == SX_CUDA_MODULE_VERSION ? SX_OK : sx_module_other_version(name);
}

/* The net as dense layers with or without a ReLU. */
static sx_status plan_layers(const sx_nn *net, sx_cuda_layer *layer, size_t *n) {
    *n = 0;
    for (size_t i = 0; i < net->n_layers; i++) {
        const sx_nn_layer *from = &net->layer[i];
        if (from->kind == SX_NN_DENSE)
            layer[(*n)++] = (sx_cuda_layer){from->inputs, from->outputs, from->first, 0};
        else if (from->kind == SX_NN_RELU && i > 0 && i + 1 < net->n_layers &&
                 net->layer[i - 1].kind == SX_NN_DENSE)
            layer[*n - 1].relu = 1;
        else
            return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                              "layer %zu of the network (%s) is not for the GPU", i + 1,
                                              sx_nn_type_of(from->kind)->name),
                                 "the GPU trains dense layers with ReLUs between them");
    }
    return SX_OK;
}

/* What the module complained of, as an error. */
static sx_status module_error(int code, const char *message) {
    return code ? sx_error_new(SX_ERR_FILE, "GPU: %s", message) : SX_OK;
}

sx_status sx_cuda_trainer_new(const sx_nn *net, const sx_optimizer *optimizer,
                              const sx_trainer_options *options, sx_cuda_trainer **out) {
    sx_cuda_layer layer[SX_NN_MAX_LAYERS];
    sx_cuda_plan plan = {.layer = layer,
                         .batch = options->batch,
                         .n_parameters = net->n_parameters,
                         .n_state = optimizer->n_state,
                         .loss = (int)options->loss,
                         .optimizer = (int)optimizer->options.kind,
                         .precision = (int)options->precision,
                         .momentum = optimizer->options.momentum,
                         .beta1 = optimizer->options.beta1,
                         .beta2 = optimizer->options.beta2,
                         .epsilon = optimizer->options.epsilon,
                         .steps = optimizer->steps,
                         .parameter = net->parameter,
                         .state = optimizer->state};
    const sx_cuda_module *module = NULL;
    char message[SX_CUDA_MESSAGE] = "";
    SX_TRY(plan_layers(net, layer, &plan.n_layers));
    SX_TRY(load_module(&module));
    sx_cuda_trainer *trainer = calloc(1, sizeof *trainer);
    if (!trainer) return sx_error_memory();
    trainer->module = module;
    trainer->steps = optimizer->steps;
    int code = module->make(&plan, &trainer->state, message);
    if (code) {
        free(trainer);
        return module_error(code, message);
    }
    *out = trainer;
    return SX_OK;
}

void sx_cuda_trainer_free(sx_cuda_trainer *trainer) {
    if (!trainer) return;
    trainer->module->end(trainer->state);
    free(trainer);
}

sx_status sx_cuda_trainer_data(sx_cuda_trainer *trainer, const float *input, const float *target, size_t n) {
    char message[SX_CUDA_MESSAGE] = "";
    return module_error(trainer->module->data(trainer->state, input, target, n, message), message);
}

sx_status sx_cuda_trainer_step(sx_cuda_trainer *trainer, const uint32_t *row, float rate) {
    char message[SX_CUDA_MESSAGE] = "";
    trainer->steps++;
    return module_error(trainer->module->step(trainer->state, row, rate, message), message);
}

sx_status sx_cuda_trainer_loss(sx_cuda_trainer *trainer, double *sum) {
    char message[SX_CUDA_MESSAGE] = "";
    return module_error(trainer->module->loss(trainer->state, sum, message), message);
}

sx_status sx_cuda_trainer_sync(sx_cuda_trainer *trainer, sx_nn *net, sx_optimizer *optimizer) {
    char message[SX_CUDA_MESSAGE] = "";
    SX_TRY(module_error(trainer->module->sync(trainer->state, net->parameter, optimizer->state, message),
                        message));
    optimizer->steps = trainer->steps;
    return SX_OK;
}
