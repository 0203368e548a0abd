/* A process other than number 0: makes chunks until process 0 says that all are made. */
#include "scale/group.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Waits for the next message about the current call; NULL at the end of the work. The lock is held. */
static sx_arrived *wait_for_message(sx_group *g) {
    for (double began = sx_clock_seconds();;) {
        sx_group_progress(g);
        sx_arrived *a = sx_group_next(g);
        if (a && a->head.call == g->call) return a;
        free(a);
        if (a) continue;
        if (g->ended) return NULL;
        pthread_mutex_unlock(&g->lock);
        sx_group_wait(began);
        pthread_mutex_lock(&g->lock);
    }
}

/* Takes all that was made, in order. */
static sx_status take_all(const sx_shared *work, size_t n_chunks, const sx_arrived *a,
                          sx_shared_result *out) {
    const char *at = a->bytes;
    size_t left = a->size;
    sx_status status = SX_OK;
    for (size_t i = 0; i < n_chunks && !status; i++) {
        uint64_t size = 0;
        if (left < sizeof size) return sx_error_new(SX_ERR_INTERNAL, "a message is too short");
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        left -= sizeof size;
        if (size > left) return sx_error_new(SX_ERR_INTERNAL, "a message is too short");
        out->taken = sx_group_first(work, n_chunks, i + 1);
        size_t first = sx_group_first(work, n_chunks, i);
        status = work->take(work->user, first, out->taken - first, at, (size_t)size);
        at += size;
        left -= (size_t)size;
    }
    return status;
}

/* Makes a chunk, if there is one, and sends it to process 0. */
static sx_status make_and_send(sx_group *g, const sx_shared *work, size_t n_chunks, uint64_t chunk) {
    sx_message head = {.kind = SX_MESSAGE_RESULT, .call = g->call, .chunk = chunk, .mark = work->mark};
    sx_text bytes = {0};
    sx_status status = SX_OK;
    if (chunk < n_chunks) status = sx_group_make(g, work, n_chunks, (size_t)chunk, &bytes, &head.seconds);
    pthread_mutex_lock(&g->lock);
    if (!status) sx_group_send(g, 0, &head, bytes.data, bytes.size);
    pthread_mutex_unlock(&g->lock);
    sx_text_free(&bytes);
    return status;
}

/* The next message about the current call; NULL at the end. */
static sx_arrived *next_message(sx_group *g) {
    pthread_mutex_lock(&g->lock);
    sx_arrived *a = wait_for_message(g);
    pthread_mutex_unlock(&g->lock);
    return a;
}

sx_status sx_follow(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out) {
    sx_group *g = (sx_group *)ranks;
    size_t n_chunks = sx_group_chunks(g, work);
    uint64_t chunk = ranks->number < n_chunks ? ranks->number : SX_NO_CHUNK;
    pthread_mutex_lock(&g->lock);
    g->call++;
    pthread_mutex_unlock(&g->lock);
    for (;;) {
        SX_TRY(make_and_send(g, work, n_chunks, chunk));
        sx_arrived *a = next_message(g);
        if (!a) return sx_ranks_finish(ranks);
        bool all = a->head.kind == SX_MESSAGE_ALL;
        chunk = a->head.chunk;
        out->seconds = a->head.seconds;
        sx_status status = all && work->everyone ? take_all(work, n_chunks, a, out) : SX_OK;
        free(a);
        if (all || status) return status;
    }
}
