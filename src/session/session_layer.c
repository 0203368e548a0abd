/* One layer of a session: model, space, start point, run and answers. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/status.h"
#include "mappers/measured/measured.h"
#include "mapspace/map_space.h"
#include "model/model.h"
#include "registry/registry.h"
#include "run/uphold.h"
#include "session/answers.h"
#include "session/search_record.h"
#include "session/session.h"
#include "sextant/all.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIAGNOSIS_TRIES = 10000 };

/* What a search of a layer needs. */
typedef struct bench {
    sx_constraints constraints;
    sx_model *model;
    sx_space *space;
    sx_point_model *judged; /* NULL: the space's own model scores */
    sx_answers *answers;    /* of an evaluator, in the database; NULL: there is none */
    sx_run *run;
    void *
        start; /* of a search with remainders: the answer of the one without; of one that asks an evaluator: the model's
                    best; NULL: none */
    sx_width width;
    bool absent; /* no tiles divide: constraints have factors that do not */
} bench;

static void bench_free(bench *b) {
    if (!b) return;
    sx_run_free(b->run);
    sx_answers_close(b->answers);
    sx_outside_evaluator_model_free(b->judged);
    free(b->start);
    sx_space_free(b->space);
    sx_model_free(b->model);
    free(b);
}

/* Passes progress on to the caller's function. */
static void tell_progress(void *user, const sx_progress *progress) {
    const sx_session *session = user;
    const sx_run_options *o = &session->options->run;
    sx_progress told = *progress;
    told.layer = session->at;
    o->progress(o->user, &told);
}

static sx_status save_run(void *user, const void *bytes, size_t size) {
    return sx_session_save(user, bytes, size);
}

/* Chooses a start point, once per layer: where a database may have more to choose from later, the checkpoint
 * remembers the choice. */
static sx_status choose_start(sx_session *session, const sx_space *space) {
    const sx_session_options *o = session->options;
    if (!sx_ranks_follows(o->run.ranks)) SX_TRY(sx_warm_start(session, session->at, space, &session->start));
    session->start.chosen = true;
    SX_TRY(sx_session_tell_start(session));
    return o->checkpoint && o->store ? sx_session_save(session, NULL, 0) : SX_OK;
}

/* The seconds of a search, and those after which it is paused; 0: any, never. */
typedef struct limits {
    double seconds, pause;
} limits;

/* The limits of the current layer's search. A search that may be paused is paused at its share of what is left of the half in
 * which a limit of time changes nothing (of an eighth of what is left at least, as a search may pass its pause), and ends where the
 * shares of the layers after it begin; any other has its share of all. */
static limits limits_of(const sx_session *session) {
    const double total = session->options->run.seconds, least = 1e-3;
    double left = total, weight = 0;
    if (session->seconds > 0) return (limits){session->seconds, session->pause};
    if (total <= 0) return (limits){0, 0};
    for (size_t i = 0; i < session->network->n_layers; i++) {
        if (session->first[i] != i) continue;
        if (i < session->at) left -= session->out->layer[i].summary.seconds;
        if (i >= session->at) weight += session->weight[i];
    }
    const double share = session->weight[session->at] / weight;
    if (!session->paused) return (limits){fmax(left * share, least), 0};
    const double shared = fmax(left - total / 2, left / 8);
    return (limits){fmax(left - (1 - share) * shared, least), fmax(share * shared, least)};
}

/* Makes the options of a space those of the second search, to which the first has told what it has proven. */
static void set_wide_space(const sx_session *session, const sx_width *width, sx_map_space_options *space) {
    const sx_layer_result *first = &session->out->layer[session->at];
    bool known = first->summary.optimal || first->summary.lower_bound > 0;
    space->remainders = true;
    space->brief = sx_session_brief(session, width);
    if (known && session->options->run.objective.n_criteria == 1)
        space->dividing = first->summary.optimal ? first->best.value : first->summary.lower_bound;
}

