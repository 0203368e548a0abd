/* Answers that a database has proven: not searched again. A record says which space its run searched by a
 * mark in its options, and which format its proof has. Its costs are not trusted: the mapping is
 * evaluated anew, and a record whose mapping is not of the space, or has another cost than it says, is
 * skipped. */
#include "base/json.h"
#include "base/status.h"
#include "session/search_record.h"
#include "session/session.h"
#include "sextant/all.h"
#include "sextant/space_type.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The search for a record. */
typedef struct taker {
    const sx_session *session;
    const sx_space *space;
    sx_space_mark mark;
    sx_scorer *scorer;
    void *point;
    bool widened; /* runs that have searched remainders, too, are asked for */
    bool taken;
    double any_bound; /* what the record at hand knows of all mappings, with remainders or without */
    bool any_optimal;
} taker;

/* Whether a record's run searched the space of a mark, and remainders beside it where that is asked for; reads what that
 * run knew of these. */
static bool is_marked(taker *t, const sx_record *record) {
    json_t *options = record->search.options ? sx_json_read(record->search.options) : NULL;
    const char *text = json_string_value(json_object_get(options, "space"));
    const json_t *any = json_object_get(options, "any_tiles");
    bool marked = text && strcmp(text, t->mark.text) == 0 && (any || !t->widened);
    t->any_bound = json_number_value(json_object_get(any, "lower_bound"));
    t->any_optimal = json_is_true(json_object_get(any, "optimal"));
    json_decref(options);
    return marked;
}

/* Evaluates a record's mapping; *holds: it is of the space and costs what the record says. */
static sx_status check_record(taker *t, const sx_record *record, bool *holds) {
    sx_outcome outcome;
    *holds = false;
    if (!sx_map_space_point(t->space, &record->mapping, t->point) ||
        t->space->type->check(t->space, t->point) != 0)
        return SX_OK;
    SX_TRY(sx_scorer_score(t->scorer, t->point, 1, INFINITY, &outcome));
    sx_score score = sx_metrics_score(&outcome.metrics);
    *holds = outcome.reason == 0 && memcmp(&score, &record->score, sizeof score) == 0 &&
             outcome.value == record->search.value;
    return SX_OK;
}

static sx_status consider_record(void *user, const sx_record *record) {
    taker *t = user;
    bool holds;
    if (t->taken || !sx_search_is_current(&record->search) || !is_marked(t, record)) return SX_OK;
    SX_TRY(check_record(t, record, &holds));
    if (!holds) return SX_OK;
    sx_layer_result *result = &t->session->out->layer[t->session->at];
    result->found = result->proven_before = t->taken = true;
    result->widened = t->widened;
    result->any_bound = t->widened ? t->any_bound : 0;
    result->any_optimal = t->widened && t->any_optimal;
    sx_map_space_mapping(t->space, t->point, &result->best.mapping);
    result->best.score = record->score;
    result->best.value = record->search.value;
    result->summary = sx_search_recalled(&record->search);
    return SX_OK;
}

sx_status sx_session_take_proven(const sx_session *session, const sx_space *space,
                                 const sx_constraints *constraints, bool widened, bool *taken) {
    const sx_session_options *o = session->options;
    const sx_problem *problem = &session->network->layer[session->at].problem;
    *taken = false;
    if (!o->store || o->outside || o->again || o->run.proof || o->run.k_best > 1 || o->run.pareto ||
        session->start.chosen)
        return SX_OK;
    taker t = {.session = session,
               .space = space,
               .mark = sx_session_space_mark(session, constraints),
               .point = malloc(space->point_size),
               .widened = widened};
    sx_status status = t.point ? sx_scorer_new(space, NULL, &o->run.objective, &t.scorer) : sx_error_memory();
    if (!status)
        status = sx_store_proven(o->store, problem, session->arch, session->objective, consider_record, &t);
    sx_scorer_free(t.scorer);
    free(t.point);
    *taken = t.taken;
    return status;
}
