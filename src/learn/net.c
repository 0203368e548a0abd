#include "learn/net.h"

#include "base/hash.h"
#include "learn/layers/layer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static size_t aligned_size(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Lays out the layers; an error where a size is out of its range. */
static sx_status lay_out(uint32_t inputs, const sx_nn_plan *plan, size_t n, sx_nn_layer *layer,
                         size_t *n_parameters) {
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned)plan[i].kind >= SX_NN_KINDS)
            return sx_error_new(SX_ERR_USAGE, "layer %zu is of an unknown kind", i + 1);
        const sx_nn_type *type = sx_nn_type_of(plan[i].kind);
        uint32_t outputs = sx_nn_widens(plan[i].kind) ? plan[i].outputs : inputs;
        if (outputs < 1 || outputs > SX_NN_MAX_WIDTH)
            return sx_error_new(SX_ERR_LIMIT, "layer %zu of a network has %u outputs instead of 1 to %d",
                                i + 1, outputs, SX_NN_MAX_WIDTH);
        if (plan[i].kind == SX_NN_ATTENTION && outputs % SX_NN_HEADS)
            return sx_error_new(SX_ERR_LIMIT, "layer %zu of a network has %u outputs, not a multiple of %d",
                                i + 1, outputs, SX_NN_HEADS);
        size_t own = type->n_parameters ? type->n_parameters(inputs, outputs) : 0;
        layer[i] = (sx_nn_layer){plan[i].kind, inputs, outputs, first, own};
        first += own;
        inputs = outputs;
        if (first > SX_NN_MAX_PARAMETERS)
            return sx_error_new(SX_ERR_LIMIT, "a network has more than %d parameters", SX_NN_MAX_PARAMETERS);
    }
    *n_parameters = first;
    return SX_OK;
}

sx_status sx_nn_new(uint32_t inputs, const sx_nn_plan *plan, size_t n_layers, sx_nn **out) {
    sx_nn_layer layer[SX_NN_MAX_LAYERS];
    size_t n_parameters;
    if (n_layers < 1 || n_layers > SX_NN_MAX_LAYERS)
        return sx_error_new(SX_ERR_LIMIT, "a network has %zu layers instead of 1 to %d", n_layers,
                            SX_NN_MAX_LAYERS);
    if (inputs < 1 || inputs > SX_NN_MAX_WIDTH)
        return sx_error_new(SX_ERR_LIMIT, "a network has %u inputs instead of 1 to %d", inputs,
                            SX_NN_MAX_WIDTH);
    SX_TRY(lay_out(inputs, plan, n_layers, layer, &n_parameters));
    size_t head = aligned_size(sizeof(sx_nn)), layers = aligned_size(n_layers * sizeof *layer);
    size_t size = head + layers + aligned_size(n_parameters * sizeof(float));
    char *block = aligned_alloc(ALIGNMENT, size);
    if (!block) return sx_error_memory();
    memset(block, 0, size);
    sx_nn *net = (sx_nn *)block;
    *net = (sx_nn){.inputs = inputs,
                   .outputs = layer[n_layers - 1].outputs,
                   .n_layers = (uint32_t)n_layers,
                   .layer = (sx_nn_layer *)(block + head),
                   .n_parameters = n_parameters,
                   .parameter = (float *)(block + head + layers)};
    memcpy(net->layer, layer, n_layers * sizeof *layer);
    *out = net;
    return SX_OK;
}

void sx_nn_free(sx_nn *net) {
    free(net);
}

sx_status sx_nn_new_mlp(const uint32_t *width, size_t n_widths, sx_nn_kind between, sx_nn_kind last,
                        sx_nn **out) {
    sx_nn_plan plan[SX_NN_MAX_LAYERS];
    size_t n = 0;
    if (n_widths < 2 || n_widths > SX_NN_MAX_LAYERS / 2)
        return sx_error_new(SX_ERR_LIMIT, "a network is given by %zu widths instead of 2 to %d", n_widths,
                            SX_NN_MAX_LAYERS / 2);
    for (size_t i = 1; i < n_widths; i++) {
        plan[n++] = (sx_nn_plan){SX_NN_DENSE, width[i]};
        sx_nn_kind after = i + 1 < n_widths ? between : last;
        if (after != SX_NN_KINDS) plan[n++] = (sx_nn_plan){.kind = after};
    }
    return sx_nn_new(width[0], plan, n, out);
}

sx_status sx_nn_copy(const sx_nn *net, sx_nn **out) {
    sx_nn_plan plan[SX_NN_MAX_LAYERS];
    for (size_t i = 0; i < net->n_layers; i++)
        plan[i] = (sx_nn_plan){net->layer[i].kind, net->layer[i].outputs};
    SX_TRY(sx_nn_new(net->inputs, plan, net->n_layers, out));
    memcpy((*out)->parameter, net->parameter, net->n_parameters * sizeof *net->parameter);
    return SX_OK;
}

bool sx_nn_alike(const sx_nn *a, const sx_nn *b) {
    if (a->inputs != b->inputs || a->n_layers != b->n_layers) return false;
    for (size_t i = 0; i < a->n_layers; i++)
        if (a->layer[i].kind != b->layer[i].kind || a->layer[i].outputs != b->layer[i].outputs) return false;
    return true;
}

void sx_nn_initialise(sx_nn *net, sx_nn_init init, uint64_t seed) {
    for (size_t i = 0; i < net->n_layers; i++) {
        const sx_nn_type *type = sx_nn_type_of(net->layer[i].kind);
        sx_rng rng = sx_rng_stream(seed, "learn.init", i);
        if (type->initialise)
            type->initialise(&net->layer[i], net->parameter + net->layer[i].first, init, &rng);
    }
}

void sx_nn_blend(sx_nn *net, const sx_nn *other, float share) {
    assert(sx_nn_alike(net, other));
    for (size_t i = 0; i < net->n_parameters; i++)
        net->parameter[i] += share * (other->parameter[i] - net->parameter[i]);
}

uint64_t sx_nn_hash(const sx_nn *net) {
    return sx_hash_bytes(net->parameter, net->n_parameters * sizeof *net->parameter, 0);
}
