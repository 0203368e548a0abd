/* What neighbours leave to be fetched from the outer level, by the loop that is the first outside a tile.
 *
 * Which visits are helped (model/tile_delta.c). Let loops 0, 1, ... be those outside a tile of V, innermost first,
 * f(k) the step of the tile as loop k advances, and near those inside the first one on a solo dimension of V. If
 * loop 0 does not index V, or is on a solo dimension, no visit is helped. Else loop 0 is on a dimension d of a
 * window, and f(0) = J is a multiple m of the shortest step on d (m > 1 only where outer levels have spatial loops
 * on d). Its visits are a share of 1 - 1/n of all, n >= p iterations, p the smallest prime of those left on d. They
 * fetch a share a of the tile, J over its reach, and are helped by a neighbour that stands J away. Visits of other
 * near loops k are helped by a neighbour that stands f(k) away, but only where f(k) = J or a = 1. What neighbours
 * leave of a visit with step J is at least, along a window whose children stand in different positions S,
 *   the positions x of S without x + J in S: these are at least as many as S has residues modulo J, which are at
 *   least those of its children along d alone, min(n_d, J / gcd(J, way)), or along e;
 * all members of a group stand in one position, so a group needs no access only if its position is none of these.
 *
 * So where loop 0 is on d, with R(J) what neighbours leave of a visit with step J, R the least R of all steps, and
 * U the whole tile for all children alone, these are lower bounds of what is fetched per visit (all three parts of
 * sx_first_loop, each by itself):
 *   - a < 1: visits fetch a R(J), or nothing where f(k) = 0, or U. Where no f(k) is 0 (window.c, cases 1 and 2) at
 *     least one in T visits is of the last kind, T as in window.c; else a (1 - 1/p) R(J).
 *   - a = 1: (1 - 1/p) R(J) + R / p where no f(k) is 0, as R <= R(J); else (1 - 1/p) R(J).
 *
 * Sure visits. Let H be the windows along which neighbours may help, N the others. The first loop k on a window of N
 * or on a solo dimension moves the tile along a rank in which no neighbour stands apart: its visits fetch U, if
 * loop 0 is on a window of H. Inside k there are only loops on windows of H, and irrelevant ones. So of the visits
 * without irrelevant loops at least one in (the iterations left on windows of H), times 1 - 1/n for the n iterations
 * of k: all of these if k is on a solo dimension or on a window that is clear, as then no step of a loop outside k is
 * 0 in that rank. Without such a k the first visit of all is one. They are no visits of loop 0; so what they
 * fetch beyond a visit of the kind assumed comes on top.
 *
 * Other visits, a = 1 and no step 0. Without irrelevant loops a visit of loop k > 0 has a step of its own kind along a
 * window: of a loop on d it is m steps of d less l of e, m >= 1 and l >= 0, as only loops inside k start again; and
 * l >= 1 for loops on the window of loop 0 that are on its other side, as loop 0 is inside them (crossed). So all
 * visits but those of loops on loop 0's own dimension leave at least the least of these, over the window of loop 0
 * and over other windows whose steps are never 0; loops on windows that may stand still are left out, too. Loops on
 * some dimensions, T iterations in all, have at most a share of 1 - 1/T of the visits, wherever they are. The same
 * with one more side of every other window left out: a part of these visits, which leaves no less.
 *
 * Tensors whose tiles are fetched anew at every visit have other rules; they count by `own` (window.c). */
#include "bound/link.h"

#include "base/divisor.h"
#include "base/extreme.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* How many children a step of that length helps, at the most. */
static double helped_by(const sx_window_side *d, const sx_window_side *e, int64_t step) {
    int64_t n = (int64_t)d->n, m = (int64_t)e->n, x = (int64_t)d->way, y = (int64_t)e->way;
    double sum = 0;
    for (int64_t i = 1 - n; i < n; i++) {
        int64_t bounds = step - i * x;
        if (bounds % y == 0 && llabs(bounds / y) < m)
            sum += (double)((n - llabs(i)) * (m - llabs(bounds / y)));
    }
    return sum;
}

