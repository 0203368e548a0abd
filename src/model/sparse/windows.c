/* The words of windows in boxes (docs/sparse.md, section 4). In a rank of several dimensions, such as p + r, the words of
 * a box are as many as there are sums of its iterations. Where these are neighbours in every dimension, that is the
 * tile of their extents. They are not where a loop is in the box and another one of its dimension inside it is not:
 * the words are then those of a tile, moved by each iteration of the loops that leave gaps. */
#include "model/sparse/pass.h"

#include <stdlib.h>

enum { MOST_RUNS = 256 };

/* A loop whose iterations are no neighbours. */
typedef struct gap {
    uint8_t dim;
    uint32_t n;
    uint64_t step;
} gap;

/* The iterations of a box. */
typedef struct iterations {
    uint64_t run[SX_MAX_DIMS]; /* that are neighbours */
    int n_gaps;
    gap gaps[2 * (MAX_LOOPS + SX_MAX_DIMS)];
} iterations;

/* Runs of words, in order and apart. */
typedef struct runs {
    int n;
    uint64_t first[MOST_RUNS], end[MOST_RUNS];
} runs;

/* Takes in the loops of a slot. */
static void add_slot(const sx_loop *loop, const uint8_t *slot, const uint32_t *spans, unsigned dims,
                     uint64_t *step, iterations *out) {
    for (int l = slot[0]; l < slot[1]; l++) {
        uint8_t d = loop[l].dim;
        if (spans[l] > 1 && step[d] == out->run[d])
            out->run[d] *= spans[l];
        else if (spans[l] > 1 && dims >> d & 1)
            out->gaps[out->n_gaps++] = (gap){d, spans[l], step[d]};
        step[d] *= loop[l].n;
    }
}

/* Adds a run, which begins no earlier than the last one; false where there is no room. */
static bool add_run(runs *r, uint64_t first, uint64_t end) {
    if (r->n > 0 && first <= r->end[r->n - 1]) {
        if (end > r->end[r->n - 1]) r->end[r->n - 1] = end;
        return true;
    }
    if (r->n == MOST_RUNS) return false;
    r->first[r->n] = first;
    r->end[r->n++] = end;
    return true;
}

/* Adds the runs of `from`, moved by a given number of words, to those of `to`; false where there is no room. */
static bool add_moved(const runs *from, uint64_t by, runs *to) {
    const runs before = *to;
    to->n = 0;
    for (int i = 0, k = 0; i < from->n || k < before.n;) {
        bool old = i == from->n || (k < before.n && before.first[k] <= from->first[i] + by);
        if (!add_run(to, old ? before.first[k] : from->first[i] + by,
                     old ? before.end[k] : from->end[i] + by))
            return false;
        *(old ? &k : &i) += 1;
    }
    return true;
}

/* The words of a rank; where they are in too many runs, these are taken to lie apart. */
static uint64_t rank_words(const sx_model *model, const sx_shape *shape, int rank, const iterations *at,
                           const uint32_t *extent) {
    uint64_t neighbours = 1, tile = 1, whole = 1, reach[SX_MAX_DIMS] = {0}, words = 0, times = 1;
    runs r = {.n = 1, .first = {0}};
    for (int i = shape->first_term[rank]; i < shape->first_term[rank + 1]; i++) {
        int d = shape->term[i].dim;
        reach[d] = (uint64_t)abs(shape->term[i].coef);
        tile += reach[d] * ((at->run[d] < model->size[d] ? at->run[d] : model->size[d]) - 1);
        neighbours += reach[d] * (extent[d] - 1u);
        whole += reach[d] * (model->size[d] - 1u);
    }
    r.end[0] = tile;
    for (int i = 0; i < at->n_gaps; i++) {
        const gap *g = &at->gaps[i];
        const runs once = r;
        bool room = true;
        if (!reach[g->dim]) continue;
        for (uint32_t k = 1; k < g->n && room; k++) room = add_moved(&once, k * g->step * reach[g->dim], &r);
        if (room) continue;
        r = once;
        times *= g->n;
    }
    for (int i = 0; i < r.n; i++) words += (r.end[i] - r.first[i]) * times;
    if (words < neighbours) words = neighbours; /* of strides, tiles have the words between, too */
    return words < whole ? words : whole;
}

uint64_t sx_window_words(const sx_sparse_state *state, int tensor, const sx_box_loops *loops,
                         const uint32_t *extent) {
    const sx_model *model = state->model;
    const sx_nest *nest = state->nest;
    const sx_shape *shape = &model->shape[tensor];
    unsigned dims = model->sparse->windows[tensor];
    uint64_t step[SX_MAX_DIMS], words = 1;
    iterations at;
    at.n_gaps = 0;
    for (int d = 0; d < SX_MAX_DIMS; d++) at.run[d] = step[d] = 1;
    for (int s = 0; s < model->n_levels; s++) {
        add_slot(nest->spatial, &nest->spatial_of[s], loops->spatial, dims, step, &at);
        add_slot(nest->temporal, &nest->temporal_of[s], loops->temporal, dims, step, &at);
    }
    if (!at.n_gaps) return sx_sparse_number(model, tensor, extent);
    for (int r = 0; r < shape->n_ranks; r++) words *= rank_words(model, shape, r, &at, extent);
    return words;
}

uint64_t sx_window_box(const sx_sparse_state *state, int tensor, int target, int level) {
    uint32_t extent[SX_MAX_DIMS];
    sx_box_loops loops;
    sx_exact_box(state, target, level, extent, &loops);
    return sx_window_words(state, tensor, &loops, extent);
}
