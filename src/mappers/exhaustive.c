/* Every point of a space; of a map space every mapping, those that no cost tells apart once. Other spaces,
 * and map spaces with another model than their own, are swept (navigators/sweep.c).
 *
 * Source: Timeloop's exhaustive ("linear-pruned") search, which leaves out permutations of loops of one
 * iteration. What differs: orders are left out that no cost of the model tells apart (orders.c), X and Y of
 * spatial loops of one iteration, and shares of banks that keep the same tensors; factorisations are numbered
 * with the first dimension as the highest digit, and all that begin alike are skipped at once where the array
 * or the memories cannot hold even what they have in common. Legality does not depend on orders, so it is
 * judged once for all of them, except where tensors have formats, whose ranks follow the loops. What is kept changes
 * before orders do: tensors of dense mappings are counted once for all choices (keep_sweep.c). Where compact points cover the
 * space, these are walked, in the same order (exhaustive_compact.c). A search that completes
 * has proven its incumbent optimal, or that there is no legal mapping.
 *
 * Complexity: an evaluation per legal mapping that is told apart; a space of more than `limit` is refused
 * (one that is swept, only where nothing limits the run). */
#include "mappers/exhaustive.h"

#include "base/status.h"
#include "model/capacity.h"
#include "model/core_score.h"
#include "navigators/sweep.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT };

static const sx_setting settings[] = {
    [LIMIT] = {"limit", "reject spaces with more points than this", NULL, 1e8, 1, 1e18, true, NULL},
};

enum {
    TASKS = 64,
    TASK_SIZE = 4096, /* mappings of a task, about */
};

/* State of a search. */
typedef struct state {
    uint64_t next; /* factorisation */
} state;

/* What one level can choose under a factorisation. */
typedef struct level_choices {
    const uint8_t (*order)[SX_MAX_DIMS];
    const uint16_t *spread;
    size_t n_orders, n_layouts;
    int n_keeps;
    sx_map_keep keep[1 << SX_MAX_TENSORS];
    bool legal[1 << SX_MAX_TENSORS]; /* by what is kept: the level may keep just that */
} level_choices;

/* One task's walk. */
typedef struct walk {
    const sx_exhaustive_plan *plan;
    const sx_map_space *space;
    sx_worker *worker;
    void *point;
    bool over;                                   /* there is nothing more to do */
    sx_status failure;                           /* what ended it */
    uint32_t extent[SX_MAX_LEVELS][SX_MAX_DIMS]; /* of tiles, 1 in dimensions that are not yet set */
    uint64_t spread[SX_MAX_LEVELS];              /* children in use, likewise */
    level_choices level_of[SX_MAX_LEVELS];
    bool
        spreads; /* some choice of what to keep is legal in this layout: then the array has the units in use */
    bool single; /* choices are not swept together: with banks, and where tensors are sparse */
    sx_keep_sweep sweep;
    int n_swept;
    uint64_t swept[SX_EXHAUSTIVE_SWEPT]; /* legal choices of what to keep (sx_kept_at) */
} walk;

/* Whether a level has room for some tensors' tiles. */
static bool has_room(const walk *w, int level, unsigned keep) {
    const sx_model *model = w->space->model;
    return sx_level_holds(model, &model->level[level], keep, w->extent[level]);
}

/* Whether the array and the memories can hold what is set so far; what is to come only adds to it. */
static bool may_fit(const walk *w) {
    const sx_model *model = w->space->model;
    double units = 1;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        if (units > (double)model->level[s].instances) return false;
        units *= (double)w->spread[s];
        if (!has_room(w, s, w->space->fixed_keep[s])) return false;
    }
    return units <= (double)model->compute_instances;
}

/* Gives a dimension split number `index`. */
static void set_factors(walk *w, int d, uint64_t index) {
    uint32_t factor[SX_MAX_SLOTS];
    uint64_t reach = 1, size = w->space->problem->size[d];
    sx_factors_at(w->space->factors[d], index, factor);
    sx_map_set_factors(w->space, d, factor, w->point);
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        const sx_mapping_level *at = sx_map_level(w->point, s);
        reach *= (uint64_t)at->spatial[d] * at->temporal[d];
        if (reach > size) reach = size;
        w->extent[s][d] = (uint32_t)reach;
    }
}

