/* Words that tiles fetch as they move, over real factors: the rules of src/model/tile_delta.c. */
#include "mappers/gradient/model_cost.h"

#include <math.h>
#include <stdlib.h>

static const double log_2 = 0.69314718055994530942;
static const double least_loop = 1.5; /* iterations of a loop that a window is followed by */

/* Loops that a window is followed by, innermost first, and the motion of the tile by a step of each. */
typedef struct sx_relaxed_window {
    sx_relaxed *r;
    const sx_shape *shape;
    int n, n_near;
    const sx_relaxed_loop *loop[SX_RELAXED_LOOPS];
    sx_real suffix[SX_RELAXED_LOOPS + 1]; /* product of factors from a loop outward */
    sx_real move[SX_RELAXED_LOOPS][SX_MAX_RANKS];
    sx_real fetched[SX_RELAXED_LOOPS];
    bool still[SX_RELAXED_LOOPS];
    sx_real extent[SX_MAX_RANKS], words;
    bool overlaps;
} window;

/* Visits at which a tensor's tile moves, from the loops of a level on. */
static sx_real count_visits(sx_relaxed *r, uint16_t dims, int level) {
    sx_tape *t = &r->tape;
    sx_real product = sx_constant(1), inner = sx_constant(0);
    for (int i = r->first[level]; i < r->n_loops; i++) {
        const sx_relaxed_loop *loop = &r->loop[i];
        if (dims >> loop->dim & 1) {
            product = sx_real_multiply(t, product, loop->factor);
            inner = sx_real_add(t, inner, loop->log);
        } else if (inner.value > log_2 - 1e-9) {
            product = sx_real_multiply(t, product, loop->factor);
        } else if (loop->log.value > 0) {
            sx_real power = sx_real_scale(t, inner, 1 / log_2, 0);
            product = sx_real_multiply(t, product, sx_real_exp(t, sx_real_multiply(t, loop->log, power)));
        }
    }
    return product;
}

/* Moves a place by one step of a loop, forwards or back. */
static void advance_place(const window *w, const sx_relaxed_loop *loop, double sign, sx_real *at) {
    const sx_shape *shape = w->shape;
    for (int i = shape->first_of_dim[loop->dim]; i < shape->first_of_dim[loop->dim + 1]; i++) {
        sx_real step = sx_real_scale(&w->r->tape, loop->step, sign * shape->of_dim[i].coef, 0);
        sx_real *place = &at[shape->of_dim[i].rank];
        *place = sx_real_add(&w->r->tape, *place, step);
    }
}

/* Finds the loops of a window and the products of their factors. */
static void find_loops(window *w, int level) {
    sx_relaxed *r = w->r;
    w->n = 0;
    for (int i = r->first[level]; i < r->n_loops; i++)
        if (r->loop[i].factor.value >= least_loop) w->loop[w->n++] = &r->loop[i];
    w->suffix[w->n] = sx_constant(1);
    for (int j = w->n - 1; j >= 0; j--)
        w->suffix[j] = sx_real_multiply(&r->tape, w->suffix[j + 1], w->loop[j]->factor);
}

/* The tile's extents per rank and the words that its solo ranks make. */
static sx_real set_extents(window *w, int level) {
    sx_relaxed *r = w->r;
    const sx_shape *shape = w->shape;
    sx_real solo = w->words;
    for (int k = 0; k < shape->n_ranks; k++) {
        w->extent[k] = sx_constant(1);
        for (int i = shape->first_term[k]; level > 0 && i < shape->first_term[k + 1]; i++) {
            double reach = abs(shape->term[i].coef);
            sx_real more = sx_real_scale(&r->tape, r->extent[level - 1][shape->term[i].dim], reach, -reach);
            w->extent[k] = sx_real_add(&r->tape, w->extent[k], more);
        }
    }
    for (int k = 0; k < shape->n_mixed; k++)
        solo = sx_real_divide(&r->tape, solo, w->extent[shape->mixed[k]]);
    return solo;
}

/* What a step leaves in place of the tile, and what it fetches. */
static void set_step(window *w, int j, sx_real solo) {
    sx_tape *t = &w->r->tape;
    sx_real common = solo;
    w->still[j] = true;
    for (int k = 0; k < w->shape->n_mixed; k++) {
        int rank = w->shape->mixed[k];
        sx_real move = w->move[j][rank], away = sx_real_scale(t, move, move.value < 0 ? -1 : 1, 0);
        w->still[j] &= away.value < 0.5;
        sx_real shared = sx_real_max(sx_real_subtract(t, w->extent[rank], away), sx_constant(0));
        if (away.value < 0.5) shared = w->extent[rank];
        common = sx_real_multiply(t, common, shared);
    }
    w->fetched[j] = sx_real_subtract(t, w->words, common);
    w->overlaps |= !w->still[j] && common.value > 1e-9;
}

/* Sets the steps of all loops up to the first that moves a solo rank, and the whole tile as what the others fetch. */
static void set_steps(window *w, int level) {
    sx_real inner[SX_MAX_RANKS];
    sx_real solo = set_extents(w, level);
    bool near = true;
    w->overlaps = false;
    w->n_near = 0;
    for (int k = 0; k < w->shape->n_ranks; k++) inner[k] = sx_constant(0);
    for (int j = 0; j < w->n; j++) {
        near &= !(w->shape->solo >> w->loop[j]->dim & 1);
        for (int k = 0; k < w->shape->n_ranks; k++)
            w->move[j][k] = sx_real_scale(&w->r->tape, inner[k], -1, 0);
        advance_place(w, w->loop[j], 1, w->move[j]);
        advance_place(w, w->loop[j], 1, inner);
        w->still[j] = false;
        w->fetched[j] = w->words;
        if (!near) continue;
        set_step(w, j, solo);
        w->n_near = j + 1;
    }
}

