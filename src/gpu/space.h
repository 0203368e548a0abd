/* All mappings of an image by number: factorisations, layouts of spatial loops, orders of temporal ones, kept tensors; and
 * the best of those that differ in orders and kept tensors. */
#ifndef SX_GPU_SPACE_H
#define SX_GPU_SPACE_H

#include "gpu/image.h"

#include "core/score.h"

/* Finds the rows of all dimensions. */
SX_HD void sx_gpu_set_rows(const sx_gpu_view *view, sx_core_state *st, sx_core_lane lane) {
#ifdef SX_CORE_ROW_NUMBERS
    (void)lane;
    st->rows = view->rows;
    SX_UNROLL
    for (int i = 0; i < 2; i++) {
        st->number[i] = view->p->first_number[i];
        SX_UNROLL
        for (int k = 0; k < 4; k++) st->number[i] += (uint64_t)st->nest.row[4 * i + k] << 16 * k;
    }
#else
    for (int d = lane.at; d < (int)view->p->core.n_dims; d += lane.n)
        st->own->row[d] = view->rows + (size_t)(view->p->first_row[d] + st->nest.row[d]) *
                                           (size_t)SX_CORE_N_LEVELS(&view->p->core);
#endif
}

/* Scores the nest in a state; lane 0's answer counts. */
SX_HD int sx_gpu_score_nest(const sx_gpu_view *view, sx_core_state *st, double *charge, sx_core_lane lane,
                            sx_core_score *out) {
    sx_gpu_set_rows(view, st, lane);
    SX_SYNC(lane);
    return sx_core_score_nest(&view->p->core, st, charge, lane, out);
}

/* What is the same for all orders of a factorisation and layout. */
typedef struct sx_gpu_sweep {
    sx_gpu_list orders[SX_CORE_LEVELS_AT_MOST];
    uint32_t n_orders; /* of all levels together; 0: more than 2^32 - 1 */
    uint32_t n_keeps;
    uint32_t *
        table; /* the choices of each, made once for all groups that go side by side; NULL: found every time */
    uint32_t usable; /* a byte per tensor: levels that may keep it, as in the numbers of its choices */
    sx_core_choices choices[SX_CORE_LEVELS_AT_MOST];
} sx_gpu_sweep;

/* Orders of one factorisation and layout. */
typedef struct sx_gpu_item {
    uint64_t factorisation;
    uint32_t first, n; /* orders */
    uint16_t layout, padding[3];
} sx_gpu_item;

/* Gives the point in a state factorisation number f. */
SX_HD void sx_gpu_set_factorisation(const sx_gpu_image *p, sx_core_state *st, uint64_t f) {
    for (int d = 0; d < (int)p->core.n_dims; d++) {
        uint64_t row = f / p->weight[d + 1];
        st->nest.row[d] = (uint16_t)row;
        f -= row * p->weight[d + 1];
    }
}

/* The dimensions with loops at a level. */
SX_HD uint32_t sx_gpu_temporal(const sx_gpu_image *p, const sx_core_state *st, int s) {
    uint32_t mask = 0;
    for (int d = 0; d < (int)p->core.n_dims; d++)
        mask |= (uint32_t)(sx_core_at(st, (unsigned)d, s)->temporal > 1) << d;
    return mask;
}
SX_HD uint32_t sx_gpu_spatial(const sx_gpu_image *p, const sx_core_state *st, int s) {
    uint32_t mask = 0;
    for (int d = 0; d < (int)p->core.n_dims; d++)
        mask |= (uint32_t)(sx_core_at(st, (unsigned)d, s)->spatial > 1) << d;
    return mask;
}

/* The layouts of a level's spatial loops. */
SX_HD sx_gpu_list sx_gpu_layouts(const sx_gpu_view *view, const sx_core_state *st, int s) {
    return view->layouts[((uint32_t)s << view->p->core.n_dims) + sx_gpu_spatial(view->p, st, s)];
}