/* Makes model and space. */
static sx_status prepare_space(const sx_session *session, bench *b) {
    const sx_session_options *o = session->options;
    const sx_problem *problem = &session->network->layer[session->at].problem;
    SX_TRY(sx_session_constraints(session, problem, &b->constraints));
    SX_TRY(sx_model_new(problem, session->arch, &o->model, &b->model));
    const double seconds = limits_of(session).seconds;
    sx_guard_watch(b->model->guard, o->run.cancel,
                   seconds > 0 ? sx_clock_seconds() + seconds + SX_GRACE_SECONDS : 0);
    sx_map_space_options space = o->space;
    if (sx_session_in_parts(session)) space.remainders = false;
    if (session->wide) {
        b->width = sx_session_second_width(session, b->model);
        set_wide_space(session, &b->width, &space);
    }
    sx_status status = sx_map_space_new(b->model, &b->constraints, &space, &b->space);
    b->absent = status && status->code == SX_ERR_INPUT && o->space.remainders && !space.remainders;
    if (!b->absent && (status || session->wide)) return status;
    if (!b->absent) return sx_session_width(session, b->model, b->space, &b->width);
    sx_status_free(status);
    b->width = (sx_width){.widens = true, .at_length = true};
    return SX_OK;
}

/* Lets a search with remainders begin from the answer of the one without, and a search again from the answer there is. */
static sx_status set_known_start(const sx_session *session, bench *b, sx_run_options *run) {
    const sx_layer_result *first = session->wide ? &session->out->layer[session->at] : session->again;
    run->n_starts = 0;
    if (!first->found) return SX_OK;
    b->start = malloc(b->space->point_size);
    if (!b->start) return sx_error_memory();
    run->starts = b->start;
    run->n_starts = sx_map_space_point(b->space, &first->best.mapping, b->start) ? 1 : 0;
    return SX_OK;
}

/* The search of the model that finds what to ask an evaluator first. */
#define PROPOSES "auto:effort=20,gamma=20000"

/* Whether a mapper that does not know the model begins from the model's best. */
static bool begins_from_model(const sx_session *session) {
    return session->options->outside && !session->options->navigator && !session->state &&
           sx_navigator_measures(session->mapper) && !sx_navigator_space(session->mapper);
}

/* Lets a search that asks an evaluator begin from the model's best, then from the start point. */
static sx_status set_model_starts(const sx_session *session, bench *b, sx_run_options *run) {
    const sx_proposing how = {PROPOSES, &sx_navigators, run->seed, run->cancel};
    const size_t size = b->space->point_size;
    b->start = calloc(SX_PROPOSALS + 1, size);
    if (!b->start) return sx_error_memory();
    size_t n;
    SX_TRY(sx_measured_propose(b->space, &how, b->start, &n));
    if (run->n_starts) memcpy((char *)b->start + n * size, session->start.point, size);
    run->n_starts += n;
    run->starts = b->start;
    return SX_OK;
}

/* Lets the evaluator's answers be kept in the database, and those there be used. */
static sx_status open_answers(const sx_session *session, bench *b) {
    const sx_session_options *o = session->options;
    const sx_answers_of of = {.store = o->store,
                              .outside = o->outside,
                              .name = session->network->layer[session->at].problem.name,
                              .method = session->mapper,
                              .seed = o->run.seed,
                              .again = o->again};
    return sx_answers_open_map(&of, b->space, &b->answers);
}

/* Sets the limits of time of a run. A search of two halves is not paused: each of them has its part of the share. */
static void set_limits(const sx_session *session, const bench *b, sx_run_options *run) {
    const limits l = limits_of(session);
    const bool halves = b->width.at_length && l.pause > 0;
    run->seconds = halves ? fmin(l.seconds, 2 * l.pause) : l.seconds;
    run->pause_seconds = session->wide || halves ? 0 : l.pause;
}

/* Makes the run, with the start point a checkpoint holds or a new one. */
static sx_status prepare_run(sx_session *session, bench *b) {
    const sx_session_options *o = session->options;
    if (!session->start.chosen) {
        SX_TRY(choose_start(session, b->space));
    } else {
        bool holds;
        SX_TRY(sx_session_check_start(session, b->space, &holds));
        if (!holds) return sx_session_refuse(session, "is damaged: its start point is not valid");
    }
    sx_run_options run = o->run;
    run.user = session;
    run.progress = o->run.progress ? tell_progress : NULL;
    run.checkpoint = o->checkpoint ? save_run : NULL;
    run.resume = session->state;
    run.resume_size = session->state_size;
    run.starts = session->start.point;
    run.n_starts = session->start.point ? 1 : 0;
    set_limits(session, b, &run);
    if (session->wide || session->again)
        SX_TRY(set_known_start(session, b, &run));
    else if (begins_from_model(session))
        SX_TRY(set_model_starts(session, b, &run));
    if (session->wide || b->width.widens)
        sx_session_budget(session, &b->width, session->wide ? &session->out->layer[session->at] : NULL, &run);
    if (o->outside) SX_TRY(sx_outside_evaluator_map_model(o->outside, b->space, &b->judged));
    if (o->outside && o->store) SX_TRY(open_answers(session, b));
    return sx_run_new(b->space, b->judged, &run, &b->run);
}