/* Sets what the dimensions up to d spread over, and forgets those after it. */
static void set_layouts(walk *w, int d) {
    for (int s = 0; s < w->space->arch->n_levels; s++) {
        w->spread[s] = 1;
        for (int i = 0; i <= d; i++) {
            uint64_t factor = sx_map_level(w->point, s)->spatial[i];
            if (__builtin_mul_overflow(w->spread[s], factor, &w->spread[s])) w->spread[s] = UINT64_MAX;
        }
        for (int i = d + 1; i < w->space->problem->n_dims; i++) w->extent[s][i] = 1;
    }
}

/* Finds what every level can choose; false where one can choose nothing. */
static bool find_choices(walk *w) {
    const sx_map_space *space = w->space;
    bool spread = false;
    for (int s = 0; s < space->arch->n_levels; s++) {
        level_choices *m = &w->level_of[s];
        const sx_mapping_level *at = sx_map_level(w->point, s);
        uint32_t temporal = 0, spatial = 0;
        for (int d = 0; d < space->problem->n_dims; d++) {
            temporal |= (uint32_t)(at->temporal[d] > 1) << d;
            spatial |= (uint32_t)(at->spatial[d] > 1) << d;
        }
        if (s == 0) spread = spatial != 0;
        bool matters = sx_map_order_matters(space, s, spread);
        m->order = sx_map_orders_of(w->plan->choices, s, temporal, matters, &m->n_orders);
        m->spread = sx_map_layouts_of(w->plan->choices, s, spatial, &m->n_layouts);
        if (!m->order || !m->spread) {
            w->over = true;
            w->failure = m->order ? sx_error_memory() : sx_orders_failure(m->n_orders);
            return false;
        }
        int n = sx_map_keeps_of(space, s, w->extent[s], m->keep);
        m->n_keeps = 0;
        for (int i = 0; i < n; i++) {
            if (!has_room(w, s, m->keep[i].keep)) continue;
            m->legal[m->keep[i].keep] = sx_level_keeps(space->model, s, m->keep[i].keep, w->extent[s]);
            m->keep[m->n_keeps++] = m->keep[i];
        }
        if (m->n_keeps == 0) return false;
    }
    return true;
}

/* Gives a level choice `i` of its kept tensors. */
static void set_keep(const walk *w, int level, size_t i) {
    const sx_map_keep *choice = &w->level_of[level].keep[i];
    sx_map_level(w->point, level)->keep = choice->keep;
    if (!w->space->banked[level]) return;
    memcpy(sx_map_banks(w->space, w->point, level), choice->banks, sizeof choice->banks);
}

static void set_order(const walk *w, int level, size_t i) {
    memcpy(sx_map_level(w->point, level)->temporal_order, w->level_of[level].order[i], SX_MAX_DIMS);
}

/* Evaluates the point under all choices of what to keep that are listed. */
static void sweep_keeps(walk *w) {
    sx_keep_sweep_moved(&w->sweep);
    for (int i = 0; i < w->n_swept && !w->over; i++) {
        sx_outcome outcome;
        if (!sx_keep_sweep_pass(&w->sweep, &outcome))
            outcome = sx_keep_sweep_evaluate(&w->sweep, w->point, w->swept[i]);
        w->over |= outcome.reason == SX_NOT_EVALUATED;
    }
}

/* The same under every order of the levels up to `level`. */
static void try_orders(walk *w, int level) {
    if (level < 0) {
        sweep_keeps(w);
        return;
    }
    for (size_t i = 0; i < w->level_of[level].n_orders && !w->over; i++) {
        set_order(w, level, i);
        try_orders(w, level - 1);
    }
}

/* Evaluates the choices that are listed, under every order, and empties the list. */
static void finish_keeps(walk *w) {
    int n_levels = w->space->arch->n_levels;
    uint8_t keep[SX_MAX_LEVELS];
    for (int s = 0; s < n_levels; s++) keep[s] = sx_map_level(w->point, s)->keep;
    if (w->n_swept > 0) try_orders(w, n_levels - 1);
    w->n_swept = 0;
    for (int s = 0; s < n_levels; s++) set_order(w, s, 0);
    for (int s = 0; s < n_levels; s++) sx_map_level(w->point, s)->keep = keep[s];
}

