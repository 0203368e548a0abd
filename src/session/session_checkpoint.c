/* The body of a checkpoint: the finished layers, the current one's start point and the state of its run, as the machine
 * has them in memory (the identity includes the kind of machine); then what a fused network keeps, and its size. Written
 * whole or not at all, and never over a file that was refused. */
#include "base/saved_state.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sx_state_kind sx_session_state = {"sextant checkpoint ", "checkpoint of this program", 2};

/* One pass over the data for both directions: `out` is written to, or, where it is NULL, `in` read from. */
typedef struct codec {
    sx_text *out;
    const char *in;
    size_t left;
    bool failed;
} codec;

static void pass_bytes(codec *c, void *value, size_t size) {
    if (c->out) {
        sx_text_add_bytes(c->out, value, size);
    } else if (c->failed || size > c->left) {
        c->failed = true;
    } else {
        memcpy(value, c->in, size);
        c->in += size;
        c->left -= size;
    }
}

static void pass_flag(codec *c, bool *flag) {
    uint8_t byte = *flag;
    pass_bytes(c, &byte, 1);
    *flag = byte != 0;
}

/* An array of n items of a size, allocated when it is read (with room for one more byte). */
static void pass_array(codec *c, void **items, size_t *n, size_t size) {
    pass_bytes(c, n, sizeof *n);
    if (!c->out) {
        *items = NULL;
        if (c->failed || *n > c->left / size) {
            c->failed = true;
            *n = 0;
        }
        if (*n == 0) return;
        *items = calloc(1, *n * size + 1);
        if (!*items) {
            c->failed = true;
            *n = 0;
            return;
        }
    }
    if (*n) pass_bytes(c, *items, *n * size);
}

static void pass_answers(codec *c, sx_answer **answers, size_t *n) {
    void *items = *answers;
    pass_array(c, &items, n, sizeof **answers);
    *answers = items;
}

static void pass_summary(codec *c, sx_run_summary *summary) {
    uint8_t stop = (uint8_t)summary->stop;
    pass_bytes(c, &summary->evaluations, sizeof summary->evaluations);
    pass_bytes(c, &summary->valid, sizeof summary->valid);
    pass_bytes(c, &summary->rejected, sizeof summary->rejected);
    pass_bytes(c, &summary->cache_hits, sizeof summary->cache_hits);
    pass_bytes(c, &summary->seconds, sizeof summary->seconds);
    pass_bytes(c, &stop, 1);
    pass_flag(c, &summary->repeatable);
    pass_bytes(c, &summary->lower_bound, sizeof summary->lower_bound);
    pass_flag(c, &summary->optimal);
    pass_flag(c, &summary->none);
    pass_flag(c, &summary->drawn);
    if (stop >= SX_STOP_SIGNAL) c->failed = true;
    summary->stop = c->failed ? SX_STOP_DONE : (sx_stop)stop;
}

/* A name in its field. */
static void pass_name(codec *c, char name[SX_NAME_SIZE]) {
    pass_bytes(c, name, SX_NAME_SIZE);
    if (!c->out) name[SX_NAME_SIZE - 1] = 0;
}

/* Where a start came from: nowhere, the database, or a layer before number `limit`. */
static void pass_origin(codec *c, int *from, size_t limit) {
    int32_t value = *from;
    pass_bytes(c, &value, sizeof value);
    if (value < SX_WARM_DATABASE || (value >= 0 && (size_t)value >= limit)) c->failed = true;
    *from = c->failed ? SX_WARM_NONE : value;
}

/* The entries of a proof; one that is read belongs to a layer of a given number of factors. */
static void pass_entries(codec *c, sx_proof *proof, size_t width) {
    void *bound = proof->bound, *spatial = proof->spatial;
    size_t n = proof->n_entries, factors = n * proof->width;
    pass_bytes(c, &proof->n_spatial, sizeof proof->n_spatial);
    pass_bytes(c, &proof->width, sizeof proof->width);
    pass_array(c, &bound, &n, sizeof *proof->bound);
    pass_array(c, &spatial, &factors, sizeof *proof->spatial);
    proof->bound = bound;
    proof->spatial = spatial;
    if (!c->out) {
        if (proof->width != width || factors != n * width || n > proof->n_spatial) c->failed = true;
        proof->searched = calloc(n + 1, sizeof *proof->searched);
        if (!proof->searched) c->failed = true;
        if (c->failed) return;
        proof->n_entries = proof->room = n;
    }
    for (size_t i = 0; i < n; i++) pass_flag(c, &proof->searched[i]);
}

