/* Evaluating within a task: the model, the cache and the task's log. */
#include "base/clock.h"
#include "run/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEATS = 8 };               /* evaluations between two looks at the clock, at most */
static const double SLOW = 0.001; /* seconds for so many from which on each of them is worth a look */

bool sx_crew_grow(void **items, size_t n, size_t *room, size_t size) {
    if (n < *room) return true;
    size_t more = *room ? *room * 2 : 16;
    void *grown = realloc(*items, more * size);
    if (!grown) return false;
    *items = grown;
    *room = more;
    return true;
}

double sx_crew_edge(const sx_objective *objective, double value) {
    if (objective->n_criteria == 1 || !isfinite(value)) return value;
    double tolerance = objective->tolerance;
    double edge = value > 0 ? value / (1 - tolerance) : value + tolerance * fabs(value);
    return tolerance < 1 ? edge + 1e-12 * fabs(edge) : INFINITY;
}

void sx_worker_begin(sx_worker *worker, sx_log *log) {
    const sx_crew *crew = worker->crew;
    const sx_run_options *o = &crew->run->options;
    log->n_steps = log->n_candidates = log->n_cached = 0;
    log->valid = log->hits = log->rejected = log->rejected_last = 0;
    worker->log = log;
    worker->rejected = 0;
    worker->best.n = worker->front.n = 0;
    worker->edge = crew->edge;
    worker->limit = worker->left = atomic_load_explicit(&crew->left, memory_order_relaxed);
    if (o->patience && o->patience < worker->limit) worker->limit = o->patience;
}

sx_log *sx_worker_finish(sx_worker *worker) {
    sx_log *log = worker->log;
    log->rejected_last = worker->rejected;
    worker->log = NULL;
    return log;
}

void sx_worker_fail(sx_worker *worker) {
    atomic_store(&worker->crew->failed, true);
    atomic_store(&worker->crew->halted, true);
}

/* Keeps a point in the log. */
static bool log_candidate(sx_worker *worker, const sx_outcome *outcome, const void *point) {
    sx_log *log = worker->log;
    size_t size = worker->crew->space->point_size, room = log->candidate_room, points_room = room;
    if (!sx_crew_grow((void **)&log->candidate, log->n_candidates, &room, sizeof *log->candidate) ||
        !sx_crew_grow((void **)&log->points, log->n_candidates, &points_room, size))
        return false;
    log->candidate_room = room;
    log->candidate[log->n_candidates] = (sx_candidate){log->n_steps - 1, outcome->score, outcome->value};
    memcpy(log->points + log->n_candidates * size, point, size);
    log->n_candidates++;
    return true;
}

/* After a point entered the task's best: what can no longer matter, and where the task must end. */
static void tighten(sx_worker *worker, const sx_outcome *outcome) {
    const sx_run_options *o = &worker->crew->run->options;
    uint64_t steps = worker->log->n_steps, left = worker->left;
    if (worker->best.n == o->k_best) {
        double edge = sx_crew_edge(&o->objective, worker->best.kept[worker->best.n - 1].value);
        if (edge < worker->edge) worker->edge = edge;
    }
    if (o->patience) worker->limit = left - steps > o->patience ? steps + o->patience : left;
    if (o->target != 0 && outcome->value <= o->target && o->objective.n_criteria == 1) worker->limit = steps;
}

/* Looks whether a legal point may matter to the run, and keeps it if so; false when memory is out. */
static bool consider(sx_worker *worker, const sx_outcome *outcome, const void *point) {
    const sx_crew *crew = worker->crew;
    const sx_run_options *o = &crew->run->options;
    const sx_kept kept = {.score = outcome->score, .value = outcome->value};
    size_t place = SX_NOWHERE, corner = SX_NOWHERE;
    if (outcome->value <= worker->edge &&
        (!crew->full || sx_objective_compare(&o->objective, &outcome->score, &crew->last.score) < 0))
        place = sx_best_place(&worker->best, o->k_best, &o->objective, &outcome->score, point);
    if (o->pareto && sx_front_place(&crew->front, &outcome->score) != SX_NOWHERE)
        corner = sx_front_place(&worker->front, &outcome->score);
    if (place != SX_NOWHERE) {
        if (!sx_best_put(&worker->best, o->k_best, place, &kept, point)) return false;
        tighten(worker, outcome);
    }
    if (corner != SX_NOWHERE && !sx_front_put(&worker->front, corner, &kept, point)) return false;
    return (place == SX_NOWHERE && corner == SX_NOWHERE) || log_candidate(worker, outcome, point);
}

