/* The best mapping of a space, proven: branch and bound over everything that a map space with exact factors
 * holds.
 *
 * Source: our own, after the exact mappers that decompose the cost over the lattice of tile extents. A
 * mapping is decided in three parts, each with a lower bound of all that is left open (model/bound.h): how
 * loops are spread over the arrays (optimal_arrays.c; with it the compute cycles are known), what each level
 * keeps, then tiles and orders from the innermost level outward (optimal_descend.c). Arrays are taken in the
 * order of their bounds, first to sharpen the bound by tables, then, if it is still the least, to look at all
 * mappings of theirs that may be better than the incumbent, which the model itself evaluates. So the least
 * bound of the arrays that are left is at any time a proven lower bound of everything not seen. The first
 * incumbent is the best of some descents by random moves.
 *
 * What is not better by more than a share of 1e-12 counts as not better: bounds are sums of doubles.
 *
 * Complexity: exponential at worst. Memory: a number per array, and per thread a table of the lattice for
 * each level and class of orders. */
#include "base/status.h"
#include "mappers/optimal_parts.h"
#include "run/navigator.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { GAP, DESCENTS, MOVES, TABLES, ARRAYS };

static const char *const on_off[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [GAP] = {"gap", "end when the best is proven to be within this share of the optimum", NULL, 0, 0, 10,
             false, NULL},
    [DESCENTS] = {"descents", "descents by random moves to begin with", NULL, 16, 0, 10000, true, NULL},
    [MOVES] = {"moves", "moves of each of them", NULL, 300, 1, 1000000, true, NULL},
    [TABLES] = {"tables", "bound by tables over all tiles", NULL, 1, 0, 1, true, on_off},
    [ARRAYS] = {"arrays", "refuse spaces with more ways to spread loops than this", NULL, 1e6, 1, 1e8, true,
                NULL},
};

enum {
    MOST_POINTS = 1 << 20,
    MOST_CHOICES = 16 /* bits */,
    SHARPEN = 32,
    SEARCH = 4,
    STARTED = 8,
    EFFORT = 20000,
    MOST_LOOKS = 24
};

/* What a search remembers: this, a bound per array (INFINITY: closed), then a byte per array: how often it
 * was looked at. The first look sharpens the bound, the others search, each with four times the effort of the
 * one before. */
typedef struct state {
    uint64_t descents; /* begun */
    uint64_t n;
    double bound[];
} state;

/* What all tasks read, and what each writes. */
typedef struct plan {
    sx_run *run;
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_bound *bound;
    sx_arrays arrays;
    sx_judge judge;
    double best; /* at the start of the tasks */
    uint64_t from;
    uint64_t pick[SHARPEN];
    double value[SHARPEN];
    sx_ending ending[SHARPEN];
    bool sharpen;
    const uint8_t *looks;
    atomic_bool failed; /* memory is out */
} plan;

/* How often each array was looked at. */
static uint8_t *looks_of(state *s) {
    return (uint8_t *)(s->bound + s->n);
}

/* A task: a descent by random moves. */
static void run_descent(void *user, size_t task, sx_worker *worker) {
    plan *p = user;
    const sx_space *space = &p->space->space;
    sx_rng rng = sx_rng_stream(sx_run_seed(p->run), "optimal.descent", p->from + task);
    void *now = sx_worker_scratch(worker, 0), *next = sx_worker_scratch(worker, 1);
    uint64_t rejected = 0;
    bool drawn = sx_space_draw_legal(space, &rng, now, &rejected);
    sx_worker_reject(worker, rejected);
    if (!drawn) return;
    sx_outcome best = sx_worker_evaluate(worker, now, false);
    uint64_t moves = (uint64_t)sx_run_setting(p->run, MOVES);
    for (uint64_t i = 0; i < moves && best.reason != SX_NOT_EVALUATED && !sx_worker_stopped(worker); i++) {
        memcpy(next, now, space->point_size);
        if (!sx_space_mutate(space, &rng, -1, sx_rng_below(&rng, 4) == 0, 20, next,
                             sx_worker_scratch(worker, 2)))
            continue;
        sx_outcome outcome = sx_worker_evaluate(worker, next, false);
        if (outcome.reason == SX_NOT_EVALUATED) return;
        if (outcome.reason != 0 || outcome.value > best.value) continue;
        best = outcome;
        memcpy(now, next, space->point_size);
    }
}

