/* The walk of the random-pruned search by compact points: the choices of pruned.c, with splits drawn from the list of those that
 * levels can hold on their own. Tiles are checked before arrays and orders are looked at, and tensors are charged one after
 * another as long as a mapping is not beyond the cutoff. */
#include "mappers/pruned.h"

#include "base/divisor.h"
#include "base/status.h"
#include "core/moves.h"
#include "mappers/compact_orders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEEPS = 1 << SX_CORE_TENSORS,
    SETS = 1 << SX_CORE_DIMS,
    MOST_MASKS = 4096, /* choices of what to keep; further ones are left out */
};

/* The choices of a level. */
typedef struct level_choices {
    const sx_compact_orders *orders;
    uint32_t n_layouts, n_keeps;
    uint16_t on_x[SETS];
    uint8_t keep[KEEPS];
    bool tiled; /* its tiles are known, */
    uint8_t fits
        [KEEPS]; /* and of each choice of what to keep: 0 it was not asked for, 1 it fits, 2 it does not */
} level_choices;

/* One task's walk. */
typedef struct walk {
    const sx_pruned_plan *plan;
    const sx_core_space *core;
    const sx_core_engine *engine;
    struct sx_core_work *work;
    sx_pruned_count count;
    sx_keep_sweep sweep;
    sx_compact_level *point;
    sx_core_rng rng;
    uint64_t loops[2];                     /* of the point, temporal and spatial */
    uint64_t n_masks, n_orders, n_layouts; /* n_orders: UINT64_MAX: as many or more */
    uint64_t order, layout;                /* numbers that the point is to have, */
    bool order_due, layout_due;            /* but has not yet */
    bool laid;                             /* the array was asked */
    double cycles;                         /* of the point */
    level_choices level[SX_CORE_LEVELS];
    sx_compact_order_lists lists;
} walk;

/* A number below n. */
static uint64_t draw_below(walk *w, uint64_t n) {
    return (uint64_t)((sx_u128)sx_core_next(&w->rng) * n >> 64);
}

/* A sequence of which n numbers will be drawn. */
static sx_pruned_sequence shuffled_sequence(walk *w, uint64_t total, uint64_t n) {
    sx_pruned_sequence out = {total, draw_below(w, total), 1};
    if (n < 2 || n == total) return out;
    do out.step = 1 + draw_below(w, total - 1);
    while (sx_divisor_common(out.step, total) != 1);
    return out;
}

/* Lists what levels may keep, the most first. */
static void list_keeps(walk *w) {
    w->n_masks = 1;
    for (uint32_t s = 0; s < w->core->model.n_levels; s++) {
        level_choices *l = &w->level[s];
        const sx_core_level *at = &w->core->model.level[s];
        uint32_t some = at->may;
        do {
            l->keep[l->n_keeps++] = (uint8_t)(at->must | some);
            some = (some - 1) & at->may;
        } while (some != at->may);
        if (w->n_masks < MOST_MASKS) w->n_masks *= l->n_keeps;
    }
    if (w->n_masks > MOST_MASKS) w->n_masks = MOST_MASKS;
}

/* Whether a level can hold its choice number i. */
static bool level_fits(walk *w, int s, uint32_t i) {
    level_choices *l = &w->level[s];
    if (!l->fits[i]) {
        l->fits[i] = w->engine->hold(w->core, w->work, s, l->keep[i], !l->tiled) ? 1 : 2;
        l->tiled = true;
    }
    return l->fits[i] == 1;
}

/* Lets all levels keep choice number `mask`; false where that does not fit, or keeps a tensor nowhere. */
static bool set_keeps(walk *w, uint64_t mask) {
    uint32_t kept = 0, left = (uint32_t)mask;
    for (int s = 0; s < (int)w->core->model.n_levels; s++) {
        uint32_t n = w->level[s].n_keeps, i = left & (n - 1);
        left /= n;
        if (!level_fits(w, s, i)) return false;
        kept |= w->point[s].keep = w->level[s].keep[i];
    }
    return kept == w->core->model.all;
}

/* Finds how the spatial loops of a level can lie on the array, and multiplies *units by the children in use; false where they do
 * not fit. */
static bool find_level_layouts(walk *w, int s, double *units) {
    level_choices *l = &w->level[s];
    const uint64_t *word = sx_compact_words_of(w->core, w->point);
    const uint32_t loops = (uint32_t)(w->loops[1] >> 8 * s) & (SETS - 1), open = loops & w->core->free_x[s];
    double factor[SX_CORE_DIMS], all = 1;
    for (uint32_t left = loops; left; left &= left - 1) {
        int d = sx_core_low(left);
        all *= factor[d] = sx_compact_factor(w->core, word, d, w->core->spatial_slot[s]);
    }
    *units *= all;
    l->n_layouts = 0;
    uint32_t some = 0;
    do {
        uint32_t on_x = some | (loops & w->core->fixed_x[s]);
        double x = 1;
        for (uint32_t left = on_x; left; left &= left - 1) x *= factor[sx_core_low(left)];
        if (x <= w->core->room[s][0] && all <= x * w->core->room[s][1])
            l->on_x[l->n_layouts++] = (uint16_t)on_x;
        some = (some - open) & open;
    } while (some);
    return l->n_layouts > 0;
}

/* Finds the layouts of all levels; false where the array cannot hold the loops. */
static bool find_layouts(walk *w) {
    double units = 1;
    w->n_layouts = 1;
    for (uint32_t left = w->core->spread; left; left &= left - 1) {
        int s = sx_core_low(left);
        if (!find_level_layouts(w, s, &units)) return false;
        w->n_layouts *= w->level[s].n_layouts;
    }
    sx_keep_sweep_units(&w->sweep, units);
    return true;
}

