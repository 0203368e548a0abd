/* Timeloop's random-pruned search.
 *
 * Source: the mapper that Demystifying MSE (IISWC 2022), section 4.3, calls Random-Pruned: Timeloop's
 * default. It draws a factorisation of all dimensions over all slots; for at most 16 random permutations of
 * its loops it goes through all ways to lay spatial loops on X and Y, and for each of these through all
 * choices of kept tensors, in order. Loops of one iteration are not permuted. A factorisation that the array
 * cannot hold is skipped; one that fits no memory, whatever of the choices tried is kept, is given up. It
 * ends after 500 legal mappings in a row that are no improvement (victory), or after 1,000 illegal ones in a
 * row (timeout).
 *
 * What differs. For each permutation and spread one random choice of kept tensors is tried, not all: with all
 * of them a thousand evaluations go to each factorisation, and five thousand see only five. Only one order of
 * each class that no cost tells apart is tried (of levels with up to 8 loops: more have too many classes).
 * `keeps=0,classes=off` is Timeloop's way. Legality does not depend on the order, so each choice is checked
 * once per factorisation, and illegal mappings do not count against the budget. Timeloop counts victory and
 * timeout in each of its threads; here tasks of a fixed size are joined into one sequence, whatever the
 * number of threads, and counted over that: a task ends when its own part of the sequence is enough for
 * victory or timeout, and the search ends after the tasks that were under way. A timeout that strikes before
 * anything was found has one point repaired first, so that it does not hide what a little more
 * work would find. Where levels are shared out by banks, which Timeloop does not know, there is one distribution for
 * each choice of what to keep. Choices beyond the first 4,096 are left out, and so are spreads of a level
 * beyond 1,024.
 *
 * Where compact points cover the space, they are walked instead (pruned_compact.c), unless all orders are to be tried.
 * Mappings of a factorisation that uses so few units that none can be better than the incumbent are counted without
 * being scored.
 *
 * Complexity: an evaluation per legal mapping; per factorisation a check for each choice that is tried. */
#include "mappers/pruned.h"
#include "base/divisor.h"
#include "base/status.h"
#include "mappers/submap.h"
#include "mappers/tiling.h"

#include <math.h>
#include <stdlib.h>

enum { PERMUTATIONS, KEEPS, CLASSES, VICTORY, TIMEOUT };

static const char *const switches[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [PERMUTATIONS] = {"permutations", "maximum permutations per factorisation", "16, Timeloop's", 16, 1, 1e9,
                      true, NULL},
    [KEEPS] = {"keeps", "maximum bypass choices per permutation and unrolling; 0: all", "0", 1, 0, 1e9, true,
               NULL},
    [CLASSES] = {"classes", "try one order of each class of orders with equal cost", "off", 1, 0, 1, true,
                 switches},
    [VICTORY] = {"victory", "stop after this many legal mappings without improvement; 0: no limit",
                 "500, Timeloop's", 500, 0, 1e15, true, NULL},
    [TIMEOUT] = {"timeout", "stop after this many illegal mappings in a row; 0: no limit", "1000, Timeloop's",
                 1000, 0, 1e15, true, NULL},
};

enum { HOPELESS = 1 << 20 }; /* illegal draws in a row that end a search which found nothing */

/* State of a search. */
typedef struct state {
    uint64_t task;    /* the number of the next one */
    uint64_t since;   /* legal mappings since the best */
    uint64_t illegal; /* illegal ones in a row */
    sx_pruned_account account[SX_PRUNED_TASKS];
} state;

/* One task's walk. */
typedef struct walk {
    const sx_pruned_plan *plan;
    sx_worker *worker;
    sx_pruned_count count;
    sx_rng rng;
    sx_submap map;
    sx_keep_sweep sweep;
    uint64_t order, layout;     /* numbers that the point is to have, */
    bool order_due, layout_due; /* but has not yet */
} walk;

void sx_pruned_illegal(sx_pruned_count *count) {
    sx_pruned_account *a = count->account;
    sx_worker_reject(count->worker, 1);
    a->after++;
    if (!a->valid) a->illegal++;
    if (count->plan->timeout && a->after >= count->plan->timeout) count->over = true;
}

void sx_pruned_evaluated(sx_pruned_count *count, const sx_outcome *outcome) {
    sx_pruned_account *a = count->account;
    if (outcome->reason == SX_NOT_EVALUATED) count->over = true;
    if (outcome->reason && outcome->reason != SX_BEYOND) return;
    count->evaluations++;
    a->after = 0;
    a->valid++;
    a->since++;
    if (!outcome->reason && outcome->value < count->plan->incumbent && outcome->value < a->best) {
        a->best = outcome->value;
        a->since = 0;
    }
    if (count->plan->victory && a->since >= count->plan->victory) count->over = true;
    if (count->evaluations >= SX_PRUNED_TASK_SIZE) count->over = true;
}

