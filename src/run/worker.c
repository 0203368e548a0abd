/* Evaluating within a task: the model, the cache and the task's log. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/vector.h"
#include "run/known.h"
#include "run/worker_pool.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_INTERVAL = 8 };       /* evaluations between two readings of the clock, at most */
enum { PASSED_AT_ONCE = 1024 };   /* that are counted without being scored */
static const double SLOW = 0.001; /* seconds for a batch from which on each of its points polls the clock */

double sx_worker_pool_cutoff(const sx_objective *objective, double value) {
    if (objective->n_criteria == 1 || !isfinite(value)) return value;
    double tolerance = objective->tolerance;
    double cutoff = value > 0 ? value / (1 - tolerance) : value + tolerance * fabs(value);
    return tolerance < 1 ? cutoff + 1e-12 * fabs(cutoff) : INFINITY;
}

void sx_worker_begin(sx_worker *worker, sx_log *log) {
    const sx_worker_pool *workers = worker->workers;
    const sx_run_options *o = &workers->run->options;
    log->n_steps = log->n_candidates = log->n_cached = log->n_appended = 0;
    log->valid = log->hits = log->rejected = log->rejected_last = 0;
    worker->log = log;
    worker->rejected = 0;
    worker->best.n = worker->front.n = 0;
    worker->cutoff = workers->cutoff;
    worker->limit = worker->left = atomic_load_explicit(&workers->left, memory_order_relaxed);
    if (o->patience && o->patience < worker->limit) worker->limit = o->patience;
}

sx_log *sx_worker_finish(sx_worker *worker) {
    sx_log *log = worker->log;
    log->rejected_last = worker->rejected;
    worker->log = NULL;
    return log;
}

void sx_worker_pool_fail(sx_worker_pool *workers, size_t task, sx_status failure) {
    bool at_once = failure->code == SX_ERR_MEMORY || failure->code == SX_ERR_PROGRAM;
    pthread_mutex_lock(&workers->lock);
    if (workers->failure && task >= atomic_load(&workers->failed_at)) {
        sx_status_free(failure);
    } else {
        sx_status_free(workers->failure);
        workers->failure = failure;
        atomic_store(&workers->failed_at, task);
    }
    pthread_mutex_unlock(&workers->lock);
    if (at_once) atomic_store(&workers->halted, true);
}

void sx_worker_fail(sx_worker *worker, sx_status failure) {
    sx_worker_pool_fail(worker->workers, worker->task, failure);
}

void sx_worker_append(sx_worker *worker, const void *data, size_t size) {
    sx_log *log = worker->log;
    if (size == 0) return;
    if (!sx_reserve(&log->appended, &log->appended_room, log->n_appended + size, 1)) {
        sx_worker_fail(worker, sx_error_memory());
        return;
    }
    memcpy(log->appended + log->n_appended, data, size);
    log->n_appended += size;
}

/* Keeps a point in the log. */
static bool log_candidate(sx_worker *worker, const sx_outcome *outcome, const void *point) {
    sx_log *log = worker->log;
    size_t size = worker->workers->space->point_size, room = log->candidate_room, points_room = room;
    if (!sx_reserve(&log->candidate, &room, log->n_candidates + 1, sizeof *log->candidate) ||
        !sx_reserve(&log->points, &points_room, log->n_candidates + 1, size))
        return false;
    log->candidate_room = room;
    log->candidate[log->n_candidates] = (sx_candidate){log->n_steps - 1, outcome->metrics, outcome->value};
    memcpy(log->points + log->n_candidates * size, point, size);
    log->n_candidates++;
    return true;
}

/* After a point entered the task's best: what can no longer matter, and where the task must end. */
static void tighten_cutoff(sx_worker *worker, const sx_outcome *outcome) {
    const sx_run_options *o = &worker->workers->run->options;
    uint64_t steps = worker->log->n_steps, left = worker->left;
    if (worker->best.n == o->k_best) {
        double cutoff = sx_worker_pool_cutoff(&o->objective, worker->best.kept[worker->best.n - 1].value);
        if (cutoff < worker->cutoff) worker->cutoff = cutoff;
    }
    if (o->patience) worker->limit = left - steps > o->patience ? steps + o->patience : left;
    if (o->target != 0 && outcome->value <= o->target && o->objective.n_criteria == 1) worker->limit = steps;
}

