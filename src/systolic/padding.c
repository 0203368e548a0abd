/* The padding-based search: tiles that divide the loops' sizes, then sizes with more and more padding.
 *
 * Source: Odyssey (DAC 2023), "Padding-based Algorithm" and algorithm 1. A loop of n steps has the padded
 * sizes ceil(n/x)*x, x = 1..n-1, ascending. Nested loops run over the padded sizes of all loops; innermost,
 * all divisors of the sizes that were not met before at their level are first-level tiles, with all their
 * divisors as second-level tiles. A level ends when its last sizes brought nothing better: ceil(share
 * * sqrt(n)) of them (stop=published, as the released code has it) or one more (stop=text, as the paper has
 * it). The released code never notes what matrix products find, so there stop=published looks at a fixed
 * number of sizes. Every design is searched on its own, and the run keeps the best of all.
 *
 * What the paper leaves open: the nest is i, j, k for matrix products and i, o, r, c for convolutions; here,
 * the loops in their order, but the SIMD loop first where windows slide. The SIMD loop is padded only where
 * the space has such tiles, and no loop is where the space holds divisors only. Of several kernels each loop
 * has the largest size. A loop of one step has that one size. A level that comes to its last size keeps its
 * count of sizes that brought nothing for the next time, as in the paper's algorithm.
 *
 * What differs: not every combination is evaluated. Their number is a product, reported as rejected draws,
 * and the best of them is found by tile_box.c; only what improves a design's best is given to the run. Of
 * several criteria the first decides. So all counts and answers are those of the paper.
 *
 * Complexity: the sizes that are tried times a box of tiles each. */
#include "run/navigator.h"
#include "systolic/tile_box.h"

#include "base/divisor.h"
#include "base/status.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE, STOP };
enum { PUBLISHED, TEXT };

static const char *const stops[] = {"published", "text", NULL};
static const sx_setting settings[] = {
    [SHARE] = {"share",
               "padded sizes without gain that end a level, as a share of the square root of the loop's size",
               "0.5; 0.6 for one of eight kernels", 0.5, 0, 2, false, NULL},
    [STOP] = {"stop", "stop after that many sizes without gain (code), or after one more (text)",
              "paper: text, its figures: code", PUBLISHED, 0, 1, true, stops},
};

enum { QUOTA = 20000 }; /* evaluations of a design between two safe points, about */

/* A padded size of a loop: the tiles that are new with it, and their pairs with all their divisors. */
typedef struct padded {
    size_t first, n; /* in the loop's tiles */
    uint64_t pairs;
} padded;

/* The padded sizes of a loop. */
typedef struct level {
    int loop;
    size_t n, room;
    padded *size;
    uint32_t *t1; /* of all sizes, one after another */
    double threshold;
} level;

/* What a search knows. */
typedef struct plan {
    const sx_systolic_space *space;
    sx_systolic_objective_value objective;
    bool text;                          /* stop after one size more */
    bool deaf;                          /* what is found is not noted */
    level level[SX_MAX_SYSTOLIC_LOOPS]; /* outermost first */
} plan;

/* The progress of a design. */
typedef struct progress {
    double best;
    uint32_t done;
    uint32_t at[SX_MAX_SYSTOLIC_LOOPS];      /* the size of each level */
    uint32_t idle[SX_MAX_SYSTOLIC_LOOPS];    /* consecutive sizes without improvement */
    uint8_t improved[SX_MAX_SYSTOLIC_LOOPS]; /* its size gave an improvement */
} progress;

/* A round: all designs that are not done. */
typedef struct job {
    const plan *plan;
    const uint32_t *task;
} job;

/* Marks the padded sizes of a loop of n steps. */
static void mark_sizes(uint8_t *marked, uint32_t n, bool pads) {
    for (uint32_t x = 1; pads && x < n; x++) marked[(n + x - 1) / x * x] = 1;
    marked[n] = 1;
}

