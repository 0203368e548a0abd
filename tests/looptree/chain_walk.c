#include "looptree/chain_walk.h"

#include <stdlib.h>

static int reach_of(const sx_chain_layer *layer, int axis) {
    return layer->dilation[axis] * (layer->window[axis] - 1) + 1;
}

void sx_chain_shape(const sx_chain *chain, int m, int *extent) {
    for (int a = 0; a < 2; a++) {
        extent[a] = chain->extent[a];
        for (int l = 0; l < m; l++)
            extent[a] = (extent[a] + 2 * chain->layer[l].pad[a] - reach_of(&chain->layer[l], a)) /
                            chain->layer[l].stride[a] +
                        1;
    }
    extent[2] = m ? chain->layer[m - 1].channels : chain->extent[2];
}

bool sx_chain_uses(const sx_chain_walk *w, int layer, int m) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    if (layer == m + 1) return true;
    return l->kind == SX_CHAIN_ADD && l->source == m && !(m == 0 && w->chain->rereads);
}

int sx_chain_slice(const sx_chain_walk *w, int k) {
    const int tile = w->chain->loop[w->loop[SX_CHAIN_CHANNEL]].tile;
    return sx_min_int(tile, w->extent[1][2] - k * tile);
}

int sx_chain_slice_of(const sx_chain_walk *w, int step) {
    const int d = w->loop[SX_CHAIN_CHANNEL];
    return d < 0 ? 0 : sx_chain_iteration(w, step, d);
}

/* What a layer reads of tensor m, along an axis, to make an interval. */
static sx_interval footprint(const sx_chain_walk *w, int layer, int m, int axis, sx_interval made) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    const int low = made.low * l->stride[axis] - l->pad[axis];
    const int high = (made.high - 1) * l->stride[axis] - l->pad[axis] + reach_of(l, axis);
    return (sx_interval){sx_max_int(0, low), sx_min_int(w->extent[m][axis], high)};
}

/* The tile of the last tensor that a step asks for; what follows the sums is made in the last slice alone. */
static sx_chain_box tile_of(const sx_chain_walk *w, int step) {
    const int n = w->chain->n_layers;
    sx_chain_box box = {{{0, 0}, {0, 0}, {0, 1}}};
    if (w->sums && n > w->sums && sx_chain_slice_of(w, step) < w->n_slices - 1)
        return (sx_chain_box){{{0, 0}}};
    for (int a = 0; a < 2; a++) {
        const int d = w->loop[a], size = w->extent[n][a], tile = d < 0 ? size : w->chain->loop[d].tile;
        const int i = d < 0 ? 0 : sx_chain_iteration(w, step, d);
        box.axis[a] = (sx_interval){i * tile, sx_min_int(size, (i + 1) * tile)};
    }
    return box;
}

void sx_chain_box_add(sx_chain_box *box, const sx_chain_box *more) {
    if (sx_chain_box_is_empty(box)) *box = *more;
    if (sx_chain_box_is_empty(more)) return;
    for (int a = 0; a < 3; a++) {
        box->axis[a].low = sx_min_int(box->axis[a].low, more->axis[a].low);
        box->axis[a].high = sx_max_int(box->axis[a].high, more->axis[a].high);
    }
}

/* What a layer reads of tensor m in a step. */
static sx_chain_box read_box(const sx_chain_walk *w, int layer, int m, int step) {
    const sx_chain_box *made = &w->made[layer][step];
    sx_chain_box box = {{{0, 0}, {0, 0}, {0, 1}}};
    if (sx_chain_box_is_empty(made)) return (sx_chain_box){{{0, 0}}};
    for (int a = 0; a < 2; a++) {
        box.axis[a] = footprint(w, layer, m, a, made->axis[a]);
        if (!sx_interval_length(box.axis[a])) return (sx_chain_box){{{0, 0}}};
    }
    if (sx_chain_is_sliced(w, m)) {
        const int k = sx_chain_slice_of(w, step);
        box.axis[2] = sx_chain_is_sliced(w, layer) ? made->axis[2] : (sx_interval){k, k + 1};
    }
    return box;
}

sx_chain_box sx_chain_need(const sx_chain_walk *w, int m, int step) {
    const int n = w->chain->n_layers;
    sx_chain_box need = {{{0, 0}}};
    if (m == n) return tile_of(w, step);
    for (int u = m + 1; u <= n; u++) {
        if (!sx_chain_uses(w, u, m)) continue;
        const sx_chain_box box = read_box(w, u, m, step);
        sx_chain_box_add(&need, &box);
    }
    return need;
}

/* The loops and their iterations; false where an axis has two. */
static bool count_loops(sx_chain_walk *w) {
    const sx_chain *chain = w->chain;
    w->n_steps = w->n_slices = 1;
    for (int a = 0; a < 3; a++) w->loop[a] = -1;
    for (int d = 0; d < chain->n_loops; d++) {
        const int axis = (int)chain->loop[d].axis, tile = chain->loop[d].tile;
        const int size = axis == SX_CHAIN_CHANNEL ? w->extent[1][2] : w->extent[chain->n_layers][axis];
        if (w->loop[axis] >= 0 || tile < 1) return false;
        w->loop[axis] = d;
        w->count[d] = (size + tile - 1) / tile;
        w->n_steps *= w->count[d];
        if (axis == SX_CHAIN_CHANNEL) w->n_slices = w->count[d];
    }
    w->group[chain->n_loops] = 1;
    for (int d = chain->n_loops; d-- > 0;) w->group[d] = w->group[d + 1] * w->count[d];
    w->sums = w->loop[SX_CHAIN_CHANNEL] >= 0 ? chain->sliced + 1 : 0;
    for (int l = 1; l <= chain->n_layers; l++) {
        const sx_chain_layer *layer = &chain->layer[l - 1];
        if (layer->kind == SX_CHAIN_ADD && (layer->source < 0 || (layer->source == 0 && chain->rereads)))
            w->foreign = l;
    }
    return true;
}

sx_chain_verdict sx_chain_walk_init(sx_chain_walk *w, const sx_chain *chain) {
    *w = (sx_chain_walk){.chain = chain};
    for (int m = 0; m <= chain->n_layers; m++) sx_chain_shape(chain, m, w->extent[m]);
    if (!count_loops(w)) return SX_CHAIN_BAD_LOOPS;
    for (int m = 0; m <= chain->n_layers; m++) {
        w->words[m] = malloc((size_t)w->n_steps * sizeof *w->words[m]);
        w->made[m] = malloc((size_t)w->n_steps * sizeof *w->made[m]);
        if (!w->words[m] || !w->made[m]) return SX_CHAIN_NO_MEMORY;
    }
    return SX_CHAIN_OK;
}

void sx_chain_walk_fini(sx_chain_walk *w) {
    for (int m = 0; m <= w->chain->n_layers; m++) {
        free(w->words[m]);
        free(w->made[m]);
    }
}