/* Gives the point layout number `layout`; returns how many there are. */
SX_HD uint32_t sx_gpu_set_layout(const sx_gpu_view *view, sx_core_state *st, uint32_t layout) {
    uint32_t n = 1;
    for (int s = 0; s < SX_CORE_N_LEVELS(&view->p->core); s++) {
        sx_gpu_list list = sx_gpu_layouts(view, st, s);
        st->nest.slots[s] = view->loops[list.first + layout % list.n];
        layout /= list.n;
        n *= list.n;
    }
    return n;
}

/* The orders of a level's temporal loops; `spread`: the innermost level has spatial loops. */
SX_HD sx_gpu_list sx_gpu_orders(const sx_gpu_view *view, const sx_core_state *st, int s, bool spread) {
    uint32_t at = (uint32_t)s << 1 | (spread ? 1 : 0);
    return view->lists[(at << view->p->core.n_dims) + sx_gpu_temporal(view->p, st, s)];
}

/* How many orders the loops of all levels have together; 0 where these are more than 2^32 - 1. */
SX_HD uint32_t sx_gpu_count_orders(const sx_gpu_view *view, const sx_core_state *st) {
    uint64_t n = 1;
    for (int s = 0; s < SX_CORE_N_LEVELS(&view->p->core); s++)
        if (n) n *= sx_gpu_orders(view, st, s, st->children[0] > 1).n;
    return n >> 32 ? 0 : (uint32_t)n;
}

/* Gives the point order number `order`. */
SX_HD void sx_gpu_set_order(const sx_gpu_view *view, sx_core_state *st, const sx_gpu_list *orders,
                            uint32_t order) {
    for (int s = 0; s < SX_CORE_N_LEVELS(&view->p->core); s++) {
        st->nest.loops[s] = view->loops[orders[s].first + order % orders[s].n];
        order /= orders[s].n;
    }
}

/* Whether a factorisation can be legal, whatever its layout: by the number of instances in use and by what levels must
 * hold. The state is then ready for layouts. */
SX_HD bool sx_gpu_screen(const sx_gpu_view *view, sx_core_state *st, uint64_t f) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    const sx_gpu_image *p = view->p;
    int n_levels = SX_CORE_N_LEVELS(&p->core);
    double units = 1;
    sx_gpu_set_factorisation(p, st, f);
    sx_gpu_set_rows(view, st, alone);
    for (int s = n_levels - 1; s >= 0; s--) {
        if (units > p->core.level[s].instances) return false;
        for (int d = 0; d < (int)p->core.n_dims; d++) units *= sx_core_at(st, (unsigned)d, s)->spatial;
    }
    if (units > p->core.compute_instances) return false;
    for (int s = 0; s < n_levels; s++) {
        if (!p->core.level[s].limited && !p->core.level[s].transparent) continue;
        for (int v = 0; v < SX_CORE_N_TENSORS(&p->core); v++) sx_core_set_words(&p->core, st, v, s);
        if (!sx_core_has_choice(&p->core, st, s)) return false;
    }
    return true;
}

/* Whether the array has the instances of a screened factorisation's layout; *n: how many layouts there are. */
SX_HD bool sx_gpu_spreads(const sx_gpu_view *view, sx_core_state *st, uint32_t layout, uint32_t *n) {
    *n = sx_gpu_set_layout(view, st, layout);
    for (int s = 0; s < SX_CORE_N_LEVELS(&view->p->core); s++) sx_core_set_slot(&view->p->core, st, s);
    return sx_core_set_array(&view->p->core, st);
}

/* The levels that keep a tensor under one number of its choices. */
SX_HD uint32_t sx_gpu_choice_levels(const sx_gpu_image *p, int v, uint32_t choice) {
    uint32_t kept = p->core.tensor[v].fixed;
    for (int s = 0; s < SX_CORE_N_LEVELS(&p->core); s++)
        if (p->core.tensor[v].bit[s] & choice) kept |= 1u << s;
    return kept;
}

/* Makes the charges of all tensors under all their choices that some set of kept tensors leads to. */
SX_HD void sx_gpu_charge_all(const sx_gpu_image *p, const sx_core_state *st, const sx_gpu_sweep *w,
                             double *charge, sx_core_lane lane) {
    uint32_t size = sx_core_charge_size(&p->core);
    for (uint32_t i = (uint32_t)lane.at; i < p->n_charges; i += (uint32_t)lane.n) {
        int v = SX_CORE_N_TENSORS(&p->core) - 1;
        while (i < p->first_charge[v]) v--;
        uint32_t choice = i - p->first_charge[v], kept = sx_gpu_choice_levels(p, v, choice);
        if (kept == 0 || choice & ~(w->usable >> 8 * v & 0xff)) continue;
        sx_core_charge(&p->core, st, v, kept, charge + i * size);
    }
}

