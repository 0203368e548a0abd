#include "looptree/chain_moments.h"

#include <stdlib.h>
#include <string.h>

/* Words of a layer's weights, those of a slice where the channel loop is above them. */
static uint64_t weight_words(const sx_chain_walk *w, int layer, int depth, int slice) {
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    int in = w->extent[layer - 1][2], out = w->extent[layer][2];
    if (l->kind == SX_CHAIN_ADD) return 0;
    if (w->loop[SX_CHAIN_CHANNEL] >= 0 && w->loop[SX_CHAIN_CHANNEL] < depth) {
        if (layer <= w->chain->sliced) out = sx_chain_slice(w, slice);
        if (layer == w->sums) in = sx_chain_slice(w, slice);
    }
    return (uint64_t)(l->window[0] * l->window[1]) * (uint64_t)out *
           (uint64_t)(l->kind == SX_CHAIN_CONV ? in : 1);
}

/* The loops that a layer has part in: up to the innermost along which no tensor from its own on is made at once. */
static int loops_of(const sx_chain_walk *w, int layer) {
    for (int d = w->chain->n_loops; d-- > 0;) {
        bool full = false;
        for (int m = layer; m < w->chain->n_layers; m++) full |= w->chain->keep[m][d] == SX_CHAIN_FULL;
        if (!full) return d + 1;
    }
    return 0;
}

/* The steps of a walk while moments are collected. */
typedef struct collector {
    const sx_chain_walk *w;
    sx_chain_moments *moments;
    uint32_t *ran[4]; /* by depth and iteration: layers that run in it */
} collector;

/* Says for each iteration of the outer loops which layers run in it. */
static bool find_runs(collector *c) {
    const sx_chain_walk *w = c->w;
    for (int d = 0; d <= w->chain->n_loops; d++) {
        c->ran[d] = calloc((size_t)w->n_steps, sizeof *c->ran[d]);
        if (!c->ran[d]) return false;
        for (int i = 0; i < w->n_steps; i++)
            for (int l = 1; l <= w->chain->n_layers; l++)
                if (w->words[l][i].made) c->ran[d][sx_chain_prefix(w, i, d)] |= 1u << l;
    }
    return true;
}

/* The weights of a layer at each depth: once for every iteration in which it runs. */
static void count_weights(const collector *c, int layer) {
    const sx_chain_walk *w = c->w;
    sx_chain_moments *moments = c->moments;
    for (int d = 0; d <= w->chain->n_loops; d++) {
        int last = -1;
        moments->weights[layer][d][0] = weight_words(w, layer, d, 0);
        moments->weights[layer][d][1] = weight_words(w, layer, d, w->n_slices - 1);
        for (int i = 0; i < w->n_steps; i++) {
            const int prefix = sx_chain_prefix(w, i, d);
            if (prefix == last) continue;
            last = prefix;
            if (c->ran[d][prefix] >> layer & 1)
                moments->reads[layer][d] += weight_words(w, layer, d, sx_chain_slice_of(w, i));
        }
    }
}

/* Words of tensors on chip while a layer runs in a step. */
static uint64_t live_words(const sx_chain_walk *w, int layer, int i) {
    uint64_t live = w->foreign == layer ? w->words[layer][i].made : 0;
    for (int m = 0; m <= w->chain->n_layers; m++) {
        const sx_chain_words *words = &w->words[m][i];
        int last = m;
        for (int u = m + 1; u <= w->chain->n_layers; u++)
            if (w->words[u][i].made && sx_chain_uses(w, u, m)) last = u;
        live += layer < sx_max_int(m, 1) ? words->before : layer <= last ? words->during : words->after;
    }
    return live;
}

/* Enters a moment, or raises the words of one that is like it. */
static bool enter_moment(sx_chain_moments *moments, const sx_chain_moment *moment) {
    for (size_t i = moments->moment.n; i-- > 0;) {
        sx_chain_moment *like = sx_vector_at(&moments->moment, i);
        if (like->layer != moment->layer || like->short_slice != moment->short_slice ||
            memcmp(like->ran, moment->ran, sizeof like->ran) != 0)
            continue;
        if (moment->words > like->words) like->words = moment->words;
        return true;
    }
    sx_chain_moment *entered = sx_vector_add(&moments->moment);
    if (entered) *entered = *moment;
    return entered != NULL;
}

