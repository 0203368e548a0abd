/* What navigators and callers ask a run. */
#include "run/engine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const char *sx_stop_name(sx_stop stop) {
    static const char *const names[] = {"done",     "evaluations", "time",  "target",
                                        "patience", "signal",      "failed"};
    return names[stop];
}

sx_run_summary sx_run_result(const sx_run *run) {
    return (sx_run_summary){
        .evaluations = run->evaluations,
        .valid = run->valid,
        .rejected = run->rejected,
        .cache_hits = run->cache_hits,
        .seconds = run->seconds,
        .stop = run->stop,
        .repeatable = run->options.seconds <= 0 && run->stop < SX_STOP_SIGNAL,
        .lower_bound = run->lower_bound,
        .optimal = run->optimal,
        .none = run->none && !run->best.n,
        .drawn = run->drawn > 0 && run->drawn == run->improved,
    };
}

/* Point number `index` of an archive. */
static bool found_at(const sx_archive *archive, size_t index, sx_found *out) {
    if (index >= archive->n) return false;
    const sx_archived *kept = &archive->kept[index];
    *out = (sx_found){sx_archive_point(archive, index), kept->metrics, kept->value, kept->evaluation};
    return true;
}

bool sx_run_best(const sx_run *run, size_t index, sx_found *out) {
    return found_at(&run->best, index, out);
}

bool sx_run_front(const sx_run *run, size_t index, sx_found *out) {
    return found_at(&run->front, index, out);
}

bool sx_run_trace(const sx_run *run, size_t index, sx_trace_point *out) {
    if (index >= run->n_trace) return false;
    *out = run->trace[index];
    return true;
}

sx_status sx_run_copy_trace(const sx_run *run, bool clock, sx_trace_point **out, size_t *n) {
    sx_trace_point *trace = calloc(run->n_trace + 1, sizeof *trace);
    if (!trace) return sx_error_memory();
    for (size_t i = 0; i < run->n_trace; i++) {
        trace[i] = run->trace[i];
        if (!clock) trace[i].seconds = 0;
    }
    *out = trace;
    *n = run->n_trace;
    return SX_OK;
}

const sx_space *sx_run_space(const sx_run *run) {
    return run->space;
}

const sx_point_model *sx_run_model(const sx_run *run) {
    return run->model;
}

const sx_goal *sx_run_goal(const sx_run *run) {
    return &run->goal;
}

const sx_objective *sx_run_objective(const sx_run *run) {
    return &run->options.objective;
}

uint64_t sx_run_seed(const sx_run *run) {
    return run->options.seed;
}

uint64_t sx_run_budget(const sx_run *run) {
    return run->options.evaluations ? run->options.evaluations - run->evaluations : UINT64_MAX;
}

uint64_t sx_run_left(const sx_run *run) {
    const sx_frame *at = &run->frame[run->depth];
    uint64_t left = sx_run_budget(run);
    if (!at->plan) return left;
    uint64_t planned = at->plan - (run->evaluations - at->other_parts) % at->plan;
    return planned < left ? planned : left;
}

uint64_t sx_run_turn_left(const sx_run *run) {
    uint64_t end = run->frame[run->depth].turn_end;
    return !end ? UINT64_MAX : end > run->evaluations ? end - run->evaluations : 0;
}

const void *sx_run_news(const sx_run *run, sx_outcome *out) {
    if (!run->frame[run->depth].news) return NULL;
    const sx_archived *best = &run->best.kept[0];
    *out = (sx_outcome){.metrics = best->metrics, .value = best->value};
    return sx_archive_point(&run->best, 0);
}

uint64_t sx_run_evaluations(const sx_run *run, uint64_t otherwise) {
    if (run->frame[run->depth].plan) return run->frame[run->depth].plan;
    return run->options.evaluations ? run->options.evaluations : otherwise;
}

double sx_run_time(const sx_run *run) {
    return run->options.seconds;
}

bool sx_run_limited(const sx_run *run) {
    const sx_run_options *o = &run->options;
    return o->evaluations > 0 || o->seconds > 0 || o->target != 0 || o->patience > 0;
}

unsigned sx_run_k_best(const sx_run *run) {
    return run->options.k_best;
}

bool sx_run_pareto(const sx_run *run) {
    return run->options.pareto;
}

const void *sx_run_starts(const sx_run *run, size_t *n) {
    const void *start = run->frame[run->depth].start;
    *n = start ? 1 : run->options.n_starts;
    return start ? start : run->options.starts;
}

const void *sx_run_incumbent(const sx_run *run, double *value) {
    if (value) *value = run->best.n ? run->best.kept[0].value : INFINITY;
    return run->best.n ? sx_archive_point(&run->best, 0) : NULL;
}

void sx_run_reject(sx_run *run, uint64_t n) {
    if (!run->closed) run->rejected += n;
}

void sx_run_bound(sx_run *run, double lower_bound) {
    if (lower_bound > run->lower_bound) run->lower_bound = lower_bound;
}

void sx_run_optimal(sx_run *run) {
    run->none = run->best.n == 0;
    run->optimal = !run->none;
    if (run->none) return;
    if (run->options.objective.n_criteria == 1) sx_run_bound(run, run->best.kept[0].value);
}

void sx_run_drawn(sx_run *run) {
    run->drawn = run->improved;
}

bool sx_run_wants_proof(const sx_run *run) {
    return run->options.proof;
}

void sx_run_prove(sx_run *run, sx_proof *proof) {
    sx_proof_free(run->proof);
    run->proof = proof;
}

sx_proof *sx_run_take_proof(sx_run *run) {
    sx_proof *proof = run->proof;
    run->proof = NULL;
    return proof;
}

double sx_run_setting(const sx_run *run, size_t index) {
    assert(index < run->frame[run->depth].entry->navigator->n_settings);
    return run->frame[run->depth].settings[index];
}

const char *sx_run_setting_text(const sx_run *run, size_t index) {
    return sx_settings_text_at(run->frame[run->depth].settings, index);
}

void *sx_run_user(const sx_run *run) {
    return run->frame[run->depth].entry->navigator->user;
}