/* The sets of kept tensors number `keep`, as numbers of the tensors' choices, a byte each. */
SX_HD uint32_t sx_gpu_choice_of(const sx_gpu_image *p, const sx_gpu_sweep *w, uint32_t keep) {
    uint32_t adds = 0;
    for (int s = 0; s < SX_CORE_N_LEVELS(&p->core); s++) {
        uint32_t n = w->choices[s].n, rest = n > 1 ? keep / n : keep;
        adds |= w->choices[s].adds[keep - rest * n];
        keep = rest;
    }
    return adds;
}

/* Prepares a sweep over a factorisation and a layout. */
SX_HD void sx_gpu_begin(const sx_gpu_view *view, sx_core_state *st, sx_gpu_sweep *w, uint64_t f,
                        uint32_t layout, sx_core_lane lane) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    const sx_gpu_image *p = view->p;
    int n_levels = SX_CORE_N_LEVELS(&p->core);
    if (lane.at == 0) {
        sx_gpu_set_factorisation(p, st, f);
        sx_gpu_set_rows(view, st, alone);
        sx_gpu_set_layout(view, st, layout);
    }
    SX_SYNC(lane);
    sx_core_lay_out(&p->core, st, lane);
    for (int s = lane.at; s < n_levels; s += lane.n) {
        w->orders[s] = sx_gpu_orders(view, st, s, st->children[0] > 1);
        sx_core_set_choices(&p->core, st, s, &w->choices[s]);
    }
    SX_SYNC(lane);
    if (lane.at == 0) {
        uint64_t orders = 1;
        w->n_keeps = 1;
        w->usable = 0;
        for (int s = 0; s < n_levels; s++) {
            if (orders) orders *= w->orders[s].n;
            w->n_keeps *= w->choices[s].n;
            for (uint32_t i = 0; i < w->choices[s].n; i++) w->usable |= w->choices[s].adds[i];
        }
        w->n_orders = orders >> 32 ? 0 : (uint32_t)orders;
        if (st->illegal) w->n_keeps = 0;
    }
    SX_SYNC(lane);
    if (!w->table) return;
    uint32_t step = (uint32_t)lane.n * lane.groups;
    for (uint32_t k = (uint32_t)lane.at + lane.group * (uint32_t)lane.n; k < w->n_keeps; k += step)
        w->table[k] = sx_gpu_choice_of(p, w, k);
    SX_SYNC(lane);
}

/* Where the charges of a choice stand; false where a tensor is kept nowhere. */
SX_HD bool sx_gpu_find_charges(const sx_gpu_image *p, uint32_t choice, uint32_t size, uint32_t *at) {
    bool kept = true;
    SX_UNROLL
    for (int v = 0; v < SX_CORE_TENSORS_AT_MOST; v++) {
        if (v >= SX_CORE_N_TENSORS(&p->core)) break;
        uint32_t index = choice >> 8 * v & 0xff;
        kept = kept && (index | p->core.tensor[v].fixed) != 0;
        at[v] = (p->first_charge[v] + index) * size;
    }
    return kept;
}

/* Whether a is before b. */
SX_HD bool sx_gpu_before(const sx_gpu_place *a, const sx_gpu_place *b) {
    if (a->factorisation != b->factorisation) return a->factorisation < b->factorisation;
    if (a->layout != b->layout) return a->layout < b->layout;
    if (a->order != b->order) return a->order < b->order;
    return a->keep < b->keep;
}

/* Whether a is better than b, or as good and before it. */
SX_HD bool sx_gpu_better(const sx_gpu_best *a, const sx_gpu_best *b) {
    return a->value < b->value || (a->value == b->value && sx_gpu_before(&a->at, &b->at));
}