/* How a layer's space was closed, where that is known. */
static void pass_proof(codec *c, sx_proof **proof, size_t width) {
    bool any = *proof != NULL;
    pass_flag(c, &any);
    if (!any || c->failed) return;
    if (!c->out && !(*proof = calloc(1, sizeof **proof))) {
        c->failed = true;
        return;
    }
    pass_entries(c, *proof, width);
}

static void pass_result(codec *c, const sx_session *session, size_t index) {
    sx_layer_result *result = &session->out->layer[index];
    void *trace = result->trace, *diagnosis = result->diagnosis;
    size_t length = result->diagnosis ? strlen(result->diagnosis) : 0;
    pass_flag(c, &result->found);
    pass_flag(c, &result->proven_before);
    pass_bytes(c, &result->best, sizeof result->best);
    pass_answers(c, &result->other, &result->n_best);
    pass_answers(c, &result->front, &result->n_front);
    pass_array(c, &trace, &result->n_trace, sizeof *result->trace);
    pass_summary(c, &result->summary);
    pass_bytes(c, &result->minimum, sizeof result->minimum);
    pass_origin(c, &result->warm_from, index);
    pass_name(c, result->warm_name);
    pass_bytes(c, &result->warm_value, sizeof result->warm_value);
    pass_array(c, &diagnosis, &length, 1);
    pass_bytes(c, &result->share, sizeof result->share);
    pass_flag(c, &result->widened);
    pass_flag(c, &result->remainders);
    pass_bytes(c, &result->dividing.value, sizeof result->dividing.value);
    pass_bytes(c, &result->dividing.lower_bound, sizeof result->dividing.lower_bound);
    pass_flag(c, &result->dividing.optimal);
    pass_bytes(c, &result->any_bound, sizeof result->any_bound);
    pass_flag(c, &result->any_optimal);
    result->trace = trace;
    result->diagnosis = diagnosis;
    pass_proof(c, &result->proof,
               (size_t)session->arch->n_levels * (size_t)session->network->layer[index].problem.n_dims);
}

/* The start point of the current layer. */
static void pass_start(codec *c, sx_session *session) {
    pass_flag(c, &session->start.chosen);
    pass_origin(c, &session->start.from, session->at);
    pass_name(c, session->start.name);
    pass_bytes(c, &session->start.value, sizeof session->start.value);
    pass_array(c, &session->start.point, &session->start.size, 1);
}

/* Whether all bytes were read, and nothing else was wanted. */
static bool has_read_all(const codec *c) {
    return !c->failed && c->left == 0;
}

void sx_session_add_result(const sx_session *session, size_t index, sx_text *out) {
    codec c = {.out = out};
    pass_result(&c, session, index);
}

bool sx_session_read_result(const sx_session *session, size_t index, const char *bytes, size_t size) {
    codec c = {.in = bytes, .left = size};
    pass_result(&c, session, index);
    return has_read_all(&c);
}

void sx_session_add_start(sx_session *session, sx_text *out) {
    codec c = {.out = out};
    pass_start(&c, session);
}

bool sx_session_read_start(sx_session *session, const char *bytes, size_t size) {
    codec c = {.in = bytes, .left = size};
    pass_start(&c, session);
    return has_read_all(&c);
}

/* The whole session: finished layers, then the current one's start point and the state of its run. */
static void pass_session(codec *c, sx_session *session, void **state, size_t *size) {
    const size_t n = session->network->n_layers;
    pass_bytes(c, &session->at, sizeof session->at);
    if (c->failed || session->at > n) {
        c->failed = true;
        session->at = 0;
    }
    for (size_t i = 0; i < session->at && !c->failed; i++)
        if (session->first[i] == i) pass_result(c, session, i);
    pass_flag(c, &session->wide);
    if (session->wide && session->at == n) c->failed = true;
    if (session->wide && !c->failed) pass_result(c, session, session->at);
    pass_start(c, session);
    pass_array(c, state, size, 1);
    if (!c->out && c->left) c->failed = true;
}

