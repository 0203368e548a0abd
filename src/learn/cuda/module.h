/* What the CUDA module gives and takes: plain C, so that the module and the library share no code. The module is a shared
 * library of its own, loaded when a GPU is asked for; programs start without CUDA's libraries. */
#ifndef SX_LEARN_CUDA_MODULE_H
#define SX_LEARN_CUDA_MODULE_H

#include "base/cuda.h"

#include <stddef.h>
#include <stdint.h>

/* Changes with everything below. */
enum { SX_CUDA_MODULE_VERSION = 1 };

/* A dense layer, with or without a ReLU after it. */
typedef struct sx_cuda_layer {
    uint32_t inputs, outputs;
    uint64_t first; /* parameter: inputs x outputs weights, then the biases */
    int relu;
} sx_cuda_layer;

/* Numbers of loss, optimizer and precision are those of sx_loss, sx_optimizer_kind and sx_trainer_precision. */
typedef struct sx_cuda_plan {
    const sx_cuda_layer *layer;
    size_t n_layers, batch, n_parameters, n_state;
    int loss, optimizer, precision;
    float momentum, beta1, beta2, epsilon;
    uint64_t steps; /* made before */
    const float *parameter, *state;
} sx_cuda_plan;

typedef struct sx_cuda_state sx_cuda_state;

/* Functions return 0, or another number with a message. `message` has SX_CUDA_MESSAGE bytes. */
typedef struct sx_cuda_module {
    int version;
    int (*make)(const sx_cuda_plan *plan, sx_cuda_state **out, char *message);
    void (*end)(sx_cuda_state *state);
    int (*data)(sx_cuda_state *state, const float *input, const float *target, size_t n, char *message);
    int (*step)(sx_cuda_state *state, const uint32_t *row, float rate, char *message);
    int (*loss)(sx_cuda_state *state, double *sum, char *message); /* of the steps since the last call */
    int (*sync)(sx_cuda_state *state, float *parameter, float *optimizer_state, char *message);
} sx_cuda_module;

/* The module's one symbol, "sx_cuda_module_get". */
typedef const sx_cuda_module *sx_cuda_module_getter(void);

#endif
