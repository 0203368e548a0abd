/* What one child fetches, by docs/model.md, section 2, with the visits of section 8.
 *
 * Visits are sampled: of every temporal loop outside the child, iteration 0 counts once and iteration 1 as often as there
 * are others. From one such visit to the next loop j goes from 0 to 1 and all loops inside it go back from 1 to 0, so
 * the tile moves by step(j) - sum of step(i) over i < j, which depends on j alone. What is fetched depends on that motion
 * and on the motion that counted last; what the visit before had fetched is needed for the shifts. So the visits are a walk over
 * 2 + 2 K states, K being the number of different motions:
 *
 *   whole      no last motion, and the whole tile was fetched
 *   idle       no last motion, and nothing was fetched
 *   moving(k)  the last motion is k, and the part that it uncovers was fetched
 *   halted(k)  the last motion is k, and nothing was fetched
 *
 * Where a run over the j innermost loops ends that begins in a state is found from the inside out, how often each such
 * run begins from the outside in; both together say how often loop j moves on in each state. */
#include "check/fetch.h"

#include <stdlib.h>
#include <string.h>

enum { WHOLE, IDLE, FIRST_MOVING, N_STATES = FIRST_MOVING + 2 * SX_CHECK_LOOPS };

/* A motion of the tile, and what it uncovers: the box without the same box moved back. */
typedef struct motion {
    int64_t by[SX_MAX_RANKS];
    int64_t uncovered; /* elements; all of the tile, or some */
} motion;

/* The visits of a child that are being counted. */
typedef struct walk {
    int n_ranks, n_loops, n_motions;
    int64_t extent[SX_MAX_RANKS]; /* of the child's tile in each rank */
    int64_t tile;
    motion motion[SX_CHECK_LOOPS];
    int kind[SX_CHECK_LOOPS];  /* the motion of a loop; -1: none */
    int64_t n[SX_CHECK_LOOPS]; /* its iterations */
    const int64_t *within;
    sx_check_fetches *out;
} walk;

/* Sets the extents of the child's tile: one element of each rank for a compute unit. */
static void set_tile(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, walk *w) {
    const sx_tensor *t = &c->problem.tensor[tensor];
    w->n_ranks = t->n_ranks;
    w->tile = 1;
    for (int r = 0; r < t->n_ranks; r++) {
        w->extent[r] = 1;
        for (int d = 0; d < c->problem.n_dims && s > 0; d++)
            w->extent[r] += labs((long)t->coef[r][d]) * (nest->extent[s - 1][d] - 1);
        w->tile *= w->extent[r];
    }
}

/* Sets what a motion uncovers. */
static void set_uncovered(const walk *w, motion *m) {
    int64_t kept = 1;
    for (int r = 0; r < w->n_ranks; r++) {
        int64_t left = w->extent[r] - llabs(m->by[r]);
        kept *= left > 0 ? left : 0;
    }
    m->uncovered = w->tile - kept;
}

/* The number of a motion among those met so far; -1: of no motion. */
static int find_motion(walk *w, const int64_t *by) {
    size_t size = (size_t)w->n_ranks * sizeof *by;
    bool still = true;
    for (int r = 0; r < w->n_ranks; r++) still &= by[r] == 0;
    if (still) return -1;
    for (int k = 0; k < w->n_motions; k++)
        if (memcmp(w->motion[k].by, by, size) == 0) return k;
    memcpy(w->motion[w->n_motions].by, by, size);
    set_uncovered(w, &w->motion[w->n_motions]);
    return w->n_motions++;
}

/* Sets the motions of all temporal loops outside the child. */
static void set_motions(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, walk *w) {
    const sx_tensor *t = &c->problem.tensor[tensor];
    int64_t back[SX_MAX_RANKS] = {0}, by[SX_MAX_RANKS];
    for (int l = nest->first_temporal[s]; l < nest->first_temporal[c->machine.n_levels]; l++) {
        const sx_check_loop *loop = &nest->temporal[l];
        for (int r = 0; r < w->n_ranks; r++) {
            int64_t step = t->coef[r][loop->dim] * loop->step;
            by[r] = step - back[r];
            back[r] += step;
        }
        w->kind[w->n_loops] = find_motion(w, by);
        w->n[w->n_loops++] = loop->n;
    }
}