/* Gives the point its orders and its layout. */
static void settle_point(walk *w) {
    if (w->order_due) sx_submap_set_orders(&w->map, w->order, NULL);
    if (w->layout_due) sx_submap_set_layout(&w->map, w->layout);
    if (w->layout_due) sx_keep_sweep_moved(&w->sweep);
    w->order_due = w->layout_due = false;
}

/* Whether a choice of what to keep fits. */
static bool choice_fits(walk *w, uint64_t mask) {
    int known = sx_submap_fits(&w->map, mask);
    if (known != SX_FIT_UNKNOWN) return known == SX_FIT_YES;
    settle_point(w);
    return sx_submap_keep(&w->map, mask);
}

/* Evaluates the walk's point with a choice of what to keep that fits, and counts it. Nothing is made or scored where
 * all mappings of the factorisation are beyond the cutoff. */
static void evaluate_choice(walk *w, uint64_t mask) {
    sx_outcome outcome;
    if (!sx_keep_sweep_pass(&w->sweep, &outcome)) {
        settle_point(w);
        if (!w->sweep.core) sx_submap_keep(&w->map, mask);
        outcome = sx_keep_sweep_evaluate(&w->sweep, w->map.point, sx_submap_kept(&w->map, mask));
    }
    sx_pruned_evaluated(&w->count, &outcome);
}

/* A random number below n (which is beyond 1) that has no divisor in common with it. */
static uint64_t draw_coprime(sx_rng *rng, uint64_t n) {
    uint64_t out;
    do out = 1 + sx_rng_below(rng, n - 1);
    while (sx_divisor_common(out, n) != 1);
    return out;
}

/* A sequence of which n numbers will be drawn. */
static sx_pruned_sequence shuffled_sequence(sx_rng *rng, uint64_t total, uint64_t n) {
    return (sx_pruned_sequence){total, sx_rng_below(rng, total),
                                n > 1 && total > 2 ? draw_coprime(rng, total) : 1};
}

/* Evaluates the point with all that it may keep, in order, or with some random choices; false where none
 * fits. */
static bool walk_masks(walk *w) {
    bool all = w->plan->keeps == 0 || w->plan->keeps >= w->map.n_masks, any = false;
    uint64_t n = all ? w->map.n_masks : w->plan->keeps;
    sx_pruned_sequence masks =
        all ? (sx_pruned_sequence){n, 0, 1} : shuffled_sequence(&w->rng, w->map.n_masks, n);
    for (uint64_t i = 0; i < n && !w->count.over; i++) {
        uint64_t mask = sx_pruned_next(&masks);
        if (!choice_fits(w, mask)) {
            sx_pruned_illegal(&w->count);
            continue;
        }
        evaluate_choice(w, mask);
        any = true;
    }
    return any;
}

/* Goes through the spreads of one permutation; false where the factorisation is to be given up. */
static bool walk_permutation(walk *w) {
    for (uint64_t x = 0; x < w->map.n_layouts && !w->count.over; x++) {
        w->layout = x;
        w->layout_due = true;
        if (!walk_masks(w)) return false;
    }
    return !sx_worker_stopped(w->worker);
}

/* Goes through what follows from one factorisation. Orders are drawn without replacement where their number
 * fits a word. */
static void walk_factorisation(walk *w) {
    if (!sx_submap_open(&w->map, w->worker)) {
        w->count.over = true;
        return;
    }
    if (w->map.n_masks == 0) {
        sx_pruned_illegal(&w->count);
        return;
    }
    uint64_t total = w->map.n_orders, n = total < w->plan->permutations ? total : w->plan->permutations;
    bool countable = total < UINT64_MAX;
    sx_pruned_sequence orders = countable ? shuffled_sequence(&w->rng, total, n) : (sx_pruned_sequence){0};
    sx_keep_sweep_factors(&w->sweep, w->map.point);
    for (uint64_t i = 0; i < n && !w->count.over; i++) {
        if (countable) w->order = sx_pruned_next(&orders);
        w->order_due = countable;
        if (!countable) sx_submap_set_orders(&w->map, 0, &w->rng);
        if (!walk_permutation(w)) break;
    }
}

