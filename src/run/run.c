/* The life of a run: options, search, stopping, what it found. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/pool.h"
#include "base/vector.h"
#include "run/uphold.h"
#include "run/worker_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BEST = 10000 };
static const double PROGRESS_SECONDS = 0.1;

void sx_run_options_init(sx_run_options *options) {
    *options = (sx_run_options){
        .objective = {.n_criteria = 1, .criterion = {{SX_PRODUCT, 1, 1}}},
    };
}

static sx_status check_options(const sx_run_options *options) {
    if (options->objective.n_criteria < 1 || options->objective.n_criteria > SX_MAX_CRITERIA)
        return sx_error_new(SX_ERR_USAGE, "an objective has from 1 to %d criteria", SX_MAX_CRITERIA);
    if (options->objective.network)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the objective is one of a whole network"),
                             "`map` takes it; leave out 'network-'");
    if (!(options->seconds >= 0) || isinf(options->seconds))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%g is not a valid time limit", options->seconds),
                             "0 means no limit");
    if (!isfinite(options->target))
        return sx_error_new(SX_ERR_USAGE, "%g is not a valid target", options->target);
    if (!(options->checkpoint_seconds >= 0))
        return sx_error_new(SX_ERR_USAGE, "checkpoints cannot be %g seconds apart",
                            options->checkpoint_seconds);
    if (options->threads > SX_MAX_THREADS)
        return sx_error_new(SX_ERR_LIMIT, "a run has at most %d threads", SX_MAX_THREADS);
    if (options->k_best > MAX_BEST)
        return sx_error_new(SX_ERR_LIMIT, "a run remembers at most %d best points", MAX_BEST);
    if (options->n_starts > 0 && !options->starts)
        return sx_error_new(SX_ERR_USAGE, "%zu start points announced but none given", options->n_starts);
    return SX_OK;
}

sx_status sx_run_new(const sx_space *space, const sx_point_model *model, const sx_run_options *options,
                     sx_run **out) {
    SX_TRY(check_options(options));
    sx_run *run = calloc(1, sizeof *run);
    if (!run) return sx_error_memory();
    run->model = model ? model : space->model;
    sx_status status = sx_scorer_goal_init(space, run->model, &options->objective, &run->goal);
    if (status) {
        free(run);
        return status;
    }
    run->space = space;
    run->options = *options;
    run->evaluations_limit = options->evaluations;
    run->seconds_limit = options->seconds;
    run->cutoff = INFINITY;
    if (run->options.threads == 0) run->options.threads = 1;
    if (run->options.k_best == 0) run->options.k_best = 1;
    run->best.point_size = run->front.point_size = space->point_size;
    *out = run;
    return SX_OK;
}

void sx_run_free(sx_run *run) {
    if (!run) return;
    sx_worker_pool_free(run->workers);
    sx_cache_fini(&run->cache);
    sx_archive_fini(&run->best);
    sx_archive_fini(&run->front);
    sx_status_free(run->failure);
    sx_proof_free(run->proof);
    free(run->trace);
    for (int i = 0; i < SX_MAX_DEPTH; i++) {
        free(run->frame[i].state);
        free(run->frame[i].saved);
        free(run->frame[i].settings);
        free(run->frame[i].start);
    }
    for (int i = 0; i < SX_MAX_CALLED; i++) free(run->called[i].state);
    free(run->navigator);
    free(run->own_name);
    free(run->identity);
    free(run->paused);
    free(run);
}

double sx_run_seconds(const sx_run *run) {
    return sx_clock_seconds() - run->began;
}

bool sx_run_is_late(const sx_run *run) {
    const double grace = run->best.n || run->found ? 0 : SX_GRACE_SECONDS;
    return run->options.seconds > 0 && sx_run_seconds(run) >= run->options.seconds + grace;
}

void sx_run_end(sx_run *run, sx_stop stop) {
    if (run->ended) return;
    run->ended = true;
    run->stop = stop;
}

void sx_run_fail(sx_run *run, sx_status failure) {
    if (run->failure)
        sx_status_free(failure);
    else
        run->failure = failure;
    run->ended = run->closed = true;
    run->stop = SX_STOP_FAILED;
}

/* Tells of progress, where that is wanted and due. */
static void tell_progress(sx_run *run, double seconds, uint64_t more) {
    const sx_run_options *o = &run->options;
    if (!o->progress || seconds < run->progressed + PROGRESS_SECONDS) return;
    uint64_t evaluations = run->evaluations + more;
    if (o->evaluations && evaluations > o->evaluations) evaluations = o->evaluations;
    if (evaluations > run->told) run->told = evaluations;
    sx_progress progress = {.evaluations = run->told,
                            .limit = run->evaluations_limit,
                            .seconds = seconds,
                            .seconds_limit = run->seconds_limit,
                            .best = run->best.n ? run->best.kept[0].value : INFINITY,
                            .first = run->n_trace ? run->trace[0].value : INFINITY,
                            .bound = run->lower_bound};
    run->progressed = seconds;
    o->progress(o->user, &progress);
}