/* A point of a run as an answer. */
static void set_answer(const sx_space *space, const sx_found *found, sx_answer *out) {
    sx_map_space_mapping(space, found->point, &out->mapping);
    out->score = sx_metrics_score(&found->metrics);
    out->value = found->value;
    out->evaluation = found->evaluation;
}

/* Copies out all of a run's best points, or of its front. */
static sx_status copy_answers(const sx_run *run, const sx_space *space,
                              bool (*get)(const sx_run *, size_t, sx_found *), size_t *n, sx_answer **out) {
    sx_found found;
    size_t count = 0;
    while (get(run, count, &found)) count++;
    sx_answer *answers = calloc(count + 1, sizeof *answers);
    if (!answers) return sx_error_memory();
    for (size_t i = 0; get(run, i, &found); i++) set_answer(space, &found, &answers[i]);
    *n = count;
    *out = answers;
    return SX_OK;
}

sx_status sx_session_collect(sx_run *run, const sx_space *space, const sx_run_options *options,
                             sx_layer_result *result) {
    sx_found found;
    result->searched = true;
    result->summary = sx_run_result(run);
    result->found = sx_run_best(run, 0, &found);
    if (result->found) set_answer(space, &found, &result->best);
    if (options->k_best > 1) SX_TRY(copy_answers(run, space, sx_run_best, &result->n_best, &result->other));
    if (options->pareto) SX_TRY(copy_answers(run, space, sx_run_front, &result->n_front, &result->front));
    result->proof = sx_run_take_proof(run);
    if (result->proof) result->proof->lower_bound = result->summary.lower_bound;
    return sx_run_copy_trace(run, true, &result->trace, &result->n_trace);
}

double sx_session_minimum(const sx_session *session, const sx_model *model, const sx_layer_result *result) {
    if (session->options->outside) return 0;
    const uint8_t backed = result->found ? result->best.mapping.level[session->arch->n_levels - 1].keep : 0;
    const sx_score minimum = sx_model_minimum(model, backed);
    return sx_objective_value(&session->options->run.objective, &minimum);
}

/* Raises the bound that a run has found to the compulsory minimum of all mappings of the space, with remainders or without. */
static void raise_bound(const sx_session *session, const bench *b, sx_layer_result *result) {
    sx_run_summary *s = &result->summary;
    if (session->options->outside || s->optimal || !(s->lower_bound > 0)) return;
    const sx_score least =
        sx_model_minimum(b->model, sx_map_space_of(b->space)->fixed_keep[session->arch->n_levels - 1]);
    const double minimum = sx_objective_value(&session->options->run.objective, &least);
    s->lower_bound = fmax(s->lower_bound, minimum);
    if (sx_session_in_parts(session)) result->any_bound = minimum;
}

/* Copies out what a run found, also before it failed. */
static sx_status collect_layer(const sx_session *session, const bench *b, sx_layer_result *result) {
    const sx_run_options *o = &session->options->run;
    SX_TRY(sx_session_collect(b->run, b->space, o, result));
    result->warm_from = session->start.from;
    result->warm_value = session->start.value;
    memcpy(result->warm_name, session->start.name, sizeof result->warm_name);
    result->minimum = sx_session_minimum(session, b->model, result);
    raise_bound(session, b, result);
    if (result->found || result->summary.stop >= SX_STOP_SIGNAL) return SX_OK;
    double until = o->seconds > 0 ? sx_clock_seconds() + SX_GRACE_SECONDS : 0;
    sx_guard_watch(b->model->guard, o->cancel, until);
    return sx_space_diagnose(b->space, o->seed, DIAGNOSIS_TRIES, &result->diagnosis);
}

