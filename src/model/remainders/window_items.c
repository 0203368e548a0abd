/* The loops outside a level's children, and where tiles stand in blocks of their visits (remainders/window.c). */
#include "model/remainders/window.h"

#include <string.h>

/* Sets where tiles of a dimension end, for the parent's present places. */
static void set_ends(const sx_window_dp *w, sx_window_dim *d) {
    const int32_t full = (int32_t)d->full - 1, rest = (int32_t)d->rest - 1;
    int first = d->spread ? SX_EARLY : SX_ON, end = d->spread ? SX_IDLE : SX_ON;
    sx_window_edge *off = d->edge[SX_WINDOW_OFF];
    off[0] = d->edge[SX_EARLY][0] = (sx_window_edge){0, full, full, false, false, false};
    d->edge[SX_ON][0] = (sx_window_edge){0, rest, rest, true, true, false};
    d->edge[SX_IDLE][0] = (sx_window_edge){.empty = true};
    for (int k = 0; k < d->n; k++) {
        const sx_window_item *item = &w->item[d->item[k]];
        int32_t step = (int32_t)item->loop->step, last = (int32_t)item->loop->last;
        off[k + 1] = off[k];
        if (!item->spatial) off[k + 1].end += ((int32_t)item->loop->n - 1) * step;
        for (int place = first; place <= end; place++) {
            const sx_window_edge in = d->edge[place][k];
            sx_window_edge *out = &d->edge[place][k + 1];
            *out = item->spatial && item->place == SX_EARLY ? off[k] : in;
            if (item->spatial && item->place == SX_IDLE) out->empty = true;
            if (item->spatial) continue;
            if (in.empty) *out = off[k];
            out->end += (in.empty ? last - 2 : last - 1) * step;
            out->empty = in.empty && last == 1;
            if (last == 1) continue;
            out->first = full;
            out->start_rest = false;
        }
    }
}

/* Prepares the dimensions for the parent's present places. */
static void set_dims(sx_window_dp *w) {
    w->matters[0] = w->dead[0] = w->seen = w->cut = w->spread_ranks = 0;
    w->starts[0] = w->ends[0] = w->all;
    for (int d = 0; d < w->workspace->model->n_dims; d++) {
        sx_window_dim *dim = &w->dim[d];
        if (dim->bit || w->shape->dims >> d & 1) set_ends(w, dim);
        if (dim->spread || (w->shape->dims >> d & 1 && dim->rest != dim->full)) w->matters[0] |= dim->bit;
        if (dim->spread || w->shape->dims >> d & 1) w->seen |= dim->bit;
        if (w->shape->dims >> d & 1 && dim->rest != dim->full) w->cut |= dim->bit;
        for (int i = w->shape->first_of_dim[d]; dim->spread && i < w->shape->first_of_dim[d + 1]; i++)
            w->spread_ranks |= 1u << w->shape->of_dim[i].rank;
    }
}

void sx_window_set_places(sx_window_dp *w) {
    set_dims(w);
    w->config[0] = 0;
    for (int j = 0; j < w->n_items; j++) {
        const sx_window_item *item = &w->item[j];
        const sx_window_dim *d = &w->dim[item->loop->dim];
        uint32_t matters = w->matters[j], dead = w->dead[j] & ~d->bit;
        const sx_window_edge *edge = &d->edge[SX_ON][w->inside[j + 1][item->loop->dim]];
        if (d->bit && edge->empty) dead |= d->bit;
        w->starts[j + 1] = edge->start_rest ? w->starts[j] : w->starts[j] & ~d->bit;
        w->ends[j + 1] = edge->end_rest ? w->ends[j] : w->ends[j] & ~d->bit;
        w->config[j + 1] = item->spatial ? w->config[j] << 2 | (item->place + 1u) : w->config[j];
        if (item->spatial && item->place == SX_EARLY) matters &= ~d->bit;
        if (item->spatial ? item->place == SX_IDLE : item->loop->last != item->loop->n) matters |= d->bit;
        w->matters[j + 1] = matters;
        w->dead[j + 1] = dead;
    }
}

/* Adds a loop outside the children. */
static void add_item(sx_window_dp *w, const sx_loop *loop, bool spatial) {
    sx_window_dim *d = &w->dim[loop->dim];
    d->item[d->n++] = (uint8_t)w->n_items;
    w->item[w->n_items++] = (sx_window_item){.loop = loop, .spatial = spatial};
    w->n_placed += spatial;
    memcpy(w->inside[w->n_items], w->inside[w->n_items - 1], sizeof w->inside[0]);
    w->inside[w->n_items][loop->dim]++;
}

/* Sets the dimensions of each rank, and how many items are on them. */
static void set_ranks(sx_window_dp *w) {
    const sx_shape *shape = w->shape;
    for (int r = 0; r < shape->n_ranks; r++) {
        w->rank_dims[r] = 0;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            w->rank_dims[r] |= (uint16_t)(1u << shape->term[i].dim);
        w->turned[r][0] = 0;
        for (int j = 0; j < w->n_items; j++)
            w->turned[r][j + 1] = (uint8_t)(w->turned[r][j] + (w->rank_dims[r] >> w->item[j].loop->dim & 1));
    }
}

double sx_window_list_items(sx_window_dp *w) {
    const sx_model *model = w->workspace->model;
    const sx_nest *nest = &w->workspace->nest;
    double parents = 1;
    w->n_items = w->n_relevant = w->n_placed = 0;
    w->all = 0;
    memset(w->inside[0], 0, sizeof w->inside[0]);
    for (int d = 0; d < model->n_dims; d++) {
        uint32_t full = w->level > 0 ? nest->extent[w->level - 1][d] : 1;
        w->dim[d].full = full;
        w->dim[d].rest = (model->size[d] - 1) % full + 1;
        w->dim[d].bit = w->dim[d].rest != full ? 1u << d : 0;
        w->dim[d].n = 0;
        w->dim[d].spread = false;
        if (w->shape->dims >> d & 1) w->relevant[w->n_relevant++] = (uint8_t)d;
    }
    for (int l = nest->spatial_of[w->level]; l < nest->n_spatial; l++)
        if (nest->spatial[l].last != nest->spatial[l].n)
            w->dim[nest->spatial[l].dim].bit = 1u << nest->spatial[l].dim;
    for (int l = nest->temporal_of[w->level]; l < nest->n_temporal; l++)
        if (nest->temporal[l].last != nest->temporal[l].n)
            w->dim[nest->temporal[l].dim].bit = 1u << nest->temporal[l].dim;
    for (int d = 0; d < model->n_dims; d++) w->all |= w->dim[d].bit;
    for (int s = w->level; s < model->n_levels; s++) {
        for (int l = nest->spatial_of[s]; s > w->level && l < nest->spatial_of[s + 1]; l++) {
            if (w->dim[nest->spatial[l].dim].bit)
                add_item(w, &nest->spatial[l], true);
            else
                parents *= nest->spatial[l].n;
        }
        for (int l = nest->temporal_of[s]; l < nest->temporal_of[s + 1]; l++)
            add_item(w, &nest->temporal[l], false);
    }
    set_ranks(w);
    return parents;
}
