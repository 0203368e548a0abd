#include "session/session.h"

#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_layer_result_fini(sx_layer_result *result) {
    free(result->other);
    free(result->front);
    free(result->trace);
    sx_proof_free(result->proof);
    free(result->diagnosis);
    memset(result, 0, sizeof *result);
}

void sx_session_result_fini(sx_session_result *result) {
    for (size_t i = 0; i < result->n_layers; i++)
        if (result->layer[i].same_as == i) sx_layer_result_fini(&result->layer[i]);
    free(result->layer);
    memset(result, 0, sizeof *result);
}

sx_status sx_session_constraints(const sx_session *session, const sx_problem *problem, sx_constraints *out) {
    const sx_session_options *o = session->options;
    sx_constraints_init(out, problem, session->arch);
    return o->constraints ? o->constraints(o->user, problem, session->arch, out) : SX_OK;
}

sx_status sx_session_about(const sx_session *session, size_t index, sx_status error) {
    if (!error || session->network->n_layers == 1 || error->code == SX_ERR_MEMORY) return error;
    sx_status named = sx_error_new(error->code, "layer %s: %s", session->network->layer[index].name,
                                   error->message ? error->message : "");
    if (error->file) named = sx_error_place(named, (sx_place){error->file, error->line, error->column});
    if (error->hint) named = sx_error_hint(named, "%s", error->hint);
    sx_status_free(error);
    return named;
}

void sx_session_clear(const sx_session *session, size_t index) {
    sx_layer_result_fini(&session->out->layer[index]);
    session->out->layer[index] =
        (sx_layer_result){.same_as = index, .warm_from = SX_WARM_NONE, .summary = {.stop = SX_STOP_SIGNAL}};
}

/* Makes all results those of layers that were not reached. */
static void clear_results(sx_session *session) {
    for (size_t i = 0; i < session->out->n_layers; i++) sx_session_clear(session, i);
}

/* Finds the text of the mapper with every setting; that of the caller's own is whole. */
static sx_status find_mapper(sx_session *session) {
    const sx_session_options *o = session->options;
    if (!o->navigator) return sx_navigator_text(o->mapper, "map", &session->mapper);
    session->mapper = strdup(o->mapper);
    return session->mapper ? SX_OK : sx_error_memory();
}

/* Makes what all layers share, and empty results. */
static sx_status begin_session(sx_session *session) {
    const sx_network *network = session->network;
    const size_t n = network->n_layers;
    if (n == 0) return sx_error_new(SX_ERR_INPUT, "the network has no layers");
    SX_TRY(find_mapper(session));
    sx_objective_text(&session->options->run.objective, session->objective, sizeof session->objective);
    session->first = calloc(n, sizeof *session->first);
    session->out->layer = calloc(n, sizeof *session->out->layer);
    if (!session->first || !session->out->layer) return sx_error_memory();
    session->out->n_layers = n;
    sx_network_distinct(network, session->first);
    clear_results(session);
    SX_TRY(sx_session_weigh(session));
    if (!session->options->checkpoint) return SX_OK;
    SX_TRY(sx_session_identity(session, &session->identity));
    sx_status status = sx_session_restore(session);
    if (status) {
        clear_results(session);
        return status;
    }
    if (sx_ranks_follows(session->options->run.ranks)) return SX_OK;
    status = sx_file_writable(session->options->checkpoint);
    if (status && status->code != SX_ERR_WRITE) return status;
    sx_status_free(status);
    return session->out->resumed ? SX_OK : sx_session_save(session, NULL, 0);
}

static bool session_stopped(const sx_session *session) {
    return sx_cancel_is_set(session->options->run.cancel);
}

/* Adds a layer's best to the database. A database that fails does not end the session, which reports it at
 * the end. */
static sx_status keep_layer(sx_session *session, size_t index) {
    sx_status status = sx_session_keep(session, index);
    if (!status || status->code == SX_ERR_MEMORY) return status;
    if (session->unkept)
        sx_status_free(status);
    else
        session->unkept = status;
    return SX_OK;
}

/* A result goes to the database only after the checkpoint has it, so that a search that is resumed finds no
 * more there than one that was never killed. */