/* The state after a loop of a motion has moved on. */
static int next_state(int state, int kind) {
    bool moved = state >= FIRST_MOVING;
    int last = moved ? (state - FIRST_MOVING) / 2 : -1;
    if (kind < 0) return moved ? FIRST_MOVING + 2 * last + 1 : IDLE;
    return !moved || last == kind ? FIRST_MOVING + 2 * kind : WHOLE;
}

/* The words that were fetched at the visit that led to a state. */
static int64_t fetched_words(const walk *w, int state) {
    if (state < FIRST_MOVING) return state == WHOLE ? w->tile : 0;
    return (state - FIRST_MOVING) % 2 ? 0 : w->motion[(state - FIRST_MOVING) / 2].uncovered;
}

/* Whether two visits in a row fetched the same part of the tile. A part that is not the whole was fetched by the last
 * motion, and a visit that has another motion after that fetches the whole: so it is the same state, or both are the
 * whole. */
static bool is_same_part(const walk *w, int before, int now) {
    int64_t words = fetched_words(w, now);
    return words > 0 && (before == now || (words == w->tile && fetched_words(w, before) == words));
}

/* Adds words to those of a shift, unless no sibling can be so far apart. */
static void add_shift(walk *w, const int64_t *by, sx_wide words) {
    sx_check_fetches *out = w->out;
    int i = 0;
    for (int r = 0; r < w->n_ranks; r++)
        if (llabs(by[r]) > w->within[r]) return;
    while (i < out->n_shifts && memcmp(out->shift[i].by, by, (size_t)w->n_ranks * sizeof *by) != 0) i++;
    if (i == SX_CHECK_SHIFTS) {
        out->overflow = true;
        return;
    }
    if (i == out->n_shifts) {
        memcpy(out->shift[i].by, by, (size_t)w->n_ranks * sizeof *by);
        out->shift[i].words = 0;
        out->n_shifts++;
    }
    out->shift[i].words += words;
}

/* Counts visits at which loop j moves on, in one state. */
static void count_visits(walk *w, int j, int state, int64_t visits) {
    int now = next_state(state, w->kind[j]);
    sx_wide words = (sx_wide)fetched_words(w, now) * visits;
    w->out->words += words;
    if (w->within && w->kind[j] >= 0 && is_same_part(w, state, now))
        add_shift(w, w->motion[w->kind[j]].by, words);
}

/* Counts the visits of a child that keeps what it can. */
static void count_kept(walk *w) {
    uint8_t end[SX_CHECK_LOOPS + 1][N_STATES]; /* of a run over the innermost loops that begins in a state */
    int64_t runs[2][N_STATES] = {{0}}, *now = runs[0], *inner = runs[1];
    int n = FIRST_MOVING + 2 * w->n_motions;
    for (int q = 0; q < n; q++) end[0][q] = (uint8_t)q;
    for (int j = 0; j + 1 < w->n_loops; j++)
        for (int q = 0; q < n; q++) end[j + 1][q] = end[j][next_state(end[j][q], w->kind[j])];
    now[WHOLE] = 1;
    for (int j = w->n_loops - 1; j >= 0; j--) {
        memset(inner, 0, (size_t)n * sizeof *inner);
        for (int q = 0; q < n; q++) {
            if (now[q] == 0) continue;
            int last = end[j][q];
            int64_t more = now[q] * (w->n[j] - 1);
            count_visits(w, j, last, more);
            inner[q] += now[q];
            inner[next_state(last, w->kind[j])] += more;
        }
        int64_t *swap = now;
        now = inner;
        inner = swap;
    }
}

/* Counts the visits of a child that fetches its whole tile at each. */
static void count_whole(walk *w) {
    static const int64_t none[SX_MAX_RANKS];
    int64_t outer = 1;
    for (int j = w->n_loops - 1; j >= 0; j--) {
        sx_wide words = (sx_wide)outer * (w->n[j] - 1) * w->tile;
        outer *= w->n[j];
        w->out->words += words;
        if (w->within) add_shift(w, w->kind[j] < 0 ? none : w->motion[w->kind[j]].by, words);
    }
}

void sx_check_fetch(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, bool always,
                    const int64_t *within, sx_check_fetches *out) {
    walk w;
    w.n_loops = w.n_motions = 0;
    w.within = within;
    w.out = out;
    set_tile(c, nest, tensor, s, &w);
    set_motions(c, nest, tensor, s, &w);
    out->n_shifts = 0;
    out->overflow = false;
    out->words = w.tile;
    if (always)
        count_whole(&w);
    else
        count_kept(&w);
}
