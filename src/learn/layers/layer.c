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
