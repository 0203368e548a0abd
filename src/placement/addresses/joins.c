/* Joins of buffers.
 *
 * Source: Sextant. Where a memory is filled without waste, the places of the buffers that end at a step are those of the buffers
 * that begin there. So two of them that have one size, which nothing else at that step has, are taken for neighbours in
 * time with one offset; and two buffers of one life are taken for neighbours in the memory. Both make one larger buffer.
 * A rectangle that was cut by straight cuts is put together again by that, up to cuts that coincide; offsets of the
 * joined buffers are offsets of their parts in any case. Joins may be wrong, so the first attempt joins all it can and others
 * choose at random, pairs whose joint size is that of a neighbour in time first.
 *
 * Complexity: a join looks at all pairs of buffers that begin or end at one step. */
#include "placement/addresses/joins.h"

#include "base/status.h"
#include "sextant/rng.h"

#include <stdlib.h>

enum { NONE = -1 };
#define FILLED 0.99 /* share of the memory over all steps from which on joins are tried */

/* A buffer, or two that are joined. */
typedef struct piece {
    uint64_t lower, upper, size, offset;
    int part[2];  /* NONE: a buffer */
    bool stacked; /* the second part lies above the first one; else it follows in time */
    bool joined;  /* it is part of another one */
    int next[2];  /* with the same first step, with the same last one */
} piece;

/* A step, with the pieces that begin and end there. */
typedef struct step {
    uint64_t at;
    int head[2];
} step;

struct sx_joins {
    const sx_buffer *buffer;
    size_t n, n_pieces, n_steps;
    piece *piece; /* n buffers, then up to n - 1 joins */
    step *step;   /* ascending */
    sx_rng rng;
};

static int compare_steps(const void *a, const void *b) {
    uint64_t x = ((const step *)a)->at, y = ((const step *)b)->at;
    return (x > y) - (x < y);
}

sx_status sx_joins_new(const sx_buffer *buffer, size_t n, sx_joins **out) {
    sx_joins *joins = calloc(1, sizeof *joins);
    piece *pieces = calloc(2 * n + 1, sizeof *pieces);
    step *steps = calloc(2 * n + 1, sizeof *steps);
    if (!joins || !pieces || !steps) {
        free(joins);
        free(pieces);
        free(steps);
        return sx_error_memory();
    }
    *joins = (sx_joins){.buffer = buffer, .n = n, .piece = pieces, .step = steps};
    for (size_t i = 0; i < n; i++) {
        steps[2 * i].at = buffer[i].lower;
        steps[2 * i + 1].at = buffer[i].upper;
    }
    qsort(steps, 2 * n, sizeof *steps, compare_steps);
    for (size_t i = 0; i < 2 * n; i++)
        if (joins->n_steps == 0 || steps[joins->n_steps - 1].at != steps[i].at)
            steps[joins->n_steps++].at = steps[i].at;
    *out = joins;
    return SX_OK;
}

void sx_joins_free(sx_joins *joins) {
    if (!joins) return;
    free(joins->piece);
    free(joins->step);
    free(joins);
}

/* The number of a step. */
static size_t step_at(const sx_joins *joins, uint64_t at) {
    const step key = {.at = at};
    const step *found = bsearch(&key, joins->step, joins->n_steps, sizeof key, compare_steps);
    return (size_t)(found - joins->step);
}

sx_status sx_joins_live(const sx_joins *joins, uint64_t *out) {
    uint64_t *change = calloc(joins->n_steps + 1, sizeof *change), live = 0; /* modulo 2^64 */
    if (!change) return sx_error_memory();
    for (size_t i = 0; i < joins->n; i++) {
        change[step_at(joins, joins->buffer[i].lower)] += joins->buffer[i].size;
        change[step_at(joins, joins->buffer[i].upper)] -= joins->buffer[i].size;
    }
    *out = 0;
    for (size_t s = 0; s < joins->n_steps; s++) {
        live += change[s];
        if (live > *out) *out = live;
    }
    free(change);
    return SX_OK;
}

bool sx_joins_suit(const sx_joins *joins, uint64_t capacity) {
    double area = 0;
    if (joins->n < 2) return false;
    for (size_t i = 0; i < joins->n; i++)
        area += (double)joins->buffer[i].size * (double)(joins->buffer[i].upper - joins->buffer[i].lower);
    return area >=
           FILLED * (double)capacity * (double)(joins->step[joins->n_steps - 1].at - joins->step[0].at);
}

/* Adds a piece to the lists of its steps. */
static void add_piece(sx_joins *joins, piece p) {
    int number = (int)joins->n_pieces++;
    for (int side = 0; side < 2; side++) {
        step *at = &joins->step[step_at(joins, side ? p.upper : p.lower)];
        p.next[side] = at->head[side];
        at->head[side] = number;
    }
    joins->piece[number] = p;
}

/* The next piece of a list that is not part of another one; NONE past the last. */
static int open_piece(const sx_joins *joins, int number, int side) {
    while (number != NONE && joins->piece[number].joined) number = joins->piece[number].next[side];
    return number;
}

