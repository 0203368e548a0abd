/* The walk of the exhaustive search by compact points: the choices of exhaustive.c in the same order. What levels may keep is
 * listed once for all orders and layouts of a factorisation, tensors are charged one after another as long as a mapping is not
 * beyond the cutoff, and mappings that are all beyond it are counted together. */
#include "mappers/exhaustive.h"

#include "base/status.h"
#include "base/vector.h"
#include "mappers/compact_orders.h"
#include "model/core_score.h"

#include <stdlib.h>
#include <string.h>

/* What one level can choose under a factorisation. */
typedef struct level_choices {
    const sx_compact_orders *orders;
    const uint16_t *on_x;
    size_t n_layouts;
    int n_keeps;
    uint8_t keep[1 << SX_CORE_TENSORS];
} level_choices;

/* What all levels keep: a byte for each tensor (sx_kept_at), and one for each level. */
typedef struct kept {
    uint64_t levels, keeps;
} kept;

/* One task's walk. */
typedef struct walk {
    const sx_exhaustive_plan *plan;
    const sx_core_space *core;
    const sx_core_engine *engine;
    struct sx_core_work *work;
    sx_worker *worker;
    sx_compact_level *point;
    sx_keep_sweep sweep;
    bool over;          /* there is nothing more to do */
    sx_status failure;  /* what ended it */
    uint64_t loops[2];  /* of the point, temporal and spatial */
    uint64_t n_choices; /* of what to keep, legal or not */
    uint64_t n_orders;
    kept *legal; /* those that are */
    size_t n_legal, room;
    uint32_t number[SX_CORE_DIMS]; /* of the splits */
    level_choices level[SX_CORE_LEVELS];
    sx_compact_order_lists lists;
} walk;

/* The spatial factor at a level of dimensions up to d. */
static double spread_of(const walk *w, int s, int d) {
    double spread = 1;
    for (int i = 0; i <= d; i++)
        spread *=
            w->plan->compact->splits->cell[i][w->number[i] * (size_t)w->core->model.n_levels + (size_t)s]
                .spatial;
    return spread;
}

/* Gives a dimension split number `index`; whether the array and the memories can hold what is set so far. */
static bool set_dim(void *user, int d, uint64_t index) {
    walk *w = user;
    const sx_model *model = w->plan->space->model;
    double units = 1;
    w->number[d] = (uint32_t)index;
    w->engine->pick_splits(w->core, w->plan->compact->splits, w->work, w->number, d + 1, w->point, w->loops);
    for (int s = model->n_levels - 1; s >= 0; s--) {
        unsigned must = w->core->model.level[s].must;
        if (units > (double)model->level[s].instances) return false;
        units *= spread_of(w, s, d);
        if (must && model->level[s].limited && !w->engine->hold(w->core, w->work, s, must, true))
            return false;
    }
    sx_keep_sweep_units(&w->sweep, units);
    return units <= (double)model->compute_instances;
}

/* Finds what a level can choose; false where it can choose nothing. */
static bool find_level(walk *w, int s) {
    level_choices *l = &w->level[s];
    const sx_core_level *at = &w->core->model.level[s];
    uint32_t some = 0, spatial = (uint32_t)(w->loops[1] >> 8 * s) & ((1u << SX_CORE_DIMS) - 1);
    bool anew = true;
    l->n_keeps = 0;
    do {
        if (w->engine->hold(w->core, w->work, s, at->must | some, anew))
            l->keep[l->n_keeps++] = (uint8_t)(at->must | some);
        some = (some - at->may) & at->may;
        anew = false;
    } while (some);
    if (l->n_keeps == 0) return false;
    l->orders = sx_compact_orders_of(&w->lists, w->plan->space, w->plan->choices, w->worker, s, w->loops);
    l->on_x = sx_map_layouts_of(w->plan->choices, s, spatial, &l->n_layouts);
    if (l->orders && !l->on_x) w->failure = sx_error_memory();
    w->over = !l->orders || !l->on_x;
    return !w->over;
}

