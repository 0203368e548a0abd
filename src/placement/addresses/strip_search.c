/* Strips by subset sums.
 *
 * Source: Sextant. A set of buffers is a strip if at each step the sizes of its buffers that end are those of its
 * buffers that begin: a subset sum for each step, and the steps share the variables, whether a buffer belongs to the strip.
 * Variables are fixed by propagation (what all solutions of the sum of one step agree on) and by a depth-first search. A strip
 * is searched for by a cut, a step that no buffer of the strip crosses, and a buffer that ends there: most variables
 * are known then. Searches that end without a failure come first, then those with more.
 *
 * Complexity: a propagation takes time proportional to the different sums of half of a step's unknown buffers; where these
 * are more than MOST_SUMS, the step waits until fewer are unknown. */
#include "placement/addresses/strip_search.h"

#include "base/status.h"
#include "sextant/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SUMS = 1024, MOST_ITEMS = 64 }; /* of half of a step's buffers; unknown buffers of a step */
enum { PAUSE_NODES = 500 };                 /* decisions after which the caller may end the search */
enum { UNKNOWN = 2 };                       /* as the value of a buffer: 1 in the strip, 0 not */
enum { ZERO_FIRST = 4 }; /* one decision in this number tries first that a buffer is in the strip */

static const uint32_t efforts[] = {0, 3, 20}; /* failures of a search */
enum { EFFORTS = sizeof efforts / sizeof *efforts };

/* Subsets of some buffers with one sum. */
typedef struct subset_sum {
    int64_t value;
    uint64_t all, any; /* buffers that are in all of them, in any of them */
} subset_sum;

struct sx_strip_search {
    sx_rng rng;
    uint64_t nodes;
    sx_strip_buffer *buffer; /* those at hand, borrowed */
    size_t n, n_steps, n_trail, n_queue;
    uint64_t *step;         /* ascending: where buffers begin or end */
    uint32_t *begin, *item; /* by step: its buffers */
    uint32_t *side[2];      /* by buffer: the index of the step where it begins, and ends */
    uint32_t *trail;        /* buffers whose value is known, in the order of decisions */
    uint32_t *queue;        /* steps to propagate */
    uint8_t *value;         /* by buffer */
    bool *queued;           /* by step */
    uint32_t failures;      /* of the search at hand */
    subset_sum *half[2], *spare_sums;
    sx_strip_buffer *spare;
};

sx_status sx_strip_search_new(size_t n, uint64_t stream, sx_strip_search **out) {
    sx_strip_search *x = calloc(1, sizeof *x);
    if (!x) return sx_error_memory();
    x->rng = sx_rng_stream(stream, "allocate.strips", 0);
    x->step = calloc(2 * n + 1, sizeof *x->step);
    x->begin = calloc(2 * n + 2, sizeof *x->begin);
    x->item = calloc(2 * n + 1, sizeof *x->item);
    x->trail = calloc(n + 1, sizeof *x->trail);
    x->queue = calloc(2 * n + 1, sizeof *x->queue);
    x->value = calloc(n + 1, sizeof *x->value);
    x->queued = calloc(2 * n + 1, sizeof *x->queued);
    x->spare = calloc(n + 1, sizeof *x->spare);
    x->spare_sums = calloc(MOST_SUMS, sizeof *x->spare_sums);
    bool failed = !x->step || !x->begin || !x->item || !x->trail || !x->queue || !x->value || !x->queued ||
                  !x->spare || !x->spare_sums;
    for (int i = 0; i < 2; i++) {
        x->side[i] = calloc(n + 1, sizeof *x->side[i]);
        x->half[i] = calloc(MOST_SUMS, sizeof *x->half[i]);
        failed |= !x->side[i] || !x->half[i];
    }
    if (!failed) {
        *out = x;
        return SX_OK;
    }
    sx_strip_search_free(x);
    return sx_error_memory();
}