/* Lists a size with the tiles that are new with it, and notes these; false when memory is out. */
static bool add_size(level *l, uint32_t size, uint8_t *seen, size_t *used) {
    size_t n = sx_divisors_of(size, NULL);
    if (!sx_reserve(&l->t1, &l->room, *used + n, sizeof *l->t1)) return false;
    padded *p = &l->size[l->n++];
    *p = (padded){.first = *used};
    uint32_t *t1 = &l->t1[*used];
    sx_divisors_of(size, t1);
    for (size_t i = 0; i < n; i++) {
        if (seen[t1[i]]) continue;
        seen[t1[i]] = 1;
        p->pairs += sx_divisors_of(t1[i], NULL);
        t1[p->n++] = t1[i];
    }
    *used += p->n;
    return true;
}

/* Lists the padded sizes of a loop of n steps; false when memory is out. */
static bool list_sizes(level *l, uint32_t n, bool pads) {
    size_t count = 0, used = 0;
    uint8_t *marked = calloc(2 * (size_t)n + 1, 1), *seen = calloc(2 * (size_t)n + 1, 1);
    bool fine = marked && seen;
    if (fine) {
        mark_sizes(marked, n, pads);
        for (size_t s = n; s <= 2 * (size_t)n; s++) count += marked[s];
        l->size = malloc(count * sizeof *l->size);
        fine = l->size != NULL;
    }
    for (size_t s = n; fine && s <= 2 * (size_t)n; s++)
        if (marked[s]) fine = add_size(l, (uint32_t)s, seen, &used);
    free(marked);
    free(seen);
    return fine;
}

static void plan_fini(plan *p) {
    for (int i = 0; i < p->space->n_loops; i++) {
        free(p->level[i].size);
        free(p->level[i].t1);
    }
}

/* The size of a loop in the kernel where it is longest. */
static uint32_t longest_loop(const sx_systolic_space *space, int loop) {
    uint32_t size = 1;
    for (size_t k = 0; k < space->n_kernels; k++)
        if (space->kernel[k].loop[loop].size > size) size = space->kernel[k].loop[loop].size;
    return size;
}

/* Plans a search; *out is freed with plan_fini, also after an error. */
static sx_status plan_init(const sx_run *run, plan *out) {
    const sx_systolic_space *space = sx_systolic_space_of(sx_run_space(run));
    plan p = {.space = space, .objective = sx_systolic_objective_of(space, sx_run_goal(run))};
    bool sliding = space->kernel[0].sliding, fine = true;
    int n = 0, simd = space->kernel[0].simd;
    double share = sx_run_setting(run, SHARE);
    p.text = sx_run_setting(run, STOP) == TEXT;
    p.deaf = !p.text && !sliding;
    if (sliding) p.level[n++].loop = simd;
    for (int d = 0; d < space->n_loops; d++)
        if (!sliding || d != simd) p.level[n++].loop = d;
    for (int i = 0; i < n && fine; i++) {
        level *l = &p.level[i];
        uint32_t size = longest_loop(space, l->loop);
        bool pads = space->options.tiles == SX_TILES_FULL ||
                    (space->options.tiles == SX_TILES_PADDED && l->loop != simd);
        l->threshold = ceil(share * sqrt(size));
        fine = list_sizes(l, size, pads);
    }
    *out = p;
    return fine ? SX_OK : sx_error_memory();
}

/* Searches the tiles that are new with the sizes where a design is, evaluating what is better than its
 * best; false where the search was stopped. */