/* Lists what the levels up to `level` can keep together, given what those above keep. */
static void list_keeps(walk *w, int level, unsigned all, kept above) {
    if (level < 0) {
        w->n_choices++;
        if (all != w->core->model.all) return;
        if (sx_reserve(&w->legal, &w->room, w->n_legal + 1, sizeof *w->legal))
            w->legal[w->n_legal++] = above;
        else
            w->failure = sx_error_memory();
        w->over |= w->failure != NULL;
        return;
    }
    const level_choices *l = &w->level[level];
    for (int i = 0; i < l->n_keeps && !w->over; i++)
        list_keeps(w, level - 1, all | l->keep[i],
                   (kept){above.levels | sx_kept_at(level, l->keep[i]),
                          above.keeps | (uint64_t)l->keep[i] << 8 * level});
}

/* Evaluates the point under some choices of what to keep. */
static void sweep_keeps(walk *w, const kept *choice, size_t n) {
    if (sx_worker_pass_all(w->worker, w->sweep.least, n)) {
        w->over = sx_worker_stopped(w->worker);
        return;
    }
    double cycles = w->engine->order(w->core, w->work, w->point);
    for (size_t i = 0; i < n && !w->over; i++) {
        for (uint32_t s = 0; s < w->core->model.n_levels; s++)
            w->point[s].keep = (uint8_t)(choice[i].keeps >> 8 * s);
        sx_outcome outcome = sx_compact_search_keep(w->plan->compact, w->worker, w->work, cycles,
                                                    w->plan->objective, choice[i].levels, w->point);
        w->over = outcome.reason == SX_NOT_EVALUATED;
    }
}

/* The same under every order of the levels up to `level`. */
static void try_orders(walk *w, int level, const kept *choice, size_t n) {
    if (level < 0) {
        sweep_keeps(w, choice, n);
        return;
    }
    const sx_compact_orders *orders = w->level[level].orders;
    for (size_t i = 0; i < orders->n && !w->over; i++) {
        w->point[level].order = sx_compact_pack_order(orders->order[i], w->core->model.n_dims);
        try_orders(w, level - 1, choice, n);
    }
}

/* Evaluates the point in all ways to lay the spatial loops of the levels up to `level`. */
static void try_layouts(walk *w, int level) {
    if (level < 0) {
        bool laid = w->engine->lay(w->core, w->work, w->point);
        sx_worker_reject(w->worker, laid ? w->n_choices - w->n_legal : w->n_choices);
        if (!laid || sx_worker_pass_all(w->worker, w->sweep.least, w->n_orders * w->n_legal)) {
            w->over = sx_worker_stopped(w->worker);
            return;
        }
        for (size_t at = 0; at < w->n_legal && !w->over; at += SX_EXHAUSTIVE_SWEPT) {
            size_t left = w->n_legal - at;
            try_orders(w, (int)w->core->model.n_levels - 1, w->legal + at,
                       left < SX_EXHAUSTIVE_SWEPT ? left : SX_EXHAUSTIVE_SWEPT);
        }
        return;
    }
    for (size_t i = 0; i < w->level[level].n_layouts && !w->over; i++) {
        w->point[level].on_x = w->level[level].on_x[i];
        try_layouts(w, level - 1);
    }
}

/* Goes through the mappings of the factorisation. */
static bool visit_factorisation(void *user) {
    walk *w = user;
    const int n_levels = (int)w->core->model.n_levels;
    w->n_choices = w->n_legal = 0;
    w->n_orders = 1;
    for (int s = 0; s < n_levels; s++) {
        if (!find_level(w, s)) return !w->over;
        w->n_orders *= w->level[s].orders->n;
    }
    list_keeps(w, n_levels - 1, 0, (kept){0, 0});
    if (!w->over) try_layouts(w, n_levels - 1);
    return !w->over;
}

sx_status sx_exhaustive_compact_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_exhaustive_plan *p = input;
    (void)output;
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    w->plan = p;
    w->core = &p->compact->core;
    w->engine = p->compact->engine;
    w->work = sx_compact_search_work(p->compact, worker);
    w->worker = worker;
    w->sweep = sx_keep_sweep_make(p->space, worker, p->objective);
    w->point = sx_worker_scratch(worker, 1);
    memset(w->point, 0, p->compact->size);
    if (w->work)
        sx_exhaustive_walk_task(p, task, worker, &(sx_exhaustive_walk){set_dim, visit_factorisation, w});
    sx_status status = w->failure;
    free(w->legal);
    free(w);
    return status;
}