/* Turns a failure to write the checkpoint into a warning, given once. */
static sx_status warn_unwritten(sx_session *session, SX_TAKE sx_status status) {
    const sx_session_options *o = session->options;
    if (!status || status->code != SX_ERR_WRITE) return status;
    if (o->warn && !session->warned) o->warn(o->user, status);
    session->warned = true;
    sx_status_free(status);
    return SX_OK;
}

void sx_session_add_fused(const char *fused, size_t size, sx_text *body) {
    if (size) sx_text_add_bytes(body, fused, size);
    sx_text_add_bytes(body, (const char *)&size, sizeof size);
}

bool sx_session_split_fused(sx_saved_state *state, size_t *size) {
    if (state->size < sizeof *size) return false;
    memcpy(size, state->body + state->size - sizeof *size, sizeof *size);
    state->size -= sizeof *size;
    if (*size > state->size) return false;
    state->size -= *size;
    return true;
}

sx_status sx_session_save(sx_session *session, const void *state, size_t size) {
    if (sx_ranks_follows(session->options->run.ranks)) return SX_OK;
    sx_text body = {0};
    codec c = {.out = &body};
    pass_session(&c, session, (void **)&state, &size);
    sx_session_add_fused(session->fused, session->fused_size, &body);
    sx_status status =
        body.failed ? sx_error_memory()
                    : sx_state_write(&sx_session_state, session->options->checkpoint, session->identity,
                                     strlen(session->identity), body.data, body.size);
    sx_text_free(&body);
    return warn_unwritten(session, status);
}

sx_status sx_session_refuse(const sx_session *session, const char *what) {
    return sx_state_refuse(session->options->checkpoint, what);
}

/* Checks the finished layers. */
static sx_status check_layers(const sx_session *session) {
    for (size_t i = 0; i < session->at; i++) {
        bool holds = true;
        char what[SX_NAME_SIZE + 64];
        if (session->first[i] == i) SX_TRY(sx_session_check(session, i, &holds));
        if (holds) continue;
        snprintf(what, sizeof what, "is damaged: the result of %s is not valid",
                 session->network->layer[i].name);
        return sx_session_refuse(session, what);
    }
    return SX_OK;
}

/* Keeps what a fused network has in the checkpoint. */
static sx_status keep_fused(sx_session *session, const char *fused, size_t size) {
    if (size == 0) return SX_OK;
    if (!(session->fused = malloc(size))) return sx_error_memory();
    memcpy(session->fused, fused, size);
    session->fused_size = size;
    return SX_OK;
}

/* Reads the bytes of a checkpoint into the session. */
static sx_status read_bytes(sx_session *session, const char *bytes, size_t size) {
    const char *path = session->options->checkpoint;
    sx_saved_state saved;
    size_t fused;
    SX_TRY(sx_state_parse(&sx_session_state, path, bytes, size, &saved));
    SX_TRY(sx_state_check(path, &saved, session->identity));
    if (!sx_session_split_fused(&saved, &fused)) return sx_session_refuse(session, "is damaged");
    codec c = {.in = saved.body, .left = saved.size};
    pass_session(&c, session, &session->state, &session->state_size);
    if (c.failed) return sx_session_refuse(session, "is damaged");
    SX_TRY(keep_fused(session, saved.body + saved.size, fused));
    return check_layers(session);
}

sx_status sx_session_restore(sx_session *session) {
    sx_ranks *ranks = session->options->run.ranks;
    char *bytes = NULL;
    size_t size = 0;
    sx_status status = SX_OK;
    if (!sx_ranks_follows(ranks))
        SX_TRY(sx_state_load(&sx_session_state, session->options->checkpoint, &bytes, &size));
    const bool exists = bytes != NULL;
    status = sx_ranks_tell(ranks, &bytes, &size);
    if (!status && (exists || size > 0)) {
        status = read_bytes(session, bytes, size);
        session->out->resumed = !status;
    }
    free(bytes);
    return status;
}