/* A task: sharpens the bound of an array, or searches it. */
static void run_array(void *user, size_t task, sx_worker *worker) {
    plan *p = user;
    sx_descent *descent;
    sx_status status = sx_descent_new(p->bound, p->choices, p->space, &p->judge, &descent);
    p->ending[task] = SX_STOPPED;
    if (status) {
        sx_status_free(status);
        atomic_store(&p->failed, true);
        return;
    }
    if (p->sharpen) {
        p->value[task] = sx_descent_bound(descent, &p->arrays, p->pick[task], p->best);
        p->ending[task] = SX_TIRED;
    } else {
        uint64_t effort = (uint64_t)EFFORT << (2 * p->looks[p->pick[task]]);
        p->ending[task] = sx_descent_search(descent, &p->arrays, p->pick[task], p->best, effort, worker);
    }
    sx_descent_free(descent);
}

/* Whether an objective cannot fall as energy or cycles grow. */
static bool is_sound(const sx_objective *objective) {
    const sx_criterion *c = &objective->criterion[0];
    return c->metric == SX_UTILIZATION ||
           (c->metric == SX_PRODUCT && c->energy_power >= 0 && c->delay_power >= 0);
}

/* Makes everything but the state; refuses what is too large. */
static sx_status make_plan(plan *p, sx_run *run) {
    const sx_map_space *space = p->space = sx_map_space_of(sx_run_space(run));
    int bits = 0;
    p->run = run;
    if (space->options.remainders)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "no bounds are known for factors that leave remainders"),
            "search without remainders, or with another mapper");
    for (int s = 0; s < space->arch->n_levels; s++)
        bits += __builtin_popcount((unsigned)space->free_keep[s] | space->banked[s]);
    if (bits > MOST_CHOICES)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "there are 2^%d ways to keep tensors in memories", bits),
            "say where they are kept, or search with another mapper");
    const sx_objective *objective = sx_run_objective(run);
    p->judge = (sx_judge){.objective = objective,
                          .gap = sx_run_setting(run, GAP),
                          .sound = is_sound(objective),
                          .tables = sx_run_setting(run, TABLES) > 0};
    SX_TRY(sx_map_choices_new(space, &p->choices));
    SX_TRY(sx_bound_new(space->model, MOST_POINTS, &p->bound));
    return sx_arrays_list(p->choices, space, (size_t)sx_run_setting(run, ARRAYS), &p->arrays);
}

/* Bounds every array by itself. */
static sx_status bound_arrays(const plan *p, double *out) {
    uint8_t may[SX_MAX_LEVELS] = {0};
    sx_rest *rest;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    SX_TRY(sx_rest_new(p->bound, &rest));
    for (int l = 0; l < p->space->arch->n_levels; l++) {
        outline.keep[l] = p->space->fixed_keep[l];
        may[l] = p->space->free_keep[l] | p->space->banked[l];
    }
    for (uint64_t i = 0; i < p->arrays.n; i++) {
        sx_arrays_get(&p->arrays, i, &outline);
        sx_score least = sx_rest_array(rest, &outline, may);
        out[i] = sx_judge_value(&p->judge, &least);
    }
    sx_rest_free(rest);
    return SX_OK;
}

/* The descents. */
static void begin(plan *p, state *s) {
    uint64_t all = (uint64_t)sx_run_setting(p->run, DESCENTS);
    while (s->descents < all && sx_run_continue(p->run)) {
        uint64_t left = all - s->descents, n = left < STARTED ? left : STARTED;
        p->from = s->descents;
        sx_run_tasks(p->run, n, run_descent, p);
        s->descents += n;
    }
}

/* The order in which arrays are looked at: by their bounds, but those that took much effort already give way.
 */
static double rank_of(const state *s, const uint8_t *looks, uint64_t i) {
    double tired = looks[i] > 1 ? looks[i] - 1 : 0;
    return s->bound[i] > 0 ? s->bound[i] * (1 + tired / 2) : s->bound[i];
}