/* Whether a legal point may be among the best, or on the front, as far as its outcome tells. */
static bool may_matter(const sx_worker *worker, const sx_outcome *outcome) {
    const sx_worker_pool *workers = worker->workers;
    const sx_goal *goal = &workers->run->goal;
    if (workers->run->options.pareto) return true;
    return outcome->value <= worker->cutoff &&
           (!workers->full || sx_goal_compare(goal, &outcome->metrics, &workers->last.metrics) < 0);
}

/* Looks whether a legal point may matter to the run, and keeps it if so; false when memory is out. */
static bool consider_point(sx_worker *worker, const sx_outcome *outcome, const void *point) {
    const sx_worker_pool *workers = worker->workers;
    const sx_run_options *o = &workers->run->options;
    const sx_goal *goal = &workers->run->goal;
    const sx_archived kept = {.metrics = outcome->metrics, .value = outcome->value};
    size_t place = SX_NOWHERE, corner = SX_NOWHERE;
    if (outcome->value <= worker->cutoff &&
        (!workers->full || sx_goal_compare(goal, &outcome->metrics, &workers->last.metrics) < 0))
        place = sx_k_best_place(&worker->best, o->k_best, goal, &outcome->metrics, point);
    if (o->pareto && sx_front_place(&workers->front, goal, &outcome->metrics) != SX_NOWHERE)
        corner = sx_front_place(&worker->front, goal, &outcome->metrics);
    if (place != SX_NOWHERE) {
        if (!sx_k_best_put(&worker->best, o->k_best, place, &kept, point)) return false;
        tighten_cutoff(worker, outcome);
    }
    if (corner != SX_NOWHERE && !sx_front_put(&worker->front, goal, corner, &kept, point)) return false;
    return (place == SX_NOWHERE && corner == SX_NOWHERE) || log_candidate(worker, outcome, point);
}

/* Gives points to the model; false where it fails. */
static bool measure_points(sx_worker *worker, const void *points, size_t n, double cutoff, sx_outcome *out) {
    sx_status status = sx_scorer_score(&worker->scorer, points, n, cutoff, out);
    if (status) sx_worker_fail(worker, status);
    for (size_t i = 0; !status && i < n; i++) assert(out[i].reason != 0 || !(out[i].value > cutoff));
    return !status;
}

/* The same for one point by way of the cache; *hit tells whether it knew. */
static bool measure_cached(sx_worker *worker, const void *point, double cutoff, sx_outcome *out, bool *hit) {
    const sx_cache *cache = &worker->workers->run->cache;
    sx_log *log = worker->log;
    uint64_t key[2];
    sx_scorer_key(&worker->scorer, point, key);
    *hit = sx_cache_find(cache, key, cutoff, out);
    if (*hit) return true;
    if (!measure_points(worker, point, 1, cutoff, out)) return false;
    if (log->n_cached > cache->mask || out->reason == SX_NOT_EVALUATED) return true;
    if (!sx_reserve(&log->cached, &log->cached_room, log->n_cached + 1, sizeof *log->cached)) {
        sx_worker_fail(worker, sx_error_memory());
        return false;
    }
    log->cached[log->n_cached++] = (sx_cached){
        .key = {key[0], key[1]},
        .used = true,
        .reason = out->reason,
        .value = out->reason == SX_BEYOND ? cutoff : out->value,
        .metrics = out->metrics,
    };
    return true;
}

/* Polls the clock and the stop flag, on the run's own thread, and halts the worker pool where the
 * run has ended. */