/* Gives a point to the model. */
static sx_outcome measure(sx_worker *worker, const void *point, double bound) {
    const sx_crew *crew = worker->crew;
    const sx_objective *objective = &crew->run->options.objective;
    sx_outcome outcome = {.value = INFINITY};
    outcome.reason =
        crew->space->type->score(crew->space, worker->scorer, point, objective, bound, &outcome.score);
    if (outcome.reason == 0) outcome.value = sx_objective_value(objective, &outcome.score);
    if (outcome.reason == SX_UNSCORED) sx_worker_fail(worker);
    return outcome;
}

/* The same by way of the cache; *hit tells whether it knew. */
static sx_outcome measure_cached(sx_worker *worker, const void *point, double bound, bool *hit) {
    const sx_crew *crew = worker->crew;
    const sx_cache *cache = &crew->run->cache;
    sx_log *log = worker->log;
    sx_outcome outcome;
    uint64_t key[2];
    crew->space->type->key(crew->space, point, key);
    *hit = sx_cache_find(cache, key, bound, &outcome);
    if (*hit) return outcome;
    outcome = measure(worker, point, bound);
    if (log->n_cached > cache->mask) return outcome;
    if (sx_crew_grow((void **)&log->cached, log->n_cached, &log->cached_room, sizeof *log->cached))
        log->cached[log->n_cached++] = (sx_cached){
            .key = {key[0], key[1]},
            .used = true,
            .reason = outcome.reason,
            .value = outcome.reason == SX_BEYOND ? bound : outcome.value,
            .score = outcome.score,
        };
    else
        sx_worker_fail(worker);
    return outcome;
}

/* Looks at the clock and the stop flag now and then, on the run's own thread, and halts the crew where the
 * run has ended. */
static void look(sx_worker *worker) {
    sx_crew *crew = worker->crew;
    const volatile sig_atomic_t *stop = crew->run->options.stop;
    if (worker->beat > 0 && !(stop && *stop)) {
        worker->beat--;
        return;
    }
    double now = sx_clock_seconds();
    worker->beat = now - worker->looked > SLOW ? 0 : BEATS - 1;
    worker->looked = now;
    sx_run_poll(crew->run, worker->log->n_steps);
    if (crew->run->ended) atomic_store(&crew->halted, true);
}

sx_outcome sx_worker_evaluate(sx_worker *worker, const void *point, bool within) {
    sx_crew *crew = worker->crew;
    sx_log *log = worker->log;
    if (worker->own) look(worker);
    sx_outcome outcome = {.value = INFINITY, .reason = SX_NOT_EVALUATED};
    if (sx_worker_stopped(worker)) return outcome;
    double bound = within && crew->cuts ? worker->edge : INFINITY;
    bool hit = false;
    outcome =
        crew->run->cache.entry ? measure_cached(worker, point, bound, &hit) : measure(worker, point, bound);
    bool valid = outcome.reason == 0 || outcome.reason == SX_BEYOND;
    if (!sx_crew_grow((void **)&log->step, log->n_steps, &log->step_room, sizeof *log->step)) {
        sx_worker_fail(worker);
        return outcome;
    }
    log->step[log->n_steps++] =
        worker->rejected * STEP_REJECTED + (hit ? STEP_HIT : 0) + (valid ? STEP_VALID : 0);
    log->valid += valid;
    log->hits += hit;
    log->rejected += worker->rejected;
    worker->rejected = 0;
    if (outcome.reason == 0 && !consider(worker, &outcome, point)) sx_worker_fail(worker);
    return outcome;
}

void *sx_worker_scratch(sx_worker *worker, unsigned index) {
    return worker->scratch + index * worker->crew->space->point_size;
}

void sx_worker_reject(sx_worker *worker, uint64_t n) {
    worker->rejected += n;
}

bool sx_worker_stopped(const sx_worker *worker) {
    const volatile sig_atomic_t *stop = worker->crew->run->options.stop;
    return worker->log->n_steps >= worker->limit || (worker->own && stop && *stop) ||
           atomic_load_explicit(&worker->crew->halted, memory_order_relaxed);
}

bool sx_worker_goes_on(sx_worker *worker) {
    if (worker->own) look(worker);
    return !sx_worker_stopped(worker);
}