/* The first open array, and those next to it of which the same is asked: sets the picks, returns how many. */
static size_t pick(plan *p, state *s) {
    const uint8_t *looks = p->looks = looks_of(s);
    bool sharpens = p->judge.tables && p->judge.sound;
    uint64_t first = s->n;
    size_t n = 0;
    for (uint64_t i = 0; i < s->n; i++) {
        if (s->bound[i] == INFINITY || !sx_judge_open(&p->judge, s->bound[i], p->best)) continue;
        if (first == s->n || rank_of(s, looks, i) < rank_of(s, looks, first)) first = i;
    }
    if (first == s->n) return 0;
    p->sharpen = sharpens && looks[first] == 0;
    size_t most = p->sharpen ? SHARPEN : SEARCH;
    for (uint64_t i = 0; i < s->n; i++) {
        if (s->bound[i] == INFINITY || !sx_judge_open(&p->judge, s->bound[i], p->best)) continue;
        if (sharpens && p->sharpen != (looks[i] == 0)) continue;
        double rank = rank_of(s, looks, i);
        if (n == most && rank >= rank_of(s, looks, p->pick[n - 1])) continue;
        size_t at = n < most ? n++ : n - 1;
        for (; at > 0 && rank_of(s, looks, p->pick[at - 1]) > rank; at--) p->pick[at] = p->pick[at - 1];
        p->pick[at] = i;
    }
    return n;
}

/* Takes over what tasks found out. */
static void learn(const plan *p, state *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t *looks = &looks_of(s)[p->pick[i]];
        double *bound = &s->bound[p->pick[i]];
        if (p->ending[i] == SX_CLOSED) {
            *bound = INFINITY;
            *looks = SX_SEARCHED;
        }
        if (p->ending[i] == SX_TIRED && *looks < MOST_LOOKS) ++*looks;
        if (p->sharpen && p->ending[i] != SX_STOPPED) *bound = fmax(*bound, p->value[i]);
    }
}

/* States what is proven. */
static void conclude(const plan *p, state *s, bool all) {
    double best, least = INFINITY;
    bool found = sx_run_incumbent(p->run, &best) != NULL;
    for (uint64_t i = 0; i < s->n; i++) least = fmin(least, s->bound[i]);
    if (sx_run_objective(p->run)->n_criteria > 1) return;
    if (!all || (found && p->judge.gap > 0)) {
        double bound = found ? fmin(least, best / (1 + (best > 0 ? p->judge.gap : 0))) : least;
        if (p->judge.sound && bound > -INFINITY && bound < INFINITY)
            sx_run_bound(p->run, bound * (1 - 1e-12));
    } else if (found) {
        sx_run_bound(p->run, best);
        sx_run_optimal(p->run);
    }
}

/* Says how the arrays were closed. */
static sx_status prove(const plan *p, state *s) {
    double *compulsory = malloc((s->n + 1) * sizeof *compulsory);
    sx_status status = compulsory ? bound_arrays(p, compulsory) : sx_error_memory();
    if (!status) status = sx_arrays_prove(p->run, &p->arrays, compulsory, s->bound, looks_of(s));
    free(compulsory);
    return status;
}

static sx_status search_all(plan *p) {
    bool resumed, all = false;
    uint64_t n = p->arrays.n;
    state *s = sx_run_state(p->run, sizeof *s + n * (sizeof *s->bound + 1), &resumed);
    if (!s) return sx_error_memory();
    if (!resumed) {
        s->n = n;
        SX_TRY(bound_arrays(p, s->bound));
        sx_run_evaluate_starts(p->run, 0);
    }
    begin(p, s);
    for (;;) {
        sx_run_incumbent(p->run, &p->best);
        size_t picked = pick(p, s);
        all = picked == 0;
        if (all || !sx_run_continue(p->run)) break;
        sx_run_tasks(p->run, picked, run_array, p);
        if (atomic_load(&p->failed)) return sx_error_memory();
        if (!sx_run_stopped(p->run)) learn(p, s, picked);
    }
    conclude(p, s, all);
    return sx_run_wants_proof(p->run) ? prove(p, s) : SX_OK;
}

static sx_status search(sx_run *run) {
    plan p = {0};
    sx_status status = make_plan(&p, run);
    if (!status) status = search_all(&p);
    sx_arrays_fini(&p.arrays);
    sx_bound_free(p.bound);
    sx_map_choices_free(p.choices);
    return status;
}

SX_NAVIGATOR(optimal) = {
    .source = "our own, after exact mappers over the lattice of tile extents",
    .needs = SX_MAP_SPACE,
    .complete = true,
    .proves = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
