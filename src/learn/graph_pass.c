#include "learn/graph_pass.h"

#include <stdlib.h>
#include <string.h>

struct sx_nn_graph_pass {
    size_t n_layers, n_levels;
    size_t level_of[SX_NN_MAX_LAYERS + 1]; /* by layer: that of its inputs */
    size_t pool_of[SX_NN_MAX_LAYERS];      /* of an unpool: the layer that it undoes; else SX_NN_MAX_LAYERS */
    float *d_skip[SX_NN_MAX_LAYERS];       /* of a pool and its unpool */
    sx_nn_level level[SX_NN_MAX_LAYERS + 1];
    sx_nn_attention attention[SX_NN_MAX_LAYERS];
    float *block; /* all floats but shares */
    bool failed;
};

/* Finds the level of each layer and the pool of each unpool. */
static sx_status match_levels(const sx_nn *net, sx_nn_graph_pass *pass) {
    size_t open[SX_NN_MAX_LAYERS], depth = 0;
    pass->n_layers = net->n_layers;
    for (size_t i = 0; i < net->n_layers; i++) {
        const sx_nn_layer *layer = &net->layer[i];
        pass->level_of[i] = depth;
        pass->pool_of[i] = SX_NN_MAX_LAYERS;
        if (layer->kind == SX_NN_POOL) open[depth++] = i;
        if (layer->kind == SX_NN_UNPOOL) {
            if (depth == 0 || net->layer[open[depth - 1]].inputs != layer->inputs)
                return sx_error_new(SX_ERR_INPUT, "layer %zu of a graph network undoes no pool", i + 1);
            pass->pool_of[i] = open[--depth];
        }
        if (depth >= pass->n_levels) pass->n_levels = depth + 1;
    }
    pass->level_of[net->n_layers] = depth;
    if (depth > 0) return sx_error_new(SX_ERR_INPUT, "a graph network has a pool that nothing undoes");
    return SX_OK;
}

/* Makes the levels but for their neighbours. */
static bool make_levels(const sx_nn_graph *graph, sx_nn_graph_pass *pass) {
    pass->level[0] = (sx_nn_level){.n = graph->n, .first = graph->first, .neighbour = graph->neighbour};
    for (size_t i = 1; i < pass->n_levels; i++) {
        sx_nn_level *level = &pass->level[i];
        size_t before = level[-1].n;
        level->n = sx_nn_pooled(before);
        level->first = calloc(level->n + 1, sizeof *level->first);
        level->kept = calloc(level->n + 1, sizeof *level->kept);
        level->gate = calloc(level->n + 1, sizeof *level->gate);
        level->score = calloc(before + 1, sizeof *level->score);
        level->mark = calloc(before + 1, sizeof *level->mark);
        if (!level->first || !level->kept || !level->gate || !level->score || !level->mark) return false;
    }
    return true;
}

/* Lays out the floats of all layers, or, where there is no block yet, counts them. */
static size_t lay_out(const sx_nn *net, sx_nn_graph_pass *pass) {
    size_t at = 0, most = 0;
    for (size_t i = 0; i < net->n_layers; i++) {
        size_t rows = sx_nn_graph_rows(pass, i), outputs = net->layer[i].outputs;
        sx_nn_attention *a = &pass->attention[i];
        if (net->layer[i].kind == SX_NN_POOL) {
            if (pass->block) pass->d_skip[i] = pass->block + at;
            at += rows * outputs;
        }
        if (net->layer[i].kind != SX_NN_ATTENTION) continue;
        if (pass->block) {
            a->h = pass->block + at;
            a->source = a->h + rows * outputs;
            a->target = a->source + rows * SX_NN_HEADS;
        }
        at += rows * (outputs + 2 * SX_NN_HEADS);
        if (rows * (outputs + SX_NN_HEADS) > most) most = rows * (outputs + SX_NN_HEADS);
    }
    for (size_t i = 0; pass->block && i < net->n_layers; i++) pass->attention[i].dh = pass->block + at;
    return at + most;
}

sx_status sx_nn_graph_pass_new(const sx_nn *net, const sx_nn_graph *graph, sx_nn_graph_pass **out) {
    sx_nn_graph_pass *pass = calloc(1, sizeof *pass);
    if (!pass) return sx_error_memory();
    sx_status status = match_levels(net, pass);
    if (!status && !make_levels(graph, pass)) status = sx_error_memory();
    if (!status) {
        pass->block = calloc(lay_out(net, pass) + 1, sizeof *pass->block);
        if (!pass->block) status = sx_error_memory();
    }
    if (status) {
        sx_nn_graph_pass_free(pass);
        return status;
    }
    lay_out(net, pass);
    *out = pass;
    return SX_OK;
}

void sx_nn_graph_pass_free(sx_nn_graph_pass *pass) {
    if (!pass) return;
    for (size_t i = 1; i < pass->n_levels; i++) {
        sx_nn_level *level = &pass->level[i];
        free(level->first);
        free(level->neighbour);
        free(level->kept);
        free(level->gate);
        free(level->score);
        free(level->mark);
    }
    for (size_t i = 0; i < pass->n_layers; i++) free(pass->attention[i].share);
    free(pass->block);
    free(pass);
}

size_t sx_nn_graph_rows(const sx_nn_graph_pass *pass, size_t i) {
    return pass->level[pass->level_of[i]].n;
}

size_t sx_nn_graph_call(sx_nn_graph_pass *pass, size_t i, sx_nn_call *call) {
    size_t pool = pass->pool_of[i];
    call->rows = sx_nn_graph_rows(pass, i);
    call->level = &pass->level[pass->level_of[i]];
    call->attention = &pass->attention[i];
    call->d_skip = pass->d_skip[pool < SX_NN_MAX_LAYERS ? pool : i];
    call->failed = &pass->failed;
    return pool;
}
