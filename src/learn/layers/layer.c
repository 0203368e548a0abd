#include "learn/layers/layer.h"

const sx_nn_type *sx_nn_type_of(sx_nn_kind kind) {
    static const sx_nn_type *const types[SX_NN_KINDS] = {
        [SX_NN_DENSE] = &sx_nn_dense,
        [SX_NN_RELU] = &sx_nn_relu,
        [SX_NN_TANH] = &sx_nn_tanh,
        [SX_NN_SIGMOID] = &sx_nn_sigmoid,
        [SX_NN_SOFTMAX] = &sx_nn_softmax,
        [SX_NN_LAYER_NORM] = &sx_nn_layer_norm,
        [SX_NN_ATTENTION] = &sx_nn_attention_layer,
        [SX_NN_POOL] = &sx_nn_pool,
        [SX_NN_UNPOOL] = &sx_nn_unpool,
    };
    return types[kind];
}

void sx_nn_backward_product(const sx_nn_call *call, const float *dy) {
    const size_t inputs = call->layer->inputs, outputs = call->layer->outputs;
    const sx_matmul by_weights = {.m = inputs,
                                  .n = outputs,
                                  .k = call->rows,
                                  .a = call->x,
                                  .a_transposed = true,
                                  .b = dy,
                                  .c = call->d_parameter};
    const sx_matmul by_inputs = {.m = call->rows,
                                 .n = inputs,
                                 .k = outputs,
                                 .a = dy,
                                 .b = call->parameter,
                                 .b_transposed = true,
                                 .c = call->dx,
                                 .wanted = call->x_masks ? call->x : NULL};
    if (call->d_parameter) sx_matrix_product(call->engine, &by_weights);
    if (call->dx) sx_matrix_product(call->engine, &by_inputs);
}
