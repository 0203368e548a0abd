#include "mappers/timeloop.h"

#include "base/status.h"
#include "mappers/submap.h"
#include "mappers/tiling.h"

#include <stdlib.h>
#include <string.h>

const sx_setting sx_timeloop_settings[SX_TIMELOOP_SETTINGS] = {
    [SX_TIMELOOP_WALKS] = {"walks", "parts of the factorisations, each searched by itself", "threads", 16, 1,
                           256, true, NULL},
    [SX_TIMELOOP_VICTORY] = {"victory",
                             "stop a walk after this many legal mappings without improvement; 0: no limit",
                             "500, Timeloop's", 500, 0, 1e15, true, NULL},
    [SX_TIMELOOP_TIMEOUT] = {"timeout", "stop a walk after this many illegal mappings in a row; 0: no limit",
                             "1000, Timeloop's", 1000, 0, 1e15, true, NULL},
};

enum {
    MAX_WALKS = 256,
    TASK_SIZE = 256,    /* evaluations of a task, at most */
    TASK_STEPS = 16384, /* mappings of a task, legal or not */
    HOPELESS = 1 << 20, /* illegal mappings in a row that end a walk which found nothing */
};

/* Where a walk is. Its part of the factorisations follows from its number. */
typedef struct cursor {
    uint64_t high, low;           /* the factorisation, counted from the first of its part */
    uint64_t drawn;               /* factorisations so far */
    uint64_t order, layout, mask; /* what comes next of it */
    uint64_t unfit;               /* choices of what to keep that did not fit, of this order and layout */
    uint64_t since, illegal;      /* legal mappings since the best, illegal ones in a row */
    uint64_t over;
    double best; /* 0: none yet */
} cursor;

/* State of a search. */
typedef struct state {
    uint64_t begun;
    cursor cursor[MAX_WALKS];
} state;

/* Shared by all tasks, read-only. */
typedef struct plan {
    const sx_map_space *space;
    sx_map_choices *choices;
    uint64_t seed, victory, timeout, size;
    unsigned walks;
    bool drawn;
    sx_u128 total;           /* factorisations */
    uint8_t walk[MAX_WALKS]; /* of a task */
} plan;

/* One task's walk. */
typedef struct walk {
    const plan *plan;
    cursor *at;
    sx_u128 first, n; /* its part of the factorisations */
    sx_worker *worker;
    uint64_t evaluations;
    bool open; /* the factorisation's mappings are known */
    sx_submap map;
} walk;

/* Finds the part of a walk. */
static void find_part(const plan *p, unsigned number, walk *w) {
    sx_u128 each = p->total / p->walks, more = p->total % p->walks;
    w->first = each * number + (number < more ? number : more);
    w->n = each + (number < more);
}

/* Counts an illegal mapping. */
static void count_illegal(walk *w) {
    cursor *at = w->at;
    sx_worker_reject(w->worker, 1);
    at->illegal++;
    if (w->plan->timeout && at->illegal >= w->plan->timeout) at->over = 1;
    if (at->best == 0 && at->illegal >= HOPELESS) at->over = 1;
}

/* Evaluates the point and counts it; false where the run ends. */
static bool evaluate_point(walk *w) {
    cursor *at = w->at;
    sx_outcome outcome = sx_worker_evaluate(w->worker, w->map.point, false);
    if (outcome.reason == SX_NOT_EVALUATED) return false;
    if (outcome.reason) {
        count_illegal(w);
        return true;
    }
    w->evaluations++;
    at->illegal = 0;
    at->since++;
    if (at->best == 0 || outcome.value < at->best) {
        at->best = outcome.value;
        at->since = 0;
    }
    if (w->plan->victory && at->since >= w->plan->victory) at->over = 1;
    return true;
}

/* Goes to the next factorisation: any of the part, or the one that follows. */
static void advance_factorisation(walk *w, unsigned number) {
    cursor *at = w->at;
    sx_u128 index = ((sx_u128)at->high << 64 | at->low) + 1;
    at->drawn++;
    at->order = at->layout = at->mask = at->unfit = 0;
    w->open = false;
    if (w->plan->drawn) {
        sx_rng rng = sx_rng_stream(w->plan->seed, "timeloop", at->drawn * w->plan->walks + number);
        index = ((sx_u128)sx_rng_next(&rng) << 64 | sx_rng_next(&rng)) % w->n;
    }
    if (index >= w->n) at->over = 1;
    at->high = (uint64_t)(index >> 64);
    at->low = (uint64_t)index;
}

/* Makes the mappings of the factorisation known; false where the array or no choice of what to keep holds it. */
static bool open_factorisation(walk *w) {
    const sx_map_space *space = w->plan->space;
    sx_u128 index = w->first + ((sx_u128)w->at->high << 64 | w->at->low);
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_u128 n = sx_factors_count(space->factors[d]);
        sx_factors_at(space->factors[d], index % n, factor);
        sx_map_set_factors(space, d, factor, w->map.point);
        index /= n;
    }
    w->open = sx_submap_lay(&w->map, w->worker) && sx_submap_open(&w->map, w->worker) && w->map.n_masks > 0;
    if (!w->open) return false;
    sx_submap_set_orders(&w->map, w->at->order, NULL);
    sx_submap_set_layout(&w->map, w->at->layout % w->map.n_layouts);
    return true;
}