/* Whether what all levels keep is legal. Of dense mappings the tiles decide, level by level, and the array, which is the
 * same for all choices. */
static bool is_legal(walk *w) {
    const sx_map_space *space = w->space;
    unsigned kept = 0;
    bool legal = true;
    if (space->model->sparse) return true;
    for (int s = 0; s < space->arch->n_levels; s++) {
        uint8_t keep = sx_map_level(w->point, s)->keep;
        kept |= keep;
        legal &= w->level_of[s].legal[keep];
    }
    bool known = !w->single && !space->shares;
    if (known && !(legal && kept == (1u << space->problem->n_tensors) - 1)) return false;
    if (known && w->spreads) return true;
    w->spreads = space->space.type->check(&space->space, w->point) == 0;
    return w->spreads;
}

/* Lists what all levels keep where that is legal. */
static void list_keep(walk *w) {
    uint64_t levels = 0;
    if (w->space->banks_at) sx_map_normalize(w->space, w->point);
    if (!is_legal(w)) {
        sx_worker_reject(w->worker, 1);
        return;
    }
    for (int s = 0; s < w->space->arch->n_levels; s++)
        levels |= sx_kept_at(s, sx_map_level(w->point, s)->keep);
    w->swept[w->n_swept++] = levels;
    if (w->single || w->n_swept == SX_EXHAUSTIVE_SWEPT) finish_keeps(w);
}

/* Lists all that the levels up to `level` can keep. */
static void try_keeps(walk *w, int level) {
    if (level < 0) {
        list_keep(w);
        return;
    }
    for (int i = 0; i < w->level_of[level].n_keeps && !w->over; i++) {
        set_keep(w, level, (size_t)i);
        try_keeps(w, level - 1);
    }
}

/* Evaluates the point in all ways to lay the spatial loops of the levels up to `level`. */
static void try_layouts(walk *w, int level) {
    if (level < 0) {
        for (int s = 0; s < w->space->arch->n_levels; s++) set_order(w, s, 0);
        sx_map_normalize(w->space, w->point);
        w->spreads = false;
        try_keeps(w, w->space->arch->n_levels - 1);
        finish_keeps(w);
        return;
    }
    for (size_t i = 0; i < w->level_of[level].n_layouts && !w->over; i++) {
        if (w->space->spatial_slot[level] >= 0)
            sx_map_set_layout(w->space, level, w->level_of[level].spread[i], w->point);
        try_layouts(w, level - 1);
    }
}

void sx_exhaustive_walk_task(const sx_exhaustive_plan *p, size_t task, sx_worker *worker,
                             const sx_exhaustive_walk *by) {
    const int n_dims = p->space->problem->n_dims;
    uint64_t at = p->from + task * p->chunk, before = UINT64_MAX;
    const uint64_t end = p->total - at < p->chunk ? p->total : at + p->chunk;
    bool over = false;
    while (at < end && !over && !sx_worker_stopped(worker)) {
        int d = 0;
        while (before != UINT64_MAX && d < n_dims - 1 && at / p->weight[d + 1] == before / p->weight[d + 1])
            d++;
        bool fits = true;
        for (; d < n_dims && fits; d += fits)
            fits = by->set(by->user, d, at / p->weight[d + 1] % (p->weight[d] / p->weight[d + 1]));
        over = fits && !by->visit(by->user);
        before = at;
        uint64_t step = fits ? 1 : p->weight[d + 1];
        at = at / step * step + step;
    }
}

/* Gives a dimension a split, and says whether what is set so far fits. */
static bool set_dim(void *user, int d, uint64_t index) {
    set_factors(user, d, index);
    set_layouts(user, d);
    return may_fit(user);
}

/* Goes through the mappings of the factorisation. */
static bool visit_factorisation(void *user) {
    walk *w = user;
    sx_keep_sweep_factors(&w->sweep, w->point);
    if (find_choices(w)) try_layouts(w, w->space->arch->n_levels - 1);
    return !w->over;
}