/* What else repeats a run, as JSON; NULL when memory is out. */
static char *options_json(const sx_session *session, const sx_layer_result *result,
                          const sx_space_mark *mark) {
    const sx_session_options *o = session->options;
    json_t *object = sx_search_limits(&o->run);
    sx_json_set(object, "remainders", json_boolean(o->space.remainders || result->remainders));
    sx_json_set(object, "keep_all", json_boolean(o->space.keep_all));
    sx_json_set(object, "no_banks", json_boolean(o->space.no_banks));
    sx_json_set(object, "no_first_read_elision", json_boolean(o->model.no_first_read_elision));
    sx_json_set(object, "no_link_transfers", json_boolean(o->model.no_link_transfers));
    sx_json_set(object, "warm_start", json_string(sx_warm_name(o->warm)));
    sx_json_set(object, "space", json_string(mark->text));
    if (result->widened)
        sx_json_set(
            object, "any_tiles",
            json_pack("{s:f, s:b}", "lower_bound", result->any_bound, "optimal", result->any_optimal));
    if (o->model.sparse_timeloop) sx_json_set(object, "sparse_timeloop", json_true());
    if (o->model.like_timeloop) sx_json_set(object, "like", json_string("timeloop"));
    if (o->space.split_axes) sx_json_set(object, "split_axes", json_true());
    if (o->model.latency_tile) sx_json_set(object, "latency", json_string("tile"));
    if (result->warm_from != SX_WARM_NONE) sx_json_set(object, "warm_from", json_string(result->warm_name));
    return sx_search_json(object);
}

/* The identity of a layer's space. */
static sx_status mark_space(const sx_session *session, size_t index, sx_space_mark *out) {
    sx_constraints *constraints = malloc(sizeof *constraints);
    sx_status status = constraints ? SX_OK : sx_error_memory();
    if (!status)
        status = sx_session_constraints(session, &session->network->layer[index].problem, constraints);
    if (!status) *out = sx_session_space_mark(session, constraints);
    free(constraints);
    return status;
}

sx_status sx_session_keep(const sx_session *session, size_t index) {
    const sx_layer_result *result = &session->out->layer[index];
    if (!session->options->store || session->options->outside || !result->found || result->proven_before)
        return SX_OK;
    sx_space_mark mark;
    SX_TRY(mark_space(session, index, &mark));
    sx_record *record = calloc(1, sizeof *record);
    char *options = options_json(session, result, &mark);
    sx_status status = SX_OK;
    if (record && options) {
        record->problem = session->network->layer[index].problem;
        record->arch = *session->arch;
        record->mapping = result->best.mapping;
        record->score = result->best.score;
        record->search = sx_search_record_of(&session->options->run, &result->summary, session->objective,
                                             session->mapper, options, result->best.value);
        if (result->remainders) record->search.lower_bound = 0, record->search.optimal = false;
        status = sx_store_add(session->options->store, record);
    } else {
        status = sx_error_memory();
    }
    free(options);
    free(record);
    return status;
}

/* Searches by the mapper, or by the caller's own. */
static sx_status search_by_mapper(const sx_session *session, sx_run *run) {
    const sx_navigator *own = session->options->navigator;
    if (!own) return sx_run_search(run, session->mapper);
    size_t length = strcspn(session->mapper, ":");
    char *name = strndup(session->mapper, length);
    if (!name) return sx_error_memory();
    const char *settings = session->mapper[length] ? session->mapper + length + 1 : NULL;
    sx_status status = sx_run_search_by(run, name, own, settings);
    free(name);
    return status;
}

/* Whether a signal or the time limit ended the making of a space: the layer then has no answer. */
static bool ended_early(const sx_session *session, const bench *b, const struct sx_error *error,
                        sx_layer_result *result) {
    const sx_guard *guard = b->model ? b->model->guard : NULL;
    if (!error || error->code != SX_ERR_MEMORY || !guard || !atomic_load(&guard->steps.stopped)) return false;
    result->summary.stop = sx_is_cancelled(session->options->run.cancel) ? SX_STOP_SIGNAL : SX_STOP_TIME;
    return true;
}

