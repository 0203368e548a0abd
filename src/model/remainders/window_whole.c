/* Visits at which every child fetches its whole tile anew: compute units, and levels without temporal reuse. What is
 * handed out depends on who has the last tile of which dimension, before and now, and on how far tiles moved if
 * neighbours may help. */
#include "model/remainders/window.h"

#include <string.h>

#define NOTHING UINT32_MAX /* nothing was held before that a neighbour could use */

/* The number of the whole tile that is cut in some dimensions. */
static unsigned number_whole(sx_window_dp *w, uint32_t cut) {
    const sx_shape *shape = w->shape;
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
    for (int i = 0; i < w->n_wholes; i++)
        if (w->whole[i].cut == cut) return w->whole[i].piece;
    for (int r = 0; r < shape->n_ranks; r++) {
        low[r] = 0;
        high[r] = 1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            const sx_window_dim *d = &w->dim[shape->term[i].dim];
            int64_t reach = shape->term[i].coef * ((cut & d->bit ? d->rest : d->full) - 1);
            *(reach < 0 ? &low[r] : &high[r]) += reach;
        }
    }
    sx_box_delta delta = sx_box_delta_whole(shape->n_ranks, low, high);
    unsigned piece = sx_window_number_piece(w, &delta);
    if (w->n_wholes < SX_WINDOW_WHOLES) {
        w->whole[w->n_wholes].cut = cut;
        w->whole[w->n_wholes++].piece = (uint8_t)piece;
    }
    return piece;
}

/* What a class fetches where these dimensions are at their last tile. */
static unsigned fetched_class(sx_window_dp *w, const sx_window_class *class, uint32_t last) {
    return last & class->idle ? 0 : number_whole(w, last & class->on & w->cut);
}

/* The words of a visit, class by class. */
static sx_window_sums hand_out(sx_window_dp *w, uint32_t before, uint32_t now) {
    for (int c = w->first; c < w->end; c++) {
        int i = c - w->first;
        w->before[i] = (uint8_t)(before == NOTHING ? 0 : fetched_class(w, &w->class[c], before));
        w->now[i] = (uint8_t)fetched_class(w, &w->class[c], now);
        w->words[i] = w->now[i] ? w->piece[w->now[i]].words : 0;
    }
    return sx_window_share(w);
}

/* How far the parent's tiles move by a step of item j. */
static void set_moved(sx_window_dp *w, int j, uint32_t from) {
    const sx_shape *shape = w->shape;
    memset(w->moved, 0, shape->n_ranks * sizeof *w->moved);
    for (int i = 0; i < w->n_relevant; i++) {
        int d = w->relevant[i];
        const sx_window_dim *dim = &w->dim[d];
        int64_t moved = -(int64_t)dim->edge[from & dim->bit ? SX_ON : SX_WINDOW_OFF][w->inside[j][d]].end;
        if (j < w->n_items && w->item[j].loop->dim == d) moved += w->item[j].loop->step;
        for (int k = shape->first_of_dim[d]; k < shape->first_of_dim[d + 1]; k++)
            w->moved[shape->of_dim[k].rank] += shape->of_dim[k].coef * moved;
    }
}

sx_window_sums sx_window_visit_whole(sx_window_dp *w, int j, uint32_t from, uint32_t to, bool begins) {
    size_t size = w->shape->n_ranks * sizeof *w->moved;
    uint32_t now = to & w->starts[j] & w->matters[0];
    uint32_t before = w->links && !begins ? from & w->ends[j] & w->matters[0] : NOTHING;
    if (before != NOTHING) set_moved(w, j, from);
    if (before != NOTHING && !w->descends && !sx_window_within(w, w->moved)) before = NOTHING;
    if (before == NOTHING) memset(w->moved, 0, size);
    int i = 0;
    for (; i < w->n_visits; i++) {
        const sx_window_whole_visit *v = &w->visit[i];
        if (v->now == now && v->before == before && memcmp(v->moved, w->moved, size) == 0) return v->sums;
    }
    sx_window_sums sums = hand_out(w, before, now);
    if (i == SX_WINDOW_VISITS || w->failed) return sums;
    sx_window_whole_visit *v = &w->visit[w->n_visits++];
    v->now = now;
    v->before = before;
    memcpy(v->moved, w->moved, size);
    v->sums = sums;
    return sums;
}