/* The only open piece of a size in a list; NONE where there is none or several. */
static int only_piece(const sx_joins *joins, const step *at, int side, uint64_t size) {
    int found = NONE;
    for (int i = open_piece(joins, at->head[side], side); i != NONE;
         i = open_piece(joins, joins->piece[i].next[side], side)) {
        if (joins->piece[i].size != size) continue;
        if (found != NONE) return NONE;
        found = i;
    }
    return found;
}

/* Joins two pieces in time, or in the memory. */
static void join_buffers(sx_joins *joins, int first, int second, bool stacked) {
    piece *a = &joins->piece[first], *b = &joins->piece[second];
    a->joined = b->joined = true;
    add_piece(joins, (piece){.lower = a->lower,
                             .upper = b->upper,
                             .size = a->size + (stacked ? b->size : 0),
                             .part = {first, second},
                             .stacked = stacked});
}

/* Joins pieces that follow each other in time, once at each step; whether there were any. */
static bool join_in_time(sx_joins *joins) {
    bool any = false;
    for (size_t s = 0; s < joins->n_steps; s++) {
        const step *at = &joins->step[s];
        for (int i = open_piece(joins, at->head[1], 1); i != NONE;
             i = open_piece(joins, joins->piece[i].next[1], 1)) {
            uint64_t size = joins->piece[i].size;
            int after = only_piece(joins, at, 0, size);
            if (after == NONE || only_piece(joins, at, 1, size) != i) continue;
            join_buffers(joins, i, after, false);
            any = true;
        }
    }
    return any;
}

/* Whether a piece that would be a join of two of one life has a neighbour in time of its size. */
static bool has_neighbour(const sx_joins *joins, const piece *a, uint64_t size) {
    for (int side = 0; side < 2; side++) {
        const step key = {.at = side ? a->upper : a->lower};
        const step *at = bsearch(&key, joins->step, joins->n_steps, sizeof key, compare_steps);
        if (only_piece(joins, at, 1 - side, size) != NONE) return true;
    }
    return false;
}

/* Finds two pieces of one life that begin at a step, whose joint size a neighbour in time has, if wanted. */
static bool find_pair(const sx_joins *joins, const step *at, bool wanted, int pair[2]) {
    for (int i = open_piece(joins, at->head[0], 0); i != NONE;
         i = open_piece(joins, joins->piece[i].next[0], 0))
        for (int k = open_piece(joins, joins->piece[i].next[0], 0); k != NONE;
             k = open_piece(joins, joins->piece[k].next[0], 0)) {
            const piece *a = &joins->piece[i], *b = &joins->piece[k];
            if (a->upper != b->upper || (wanted && !has_neighbour(joins, a, a->size + b->size))) continue;
            pair[0] = i;
            pair[1] = k;
            return true;
        }
    return false;
}

/* Joins two pieces of one life, from a random step on: the first pair, or the first one with a neighbour, if there is one;
 * whether there were any. */
static bool join_in_memory(sx_joins *joins, bool any) {
    size_t first = (size_t)sx_rng_below(&joins->rng, joins->n_steps);
    for (int wanted = !any; wanted >= 0; wanted--)
        for (size_t s = 0; s < joins->n_steps; s++) {
            int pair[2];
            if (!find_pair(joins, &joins->step[(first + s) % joins->n_steps], wanted, pair)) continue;
            join_buffers(joins, pair[0], pair[1], true);
            return true;
        }
    return false;
}

size_t sx_joins_make(sx_joins *joins, uint64_t attempt, sx_buffer *left) {
    size_t n = 0;
    joins->rng = sx_rng_stream(attempt, "allocate.joins", 0);
    joins->n_pieces = 0;
    for (size_t s = 0; s < joins->n_steps; s++) joins->step[s].head[0] = joins->step[s].head[1] = NONE;
    for (size_t i = 0; i < joins->n; i++) {
        const sx_buffer *b = &joins->buffer[i];
        add_piece(joins,
                  (piece){.lower = b->lower, .upper = b->upper, .size = b->size, .part = {NONE, NONE}});
    }
    while (join_in_time(joins) || join_in_memory(joins, attempt == 0)) continue;
    for (size_t i = 0; i < joins->n_pieces; i++) {
        const piece *p = &joins->piece[i];
        if (!p->joined) left[n++] = (sx_buffer){p->lower, p->upper, p->size, 0};
    }
    return n;
}

void sx_joins_expand(sx_joins *joins, const sx_buffer *left, sx_buffer *buffer) {
    for (size_t i = 0; i < joins->n_pieces; i++)
        if (!joins->piece[i].joined) joins->piece[i].offset = left++->offset;
    for (size_t i = joins->n_pieces; i-- > 0;) {
        const piece *p = &joins->piece[i];
        if (p->part[0] == NONE) continue;
        piece *first = &joins->piece[p->part[0]], *second = &joins->piece[p->part[1]];
        first->offset = p->offset;
        second->offset = p->offset + (p->stacked ? first->size : 0);
    }
    for (size_t i = 0; i < joins->n; i++) buffer[i].offset = joins->piece[i].offset;
}
