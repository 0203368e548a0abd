#include "placement/labels.h"

#include "base/status.h"
#include "base/vector.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What the nodes so far cost in a state, with bytes of weights in all memories but the slowest. */
typedef struct label {
    uint64_t cost;
    uint32_t state, last;    /* number of the choice that led to it, or to the one before it */
    uint8_t output, weights; /* the choice that leads to it */
    uint64_t held[];         /* by memory, without the slowest */
} label;

/* The memories that a node's tensors got, and the choice before. */
typedef struct choice {
    uint32_t before;
    uint8_t output, weights;
} choice;

/* A step of a staircase of labels that dominate: more bytes, less cost. */
typedef struct front_point {
    uint64_t held, cost;
} front_point;

typedef struct search {
    const sx_place_relax *relax;
    const sx_labels_options *options;
    size_t n_held;            /* memories without the slowest */
    double limit;             /* of bounds */
    sx_vector now, next;      /* labels before a node, in order, and after it */
    sx_vector runs;           /* of the latter, where sorted runs begin */
    sx_vector order, spare;   /* indices of the latter */
    sx_vector front, choices; /* choices: of all labels that were kept */
} search;

/* The order of labels: state, bytes from the fastest memory on, cost. */
static int compare_labels(const search *x, const label *a, const label *b) {
    if (a->state != b->state) return a->state < b->state ? -1 : 1;
    for (size_t k = x->n_held; k-- > 0;)
        if (a->held[k] != b->held[k]) return a->held[k] < b->held[k] ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/* Adds the labels that follow from `from` to `to` - 1, which share a state, by a choice; they are in order again. */
static void extend_labels(search *x, size_t node, size_t from, size_t to, uint8_t output, uint8_t weights) {
    const sx_relax_node *at = &x->relax->node[node];
    const sx_placement_space *space = x->relax->space;
    const uint64_t *room = x->options->room;
    size_t m = x->n_held + 1, state = at->states + ((const label *)sx_vector_at(&x->now, from))->state,
           next = x->relax->next[state] + output * at->output_stride;
    uint64_t time =
        (uint64_t)x->relax->table[at->table + (x->relax->combo[state] * m + output) * m + weights];
    double rest = x->relax->below[x->relax->node[node + 1].states + next] - x->relax->worth;
    size_t *run = sx_vector_add(&x->runs);
    if (run) *run = x->next.n;
    for (size_t i = from; i < to; i++) {
        label *made = sx_vector_add(&x->next);
        if (!made) return;
        memcpy(made, sx_vector_at(&x->now, i), x->now.size);
        made->cost += time;
        made->state = (uint32_t)next;
        made->output = output;
        made->weights = weights;
        if (weights) made->held[weights - 1] += space->size[2 * node];
        double bound = (double)made->cost + rest;
        for (size_t k = 0; k < x->n_held; k++) bound += x->options->lambda[k + 1] * (double)made->held[k];
        if (bound > x->limit || (weights && made->held[weights - 1] > room[weights])) x->next.n--;
    }
}

/* Adds the labels after a node; how many were looked at. */
static uint64_t expand_node(search *x, size_t node) {
    size_t m = x->n_held + 1, to;
    uint64_t looked = 0;
    x->next.n = x->runs.n = 0;
    for (size_t from = 0; from < x->now.n; from = to) {
        uint32_t state = ((const label *)sx_vector_at(&x->now, from))->state;
        unsigned fits =
            x->relax->fits[x->relax->node[node].states + state] & x->options->allowed[2 * node + 1];
        for (to = from + 1; to < x->now.n; to++)
            if (((const label *)sx_vector_at(&x->now, to))->state != state) break;
        for (size_t a = 0; a < m; a++)
            for (size_t w = 0; w < m; w++) {
                if (!(fits >> a & 1) || !(x->options->allowed[2 * node] >> w & 1)) continue;
                extend_labels(x, node, from, to, (uint8_t)a, (uint8_t)w);
                looked += to - from;
            }
    }
    return looked;
}

/* Merges two runs of indices, from `first` on and from `middle` on, that end at `end`. */
static void merge_runs(const search *x, const uint32_t *in, uint32_t *out, size_t first, size_t middle,
                       size_t end) {
    size_t a = first, b = middle;
    for (size_t k = first; k < end; k++) {
        bool left = a < middle && (b == end || compare_labels(x, sx_vector_at(&x->next, in[a]),
                                                              sx_vector_at(&x->next, in[b])) <= 0);
        out[k] = left ? in[a++] : in[b++];
    }
}

/* Sorts the labels after a node by merging their runs; false when memory is out. */
static bool sort_labels(search *x) {
    size_t *begin = (size_t *)(void *)x->runs.data, runs = x->runs.n;
    if (!sx_reserve(&x->order.data, &x->order.room, x->next.n, x->order.size) ||
        !sx_reserve(&x->spare.data, &x->spare.room, x->next.n, x->spare.size))
        return false;
    for (size_t i = 0; i < x->next.n; i++) *(uint32_t *)sx_vector_at(&x->order, i) = (uint32_t)i;
    while (runs > 1) {
        const uint32_t *in = (const uint32_t *)(void *)x->order.data;
        size_t half = 0;
        for (size_t r = 0; r < runs; r += 2) {
            size_t middle = r + 1 < runs ? begin[r + 1] : x->next.n,
                   end = r + 2 < runs ? begin[r + 2] : x->next.n;
            merge_runs(x, in, (uint32_t *)(void *)x->spare.data, begin[r], middle, end);
            begin[half++] = begin[r];
        }
        sx_vector other = x->order;
        x->order = x->spare;
        x->spare = other;
        runs = half;
    }
    return true;
}

/* Whether a label is dominated by an earlier one of the staircase; if not, it joins it. */
static bool is_dominated(search *x, const label *at) {
    front_point *front = (front_point *)(void *)x->front.data;
    size_t low = 0, high = x->front.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (front[middle].held <= at->held[0])
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && front[low - 1].cost <= at->cost) return true;
    size_t gone = low;
    if (low > 0 && front[low - 1].held == at->held[0]) low--;
    while (gone < x->front.n && front[gone].cost >= at->cost) gone++;
    if (gone == low && !sx_vector_add(&x->front)) return false;
    front = (front_point *)(void *)x->front.data;
    size_t left = x->front.n - gone - (gone == low);
    memmove(front + low + 1, front + gone, left * sizeof *front);
    front[low] = (front_point){at->held[0], at->cost};
    x->front.n = low + 1 + left;
    return false;
}

