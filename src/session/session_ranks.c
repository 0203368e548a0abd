/* A session that several processes run. What depends on the database is decided by process 0 and told to the
 * others, so that all of them search the same layer from the same start point; the tasks of its run are
 * divided among them. Where no layer begins from the answer of another, whole layers are divided instead. */
#include "base/status.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

/* The error for a message that cannot be read. */
static sx_status bad_message(void) {
    return sx_error_new(SX_ERR_INTERNAL, "the message about a layer is damaged");
}

/* Tells all processes the bytes of a text, which then has those of process 0. */
static sx_status tell_text(const sx_session *session, sx_text *text) {
    if (text->failed) return sx_error_memory();
    return sx_ranks_tell(session->options->run.ranks, &text->data, &text->size);
}

sx_status sx_session_tell_start(sx_session *session) {
    sx_ranks *ranks = session->options->run.ranks;
    sx_text text = {0};
    if (!sx_ranks_active(ranks)) return SX_OK;
    if (!sx_ranks_follows(ranks)) sx_session_add_start(session, &text);
    sx_status status = tell_text(session, &text);
    if (!status && sx_ranks_follows(ranks) && !sx_session_read_start(session, text.data, text.size))
        status = bad_message();
    free(text.data);
    return status;
}

sx_status sx_session_tell_taken(sx_session *session, bool *taken) {
    sx_ranks *ranks = session->options->run.ranks;
    sx_text text = {0};
    if (!sx_ranks_active(ranks)) return SX_OK;
    if (*taken) sx_session_add_result(session, session->at, &text);
    sx_status status = tell_text(session, &text);
    *taken = !status && text.size > 0;
    if (*taken && sx_ranks_follows(ranks) &&
        !sx_session_read_result(session, session->at, text.data, text.size))
        status = bad_message();
    free(text.data);
    return status;
}

/* Layers that are divided. */
typedef struct division {
    sx_session *session;
    size_t n, *layer;
} division;

/* Searches a layer by itself, and adds its result; nothing where a signal cut it short. */
static sx_status make_layer(void *user, size_t first, size_t n, sx_text *out) {
    const division *d = user;
    const sx_session_options *all = d->session->options;
    const size_t index = d->layer[first];
    sx_session_options options = *all;
    sx_session one = *d->session;
    (void)n;
    options.checkpoint = NULL;
    options.store = NULL;
    one.options = &options;
    one.at = index;
    sx_session_clear(&one, index);
    if (all->layer_begins) all->layer_begins(all->user, index);
    sx_status status = sx_session_about(&one, index, sx_session_search(&one));
    sx_start_fini(&one.start);
    if (!status && one.out->layer[index].summary.stop != SX_STOP_SIGNAL)
        sx_session_add_result(&one, index, out);
    return status;
}

/* Takes the result of a layer, unless one before it was cut short. */
static sx_status take_layer(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    const division *d = user;
    sx_session *session = d->session;
    const sx_session_options *o = session->options;
    const size_t index = d->layer[first];
    (void)n;
    while (session->at < index && session->first[session->at] != session->at) session->at++;
    if (session->at != index) return SX_OK;
    if (size > 0) {
        sx_session_clear(session, index);
        if (!sx_session_read_result(session, index, bytes, size)) return bad_message();
    }
    if (o->layer_begins) o->layer_begins(o->user, index);
    return sx_session_settle(session);
}

/* Whether the layers that are left can be divided: none depends on another, on the database, or on a state
 * out of a checkpoint. */
static sx_status is_divisible(const sx_session *session, size_t n, bool *out) {
    const sx_session_options *o = session->options;
    sx_text text = {0};
    bool divisible = n > 1 && o->warm == SX_WARM_OFF && !o->store && !session->state && !session->wide &&
                     !session->start.chosen && o->run.seconds <= 0;
    if (divisible) sx_text_add(&text, "divisible");
    sx_status status = tell_text(session, &text);
    *out = text.size > 0;
    free(text.data);
    return status;
}

/* Searches layers, each by one process. */
static sx_status share_layers(const division *d) {
    const sx_session_options *o = d->session->options;
    const sx_shared work = {.n = d->n,
                            .mark = d->n,
                            .cancel = o->run.cancel,
                            .user = (void *)d,
                            .make = make_layer,
                            .take = take_layer};
    SX_TRY(sx_ranks_share(o->run.ranks, &work, NULL));
    return sx_ranks_follows(o->run.ranks) ? sx_ranks_finish(o->run.ranks) : SX_OK;
}

sx_status sx_session_divide(sx_session *session) {
    const size_t n = session->network->n_layers;
    division d = {.session = session};
    bool divisible = false;
    if (!sx_ranks_active(session->options->run.ranks)) return SX_OK;
    d.layer = calloc(n + 1, sizeof *d.layer);
    if (!d.layer) return sx_error_memory();
    for (size_t i = session->at; i < n; i++)
        if (session->first[i] == i) d.layer[d.n++] = i;
    sx_status status = is_divisible(session, d.n, &divisible);
    if (!status && divisible) status = share_layers(&d);
    free(d.layer);
    return status;
}