static void poll_clock(sx_worker *worker) {
    sx_worker_pool *workers = worker->workers;
    if (worker->until_poll > 0 && !sx_is_cancelled(workers->run->options.cancel)) {
        worker->until_poll--;
        return;
    }
    double now = sx_clock_seconds();
    worker->until_poll = now - worker->looked > SLOW ? 0 : POLL_INTERVAL - 1;
    worker->looked = now;
    workers->run->found |= worker->log->n_candidates > 0;
    sx_run_poll(workers->run, worker->log->n_steps);
    if (workers->run->ended) atomic_store(&workers->halted, true);
}

/* Writes an evaluation into the log and keeps the point where it may matter; NULL: it does not. */
static void note_outcome(sx_worker *worker, const void *point, const sx_outcome *outcome, bool hit) {
    sx_log *log = worker->log;
    bool valid = outcome->reason == 0 || outcome->reason == SX_BEYOND;
    if (!sx_reserve(&log->step, &log->step_room, log->n_steps + 1, sizeof *log->step)) {
        sx_worker_fail(worker, sx_error_memory());
        return;
    }
    log->step[log->n_steps++] =
        worker->rejected * STEP_REJECTED + (hit ? STEP_HIT : 0) + (valid ? STEP_VALID : 0);
    log->valid += valid;
    log->hits += hit;
    log->rejected += worker->rejected;
    worker->rejected = 0;
    if (outcome->reason == 0 && point && !consider_point(worker, outcome, point))
        sx_worker_fail(worker, sx_error_memory());
}

static const sx_outcome not_evaluated = {.value = INFINITY, .reason = SX_NOT_EVALUATED};

/* The value above which points need not be scored in full. */
static double cutoff_of(const sx_worker *worker, bool within) {
    return within && worker->workers->cuts ? worker->cutoff : INFINITY;
}

sx_outcome sx_worker_evaluate(sx_worker *worker, const void *point, bool within) {
    if (worker->own) poll_clock(worker);
    if (sx_worker_stopped(worker)) return not_evaluated;
    sx_outcome outcome = {.value = INFINITY};
    bool hit = false;
    double cutoff = cutoff_of(worker, within);
    bool known = worker->workers->run->cache.entry ? measure_cached(worker, point, cutoff, &outcome, &hit)
                                                   : measure_points(worker, point, 1, cutoff, &outcome);
    if (!known || outcome.reason == SX_NOT_EVALUATED) return not_evaluated;
    note_outcome(worker, point, &outcome, hit);
    return outcome;
}

void *sx_worker_workspace(sx_worker *worker, const sx_point_model_type *type) {
    bool known = worker->scorer.model->type == type && !worker->workers->run->cache.entry;
    return known ? worker->scorer.workspace : NULL;
}

double sx_worker_cutoff(const sx_worker *worker) {
    return cutoff_of(worker, true);
}

bool sx_worker_pass(sx_worker *worker, double least, sx_outcome *outcome) {
    if (!(least > cutoff_of(worker, true)) || worker->workers->run->cache.entry) return false;
    *outcome = not_evaluated;
    if (worker->own) poll_clock(worker);
    if (sx_worker_stopped(worker)) return true;
    outcome->reason = SX_BEYOND;
    note_outcome(worker, NULL, outcome, false);
    return true;
}

/* Writes n legal points that do not matter into the log. */
static void note_passed(sx_worker *worker, size_t n) {
    sx_log *log = worker->log;
    if (!sx_reserve(&log->step, &log->step_room, log->n_steps + n, sizeof *log->step)) {
        sx_worker_fail(worker, sx_error_memory());
        return;
    }
    for (size_t i = 0; i < n; i++) log->step[log->n_steps + i] = STEP_VALID;
    log->step[log->n_steps] += worker->rejected * STEP_REJECTED;
    log->n_steps += n;
    log->valid += n;
    log->rejected += worker->rejected;
    worker->rejected = 0;
}

bool sx_worker_pass_all(sx_worker *worker, double least, uint64_t n) {
    if (!(least > cutoff_of(worker, true)) || worker->workers->run->cache.entry) return false;
    while (n > 0 && sx_worker_goes_on(worker)) {
        uint64_t some = worker->limit - worker->log->n_steps;
        if (some > PASSED_AT_ONCE) some = PASSED_AT_ONCE;
        if (some > n) some = n;
        note_passed(worker, (size_t)some);
        n -= some;
    }
    return true;
}