/* Residues of the children along one side modulo a step. */
static double count_residues(const sx_window_side *side, int64_t step) {
    int64_t length = llabs(step), way = (int64_t)side->way;
    return sx_lesser(side->n, (double)(length / (int64_t)sx_divisor_common((uint64_t)length, (uint64_t)way)));
}

/* What neighbours leave of a visit with a step that is not 0. */
static sx_link_rest rest_of(const sx_window_side *side, double positions, int64_t step) {
    double all = side[0].n * side[1].n, helped = helped_by(&side[0], &side[1], step);
    if (helped == 0) return (sx_link_rest){1, 1};
    double least = sx_larger(count_residues(&side[0], step), count_residues(&side[1], step));
    return (sx_link_rest){sx_larger(positions - helped, least) / positions,
                          sx_larger(all - helped, least) / all};
}

static sx_link_rest least_rest(sx_link_rest a, sx_link_rest b) {
    return (sx_link_rest){sx_lesser(a.groups, b.groups), sx_lesser(a.own, b.own)};
}

/* Sets what the steps leave that help most. */
static void set_rests(sx_link_window *w) {
    const sx_window_side *d = &w->side[0], *e = &w->side[1];
    int64_t span = (int64_t)((d->n - 1) * d->way + (e->n - 1) * e->way);
    int64_t a = (int64_t)d->step, b = (int64_t)e->step;
    if (span == 0 || (d->most == 0 && e->most == 0)) return;
    for (int64_t l = -e->most; l <= e->most; l++) {
        int64_t low = (-span - l * b) / a - 1, high = (span - l * b) / a + 1;
        low = low < 0 ? 0 : low;
        high = high > d->most ? d->most : high;
        for (int64_t m = low; m <= high; m++) {
            int64_t step = m * a + l * b;
            if (step == 0 || llabs(step) > span) continue;
            sx_link_rest rest = rest_of(w->side, w->positions, step);
            w->any = least_rest(w->any, rest);
            if (m > 0 && l <= 0) w->of_side[0] = least_rest(w->of_side[0], rest);
            if (m >= 0 && l < 0) w->of_side[1] = least_rest(w->of_side[1], rest);
            if (m > 0 && l < 0) w->crossed = least_rest(w->crossed, rest);
        }
    }
}

sx_link_window sx_link_window_make(const sx_window_side *side, double reach, double positions, bool links) {
    const sx_link_rest all = {1, 1};
    sx_link_window w = {.side = side, .reach = reach, .positions = positions, .any = all};
    w.of_side[0] = w.of_side[1] = w.crossed = all;
    if (links) set_rests(&w);
    w.helps = w.any.own < 1;
    w.moves = side[0].step > side[1].sum || side[1].step > side[0].sum;
    for (int i = 0; i < 2; i++) w.first[i] = w.helps ? rest_of(side, positions, (int64_t)side[i].step) : all;
    return w;
}

sx_link_sum sx_link_sum_make(const sx_link_window *const *window, int n) {
    double inside = 1, often = 1;
    sx_link_rest any = {1, 1};
    for (int i = 0; i < n; i++) {
        const sx_link_window *w = window[i];
        any = least_rest(any, w->any);
        if (w->helps) inside *= w->side[0].times * w->side[1].times;
        for (int k = 0; k < 2 && !w->helps && !w->moves; k++)
            if (w->side[k].times > 1) often = sx_lesser(often, 1 - 1.0 / w->side[k].prime);
    }
    return (sx_link_sum){any, often / inside};
}

/* One in a given number of visits at least fetches the whole tile, and none nothing: the inverse; 0 where some may fetch
 * nothing. */
static double whole_visits(const sx_window_side *d, const sx_window_side *e) {
    if (d->step > 2 * e->sum || e->step > 2 * d->sum) return 1 / d->times;
    if (d->step > e->sum || e->step > d->sum) return 1 / (d->times * e->times);
    return 0;
}

/* A mean of two, the first of which is no less than the other and has a given share at the least. */
static double least_mean(double first, double share, double other) {
    assert(first >= other);
    return share * first + (1 - share) * other;
}