void sx_run_poll(sx_run *run, uint64_t more) {
    const sx_run_options *o = &run->options;
    if (sx_is_cancelled(o->cancel)) sx_run_end(run, SX_STOP_SIGNAL);
    if (o->seconds <= 0 && !o->progress) return;
    if (sx_run_is_late(run)) sx_run_end(run, SX_STOP_TIME);
    tell_progress(run, sx_run_seconds(run), more);
}

bool sx_run_resuming(const sx_run *run) {
    return run->depth + 1 < SX_MAX_DEPTH && run->frame[run->depth + 1].saved;
}

/* Writes a checkpoint, where one is wanted and due; not while it would lack the state of a called navigator. */
static void save_checkpoint(sx_run *run) {
    const sx_run_options *o = &run->options;
    if (sx_run_resuming(run)) return;
    if (!o->checkpoint || sx_run_seconds(run) < run->checkpointed + o->checkpoint_seconds) return;
    char *bytes = NULL;
    size_t size = 0;
    sx_status status = sx_checkpoint_write(run, &bytes, &size);
    if (!status) status = o->checkpoint(o->user, bytes, size);
    free(bytes);
    if (status) sx_run_fail(run, status);
    run->checkpointed = sx_run_seconds(run);
}

/* Ends a run that is to be paused and has an incumbent, with its state as a checkpoint would have it. */
static void pause_run(sx_run *run) {
    const double until = run->options.pause_seconds;
    if (until <= 0 || run->best.n == 0 || sx_run_resuming(run) || sx_run_seconds(run) < until) return;
    sx_status status = sx_checkpoint_write(run, &run->paused, &run->paused_size);
    if (status)
        sx_run_fail(run, status);
    else
        sx_run_end(run, SX_STOP_TIME);
}

void *sx_run_take_paused(sx_run *run, size_t *size) {
    void *paused = run->paused;
    *size = run->paused_size;
    run->paused = NULL;
    return paused;
}

bool sx_run_continue(sx_run *run) {
    const uint64_t turn_end = run->frame[run->depth].turn_end;
    if (!run->ended) sx_run_poll(run, 0);
    if (!run->ended) save_checkpoint(run);
    if (!run->ended) pause_run(run);
    if (sx_is_cancelled(run->options.cancel)) sx_run_end(run, SX_STOP_SIGNAL); /* also while it was saved */
    if (turn_end && run->evaluations >= turn_end) sx_run_end(run, SX_STOP_EVALUATIONS);
    return !run->ended;
}

bool sx_run_stopped(const sx_run *run) {
    return run->ended || sx_is_cancelled(run->options.cancel) || sx_run_is_late(run);
}

/* Ends the run where a legality check could not be finished: what it said is no answer. */
static void end_unfinished(sx_run *run) {
    sx_guard *guard = run->space->guard;
    if (!guard || !atomic_load(&guard->unfinished)) return;
    run->optimal = false;
    run->lower_bound = run->first_bound;
    sx_proof_free(run->proof);
    run->proof = NULL;
    sx_run_fail(run, sx_error_memory());
}

/* Turns a failure that a signal or the time limit caused in the middle of a count into the end that these
 * bring. */
static sx_status forgive_interruption(sx_run *run, SX_TAKE sx_status status) {
    sx_guard *guard = run->space->guard;
    if (!guard || !atomic_load(&guard->steps.stopped)) return status;
    if (status && status->code != SX_ERR_MEMORY) return status;
    sx_status_free(status);
    run->stop = sx_is_cancelled(run->options.cancel) ? SX_STOP_SIGNAL : SX_STOP_TIME;
    return SX_OK;
}