/* Takes an answer that the database has proven for the whole space. */
static sx_status take_proven(const sx_session *session, const bench *b, bool *taken) {
    const sx_session_options *o = session->options;
    if (!o->store || !sx_session_in_parts(session))
        return sx_session_take_proven(session, b->space, &b->constraints, b->width.widens, taken);
    sx_space *whole;
    SX_TRY(sx_map_space_new(b->model, &b->constraints, &o->space, &whole));
    sx_status status = sx_session_take_proven(session, whole, &b->constraints, false, taken);
    sx_space_free(whole);
    return status;
}

/* Keeps the state of a run that was paused, for the round that goes on with it. */
static void keep_paused(sx_session *session, sx_run *run) {
    sx_paused *paused = &session->paused[session->at];
    paused->state = sx_run_take_paused(run, &paused->size);
    if (!paused->state) return;
    paused->start = session->start;
    session->start = (sx_start){.chosen = true, .from = SX_WARM_NONE};
}

/* Searches a layer's space, with remainders if session->wide; *widens: they should be searched next. */
static sx_status search_space(sx_session *session, sx_layer_result *result, bool *widens) {
    bench *b = calloc(1, sizeof *b);
    if (!b) return sx_error_memory();
    bool taken = false;
    sx_status status = prepare_space(session, b), collected = SX_OK;
    if (!status && !session->wide) status = take_proven(session, b, &taken);
    if (!status && !session->wide) status = sx_session_tell_taken(session, &taken);
    if (!status && taken) result->minimum = sx_session_minimum(session, b->model, result);
    if (b->absent) result->summary = (sx_run_summary){.repeatable = true, .none = true};
    if (!status && !taken && !b->absent) status = prepare_run(session, b);
    if (!status && !taken && !b->absent) status = search_by_mapper(session, b->run);
    if (!b->run && ended_early(session, b, status, result)) {
        sx_status_free(status);
        status = SX_OK;
    }
    if (status && status->code == SX_ERR_INPUT && session->state)
        status = sx_error_place(status, (sx_place){session->options->checkpoint, 0, 0});
    free(session->state);
    session->state = NULL;
    session->state_size = 0;
    if (b->run) collected = collect_layer(session, b, result);
    if (b->run && session->paused) keep_paused(session, b->run);
    result->share = session->options->space.remainders ? 0 : b->width.share;
    *widens = !taken && sx_session_goes_on(&b->width, result);
    bench_free(b);
    if (!status) return collected;
    sx_status_free(collected);
    return status;
}

/* Searches a layer with remainders, and takes the better answer. */
static sx_status search_wide(sx_session *session, sx_layer_result *result) {
    bool widens;
    sx_layer_result *wide = calloc(1, sizeof *wide);
    if (!wide) return sx_error_memory();
    sx_status status = search_space(session, wide, &widens);
    sx_status merged = sx_session_merge(session, wide, result);
    sx_layer_result_fini(wide);
    free(wide);
    if (!status) return merged;
    sx_status_free(merged);
    return status;
}

void sx_session_uphold(const sx_session *session, size_t index) {
    sx_layer_result *result = &session->out->layer[index];
    sx_run_summary *s = &result->summary;
    sx_warnings *warnings = session->options->run.warnings;
    const char *name = session->network->layer[index].name;
    const double value = result->best.value;
    sx_dividing *dividing = &result->dividing;
    if (!result->found) return;
    const bool holds = sx_uphold_bound(warnings, name, value, &s->lower_bound, &s->optimal);
    if (!sx_uphold_bound(warnings, name, value, &result->any_bound, &result->any_optimal) || !holds) {
        sx_proof_free(result->proof);
        result->proof = NULL;
    }
    const bool divides = result->remainders &&
                         sx_mapping_perfect(&result->best.mapping, &session->network->layer[index].problem);
    const double least = divides ? fmin(value, dividing->value) : dividing->value;
    if (dividing->value != 0)
        (void)sx_uphold_bound(warnings, name, least, &dividing->lower_bound, &dividing->optimal);
}

sx_status sx_session_search(sx_session *session) {
    const size_t index = session->at;
    sx_layer_result *result = &session->out->layer[index];
    sx_status status = SX_OK;
    if (!session->wide) {
        SX_TRY(search_space(session, result, &session->wide));
        if (!session->wide) sx_session_unprove(session, result);
        if (session->wide && session->options->checkpoint) SX_TRY(sx_session_save(session, NULL, 0));
    }
    if (session->wide) status = search_wide(session, result);
    sx_session_uphold(session, index);
    return status;
}