void sx_strip_search_free(sx_strip_search *x) {
    if (!x) return;
    free(x->step);
    free(x->begin);
    free(x->item);
    free(x->trail);
    free(x->queue);
    free(x->value);
    free(x->queued);
    free(x->spare);
    free(x->spare_sums);
    for (int i = 0; i < 2; i++) {
        free(x->side[i]);
        free(x->half[i]);
    }
    free(x);
}

uint64_t sx_strip_search_nodes(const sx_strip_search *x) {
    return x->nodes;
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_buffers(const void *a, const void *b) {
    const sx_strip_buffer *x = a, *y = b;
    if (x->buffer.lower != y->buffer.lower) return x->buffer.lower < y->buffer.lower ? -1 : 1;
    if (x->buffer.upper != y->buffer.upper) return x->buffer.upper < y->buffer.upper ? -1 : 1;
    if (x->buffer.size != y->buffer.size) return x->buffer.size < y->buffer.size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void sx_strip_sort(sx_strip_buffer *buffer, size_t n) {
    qsort(buffer, n, sizeof *buffer, compare_buffers);
}

/* The index of a step. */
static uint32_t find_step(const sx_strip_search *x, uint64_t at) {
    return (uint32_t)((uint64_t *)bsearch(&at, x->step, x->n_steps, sizeof at, compare_numbers) - x->step);
}

/* Begins a search among some buffers: their steps, and no known value. */
static void set_buffers(sx_strip_search *x, sx_strip_buffer *buffer, size_t n) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        x->step[2 * i] = buffer[i].buffer.lower;
        x->step[2 * i + 1] = buffer[i].buffer.upper;
    }
    qsort(x->step, 2 * n, sizeof *x->step, compare_numbers);
    for (size_t i = 0; i < 2 * n; i++)
        if (m == 0 || x->step[m - 1] != x->step[i]) x->step[m++] = x->step[i];
    x->buffer = buffer;
    x->n = n;
    x->n_steps = m;
    x->n_trail = x->n_queue = 0;
    memset(x->value, UNKNOWN, n);
    memset(x->queued, 0, m * sizeof *x->queued);
    memset(x->begin, 0, (m + 1) * sizeof *x->begin);
    for (size_t i = 0; i < n; i++) {
        x->side[0][i] = find_step(x, buffer[i].buffer.lower);
        x->side[1][i] = find_step(x, buffer[i].buffer.upper);
        for (int k = 0; k < 2; k++) x->begin[x->side[k][i]]++;
    }
    for (size_t s = 1; s <= m; s++) x->begin[s] += x->begin[s - 1];
    for (size_t i = n; i-- > 0;)
        for (int k = 0; k < 2; k++) x->item[--x->begin[x->side[k][i]]] = (uint32_t)i;
}

/* What a buffer adds to the sum of a step where it begins or ends. */
static int64_t size_at(const sx_strip_search *x, uint32_t s, uint32_t b) {
    int64_t size = (int64_t)x->buffer[b].buffer.size;
    return x->side[0][b] == s ? size : -size;
}

bool sx_strip_balanced(sx_strip_search *x, sx_strip_buffer *buffer, size_t n) {
    bool balanced = true;
    set_buffers(x, buffer, n);
    for (uint32_t s = 1; s + 1 < x->n_steps; s++) {
        int64_t sum = 0;
        for (uint32_t i = x->begin[s]; i < x->begin[s + 1]; i++) sum += size_at(x, s, x->item[i]);
        balanced &= sum == 0;
    }
    return balanced;
}

/* Decides whether a buffer belongs to the strip. */
static void set_value(sx_strip_search *x, uint32_t b, uint8_t value) {
    x->value[b] = value;
    x->trail[x->n_trail++] = b;
    for (int k = 0; k < 2; k++) {
        uint32_t s = x->side[k][b];
        if (s == 0 || s + 1 == x->n_steps || x->queued[s]) continue;
        x->queued[s] = true;
        x->queue[x->n_queue++] = s;
    }
}

