#include "support/window_chain.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS, COLUMNS, SLICES, AXES };

typedef struct box {
    bool empty;
    int low[AXES], high[AXES];
} box;

/* What the walk knows of a tensor, by step. */
typedef struct tensor_trace {
    int extent[2], slices; /* positions, and parts of the channels */
    int words[64];         /* channels of a slice */
    box *need, *made;
    uint64_t *before, *during, *after; /* words on chip before a step makes some, then, and kept after it */
    sx_chain_keep keep[3];
} tensor_trace;

typedef struct walker {
    const sx_chain *chain;
    int n_steps, count[3], channel_loop, n_slices,
        sums; /* sums: the tensor that a channel loop adds up; 0: none */
    int (*step)[3];
    tensor_trace tensor[SX_MAX_CHAIN + 1];
    int foreign; /* the layer that adds a tensor read from DRAM; 0: none */
} walker;

static int smaller(int a, int b) {
    return a < b ? a : b;
}
static int larger(int a, int b) {
    return a > b ? a : b;
}

static int reach(const sx_chain_layer *layer, int axis) {
    return layer->dilation[axis] * (layer->window[axis] - 1) + 1;
}

/* The outermost loop in which two steps differ; -1: none. */
static int outermost_difference(const walker *w, int a, int b) {
    for (int d = 0; d < w->chain->n_loops; d++)
        if (w->step[a][d] != w->step[b][d]) return d;
    return -1;
}

/* Joins a box to a hull. */
static void include_box(box *hull, const box *other) {
    if (other->empty) return;
    if (hull->empty) {
        *hull = *other;
        return;
    }
    for (int a = 0; a < AXES; a++) {
        hull->low[a] = smaller(hull->low[a], other->low[a]);
        hull->high[a] = larger(hull->high[a], other->high[a]);
    }
}

static uint64_t box_words(const tensor_trace *t, const box *b) {
    uint64_t words = 0;
    if (b->empty) return 0;
    for (int k = b->low[SLICES]; k < b->high[SLICES]; k++) words += (uint64_t)t->words[k];
    return words * (uint64_t)(b->high[ROWS] - b->low[ROWS]) * (uint64_t)(b->high[COLUMNS] - b->low[COLUMNS]);
}

static int slice_of(const walker *w, int i) {
    return w->channel_loop < 0 ? 0 : w->step[i][w->channel_loop];
}

/* The positions of the last tensor that a step makes. */
static box output_box(const walker *w, int i) {
    const sx_chain *chain = w->chain;
    const tensor_trace *last = &w->tensor[chain->n_layers];
    box b = {.high = {last->extent[0], last->extent[1], 1}};
    for (int d = 0; d < chain->n_loops; d++) {
        const int axis = (int)chain->loop[d].axis, tile = chain->loop[d].tile;
        if (axis == SX_CHAIN_CHANNEL) continue;
        b.low[axis] = w->step[i][d] * tile;
        b.high[axis] = smaller(last->extent[axis], b.low[axis] + tile);
    }
    b.empty = w->sums && chain->n_layers > w->sums && slice_of(w, i) != w->n_slices - 1;
    return b;
}

/* What a layer reads of tensor m to make a box. */
static box footprint(const walker *w, int m, int layer, const box *made, int slice) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    box b = {.empty = made->empty, .high = {0, 0, 1}};
    for (int a = 0; a < 2 && !b.empty; a++) {
        b.low[a] = larger(0, made->low[a] * l->stride[a] - l->pad[a]);
        b.high[a] =
            smaller(w->tensor[m].extent[a], (made->high[a] - 1) * l->stride[a] - l->pad[a] + reach(l, a));
        b.empty = b.low[a] >= b.high[a];
    }
    if (m >= 1 && m <= w->chain->sliced) {
        b.low[SLICES] = layer <= w->chain->sliced ? made->low[SLICES] : slice;
        b.high[SLICES] = layer <= w->chain->sliced ? made->high[SLICES] : slice + 1;
    }
    return b;
}

/* Whether a layer reads tensor m while it is on chip. */
static bool uses(const walker *w, int layer, int m) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    if (layer == m + 1) return true;
    return l->kind == SX_CHAIN_ADD && l->source == m && !(m == 0 && w->chain->rereads);
}