sx_status sx_session_settle(sx_session *session) {
    const sx_session_options *o = session->options;
    const size_t index = session->at;
    const sx_layer_result *result = &session->out->layer[index];
    if (o->layer_ends) o->layer_ends(o->user, index, result);
    if (result->summary.stop == SX_STOP_SIGNAL) return keep_layer(session, index);
    session->at++;
    session->wide = false;
    sx_start_fini(&session->start);
    if (o->checkpoint) SX_TRY(sx_session_save(session, NULL, 0));
    return keep_layer(session, index);
}

/* Searches layer session->at and moves on to the next, unless a signal cut the search short. */
static sx_status search_layer(sx_session *session) {
    const sx_session_options *o = session->options;
    if (o->layer_begins) o->layer_begins(o->user, session->at);
    SX_TRY(sx_session_about(session, session->at, sx_session_search(session)));
    return sx_session_settle(session);
}

/* Adds again what a checkpoint says is finished: the database may have missed the last of it. */
static sx_status keep_finished(sx_session *session) {
    for (size_t i = 0; i < session->at; i++)
        if (session->first[i] == i) SX_TRY(keep_layer(session, i));
    return SX_OK;
}

/* Searches the layers that are left, until all are finished or it is cancelled. */
static sx_status search_all(sx_session *session) {
    SX_TRY(sx_session_divide(session));
    while (session->at < session->network->n_layers) {
        if (session->first[session->at] != session->at) {
            session->at++;
            continue;
        }
        if (session_stopped(session)) return SX_OK;
        const size_t before = session->at;
        SX_TRY(search_layer(session));
        if (session->at == before) return SX_OK;
    }
    session->out->complete = true;
    return SX_OK;
}

/* Gives layers that occur again the result of their first occurrence, and sums up. */
static void conclude_session(sx_session *session) {
    sx_session_result *out = session->out;
    double busy = 0;
    out->found = out->n_layers > 0;
    for (size_t i = 0; i < out->n_layers; i++) {
        const size_t first = session->first[i];
        const double count = (double)session->network->layer[i].count;
        if (first == i) out->layer[i].searched |= i < session->at;
        if (first != i) out->layer[i] = out->layer[first];
        out->layer[i].same_as = first;
        out->found &= out->layer[i].found;
        if (!out->layer[i].found) continue;
        const sx_score *score = &out->layer[i].best.score;
        out->total.energy_pj += count * score->energy_pj;
        out->total.cycles += count * score->cycles;
        out->total.latency += count * score->latency;
        out->total.last_level_accesses += count * score->last_level_accesses;
        busy += count * score->cycles * score->utilization;
    }
    if (out->total.cycles > 0) out->total.utilization = busy / out->total.cycles;
}

void sx_session_options_init(sx_session_options *options) {
    *options = (sx_session_options){.mapper = "auto"};
    sx_run_options_init(&options->run);
}

sx_status sx_session_run(const sx_network *network, const sx_arch *arch, const sx_session_options *options,
                         sx_session_result *out) {
    sx_session_options layers = *options;
    sx_session session = {.network = network, .arch = arch, .options = &layers, .out = out};
    const bool whole = options->run.objective.network;
    memset(out, 0, sizeof *out);
    layers.run.pareto |= whole;
    layers.run.objective.network = false;
    session.start.from = SX_WARM_NONE;
    sx_status status = begin_session(&session);
    if (!status && out->resumed) status = keep_finished(&session);
    if (!status) status = search_all(&session);
    if (!status) status = sx_session_rounds(&session);
    if (!status) status = sx_session_quick(&session);
    if (!status && whole) status = sx_session_choose(&session, options->run.pareto);
    conclude_session(&session);
    if (status)
        sx_status_free(session.unkept);
    else
        status = session.unkept;
    for (size_t i = 0; session.paused && i < network->n_layers; i++) {
        sx_start_fini(&session.paused[i].start);
        free(session.paused[i].state);
    }
    free(session.paused);
    sx_start_fini(&session.start);
    free(session.state);
    free(session.identity);
    free(session.fused);
    free(session.mapper);
    free(session.first);
    free(session.weight);
    return status;
}

sx_status sx_session_forget(const char *checkpoint) {
    if (remove(checkpoint) == 0 || errno == ENOENT) return SX_OK;
    return sx_error_system(SX_ERR_FILE, "cannot remove the checkpoint '%s'", checkpoint);
}