/* Takes back the values after the first `mark` ones. */
static void undo_values(sx_strip_search *x, size_t mark) {
    while (x->n_trail > mark) x->value[x->trail[--x->n_trail]] = UNKNOWN;
    while (x->n_queue > 0) x->queued[x->queue[--x->n_queue]] = false;
}

/* Adds one buffer to n sums, ascending; returns how many there are then, 0: too many. */
static size_t add_item(const subset_sum *from, size_t n, int64_t size, uint64_t bit, subset_sum *to) {
    size_t m = 0;
    const int64_t add[2] = {size < 0 ? size : 0, size < 0 ? 0 : size};
    const uint64_t with[2] = {size < 0 ? bit : 0, size < 0 ? 0 : bit};
    for (size_t i = 0, k = 0; k < n; m++) {
        int64_t high = from[k].value + add[1], low = i < n ? from[i].value + add[0] : INT64_MAX;
        subset_sum a = {low < high ? low : high, UINT64_MAX, 0};
        if (m == MOST_SUMS) return 0;
        if (low <= high) {
            a.all &= from[i].all | with[0];
            a.any |= from[i++].any | with[0];
        }
        if (high <= low) {
            a.all &= from[k].all | with[1];
            a.any |= from[k++].any | with[1];
        }
        to[m] = a;
    }
    return m;
}

/* The sums of every other buffer of a list, ascending in half[first]; returns how many, 0: too many. */
static size_t sum_half(sx_strip_search *x, const int64_t *size, size_t n, size_t first) {
    size_t m = 1;
    x->half[first][0] = (subset_sum){0};
    for (size_t i = first; i < n && m > 0; i += 2) {
        subset_sum *old = x->half[first];
        m = add_item(old, m, size[i], (uint64_t)1 << i, x->spare_sums);
        x->half[first] = x->spare_sums;
        x->spare_sums = old;
    }
    return m;
}

/* The subsets of two halves whose sums add up to `wanted`: what they agree on. False: there are none. */
static bool match_halves(const sx_strip_search *x, size_t n_first, size_t n_second, int64_t wanted,
                         uint64_t *all, uint64_t *any) {
    bool found = false;
    *all = UINT64_MAX;
    *any = 0;
    for (size_t i = 0, k = n_second; i < n_first; i++) {
        const subset_sum *a = &x->half[0][i], *b = x->half[1];
        while (k > 0 && b[k - 1].value > wanted - a->value) k--;
        if (k == 0) break;
        if (b[k - 1].value != wanted - a->value) continue;
        found = true;
        *all &= a->all | b[k - 1].all;
        *any |= a->any | b[k - 1].any;
    }
    return found;
}

/* Fixes the buffers on which all solutions of a step agree; false where it has none. */
static bool propagate_step(sx_strip_search *x, uint32_t s) {
    int64_t size[MOST_ITEMS], known = 0;
    uint32_t open[MOST_ITEMS];
    size_t n = 0;
    uint64_t all, any;
    for (uint32_t i = x->begin[s]; i < x->begin[s + 1]; i++) {
        uint32_t b = x->item[i];
        if (x->value[b] == 1) known += size_at(x, s, b);
        if (x->value[b] != UNKNOWN) continue;
        if (n == MOST_ITEMS) return true;
        size[n] = size_at(x, s, b);
        open[n++] = b;
    }
    size_t n_first = sum_half(x, size, n, 0), n_second = sum_half(x, size, n, 1);
    if (n_first == 0 || n_second == 0) return true;
    if (!match_halves(x, n_first, n_second, -known, &all, &any)) return false;
    for (size_t i = 0; i < n; i++) {
        if (all >> i & 1) set_value(x, open[i], 1);
        if (!(any >> i & 1)) set_value(x, open[i], 0);
    }
    return true;
}