/* What each step needs of tensor m. */
static void find_needs(walker *w, int m) {
    tensor_trace *t = &w->tensor[m];
    const int n = w->chain->n_layers;
    for (int i = 0; i < w->n_steps; i++) {
        t->need[i] = (box){.empty = true};
        if (m == n) t->need[i] = output_box(w, i);
        for (int u = m + 1; u <= n; u++) {
            if (!uses(w, u, m)) continue;
            const box b = footprint(w, m, u, &w->tensor[u].made[i], slice_of(w, i));
            include_box(&t->need[i], &b);
        }
    }
    if (m != w->sums || !w->sums || m == n) return;
    for (int i = 0; i < w->n_steps; i++) { /* all slices add to what the last one hands on */
        for (int j = 0; j < w->n_steps; j++) {
            bool same = slice_of(w, j) == w->n_slices - 1;
            for (int d = 0; d < w->chain->n_loops; d++)
                same &= d == w->channel_loop || w->step[i][d] == w->step[j][d];
            if (same && j != i) t->need[i] = t->need[j];
        }
    }
}

/* The first iteration of a loop makes what any needs, where that is asked for. */
static void widen_needs(walker *w, int m) {
    tensor_trace *t = &w->tensor[m];
    for (int d = 0; d < w->chain->n_loops; d++)
        for (int i = 0; i < w->n_steps && t->keep[d] == SX_CHAIN_FULL; i++) {
            if (w->step[i][d]) continue;
            box hull = {.empty = true};
            for (int j = 0; j < w->n_steps; j++) {
                bool same = true;
                for (int e = 0; e < w->chain->n_loops; e++) same &= e == d || w->step[i][e] == w->step[j][e];
                if (same) include_box(&hull, &t->need[j]);
            }
            if (!hull.empty) t->need[i] = hull;
        }
}

/* The number of a word's place, and whether it is in a box. */
static bool is_inside(const box *b, int y, int x, int k) {
    return !b->empty && y >= b->low[ROWS] && y < b->high[ROWS] && x >= b->low[COLUMNS] &&
           x < b->high[COLUMNS] && k >= b->low[SLICES] && k < b->high[SLICES];
}

#define FOR_EACH_WORD(t, y, x, k)                                                                            \
    for (int y = 0; y < (t)->extent[0]; y++)                                                                 \
        for (int x = 0; x < (t)->extent[1]; x++)                                                             \
            for (int k = 0; k < (t)->slices; k++)

static int *place_of(const tensor_trace *t, int *maker, int y, int x, int k) {
    return &maker[(y * t->extent[1] + x) * t->slices + k];
}

static uint64_t count_held(const tensor_trace *t, int *maker) {
    uint64_t words = 0;
    FOR_EACH_WORD(t, y, x, k) if (*place_of(t, maker, y, x, k) >= 0) words += (uint64_t)t->words[k];
    return words;
}

/* The hull of the words that step i needs and that have not survived to it. maker: the step that made a word that is held;
 * -1: it is not held. */
static box missing_box(const walker *w, const tensor_trace *t, int i, int *maker) {
    box hull = {.empty = true};
    FOR_EACH_WORD(t, y, x, k) {
        const int p = *place_of(t, maker, y, x, k);
        if (!is_inside(&t->need[i], y, x, k)) continue;
        if (p >= 0 && t->keep[outermost_difference(w, p, i)] != SX_CHAIN_RECOMPUTE) continue;
        const box word = {.low = {y, x, k}, .high = {y + 1, x + 1, k + 1}};
        include_box(&hull, &word);
    }
    return hull;
}

/* Whether a word that step p made stays after step i. */
static bool stays(const walker *w, const tensor_trace *t, int p, int i, int y, int x, int k) {
    for (int j = i + 1; j < w->n_steps; j++) {
        const sx_chain_keep keep = t->keep[outermost_difference(w, p, j)];
        if (t->need[j].empty || keep == SX_CHAIN_RECOMPUTE) continue;
        if (keep == SX_CHAIN_FULL || is_inside(&t->need[j], y, x, k)) return true;
    }
    return false;
}

/* Walks all steps of one tensor. */
static bool walk_tensor(walker *w, int m) {
    tensor_trace *t = &w->tensor[m];
    const int n = w->chain->n_layers, words = t->extent[0] * t->extent[1] * t->slices;
    const bool is_sum = w->sums && m == w->sums;
    const bool is_kept = m < n || (is_sum && !w->chain->spills);
    int *maker = malloc((size_t)words * sizeof *maker);
    if (!maker) return false;
    for (int i = 0; i < words; i++) maker[i] = -1;
    find_needs(w, m);
    widen_needs(w, m);
    for (int i = 0; i < w->n_steps; i++) {
        t->before[i] = count_held(t, maker);
        t->made[i] = is_sum ? t->need[i] : missing_box(w, t, i, maker);
        FOR_EACH_WORD(t, y, x, k) if (is_inside(&t->made[i], y, x, k)) * place_of(t, maker, y, x, k) = i;
        t->during[i] = count_held(t, maker);
        FOR_EACH_WORD(t, y, x, k) {
            int *p = place_of(t, maker, y, x, k);
            if (*p >= 0 && !(is_kept && stays(w, t, *p, i, y, x, k))) *p = -1;
        }
        t->after[i] = count_held(t, maker);
    }
    free(maker);
    return true;
}

