/* The way back through a pool: rows return to their nodes, and the pool's inputs are added (the skip connection).
 *
 * Source: Graph U-Nets (ICML 2019), sections 3.2 and 3.4. */
#include "learn/graph.h"
#include "learn/layers/layer.h"

#include <string.h>

static void forward_unpool(const sx_nn_call *call) {
    const sx_nn_level *level = call->level, *before = level - 1;
    size_t width = call->layer->inputs;
    memcpy(call->y, call->skip, before->n * width * sizeof *call->y);
    for (size_t i = 0; i < level->n; i++)
        for (size_t j = 0; j < width; j++) call->y[level->kept[i] * width + j] += call->x[i * width + j];
}

static void backward_unpool(const sx_nn_call *call) {
    const sx_nn_level *level = call->level, *before = level - 1;
    size_t width = call->layer->inputs;
    memcpy(call->d_skip, call->dy, before->n * width * sizeof *call->dy);
    if (!call->dx) return;
    for (size_t i = 0; i < level->n; i++)
        memcpy(call->dx + i * width, call->dy + level->kept[i] * width, width * sizeof *call->dx);
}

const sx_nn_type sx_nn_unpool = {
    .name = "graph unpool", .on_graphs = true, .forward = forward_unpool, .backward = backward_unpool};