/* How often a loop advances. */
static sx_real loop_steps(const window *w, int j) {
    sx_real more = sx_real_scale(&w->r->tape, w->loop[j]->factor, 1, -1);
    return sx_real_multiply(&w->r->tape, more, w->suffix[j + 1]);
}

/* Visits that fetch something where every fetch is a whole tile. */
static sx_real fetching_visits(const window *w) {
    sx_real visits = w->suffix[w->n_near];
    for (int j = 0; j < w->n_near; j++)
        if (!w->still[j]) visits = sx_real_add(&w->r->tape, visits, loop_steps(w, j));
    return visits;
}

/* Whether two loops move the tile by the same step. */
static bool same_step(const window *w, int a, int b) {
    for (int k = 0; k < w->shape->n_ranks; k++)
        if (fabs(w->move[a][k].value - w->move[b][k].value) >= 0.5) return false;
    return true;
}

/* Numbers the different steps from 1, 0: none. Returns how many there are. */
static int number_steps(const window *w, int *id) {
    int first[SX_RELAXED_LOOPS], n = 0;
    for (int j = 0; j < w->n; j++) {
        id[j] = 0;
        if (w->still[j]) continue;
        int k = 0;
        while (k < n && !same_step(w, first[k], j)) k++;
        if (k == n) first[n++] = j;
        id[j] = k + 1;
    }
    return n;
}

enum { STATES = SX_RELAXED_LOOPS + 1 };

/* The words that a moving window fetches, by the automaton over its last step. */
static sx_real overlapping_words(const window *w) {
    sx_tape *t = &w->r->tape;
    int id[SX_RELAXED_LOOPS], next[2][STATES], states = number_steps(w, id) + 1, now = 0;
    sx_real words[2][STATES];
    for (int q = 0; q < states; q++) {
        next[0][q] = q;
        words[0][q] = sx_constant(0);
    }
    for (int j = 0; j < w->n; j++, now = !now) {
        sx_real more = sx_real_scale(t, w->loop[j]->factor, 1, -1);
        for (int q = 0; q < states; q++) {
            int last = next[now][q], entered = id[j] == 0 ? last : last == 0 || last == id[j] ? id[j] : 0;
            bool whole = id[j] != 0 && last != 0 && last != id[j];
            sx_real each = sx_real_add(t, whole ? w->words : w->fetched[j], words[now][entered]);
            next[!now][q] = next[now][entered];
            words[!now][q] = sx_real_add(t, words[now][q], sx_real_multiply(t, more, each));
        }
    }
    return sx_real_add(t, w->words, words[now][0]);
}

/* The product of the factors of a tensor's loops that are too short to be followed. */
static sx_real short_loops(sx_relaxed *r, uint16_t dims, int level) {
    sx_real product = sx_constant(1);
    for (int i = r->first[level]; i < r->n_loops; i++)
        if (r->loop[i].factor.value < least_loop && dims >> r->loop[i].dim & 1)
            product = sx_real_multiply(&r->tape, product, r->loop[i].factor);
    return product;
}

/* The first loop of a window that moves the tensor, -1 where none does or it moves a solo rank. */
static int first_mixed(const window *w) {
    for (int j = 0; j < w->n; j++)
        if (w->shape->dims >> w->loop[j]->dim & 1) return w->shape->solo >> w->loop[j]->dim & 1 ? -1 : j;
    return -1;
}

/* The window of a tensor whose tile has a given number of words; NULL when memory is out, which the tape remembers. */
static window *begin_window(sx_relaxed *r, int tensor, sx_real words) {
    if (!r->window) r->window = malloc(sizeof *r->window);
    if (!r->window) {
        r->tape.failed = true;
        return NULL;
    }
    window *w = r->window;
    w->r = r;
    w->shape = &r->model->shape[tensor];
    w->words = words;
    return w;
}

sx_real sx_relaxed_handed(sx_relaxed *r, int tensor, int level) {
    const sx_shape *shape = &r->model->shape[tensor];
    sx_real words = r->tile[tensor][level - 1];
    window *w = shape->plain ? NULL : begin_window(r, tensor, words);
    if (w) find_loops(w, level);
    if (!w || first_mixed(w) < 0)
        return sx_real_multiply(&r->tape, words, count_visits(r, shape->dims, level));
    set_steps(w, level);
    sx_real all = w->overlaps ? overlapping_words(w) : sx_real_multiply(&r->tape, fetching_visits(w), words);
    return sx_real_multiply(&r->tape, all, short_loops(r, shape->dims, level));
}

sx_real sx_relaxed_fed(sx_relaxed *r, int tensor) {
    const sx_shape *shape = &r->model->shape[tensor];
    window *w = shape->plain ? NULL : begin_window(r, tensor, sx_constant(1));
    if (w) find_loops(w, 0);
    if (!w || first_mixed(w) < 0) return count_visits(r, shape->dims, 0);
    set_steps(w, 0);
    sx_real fed = r->compute_cycles;
    for (int j = 0; j < w->n_near; j++)
        if (w->still[j]) fed = sx_real_subtract(&r->tape, fed, loop_steps(w, j));
    return fed;
}