/* Words of a layer's weights in a step, those of the slice where a channel loop is above them. */
static uint64_t weight_words(const walker *w, int layer, int i) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    int in = layer > 1 ? w->chain->layer[layer - 2].channels : w->chain->extent[2], out = l->channels;
    if (l->kind == SX_CHAIN_ADD) return 0;
    if (w->channel_loop >= 0 && w->channel_loop < l->weight_depth) {
        const int c = w->tensor[1].words[slice_of(w, i)];
        if (layer <= w->chain->sliced) out = c;
        if (layer == w->chain->sliced + 1) in = c;
    }
    return (uint64_t)(l->window[0] * l->window[1]) * (uint64_t)out *
           (uint64_t)(l->kind == SX_CHAIN_CONV ? in : 1);
}

/* Whether two steps are in the same iteration of the `depth` outermost loops. */
static bool shares_loops(const walker *w, int i, int j, int depth) {
    for (int d = 0; d < depth; d++)
        if (w->step[i][d] != w->step[j][d]) return false;
    return true;
}

/* The first step in the same iteration of the loops above a layer's weights in which the layer runs; -1: none. */
static int first_run(const walker *w, int layer, int i) {
    for (int j = 0; j < w->n_steps; j++)
        if (!w->tensor[layer].made[j].empty && shares_loops(w, i, j, w->chain->layer[layer - 1].weight_depth))
            return j;
    return -1;
}

/* The loops that a layer has part in: up to the innermost along which no tensor from its own on is made at once. */
static int loops_of(const walker *w, int layer) {
    for (int d = w->chain->n_loops; d-- > 0;) {
        bool full = false;
        for (int m = layer; m < w->chain->n_layers; m++) full |= w->chain->keep[m][d] == SX_CHAIN_FULL;
        if (!full) return d + 1;
    }
    return 0;
}

/* Words of weights on chip while a layer runs in a step. */
static uint64_t live_weights(const walker *w, int layer, int i) {
    uint64_t words = 0;
    for (int other = 1; other <= w->chain->n_layers; other++) {
        const int depth = w->chain->layer[other - 1].weight_depth, run = first_run(w, other, i);
        if (run >= 0 && (other == layer || depth < smaller(loops_of(w, other), loops_of(w, layer))))
            words += weight_words(w, other, run);
    }
    return words;
}

/* Words of tensor m on chip while a layer runs in a step. */
static uint64_t live_words(const walker *w, int m, int layer, int i) {
    const tensor_trace *t = &w->tensor[m];
    int last = -1;
    for (int u = m + 1; u <= w->chain->n_layers; u++)
        if (uses(w, u, m) && !w->tensor[u].made[i].empty) last = u;
    if (last < 0) last = m;
    return layer < larger(m, 1) ? t->before[i] : layer <= last ? t->during[i] : t->after[i];
}

/* Counts a layer that runs in a step. */
static void count_run(const walker *w, int layer, int i, sx_chain_count *count) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    const uint64_t made = box_words(&w->tensor[layer], &w->tensor[layer].made[i]);
    int in = layer > 1 ? w->chain->layer[layer - 2].channels : w->chain->extent[2];
    if (w->sums && layer == w->sums) in = w->tensor[1].words[slice_of(w, i)];
    const uint64_t taps = (uint64_t)(l->window[0] * l->window[1]);
    count->operations[layer] += made * (l->kind == SX_CHAIN_ADD         ? 1
                                        : l->kind == SX_CHAIN_DEPTHWISE ? taps
                                                                        : taps * (uint64_t)in);
    uint64_t live = live_weights(w, layer, i);
    for (int m = 0; m <= w->chain->n_layers; m++) live += live_words(w, m, layer, i);
    if (w->foreign == layer) {
        live += made;
        count->other_reads += made;
    }
    if (live > count->peak) count->peak = live;
}

static void count_steps(const walker *w, sx_chain_count *count) {
    const int n = w->chain->n_layers;
    memset(count, 0, sizeof *count);
    for (int i = 0; i < w->n_steps; i++) {
        const uint64_t out = box_words(&w->tensor[n], &w->tensor[n].made[i]);
        count->input_reads += box_words(&w->tensor[0], &w->tensor[0].made[i]);
        const bool again = w->sums == n && n && slice_of(w, i) > 0;
        if (!again || w->chain->spills) count->writes += out;
        if (again && w->chain->spills) count->sum_reads += out;
        for (int l = 1; l <= n; l++) {
            if (w->tensor[l].made[i].empty) continue;
            count_run(w, l, i, count);
            if (first_run(w, l, i) == i) count->weight_reads[l] += weight_words(w, l, i);
        }
    }
}