/* A task: the factorisations of its range. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_exhaustive_plan *p = input;
    const sx_model *model = p->space->model;
    (void)output;
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    w->plan = p;
    w->space = p->space;
    w->worker = worker;
    w->point = sx_worker_scratch(worker, 0);
    w->single = p->space->banks_at || model->sparse || model->range || model->formats;
    w->sweep = sx_keep_sweep_make(p->space, worker, p->objective);
    memcpy(w->point, p->space->blank, p->space->space.point_size);
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) w->extent[s][d] = 1;
    sx_exhaustive_walk_task(p, task, worker, &(sx_exhaustive_walk){set_dim, visit_factorisation, w});
    sx_status status = w->failure;
    free(w);
    return status;
}

/* Refuses a space that is too large; else counts its factorisations and cuts them into tasks. */
static sx_status make_plan(sx_exhaustive_plan *p, double limit) {
    sx_size size = {.count = {.log10 = INFINITY}};
    SX_TRY(sx_space_count(&p->space->space));
    for (size_t i = 0; sx_space_size(&p->space->space, i, &size); i++) continue;
    double mappings = pow(10, size.count.log10);
    if (mappings > limit * (1 + 1e-9)) {
        char text[64];
        sx_cardinal_text(&size.count, text, sizeof text);
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "%s distinct mappings are more than the limit of %g", text, limit),
            "use another mapper, constrain the space, or set limit=%.0e", mappings);
    }
    int n_dims = p->space->problem->n_dims;
    p->weight[n_dims] = 1;
    for (int d = n_dims - 1; d >= 0; d--)
        p->weight[d] = p->weight[d + 1] * (p->compact ? p->compact->splits->n[d]
                                                      : (uint64_t)sx_factors_count(p->space->factors[d]));
    p->total = p->weight[0];
    double chunk = ceil(TASK_SIZE * (double)p->total / mappings);
    p->chunk = chunk < TASK_SIZE ? (uint64_t)fmax(chunk, 1) : TASK_SIZE;
    return sx_map_choices_new(p->space, &p->choices);
}

/* Searches a map space by a plan. */
static sx_status search_planned(sx_run *run, sx_exhaustive_plan *p) {
    bool resumed;
    sx_status status = SX_OK;
    state *s = sx_run_state(run, sizeof *s, &resumed);
    if (s && s->next > p->total) status = sx_run_damaged(run);
    if (s && !resumed) sx_run_evaluate_starts(run, 0);
    while (!status && s && s->next < p->total && sx_run_continue(run)) {
        uint64_t left = (p->total - s->next - 1) / p->chunk + 1, n = left < TASKS ? left : TASKS;
        p->from = s->next;
        sx_run_tasks(run, n, p->compact ? sx_exhaustive_compact_task : run_task, p, NULL, 0);
        s->next = n == left ? p->total : s->next + n * p->chunk;
    }
    bool exact = sx_run_objective(run)->n_criteria == 1 || !sx_run_incumbent(run, NULL);
    if (!status && s && !sx_run_stopped(run) && exact) sx_run_optimal(run);
    return status;
}

/* Searches a map space, by compact points where they cover it and scores need no points of the space. */
static sx_status search_mappings(sx_run *run, const sx_map_space *space) {
    sx_exhaustive_plan p = {.space = space, .objective = sx_run_objective(run)};
    SX_TRY(sx_compact_search_new(run, SX_COMPACT_WALKS, &p.compact));
    sx_status status = make_plan(&p, sx_run_setting(run, LIMIT));
    if (!status) status = search_planned(run, &p);
    sx_map_choices_free(p.choices);
    sx_compact_search_free(p.compact);
    return status;
}

static sx_status search_by_exhaustive(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    bool own = strcmp(sx_run_model(run)->type->name, "map") == 0;
    return space && own ? search_mappings(run, space) : sx_sweep(run, sx_run_setting(run, LIMIT));
}

SX_NAVIGATOR(exhaustive) = {
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_exhaustive,
};