/* Draws a factorisation of all dimensions; false where the array cannot hold it. */
static bool draw_factors(walk *w) {
    const sx_map_space *space = w->map.space;
    double used[SX_MAX_LEVELS];
    for (int s = 0; s < space->arch->n_levels; s++) used[s] = 1;
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_factors_draw(space->factors[d], &w->rng, factor);
        for (int s = 0; s < space->arch->n_levels; s++) {
            if (space->spatial_slot[s] < 0) continue;
            used[s] *= factor[space->spatial_slot[s]];
            if (used[s] > (double)space->room[s][0] * (double)space->room[s][1]) return false;
        }
        sx_map_set_factors(space, d, factor, w->map.point);
    }
    return sx_submap_lay(&w->map, w->worker);
}

/* A task: factorisations until it has done its share; its output is an account of them. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_pruned_plan *p = input;
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    w->plan = p;
    w->worker = worker;
    w->sweep = sx_keep_sweep_make(p->space, worker, p->objective);
    w->map.space = p->space;
    w->map.choices = p->choices;
    w->map.classes = p->classes;
    w->map.point = sx_worker_scratch(worker, 0);
    w->count = (sx_pruned_count){.plan = p, .worker = worker, .account = output};
    *w->count.account = (sx_pruned_account){.best = INFINITY};
    w->rng = sx_rng_stream(p->seed, "pruned", p->first + task);
    sx_submap_begin(&w->map, &w->rng);
    for (int draws = 0; draws < SX_PRUNED_TASK_SIZE && !w->count.over && !sx_worker_stopped(worker);
         draws++) {
        if (draw_factors(w))
            walk_factorisation(w);
        else
            sx_pruned_illegal(&w->count);
    }
    free(w);
    return SX_OK;
}

/* Joins the accounts of n tasks; false where victory or timeout is reached. */
static bool join_accounts(const sx_pruned_plan *p, state *s, size_t n) {
    double best = p->incumbent;
    for (size_t i = 0; i < n; i++) {
        const sx_pruned_account *a = &s->account[i];
        uint64_t illegal = s->illegal + a->illegal;
        bool better = a->best < best;
        s->since = better ? a->since : s->since + a->valid;
        s->illegal = a->valid ? a->after : illegal;
        if (better) best = a->best;
        if (p->victory && s->since >= p->victory) return false;
        if (p->timeout && (illegal >= p->timeout || s->illegal >= p->timeout)) return false;
    }
    return best < INFINITY || s->illegal < HOPELESS;
}

/* Evaluates a legal mapping where none was found; false where that fails. */
static bool evaluate_any(sx_run *run, state *s, void *point) {
    s->illegal = 0;
    return sx_tiling_rescue(run, "pruned.rescue", s->task, point);
}

/* Searches round after round of tasks. */
static void search_rounds(sx_run *run, sx_pruned_plan *p, state *s) {
    while (sx_run_continue(run)) {
        uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run);
        uint64_t n = (turn < left ? turn : left) / SX_PRUNED_TASK_SIZE + 1;
        if (n > SX_PRUNED_TASKS) n = SX_PRUNED_TASKS;
        sx_run_incumbent(run, &p->incumbent);
        p->first = s->task;
        sx_run_tasks(run, n, p->compact ? sx_pruned_compact_task : run_task, p, s->account,
                     sizeof *s->account);
        s->task += n;
        if (join_accounts(p, s, n)) continue;
        if (sx_run_incumbent(run, &p->incumbent) || !evaluate_any(run, s, s + 1)) break;
    }
}

static sx_status search_by_pruned(sx_run *run) {
    sx_pruned_plan p = {.space = sx_map_space_of(sx_run_space(run)), .seed = sx_run_seed(run)};
    sx_compact_search *compact = NULL;
    p.permutations = (uint64_t)sx_run_setting(run, PERMUTATIONS);
    p.keeps = (uint64_t)sx_run_setting(run, KEEPS);
    p.classes = sx_run_setting(run, CLASSES) != 0;
    p.victory = (uint64_t)sx_run_setting(run, VICTORY);
    p.timeout = (uint64_t)sx_run_setting(run, TIMEOUT);
    p.objective = sx_run_objective(run);
    bool resumed;
    state *s = sx_run_state(run, sizeof *s + p.space->space.point_size, &resumed);
    if (!s) return sx_error_memory();
    if (!resumed) sx_run_evaluate_starts(run, 0);
    SX_TRY(sx_map_choices_new(p.space, &p.choices));
    sx_status status = p.classes ? sx_compact_search_new(run, SX_COMPACT_DRAWS, &compact) : SX_OK;
    p.compact = compact;
    if (!status) search_rounds(run, &p, s);
    sx_compact_search_free(compact);
    sx_map_choices_free(p.choices);
    return status;
}

SX_NAVIGATOR(pruned) = {
    .space = "map",
    .model = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_pruned,
};