static void free_walker(walker *w) {
    for (int m = 0; m <= w->chain->n_layers; m++) {
        tensor_trace *t = &w->tensor[m];
        free(t->need);
        free(t->made);
        free(t->before);
        free(t->during);
        free(t->after);
    }
    free(w->step);
}

/* Shapes of the tensors. */
static bool make_tensors(walker *w) {
    const sx_chain *chain = w->chain;
    const size_t n = (size_t)w->n_steps;
    for (int m = 0; m <= chain->n_layers; m++) {
        tensor_trace *t = &w->tensor[m];
        const int channels = m ? chain->layer[m - 1].channels : chain->extent[2];
        for (int a = 0; a < 2; a++) {
            const sx_chain_layer *l = m ? &chain->layer[m - 1] : NULL;
            t->extent[a] = m ? (w->tensor[m - 1].extent[a] + 2 * l->pad[a] - reach(l, a)) / l->stride[a] + 1
                             : chain->extent[a];
        }
        t->slices = m >= 1 && m <= chain->sliced ? w->n_slices : 1;
        for (int k = 0; k < t->slices; k++) {
            const int tile = t->slices > 1 || (m >= 1 && m <= chain->sliced)
                                 ? chain->loop[w->channel_loop].tile
                                 : channels;
            t->words[k] = smaller(tile, channels - k * tile);
        }
        for (int d = 0; d < chain->n_loops; d++) {
            t->keep[d] = m < chain->n_layers ? chain->keep[m][d] : SX_CHAIN_RETAIN;
            if (w->sums && m == w->sums && d == w->channel_loop) t->keep[d] = SX_CHAIN_RETAIN;
        }
        t->need = calloc(n, sizeof *t->need);
        t->made = calloc(n, sizeof *t->made);
        t->before = calloc(n, sizeof *t->before);
        t->during = calloc(n, sizeof *t->during);
        t->after = calloc(n, sizeof *t->after);
        if (!t->need || !t->made || !t->before || !t->during || !t->after) return false;
    }
    return true;
}

/* The steps: all iterations of the loops, innermost fastest. */
static bool make_steps(walker *w) {
    const sx_chain *chain = w->chain;
    w->n_steps = 1;
    for (int d = 0; d < chain->n_loops; d++) w->n_steps *= w->count[d];
    w->step = calloc((size_t)w->n_steps, sizeof *w->step);
    for (int i = 0; w->step && i < w->n_steps; i++)
        for (int d = chain->n_loops, rest = i; d-- > 0; rest /= w->count[d])
            w->step[i][d] = rest % w->count[d];
    return w->step != NULL;
}

/* Extents of the last tensor, without the walk. */
static int last_extent(const sx_chain *chain, int axis) {
    int extent = chain->extent[axis];
    for (int l = 0; l < chain->n_layers; l++)
        extent = (extent + 2 * chain->layer[l].pad[axis] - reach(&chain->layer[l], axis)) /
                     chain->layer[l].stride[axis] +
                 1;
    return extent;
}

bool sx_chain_execute(const sx_chain *chain, sx_chain_count *count) {
    walker w = {.chain = chain, .channel_loop = -1, .n_slices = 1};
    for (int d = 0; d < chain->n_loops; d++) {
        const int axis = (int)chain->loop[d].axis, tile = chain->loop[d].tile;
        const int size = axis == SX_CHAIN_CHANNEL ? chain->layer[0].channels : last_extent(chain, axis);
        w.count[d] = (size + tile - 1) / tile;
        if (axis != SX_CHAIN_CHANNEL) continue;
        w.channel_loop = d;
        w.n_slices = w.count[d];
        w.sums = chain->sliced + 1;
    }
    for (int l = 1; l <= chain->n_layers; l++) {
        const sx_chain_layer *layer = &chain->layer[l - 1];
        if (layer->kind == SX_CHAIN_ADD && (layer->source < 0 || (layer->source == 0 && chain->rereads)))
            w.foreign = l;
    }
    bool done = make_steps(&w) && make_tensors(&w);
    for (int m = chain->n_layers; m >= 0 && done; m--) done = walk_tensor(&w, m);
    if (done) count_steps(&w, count);
    free_walker(&w);
    return done;
}
