#include "fuse/chain_walk.h"

#include <stdlib.h>

static int reach_of(const sx_chain_layer *layer, int axis) {
    return layer->dilation[axis] * (layer->window[axis] - 1) + 1;
}

bool sx_chain_uses(const sx_chain_walk *w, int layer, int m) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    if (layer == m + 1) return true;
    return l->kind == SX_CHAIN_ADD && l->source == m && !(m == 0 && w->chain->rereads);
}

sx_interval sx_chain_footprint(const sx_chain_walk *w, int layer, int m, int axis, sx_interval made) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    if (!sx_interval_length(made)) return (sx_interval){0, 0};
    const int low = made.low * l->stride[axis] - l->pad[axis];
    const int high = (made.high - 1) * l->stride[axis] - l->pad[axis] + reach_of(l, axis);
    const sx_interval v = {sx_max_int(0, low), sx_min_int(w->extent[m][axis], high)};
    return sx_interval_length(v) ? v : (sx_interval){0, 0};
}

sx_interval sx_interval_hull(sx_interval a, sx_interval b) {
    if (!sx_interval_length(a)) return b;
    if (!sx_interval_length(b)) return a;
    return (sx_interval){sx_min_int(a.low, b.low), sx_max_int(a.high, b.high)};
}

int sx_chain_slice(const sx_chain_walk *w, int k) {
    const int tile = w->chain->loop[w->channel].tile;
    return sx_min_int(tile, w->channels[1] - k * tile);
}

int sx_chain_prefix(const sx_chain_walk *w, int step, int depth) {
    for (int d = w->chain->n_loops; d-- > depth;) step /= w->count[d];
    return step;
}

int sx_chain_slice_of(const sx_chain_walk *w, int step) {
    return w->channel < 0 ? 0 : sx_chain_prefix(w, step, w->channel + 1) % w->count[w->channel];
}

/* Shapes of the tensors, and the columns that are needed. */
static void shape_tensors(sx_chain_walk *w) {
    const sx_chain *chain = w->chain;
    sx_interval columns[SX_MAX_CHAIN + 1];
    for (int m = 0; m <= chain->n_layers; m++) {
        const sx_chain_layer *l = m ? &chain->layer[m - 1] : NULL;
        w->channels[m] = m ? l->channels : chain->extent[2];
        for (int a = 0; a < 2; a++)
            w->extent[m][a] = m ? (w->extent[m - 1][a] + 2 * l->pad[a] - reach_of(l, a)) / l->stride[a] + 1
                                : chain->extent[a];
    }
    for (int m = chain->n_layers; m >= 0; m--) {
        columns[m] = (sx_interval){0, m == chain->n_layers ? w->extent[m][1] : 0};
        for (int u = m + 1; u <= chain->n_layers; u++) {
            if (!sx_chain_uses(w, u, m)) continue;
            const sx_interval used = sx_chain_footprint(w, u, m, 1, columns[u]);
            w->uneven |= u > m + 1 && (used.low != columns[m].low || used.high != columns[m].high);
            columns[m] = sx_interval_hull(columns[m], used);
        }
        w->width[m] = sx_interval_length(columns[m]);
    }
}

/* The loops and their iterations; false where an axis has two. */
static bool count_loops(sx_chain_walk *w) {
    const sx_chain *chain = w->chain;
    w->row = w->column = w->channel = -1;
    w->n_steps = w->n_rows = w->n_columns = w->n_slices = 1;
    for (int d = 0; d < chain->n_loops; d++) {
        const int axis = (int)chain->loop[d].axis, tile = chain->loop[d].tile;
        const int size = axis == SX_CHAIN_CHANNEL ? w->channels[1] : w->extent[chain->n_layers][axis];
        int *loop = axis == SX_CHAIN_ROW ? &w->row : axis == SX_CHAIN_COLUMN ? &w->column : &w->channel;
        int *n = axis == SX_CHAIN_ROW ? &w->n_rows : axis == SX_CHAIN_COLUMN ? &w->n_columns : &w->n_slices;
        if (*loop >= 0 || tile < 1) return false;
        *loop = d;
        *n = w->count[d] = (size + tile - 1) / tile;
        w->n_steps *= *n;
    }
    w->sums = w->channel >= 0 ? chain->sliced + 1 : 0;
    for (int l = 1; l <= chain->n_layers; l++) {
        const sx_chain_layer *layer = &chain->layer[l - 1];
        if (layer->kind == SX_CHAIN_ADD && (layer->source < 0 || (layer->source == 0 && chain->rereads)))
            w->foreign = l;
    }
    return true;
}

static void swap_axes(int *pair) {
    const int other = pair[0];
    pair[0] = pair[1];
    pair[1] = other;
}

/* The same chain with rows for columns, where its first loop over positions is one over columns. */
static sx_chain turn_chain(const sx_chain *chain) {
    sx_chain turned = *chain;
    int first = 0;
    while (first < chain->n_loops && chain->loop[first].axis == SX_CHAIN_CHANNEL) first++;
    if (first == chain->n_loops || chain->loop[first].axis == SX_CHAIN_ROW) return turned;
    swap_axes(turned.extent);
    for (int l = 0; l < chain->n_layers; l++) {
        swap_axes(turned.layer[l].window);
        swap_axes(turned.layer[l].stride);
        swap_axes(turned.layer[l].dilation);
        swap_axes(turned.layer[l].pad);
    }
    for (int d = 0; d < chain->n_loops; d++)
        if (chain->loop[d].axis != SX_CHAIN_CHANNEL)
            turned.loop[d].axis = chain->loop[d].axis == SX_CHAIN_ROW ? SX_CHAIN_COLUMN : SX_CHAIN_ROW;
    return turned;
}

sx_chain_verdict sx_chain_walk_init(sx_chain_walk *w, const sx_chain *chain) {
    *w = (sx_chain_walk){.turned = turn_chain(chain)};
    w->chain = &w->turned;
    shape_tensors(w);
    if (!count_loops(w) || w->uneven) return SX_CHAIN_NOT_COVERED;
    for (int m = 0; m <= chain->n_layers; m++) {
        w->words[m] = calloc((size_t)w->n_steps, sizeof *w->words[m]);
        if (!w->words[m]) return SX_CHAIN_NO_MEMORY;
    }
    return w->column >= 0 ? sx_chain_walk_columns(w) : sx_chain_walk_rows(w);
}

void sx_chain_walk_fini(sx_chain_walk *w) {
    for (int m = 0; m <= w->turned.n_layers; m++) free(w->words[m]);
}