/* Propagates all steps that wait; false where one has no solution. */
static bool propagate_steps(sx_strip_search *x) {
    while (x->n_queue > 0) {
        uint32_t s = x->queue[--x->n_queue];
        bool solvable = propagate_step(x, s);
        x->queued[s] = false;
        if (!solvable) return false;
    }
    return true;
}

/* The buffer to decide next: one of the step with the fewest unknown ones; n: none is unknown. */
static size_t choose_buffer(sx_strip_search *x) {
    size_t fewest = SIZE_MAX, best = x->n;
    for (uint32_t s = 0; s < x->n_steps; s++) {
        size_t open = 0, one = x->n;
        for (uint32_t i = x->begin[s]; i < x->begin[s + 1]; i++)
            if (x->value[x->item[i]] == UNKNOWN && sx_rng_below(&x->rng, ++open) == 0) one = x->item[i];
        if (open == 0 || open >= fewest) continue;
        fewest = open;
        best = one;
    }
    return best;
}

/* Completes the values that are known to those of a strip; false where there is none or after `effort` failures. */
static bool complete_strip(sx_strip_search *x, uint32_t effort) {
    x->nodes++;
    if (!propagate_steps(x)) return false;
    size_t b = choose_buffer(x), mark = x->n_trail;
    if (b == x->n) return true;
    uint8_t value = sx_rng_below(&x->rng, ZERO_FIRST) == 0;
    for (int i = 0; i < 2; i++, value ^= 1) {
        set_value(x, (uint32_t)b, value);
        if (complete_strip(x, effort)) return true;
        undo_values(x, mark);
        if (++x->failures > effort) return false;
    }
    return false;
}

/* Whether there is a strip with a buffer that has a cut where it ends; the values are those of the strip. */
static bool search_cut(sx_strip_search *x, uint32_t b, uint32_t effort) {
    uint32_t s = x->side[1][b];
    undo_values(x, 0);
    x->failures = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->side[0][i] < s && x->side[1][i] > s) set_value(x, i, 0);
    set_value(x, b, 1);
    if (complete_strip(x, effort)) return true;
    if (x->failures <= effort) x->buffer[b].uncut = true;
    return false;
}

/* Moves the buffers of a strip to the front; returns how many they are. */
static size_t move_strip(sx_strip_search *x) {
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < x->n; i++)
        if (x->value[i])
            x->buffer[inside++] = x->buffer[i];
        else
            x->spare[outside++] = x->buffer[i];
    memcpy(x->buffer + inside, x->spare, outside * sizeof *x->spare);
    assert(inside > 0);
    return inside;
}

/* Moves a cursor to the next buffer that ends at an inner step; false past the last. */
static bool advance_cursor(sx_strip_search *x, sx_strip_cursor *c, uint32_t *b) {
    for (; c->effort < EFFORTS; c->effort++, c->steps = c->item = 0, c->begun = false) {
        if (!c->begun) c->first = (size_t)sx_rng_below(&x->rng, x->n_steps);
        c->begun = true;
        for (; c->steps < x->n_steps; c->steps++, c->item = 0) {
            size_t s = (c->first + c->steps) % x->n_steps;
            if (s == 0 || s + 1 == x->n_steps) continue;
            while (c->item < x->begin[s + 1] - x->begin[s]) {
                *b = x->item[x->begin[s] + c->item++];
                if (x->side[1][*b] == s && !x->buffer[*b].uncut) return true;
            }
        }
    }
    return false;
}

size_t sx_strip_next(sx_strip_search *x, sx_strip_buffer *buffer, size_t n, sx_strip_cursor *cursor) {
    uint64_t pause = x->nodes + PAUSE_NODES;
    uint32_t b;
    sx_strip_sort(buffer, n);
    set_buffers(x, buffer, n);
    while (x->nodes < pause && !cursor->ended) {
        cursor->ended = !advance_cursor(x, cursor, &b);
        if (!cursor->ended && search_cut(x, b, efforts[cursor->effort])) return move_strip(x);
    }
    return 0;
}