/* Finds the orders of all levels' loops; false where the run has failed. */
static bool find_orders(walk *w) {
    w->n_orders = 1;
    for (int s = 0; s < (int)w->core->model.n_levels; s++) {
        const sx_compact_orders *known =
            sx_compact_orders_of(&w->lists, w->plan->space, w->plan->choices, w->count.worker, s, w->loops);
        if (!known) return false;
        w->level[s].orders = known;
        if (__builtin_mul_overflow(w->n_orders, known->n, &w->n_orders)) w->n_orders = UINT64_MAX;
    }
    return true;
}

/* Gives all levels the orders that are due, random ones where they are too many for a number. */
static void set_orders(walk *w) {
    uint64_t index = w->order;
    for (int s = 0; s < (int)w->core->model.n_levels; s++) {
        const sx_compact_orders *o = w->level[s].orders;
        uint64_t digit = w->n_orders == UINT64_MAX ? draw_below(w, o->n) : index % o->n;
        index /= o->n;
        w->point[s].order = sx_compact_pack_order(o->order[digit], w->core->model.n_dims);
    }
}

/* Lays the spatial loops of all levels as it is due; false where the array does not have the instances. */
static bool set_layout(walk *w) {
    uint64_t index = w->layout;
    for (uint32_t left = w->core->spread; left; left &= left - 1) {
        int s = sx_core_low(left);
        w->point[s].on_x = w->level[s].on_x[index % w->level[s].n_layouts];
        index /= w->level[s].n_layouts;
    }
    w->laid = true;
    return w->engine->lay(w->core, w->work, w->point);
}

/* Evaluates the point with what it keeps and counts it; false where it is not legal. Nothing is scored where all mappings of the
 * factorisation are beyond the cutoff. */
static bool evaluate_point(walk *w) {
    sx_outcome outcome;
    if (!w->laid && !set_layout(w)) return false;
    if (!sx_keep_sweep_pass(&w->sweep, &outcome)) {
        if (w->layout_due && !set_layout(w)) return false;
        if (w->order_due) set_orders(w);
        if (w->order_due || w->layout_due) w->cycles = w->engine->order(w->core, w->work, w->point);
        w->order_due = w->layout_due = false;
        outcome =
            sx_compact_search_keep(w->plan->compact, w->count.worker, w->work, w->cycles, w->plan->objective,
                                   sx_compact_search_kept(w->plan->compact, w->point), w->point);
    }
    sx_pruned_evaluated(&w->count, &outcome);
    return true;
}

/* Evaluates the point with all that it may keep, in order, or with some random choices, of which the first may be set already;
 * false where none is legal. */
static bool walk_masks(walk *w, bool set) {
    bool all = w->plan->keeps == 0 || w->plan->keeps >= w->n_masks, any = false;
    uint64_t n = all ? w->n_masks : w->plan->keeps;
    sx_pruned_sequence masks = {n, 0, 1};
    if (!all && !set) masks = shuffled_sequence(w, w->n_masks, n);
    for (uint64_t i = 0; i < n && !w->count.over; i++, set = false) {
        if ((set || set_keeps(w, sx_pruned_next(&masks))) && evaluate_point(w))
            any = true;
        else
            sx_pruned_illegal(&w->count);
    }
    return any;
}

/* Goes through what follows from one factorisation. Where one choice of what to keep is tried, that is checked first. */
static void walk_factorisation(walk *w) {
    bool set = w->plan->keeps == 1 && w->n_masks > 1;
    for (uint32_t s = 0; s < w->core->model.n_levels; s++) {
        w->level[s].tiled = false;
        memset(w->level[s].fits, 0, sizeof w->level[s].fits);
    }
    if ((set && !set_keeps(w, draw_below(w, w->n_masks))) || !find_layouts(w)) {
        sx_pruned_illegal(&w->count);
        return;
    }
    w->laid = false;
    w->count.over = !find_orders(w);
    uint64_t total = w->n_orders, n = total < w->plan->permutations ? total : w->plan->permutations;
    sx_pruned_sequence drawn = shuffled_sequence(w, total, n);
    for (uint64_t i = 0; i < n && !w->count.over; i++) {
        w->order = sx_pruned_next(&drawn);
        w->order_due = true;
        for (w->layout = 0; w->layout < w->n_layouts && !w->count.over; w->layout++, set = false) {
            w->layout_due = true;
            if (!walk_masks(w, set)) return;
        }
        if (sx_worker_stopped(w->count.worker)) return;
    }
}

sx_status sx_pruned_compact_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_pruned_plan *p = input;
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    w->plan = p;
    w->core = &p->compact->core;
    w->engine = p->compact->engine;
    w->work = sx_compact_search_work(p->compact, worker);
    w->count = (sx_pruned_count){.plan = p, .worker = worker, .account = output};
    *w->count.account = (sx_pruned_account){.best = INFINITY};
    w->sweep = sx_keep_sweep_make(p->space, worker, p->objective);
    w->point = sx_worker_scratch(worker, 1);
    memset(w->point, 0, p->compact->size);
    w->rng = sx_compact_search_rng(p->seed, "pruned", p->first + task);
    list_keeps(w);
    for (int i = 0; i < SX_PRUNED_TASK_SIZE && w->work && !w->count.over && !sx_worker_stopped(worker); i++) {
        if (w->engine->draw_splits(w->core, p->compact->splits, w->work, &w->rng, w->point, w->loops))
            walk_factorisation(w);
        else
            sx_pruned_illegal(&w->count);
    }
    free(w);
    return SX_OK;
}