/* Makes what a search needs; what is made stays with the run, also after an error. */
static sx_status prepare_run(sx_run *run) {
    SX_TRY(sx_run_accepts(run, run->entry));
    SX_TRY(sx_settings_text(run->entry, run->frame[0].settings, &run->navigator));
    SX_TRY(sx_cache_init(&run->cache, run->options.cache));
    SX_TRY(sx_worker_pool_new(run, &run->workers));
    if (run->options.checkpoint || run->options.resume || run->options.pause_seconds > 0)
        SX_TRY(sx_checkpoint_identify(run, &run->identity));
    run->began = sx_clock_seconds();
    if (run->space->guard)
        sx_guard_watch(run->space->guard, run->options.cancel,
                       run->options.seconds > 0 ? run->began + run->options.seconds + SX_GRACE_SECONDS : 0);
    if (run->options.resume) SX_TRY(sx_checkpoint_read(run, run->options.resume, run->options.resume_size));
    run->progressed = run->checkpointed = sx_run_seconds(run);
    run->fronts = 1;
    if (run->model->type->bound) sx_run_bound(run, run->model->type->bound(run->model, &run->goal));
    run->first_bound = run->lower_bound;
    return SX_OK;
}

/* Withdraws what a search has proven if its lower bound is above its answer. */
static void uphold_proof(sx_run *run) {
    if (!run->best.n || sx_uphold_bound(run->options.warnings, run->navigator, run->best.kept[0].value,
                                        &run->lower_bound, &run->optimal))
        return;
    sx_proof_free(run->proof);
    run->proof = NULL;
}

/* Searches by a navigator with its settings. A search that a clock may end is not divided: process 0 does it
 * alone. */
static sx_status run_navigator(sx_run *run, const sx_registered *entry, SX_TAKE double *settings) {
    run->entry = run->frame[0].entry = entry;
    run->frame[0].settings = settings;
    if (sx_ranks_active(run->options.ranks) && sx_ranks_follows(run->options.ranks) &&
        run->options.seconds > 0)
        return sx_ranks_finish(run->options.ranks);
    SX_TRY(prepare_run(run));
    sx_status status = entry->navigator->search(run);
    run->seconds = sx_run_seconds(run);
    sx_worker_pool_free(run->workers);
    run->workers = NULL;
    sx_cache_fini(&run->cache);
    end_unfinished(run);
    uphold_proof(run);
    if (run->failure) {
        sx_status_free(status);
        status = run->failure;
        run->failure = NULL;
    }
    status = forgive_interruption(run, status);
    if (run->space->guard) sx_guard_watch(run->space->guard, NULL, 0);
    return status;
}

sx_status sx_run_search_among(sx_run *run, const sx_registry *registry, const char *navigator) {
    const sx_registered *entry;
    double *settings;
    if (run->entry) return sx_error_new(SX_ERR_USAGE, "a run searches once");
    run->registry = registry;
    SX_TRY(sx_settings_read(registry, navigator, run->space->type->name, &entry, &settings));
    return run_navigator(run, entry, settings);
}

sx_status sx_run_search_own(sx_run *run, const sx_registry *registry, const char *name,
                            const sx_navigator *navigator, const char *settings) {
    double *values;
    if (run->entry || run->own_name) return sx_error_new(SX_ERR_USAGE, "a run searches once");
    run->registry = registry;
    run->own_name = strdup(name);
    if (!run->own_name) return sx_error_memory();
    run->own = (sx_registered){.name = run->own_name, .about = "", .navigator = navigator};
    SX_TRY(sx_settings_of(&run->own, settings, &values));
    return run_navigator(run, &run->own, values);
}

/* Adds a line to the trace; false when memory is out. */
static bool trace_point(sx_run *run, const sx_archived *kept) {
    if (!sx_reserve(&run->trace, &run->trace_room, run->n_trace + 1, sizeof *run->trace)) return false;
    run->trace[run->n_trace++] = (sx_trace_point){kept->evaluation, sx_run_seconds(run), kept->value};
    return true;
}

bool sx_run_take(sx_run *run, const sx_archived *kept, const void *point) {
    const sx_run_options *o = &run->options;
    bool stored = true;
    size_t place = sx_k_best_place(&run->best, o->k_best, &run->goal, &kept->metrics, point);
    if (place == 0 && kept->value > run->cutoff) place = SX_NOWHERE;
    if (place != SX_NOWHERE) stored = sx_k_best_put(&run->best, o->k_best, place, kept, point);
    if (stored && place == 0) {
        run->improved = kept->evaluation;
        run->cutoff = fmin(run->cutoff, sx_worker_pool_cutoff(&o->objective, kept->value));
        stored = trace_point(run, kept);
    }
    size_t corner = o->pareto ? sx_front_place(&run->front, &run->goal, &kept->metrics) : SX_NOWHERE;
    if (stored && corner != SX_NOWHERE) {
        stored = sx_front_put(&run->front, &run->goal, corner, kept, point);
        run->fronts++;
    }
    if (!stored) sx_run_fail(run, sx_error_memory());
    return place == 0;
}