/* Goes to the next mapping of the factorisation: what is kept, then the spatial loops, then the orders; false where there
 * is none, or where nothing that may be kept fits. */
static bool advance_within(walk *w) {
    cursor *at = w->at;
    if (++at->mask < w->map.n_masks) return true;
    bool fits = at->unfit < w->map.n_masks;
    at->mask = at->unfit = 0;
    if (!fits) return false;
    if (++at->layout >= w->map.n_layouts) {
        at->layout = 0;
        if (++at->order >= w->map.n_orders) return false;
        sx_submap_set_orders(&w->map, at->order, NULL);
    }
    sx_submap_set_layout(&w->map, at->layout);
    return true;
}

/* Goes on with a walk until it has done its share of the round. */
static void continue_walk(walk *w, unsigned number) {
    if (w->n == 0) w->at->over = 1;
    for (int i = 0; i < TASK_STEPS && w->evaluations < w->plan->size && !w->at->over; i++) {
        if (sx_worker_stopped(w->worker)) break;
        if (!w->open && !open_factorisation(w)) {
            count_illegal(w);
            advance_factorisation(w, number);
            continue;
        }
        if (w->at->mask >= w->map.n_masks || !sx_submap_keep(&w->map, w->at->mask)) {
            w->at->unfit++;
            count_illegal(w);
        } else if (!evaluate_point(w)) {
            break;
        }
        if (!advance_within(w)) advance_factorisation(w, number);
    }
}

/* A task: a walk goes on; its output is where it is then. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    unsigned number = p->walk[task];
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    w->plan = p;
    w->at = output;
    w->worker = worker;
    sx_rng rng = sx_rng_stream(p->seed, "timeloop.begin", 0);
    find_part(p, number, w);
    w->map.space = p->space;
    w->map.choices = p->choices;
    w->map.point = sx_worker_scratch(worker, 0);
    sx_submap_begin(&w->map, &rng);
    continue_walk(w, number);
    free(w);
    return SX_OK;
}

/* Plans the next round: the walks that are not over, and their evaluations; returns how many walks there are. */
static size_t plan_round(const sx_run *run, const state *s, plan *p) {
    size_t n = 0;
    for (unsigned i = 0; i < p->walks; i++)
        if (!s->cursor[i].over) p->walk[n++] = (uint8_t)i;
    uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run);
    p->size = n ? (turn < left ? turn : left) / n + 1 : 0;
    if (p->size > TASK_SIZE) p->size = TASK_SIZE;
    return n;
}

/* Searches round by round, until all walks are over. */
static sx_status search_rounds(sx_run *run, plan *p, state *s) {
    cursor *moved = calloc(MAX_WALKS, sizeof *moved);
    size_t n;
    if (!moved) return sx_error_memory();
    while ((n = plan_round(run, s, p)) && sx_run_continue(run)) {
        for (size_t i = 0; i < n; i++) moved[i] = s->cursor[p->walk[i]];
        sx_run_tasks(run, n, run_task, p, moved, sizeof *moved);
        for (size_t i = 0; i < n; i++) s->cursor[p->walk[i]] = moved[i];
    }
    free(moved);
    return SX_OK;
}

sx_status sx_timeloop_search(sx_run *run, bool drawn) {
    plan p = {
        .space = sx_map_space_of(sx_run_space(run)), .seed = sx_run_seed(run), .drawn = drawn, .total = 1};
    p.walks = (unsigned)sx_run_setting(run, SX_TIMELOOP_WALKS);
    p.victory = (uint64_t)sx_run_setting(run, SX_TIMELOOP_VICTORY);
    p.timeout = (uint64_t)sx_run_setting(run, SX_TIMELOOP_TIMEOUT);
    size_t point_size = p.space->space.point_size;
    state *s = sx_run_state(run, sizeof *s + point_size, NULL);
    if (!s) return sx_error_memory();
    for (int d = 0; d < p.space->problem->n_dims; d++)
        if (__builtin_mul_overflow(p.total, sx_factors_count(p.space->factors[d]), &p.total))
            p.total = -(sx_u128)1;
    if (!s->begun) sx_run_evaluate_starts(run, 0);
    s->begun = 1;
    SX_TRY(sx_map_choices_new(p.space, &p.choices));
    sx_status status = search_rounds(run, &p, s);
    if (!status && !sx_run_stopped(run) && !sx_run_incumbent(run, NULL))
        (void)sx_tiling_rescue(run, "timeloop.rescue", 0, s + 1);
    sx_map_choices_free(p.choices);
    return status;
}