/* Whether two labels may dominate each other: all is equal but the bytes in two memories and the cost. */
static bool are_comparable(const search *x, const label *a, const label *b) {
    for (size_t k = 2; k < x->n_held; k++)
        if (a->held[k] != b->held[k]) return false;
    return a->state == b->state;
}

/* Keeps the labels after a node that none dominates. */
static void filter_labels(search *x) {
    const label *before = NULL;
    x->now.n = x->front.n = 0;
    for (size_t i = 0; i < x->next.n; i++) {
        const label *at = sx_vector_at(&x->next, *(uint32_t *)sx_vector_at(&x->order, i));
        if (!before || !are_comparable(x, before, at)) x->front.n = 0;
        before = at;
        if (is_dominated(x, at)) continue;
        label *kept = sx_vector_add(&x->now);
        choice *made = sx_vector_add(&x->choices);
        if (!kept || !made) return;
        memcpy(kept, at, x->now.size);
        *made = (choice){at->last, at->output, at->weights};
        kept->last = (uint32_t)(x->choices.n - 1);
    }
}

/* Follows the choices of the label of the least cost back to the first node. */
static void take_best(const search *x, uint8_t *placement, sx_labels_result *out) {
    const label *best = sx_vector_at(&x->now, 0);
    for (size_t i = 1; i < x->now.n; i++) {
        const label *at = sx_vector_at(&x->now, i);
        if (at->cost < best->cost) best = at;
    }
    uint32_t last = best->last;
    for (size_t i = x->relax->space->graph.n_nodes; i-- > 0;) {
        const choice *made = sx_vector_at(&x->choices, last);
        placement[2 * i] = made->weights;
        placement[2 * i + 1] = made->output;
        last = made->before;
    }
    out->latency = best->cost;
}

/* Goes through the nodes; how that ends. */
static sx_labels_end walk_nodes(search *x, uint64_t *steps) {
    label *first = sx_vector_add(&x->now);
    if (!first) return SX_LABELS_STOPPED;
    memset(first, 0, x->now.size);
    for (size_t i = 0; i < x->relax->space->graph.n_nodes; i++) {
        if (x->options->stop(x->options->user)) return SX_LABELS_STOPPED;
        if (x->now.n * (x->n_held + 1) * (x->n_held + 1) > x->options->most) return SX_LABELS_LIMIT;
        *steps += expand_node(x, i);
        if (x->next.failed || x->runs.failed || !sort_labels(x)) {
            x->now.failed = true;
            return SX_LABELS_STOPPED;
        }
        filter_labels(x);
        if (x->choices.n > x->options->most) return SX_LABELS_LIMIT;
        if (x->now.n == 0) return SX_LABELS_NONE;
    }
    return SX_LABELS_FOUND;
}

sx_status sx_place_labels(sx_place_relax *relax, const sx_labels_options *options, uint8_t *placement,
                          sx_labels_result *out) {
    size_t n_held = relax->space->chip.n_memories - 1,
           size = sizeof(label) + (n_held ? n_held : 1) * sizeof(uint64_t);
    search x = {.relax = relax,
                .options = options,
                .n_held = n_held,
                .now = {.size = size},
                .next = {.size = size},
                .runs = {.size = sizeof(size_t)},
                .order = {.size = sizeof(uint32_t)},
                .spare = {.size = sizeof(uint32_t)},
                .front = {.size = sizeof(front_point)},
                .choices = {.size = sizeof(choice)}};
    assert(relax->complete && options->most < UINT32_MAX);
    *out = (sx_labels_result){0};
    if (isinf(sx_place_relax_weights(relax, options->allowed, options->lambda, options->room, placement)))
        return SX_OK;
    x.limit = options->cutoff + sx_place_relax_error(relax);
    out->end = walk_nodes(&x, &out->steps);
    if (out->end == SX_LABELS_FOUND) take_best(&x, placement, out);
    bool failed = x.now.failed || x.front.failed || x.choices.failed;
    sx_vector *all[] = {&x.now, &x.next, &x.runs, &x.order, &x.spare, &x.front, &x.choices};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sx_vector_clear(all[i]);
    return failed ? sx_error_memory() : SX_OK;
}