sx_outcome sx_worker_record(sx_worker *worker, const void *point, const sx_metrics *metrics) {
    sx_outcome outcome = {.metrics = *metrics, .value = sx_goal_value(worker->scorer.goal, metrics)};
    if (sx_worker_pass(worker, outcome.value, &outcome)) return outcome;
    if (worker->own) poll_clock(worker);
    if (sx_worker_stopped(worker)) return not_evaluated;
    note_outcome(worker, point, &outcome, false);
    return outcome;
}

sx_outcome sx_worker_record_compact(sx_worker *worker, const sx_metrics *metrics, bool within,
                                    sx_expander *expand, const void *user, const void *compact) {
    sx_outcome outcome = {.metrics = *metrics, .value = sx_goal_value(worker->scorer.goal, metrics)};
    if (within && sx_worker_pass(worker, outcome.value, &outcome)) return outcome;
    if (worker->own) poll_clock(worker);
    if (sx_worker_stopped(worker)) return not_evaluated;
    bool matters = may_matter(worker, &outcome);
    if (matters) expand(user, compact, worker->expanded);
    note_outcome(worker, matters ? worker->expanded : NULL, &outcome, false);
    return outcome;
}

/* Evaluates as many points as the model likes at once; returns how many count. */
static size_t evaluate_some(sx_worker *worker, const unsigned char *points, size_t n, bool within,
                            sx_outcome *out) {
    size_t size = worker->workers->space->point_size, done = 0;
    if (worker->own) poll_clock(worker);
    if (sx_worker_stopped(worker)) return 0;
    if (n > worker->limit - worker->log->n_steps) n = (size_t)(worker->limit - worker->log->n_steps);
    if (!measure_points(worker, points, n, cutoff_of(worker, within), out)) return 0;
    for (; done < n && worker->log->n_steps < worker->limit; done++) {
        if (out[done].reason == 0 && out[done].value > cutoff_of(worker, within))
            out[done] = (sx_outcome){.value = INFINITY, .reason = SX_BEYOND};
        note_outcome(worker, points + done * size, &out[done], false);
    }
    return done;
}

size_t sx_worker_evaluate_batch(sx_worker *worker, const void *points, size_t n, bool within,
                                sx_outcome *out) {
    const unsigned char *point = points;
    size_t size = worker->workers->space->point_size, batch = worker->workers->batch, done = 0, last = 1;
    if (!out) out = worker->outcome;
    for (; done < n && last > 0; done += last) {
        size_t some = n - done < batch ? n - done : batch;
        if (batch > 1 && !worker->workers->run->cache.entry) {
            last = evaluate_some(worker, point + done * size, some, within, out + done);
        } else {
            out[done] = sx_worker_evaluate(worker, point + done * size, within);
            last = out[done].reason != SX_NOT_EVALUATED;
        }
    }
    for (size_t i = done; i < n; i++) out[i] = not_evaluated;
    return done;
}

void *sx_worker_batch(sx_worker *worker, size_t *n) {
    *n = worker->workers->batch;
    return worker->batch;
}

void *sx_worker_scratch(sx_worker *worker, unsigned index) {
    return worker->scratch + index * sx_worker_scratch_size(worker->workers->space);
}

void sx_worker_reject(sx_worker *worker, uint64_t n) {
    worker->rejected += n;
}

bool sx_worker_stopped(const sx_worker *worker) {
    return worker->log->n_steps >= worker->limit ||
           (worker->own && sx_is_cancelled(worker->workers->run->options.cancel)) ||
           atomic_load_explicit(&worker->workers->halted, memory_order_relaxed) ||
           worker->task >= atomic_load_explicit(&worker->workers->failed_at, memory_order_relaxed);
}

bool sx_worker_goes_on(sx_worker *worker) {
    if (worker->own) poll_clock(worker);
    return !sx_worker_stopped(worker);
}
