/* What the mapper `optimal` begins with: the start points that are given, then the answer of Gamma, with more
 * evaluations the more ways there are to spread loops, and where these are few that of Sunstone with
 * everything on, called as parts of the search; or descents by random moves. The latter where those are
 * switched off or find nothing, and where several best mappings are wanted: then every point is made the one
 * that stands for all that no cost tells from it, as it would otherwise count twice. */
#include "mappers/optimal_parts.h"

#include "base/status.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 8, FIRST_MOVES = 20, SLOW = 64, LEAST_GAMMA = 2000, GAMMA_PER_ARRAY = 5 };

/* How much longer than otherwise an evaluation takes: where windows leave remainders, about a hundred times.
 */
static uint64_t slowness(const sx_map_space *space) {
    bool windows = false;
    for (int v = 0; v < space->problem->n_tensors; v++) windows |= !space->model->shape[v].plain;
    return windows && space->options.remainders ? SLOW : 1;
}

/* What tasks read. */
typedef struct walks {
    const sx_optimal_start *start;
    uint64_t from, moves;
} walks;

/* Evaluates a point, or what stands for it; INFINITY where that is not legal. */
static sx_outcome try_point(const sx_optimal_start *start, void *point, sx_worker *worker) {
    bool several = sx_run_k_best(start->run) > 1, failed = false;
    bool normal = !several || sx_leaf_normal(start->space, start->choices, point, &failed);
    if (failed) sx_worker_fail(worker);
    if (!normal) return (sx_outcome){.value = __builtin_inf(), .reason = 1};
    return sx_worker_evaluate(worker, point, false);
}

/* A task: a descent by random moves. */
static void run_walk(void *user, size_t task, sx_worker *worker) {
    const walks *w = user;
    const sx_space *space = &w->start->space->space;
    sx_rng rng = sx_rng_stream(sx_run_seed(w->start->run), "optimal.descent", w->from + task);
    void *now = sx_worker_scratch(worker, 0), *next = sx_worker_scratch(worker, 1);
    uint64_t rejected = 0;
    bool drawn = sx_space_draw_legal(space, &rng, now, &rejected);
    sx_worker_reject(worker, rejected);
    if (!drawn) return;
    sx_outcome best = try_point(w->start, now, worker);
    for (uint64_t i = 0; i < w->moves && best.reason != SX_NOT_EVALUATED && sx_worker_goes_on(worker); i++) {
        memcpy(next, now, space->point_size);
        if (!sx_space_mutate(space, &rng, -1, sx_rng_below(&rng, 4) == 0, 20, next,
                             sx_worker_scratch(worker, 2)))
            continue;
        sx_outcome outcome = try_point(w->start, next, worker);
        if (outcome.reason == SX_NOT_EVALUATED) return;
        if (outcome.reason != 0 || outcome.value > best.value) continue;
        best = outcome;
        memcpy(now, next, space->point_size);
    }
}

/* Evaluates the start points. */
static sx_status evaluate_starts(const sx_optimal_start *start) {
    size_t n, size = start->space->space.point_size;
    const unsigned char *given = sx_run_starts(start->run, &n);
    if (sx_run_k_best(start->run) == 1) {
        sx_run_evaluate_starts(start->run, 0);
        return SX_OK;
    }
    void *point = malloc(size);
    sx_outcome outcome;
    bool failed = !point;
    for (size_t i = 0; i < n && !failed; i++) {
        memcpy(point, given + i * size, size);
        if (sx_leaf_normal(start->space, start->choices, point, &failed))
            sx_run_evaluate(start->run, point, 1, &outcome);
    }
    free(point);
    return failed ? sx_error_memory() : SX_OK;
}

/* The number of evaluations up to which a stage may go: half of what is left, or as many as it is given. */
static uint64_t limit_of(const sx_optimal_start *start, uint64_t stage) {
    uint64_t left = sx_run_left(start->run), used = sx_run_result(start->run).evaluations;
    uint64_t wish = LEAST_GAMMA + GAMMA_PER_ARRAY * start->arrays, half = left / 2 + left % 2;
    uint64_t gamma = (wish < start->gamma ? wish : start->gamma) / slowness(start->space);
    uint64_t most = stage == SX_OPTIMAL_GAMMA ? gamma : UINT64_MAX;
    if (left == UINT64_MAX && most == UINT64_MAX) return UINT64_MAX;
    return used + (left == UINT64_MAX || most < half ? most : half);
}

/* Calls another mapper, or goes on with it: within a share of the time. */
static sx_status call(const sx_optimal_start *start, const char *mapper, double share, sx_optimal_begun *at) {
    if (!at->until) at->until = limit_of(start, at->stage);
    sx_status status = sx_run_call(start->run, mapper, at->until, share * sx_run_time(start->run));
    if (status && status->code != SX_ERR_LIMIT) return status;
    sx_status_free(status);
    if (!sx_run_stopped(start->run)) at->until = 0;
    at->enough = sx_run_incumbent(start->run, NULL) != NULL;
    return SX_OK;
}

/* Some descents by random moves. */
static void walk(const sx_optimal_start *start, sx_optimal_begun *at) {
    uint64_t left = start->walks - at->walks, n = left < TOGETHER ? left : TOGETHER;
    walks w = {start, at->walks, start->moves / slowness(start->space)};
    sx_run_tasks(start->run, n, run_walk, &w);
    at->walks += n;
}

sx_status sx_optimal_first(const sx_optimal_start *start, sx_optimal_begun *at) {
    walks w = {start, start->walks, FIRST_MOVES / slowness(start->space)};
    if (at->stage != SX_OPTIMAL_STARTS) return SX_OK;
    SX_TRY(evaluate_starts(start));
    if (!sx_run_incumbent(start->run, NULL)) sx_run_tasks(start->run, 1, run_walk, &w);
    at->stage = SX_OPTIMAL_GAMMA;
    return SX_OK;
}

sx_status sx_optimal_begin(const sx_optimal_start *start, sx_optimal_begun *at) {
    bool single = sx_run_k_best(start->run) == 1;
    if (at->stage == SX_OPTIMAL_GAMMA && start->gamma > 0 && single && sx_run_continue(start->run))
        SX_TRY(call(start, "gamma", 0.25, at));
    if (at->stage == SX_OPTIMAL_GAMMA && !sx_run_stopped(start->run)) at->stage = SX_OPTIMAL_SUNSTONE;
    if (at->stage == SX_OPTIMAL_SUNSTONE && start->sunstone && single && sx_run_continue(start->run))
        SX_TRY(call(start, "sunstone:plus=on", 0.25, at));
    while (!at->enough && at->walks < start->walks && sx_run_continue(start->run)) walk(start, at);
    if (at->stage == SX_OPTIMAL_SUNSTONE && !sx_run_stopped(start->run)) at->stage = SX_OPTIMAL_ENOUGH;
    return SX_OK;
}