static bool search_tiles_of_design(const plan *p, uint32_t design, progress *at, sx_worker *worker,
                                   uint64_t *looked, bool *failed) {
    sx_tile_box box;
    sx_tile_find find = {.best = at->best};
    uint64_t points = 1;
    for (int i = 0; i < p->space->n_loops; i++) {
        const level *l = &p->level[i];
        const padded *size = &l->size[at->at[i]];
        box.t1[l->loop] = &l->t1[size->first];
        box.n[l->loop] = size->n;
        points = sx_tile_times(points, size->pairs);
    }
    bool whole = sx_tile_box_search(&p->objective, design, &box, worker, &find, failed);
    *looked += find.looked;
    if (!whole) return false;
    sx_worker_reject(worker, find.found ? points - 1 : points);
    if (!find.found) return true;
    at->best = find.best;
    for (int i = 0; i < p->space->n_loops && !p->deaf; i++) at->improved[i] = 1;
    return sx_worker_evaluate(worker, &find.point, false).reason != SX_NOT_EVALUATED;
}

/* Advances to the next sizes. Algorithm 1, from the innermost level outwards. */
static void advance_sizes(const plan *p, progress *at) {
    for (int i = p->space->n_loops - 1; i >= 0; i--) {
        const level *l = &p->level[i];
        at->idle[i] = at->improved[i] ? 0 : at->idle[i] + 1;
        at->improved[i] = 0;
        bool ends = p->text ? at->idle[i] > l->threshold : at->idle[i] >= l->threshold;
        if (ends) at->idle[i] = 0;
        if (!ends && ++at->at[i] < l->n) return;
        at->at[i] = 0;
    }
    at->done = 1;
}

/* A task: some boxes of a design; its output is the design's progress. */
static sx_status search_design(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    progress *at = output;
    uint64_t looked = 0;
    bool failed = false;
    while (!at->done && looked < QUOTA && !sx_worker_stopped(worker)) {
        if (!search_tiles_of_design(j->plan, j->plan->space->open_list[j->task[task]], at, worker, &looked,
                                    &failed))
            break;
        advance_sizes(j->plan, at);
    }
    return failed ? sx_error_memory() : SX_OK;
}

/* Lists the designs that are not done, with their progress; returns how many. */
static size_t list_open(const progress *state, size_t n, uint32_t *task, progress *at) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (state[i].done) continue;
        at[left] = state[i];
        task[left++] = (uint32_t)i;
    }
    return left;
}

/* Searches until all designs are done. */
static sx_status search_all(sx_run *run, const plan *p, progress *state) {
    size_t n = p->space->n_open, left;
    uint32_t *task = malloc(n * sizeof *task);
    progress *at = malloc(n * sizeof *at);
    sx_status status = task && at ? SX_OK : sx_error_memory();
    while (!status && (left = list_open(state, n, task, at)) > 0 && sx_run_continue(run)) {
        sx_run_tasks(run, left, search_design, &(job){.plan = p, .task = task}, at, sizeof *at);
        for (size_t i = 0; i < left; i++) state[task[i]] = at[i];
    }
    free(task);
    free(at);
    return status;
}

/* Whether a state is one that a search may have. */
static bool state_holds(const plan *p, const progress *state) {
    for (size_t i = 0; i < p->space->n_open; i++)
        for (int d = 0; d < p->space->n_loops; d++)
            if (state[i].at[d] >= p->level[d].n || isnan(state[i].best)) return false;
    return true;
}

static sx_status search_by_padding(sx_run *run) {
    const sx_systolic_space *space = sx_systolic_space_of(sx_run_space(run));
    bool resumed;
    progress *state = sx_run_state(run, space->n_open * sizeof *state, &resumed);
    if (!state) return sx_error_memory();
    for (size_t i = 0; i < space->n_open && !resumed; i++) state[i].best = INFINITY;
    plan p;
    sx_status status = plan_init(run, &p);
    if (!status && resumed && !state_holds(&p, state)) status = sx_run_damaged(run);
    if (!status && !resumed) sx_run_evaluate_starts(run, 0);
    if (!status) status = search_all(run, &p, state);
    plan_fini(&p);
    return status;
}

SX_NAVIGATOR(padding) = {
    .space = "systolic",
    .model = "systolic",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_padding,
};