/* Counts a layer that runs in a step. */
static bool count_run(const collector *c, int layer, int i) {
    const sx_chain_walk *w = c->w;
    const sx_chain_layer *l = &w->chain->layer[layer - 1];
    sx_chain_count *count = &c->moments->count;
    const uint64_t made = w->words[layer][i].made, taps = (uint64_t)(l->window[0] * l->window[1]);
    const int slice = sx_chain_slice_of(w, i);
    const int in = w->sums && layer == w->sums ? sx_chain_slice(w, slice) : w->extent[layer - 1][2];
    sx_chain_moment moment = {.layer = layer,
                              .short_slice = w->n_slices > 1 && slice == w->n_slices - 1,
                              .words = live_words(w, layer, i)};
    for (int d = 0; d <= w->chain->n_loops; d++) moment.ran[d] = c->ran[d][sx_chain_prefix(w, i, d)];
    count->operations[layer] += made * (l->kind == SX_CHAIN_ADD         ? 1
                                        : l->kind == SX_CHAIN_DEPTHWISE ? taps
                                                                        : taps * (uint64_t)in);
    if (w->foreign == layer) count->other_reads += made;
    return enter_moment(c->moments, &moment);
}

static bool count_steps(const collector *c) {
    const sx_chain_walk *w = c->w;
    const int n = w->chain->n_layers;
    sx_chain_count *count = &c->moments->count;
    for (int i = 0; i < w->n_steps; i++) {
        const bool again = w->sums == n && sx_chain_slice_of(w, i) > 0;
        count->input_reads += w->words[0][i].made;
        if (!again || w->chain->spills) count->writes += w->words[n][i].made;
        if (again && w->chain->spills) count->sum_reads += w->words[n][i].made;
        for (int l = 1; l <= n; l++)
            if (w->words[l][i].made && !count_run(c, l, i)) return false;
    }
    return true;
}

static void free_runs(collector *c) {
    for (int d = 0; d < 4; d++) free(c->ran[d]);
}

bool sx_chain_moments_init(sx_chain_moments *moments, const sx_chain_walk *walk) {
    collector c = {.w = walk, .moments = moments};
    memset(moments, 0, sizeof *moments);
    moments->n_layers = walk->chain->n_layers;
    moments->n_loops = walk->chain->n_loops;
    moments->moment.size = sizeof(sx_chain_moment);
    bool ok = find_runs(&c);
    for (int l = 1; ok && l <= walk->chain->n_layers; l++) {
        moments->loops[l] = loops_of(walk, l);
        count_weights(&c, l);
    }
    ok = ok && count_steps(&c);
    free_runs(&c);
    return ok;
}

void sx_chain_moments_fini(sx_chain_moments *moments) {
    sx_vector_clear(&moments->moment);
}

uint64_t sx_chain_peak(const sx_chain_moments *moments, const int *depth) {
    uint64_t peak = 0;
    for (size_t i = 0; i < moments->moment.n; i++) {
        const sx_chain_moment *moment = sx_vector_at(&moments->moment, i);
        const int loops = moments->loops[moment->layer];
        uint64_t words = moment->words;
        for (int l = 1; l <= moments->n_layers; l++)
            if ((l == moment->layer || depth[l] < sx_min_int(moments->loops[l], loops)) &&
                moment->ran[depth[l]] >> l & 1)
                words += moments->weights[l][depth[l]][moment->short_slice];
        if (words > peak) peak = words;
    }
    return peak;
}

/* Counts with the depths of the weights that a chain has. */
static bool count_walk(const sx_chain_walk *walk, sx_chain_count *count) {
    sx_chain_moments moments;
    int depth[SX_MAX_CHAIN + 1];
    const bool ok = sx_chain_moments_init(&moments, walk);
    *count = moments.count;
    for (int l = 1; l <= walk->chain->n_layers; l++) {
        depth[l] = walk->chain->layer[l - 1].weight_depth;
        count->weight_reads[l] = moments.reads[l][depth[l]];
    }
    count->peak = sx_chain_peak(&moments, depth);
    sx_chain_moments_fini(&moments);
    return ok;
}

sx_chain_verdict sx_chain_evaluate(const sx_chain *chain, sx_chain_count *count) {
    sx_chain_walk walk;
    sx_chain_verdict verdict = sx_chain_walk_init(&walk, chain);
    for (int m = chain->n_layers; m >= 0 && !verdict; m--)
        if (!sx_chain_walk_tensor(&walk, m)) verdict = SX_CHAIN_NO_MEMORY;
    if (!verdict && !count_walk(&walk, count)) verdict = SX_CHAIN_NO_MEMORY;
    sx_chain_walk_fini(&walk);
    return verdict;
}