/* Scores the order in a state under all sets of kept tensors, and keeps the lane's best; returns how many were legal. */
SX_HD uint32_t sx_gpu_try_keeps(const sx_gpu_image *p, const sx_core_state *st, const sx_gpu_sweep *w,
                                const double *charge, sx_core_lane lane, sx_gpu_place at, sx_gpu_best *best) {
    uint32_t size = sx_core_charge_size(&p->core), legal = 0, where[SX_CORE_TENSORS_AT_MOST] = {0};
    for (uint32_t keep = (uint32_t)lane.at; keep < w->n_keeps; keep += (uint32_t)lane.n) {
        sx_gpu_best found;
        double energy, cycles;
        uint32_t choice = w->table ? w->table[keep] : sx_gpu_choice_of(p, w, keep);
        if (!sx_gpu_find_charges(p, choice, size, where)) continue;
        sx_core_sum(&p->core, st, charge, where, &energy, &cycles);
        legal++;
        found.value = sx_gpu_value(p, energy, cycles);
        found.at = at;
        found.at.keep = (uint16_t)keep;
        if (sx_gpu_better(&found, best)) *best = found;
    }
    return legal;
}

/* Orders that are not covered: the first `room` of them. */
typedef struct sx_gpu_missed {
    unsigned long long n;
    uint64_t room;
    sx_gpu_place *at;
} sx_gpu_missed;

/* Notes an order that is not covered. */
SX_HD void sx_gpu_miss(sx_gpu_missed *missed, const sx_gpu_place *at) {
#ifdef __CUDA_ARCH__
    unsigned long long i = atomicAdd(&missed->n, 1ull);
#else
    unsigned long long i = missed->n++;
#endif
    if (i < missed->room) missed->at[i] = *at;
}

/* Scores all mappings of an item: groups that go side by side take one order after another, and all do as many rounds. Counts
 * of this lane are added to *counts. */
SX_HD void sx_gpu_look(const sx_gpu_view *view, sx_core_state *st, sx_gpu_sweep *w, double *charge,
                       sx_core_lane lane, const sx_gpu_item *item, sx_gpu_best *best, sx_gpu_counts *counts,
                       sx_gpu_missed *missed) {
    const sx_gpu_image *p = view->p;
    sx_gpu_place at = {item->factorisation, 0, item->layout, 0};
    sx_gpu_begin(view, st, w, item->factorisation, item->layout, lane);
    if (lane.at == 0 && lane.group == 0) counts->factorisations += item->first == 0;
    if (w->n_keeps == 0) return;
    for (uint32_t first = 0; first < item->n; first += lane.groups) {
        bool works = first + lane.group < item->n;
        at.order = item->first + (works ? first + lane.group : first);
        if (lane.at == 0) sx_gpu_set_order(view, st, w->orders, at.order);
        SX_SYNC(lane);
        sx_core_count(&p->core, st, lane);
        bool covered = !st->uncovered;
        if (covered) sx_gpu_charge_all(p, st, w, charge, lane);
        SX_SYNC(lane);
        if (works && covered) counts->legal += sx_gpu_try_keeps(p, st, w, charge, lane, at, best);
        if (works && lane.at == 0) {
            counts->orders++;
            counts->uncovered += !covered;
            if (!covered) sx_gpu_miss(missed, &at);
        }
        SX_SYNC(lane);
    }
}

/* Looks at all mappings of one factorisation, by one lane. `charge`: n_charges of sx_core_charge_size numbers. */
SX_HD void sx_gpu_look_at(const sx_gpu_view *view, sx_core_state *st, double *charge, uint64_t f,
                          sx_gpu_best *best, sx_gpu_counts *counts, sx_gpu_missed *missed) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    sx_gpu_sweep sweep;
    uint32_t n = 1;
    sweep.table = NULL;
    if (!sx_gpu_screen(view, st, f)) return;
    for (uint32_t layout = 0; layout < n; layout++) {
        if (!sx_gpu_spreads(view, st, layout, &n)) continue;
        sx_gpu_item item = {f, 0, sx_gpu_count_orders(view, st), (uint16_t)layout, {0}};
        sx_gpu_look(view, st, &sweep, charge, alone, &item, best, counts, missed);
    }
}

#endif