/* What is left of a share of the visits without irrelevant loops: all but those of loops on some dimensions. */
typedef struct others {
    double share;
    sx_link_rest rest;
} others;

/* Leaves out the loops on one side of a window, the first one being on it; and other windows that may stand still. */
static others leave_out_first(const sx_link_window *const *window, int n, int w, int side) {
    const sx_window_side *d = &window[w]->side[side], *e = &window[w]->side[1 - side];
    others o = {1 / d->times, {1, 1}};
    if (e->times > 1) o.rest = window[w]->crossed;
    for (int i = 0; i < n; i++) {
        const sx_link_window *at = window[i];
        if (i != w && !at->moves) o.share /= at->side[0].times * at->side[1].times;
        for (int k = 0; k < 2 && i != w && at->moves; k++)
            if (at->side[k].times > 1) o.rest = least_rest(o.rest, at->of_side[k]);
    }
    return o;
}

/* Leaves out the side of every other window, too, along which neighbours help more. */
static others leave_out_sides(const sx_link_window *const *window, int n, int w, int side) {
    const sx_window_side *d = &window[w]->side[side], *e = &window[w]->side[1 - side];
    others o = {1 / d->times, {1, 1}};
    if (e->times > 1) o.rest = window[w]->crossed;
    for (int i = 0; i < n; i++) {
        const sx_link_window *at = window[i];
        if (i == w) continue;
        int worse = at->of_side[0].groups < at->of_side[1].groups ? 0 : 1;
        o.share /= at->side[worse].times * (at->moves ? 1 : at->side[1 - worse].times);
        if (at->moves && at->side[1 - worse].times > 1) o.rest = least_rest(o.rest, at->of_side[1 - worse]);
    }
    return o;
}

/* What is left on top of `any` by visits of which the second are a part of the first. */
static double more_left(double any, double share, double rest, double part, double best) {
    return share * (rest - any) + part * sx_larger(0, best - rest);
}

/* The same where the first loop's step is no shorter than the tile and no step is 0. */
static sx_first_loop first_whole(const sx_link_window *const *window, int n, const sx_link_sum *all, int w,
                                 int side, sx_link_rest rest) {
    const sx_window_side *d = &window[w]->side[side];
    double share = 1 - 1.0 / d->prime, top = window[w]->helps ? all->sure : 0;
    sx_link_rest any = all->any;
    others a = leave_out_first(window, n, w, side), b = leave_out_sides(window, n, w, side);
    double groups = more_left(any.groups, a.share, a.rest.groups, b.share, b.rest.groups);
    double own = more_left(any.own, a.share, a.rest.own, b.share, b.rest.own);
    return (sx_first_loop){0,
                           1,
                           least_mean(rest.groups, share, any.groups),
                           least_mean(rest.own, share, any.own),
                           sx_larger(top * (1 - any.groups), groups),
                           sx_larger(top * (1 - any.own), own)};
}

sx_first_loop sx_link_first(const sx_link_window *const *window, int n, const sx_link_sum *all, int w,
                            int side, double scale) {
    const sx_link_window *at = window[w];
    const sx_window_side *d = &at->side[side], *e = &at->side[1 - side];
    double step = d->step * scale, share = sx_lesser(1, step / at->reach), whole = whole_visits(d, e);
    double top = at->helps ? all->sure : 0;
    sx_link_rest rest = at->first[side];
    if (at->helps && scale > 1) rest = rest_of(at->side, at->positions, (int64_t)step);
    if (whole == 0) {
        double often = (1 - 1.0 / d->prime) * share;
        return (sx_first_loop){0, often, often * rest.groups, often * rest.own, top, top};
    }
    if (share == 1) return first_whole(window, n, all, w, side, rest);
    if (top > whole) {
        double words = share + (1 - share) * whole;
        return (sx_first_loop){
            0, words, words * rest.groups, words * rest.own, top * (1 - rest.groups), top * (1 - rest.own)};
    }
    double part = share * (1 - whole);
    return (sx_first_loop){0, part + whole, part * rest.groups + whole, part * rest.own + whole, 0, 0};
}
