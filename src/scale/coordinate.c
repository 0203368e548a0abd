/* Process 0: hands out chunks, its own part included, and collects them. */
#include "scale/group.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Hands a chunk to a process that waits for one. */
static void hand_out(sx_group *g, unsigned to, size_t chunk) {
    const sx_message head = {.kind = SX_MESSAGE_WORK, .call = g->call, .chunk = chunk};
    g->chunk[chunk].state = SX_CHUNK_OUT;
    g->chunk[chunk].at = to;
    g->member[to].parked = false;
    sx_group_send(g, to, &head, NULL, 0);
}

/* The first chunk that no process works on; n_chunks: none. */
static size_t find_free(const sx_group *g) {
    size_t i = 0;
    while (i < g->n_chunks && g->chunk[i].state != SX_CHUNK_FREE) i++;
    return i;
}

void sx_coordinate_lose(sx_group *g, unsigned number, const char *why) {
    if (g->member[number].gone) return;
    g->member[number].gone = true;
    g->ranks.others--;
    if (why) {
        g->lost = true;
        sx_text_add(&g->report, "process %u %s; the others do its work\n", number, why);
    }
    for (size_t i = 0; g->open && i < g->n_chunks; i++)
        if (g->chunk[i].state == SX_CHUNK_OUT && g->chunk[i].at == number) g->chunk[i].state = SX_CHUNK_FREE;
    for (unsigned i = 1; g->open && i < g->ranks.count; i++) {
        size_t chunk = find_free(g);
        if (chunk < g->n_chunks && g->member[i].parked && !g->member[i].gone) hand_out(g, i, chunk);
    }
}

/* Takes down what was made of a chunk. */
static void note_made(sx_group *g, size_t chunk, SX_TAKE char *bytes, size_t size, double seconds) {
    sx_chunk *c = &g->chunk[chunk];
    if (c->state == SX_CHUNK_MADE) {
        free(bytes);
        return;
    }
    *c = (sx_chunk){.state = SX_CHUNK_MADE, .bytes = bytes, .size = size};
    g->n_made++;
    g->seconds += seconds;
}

/* Takes the result of another process for the current call, and gives it the next chunk. */
static void take_result(sx_group *g, unsigned from, const sx_message *head, const char *bytes, size_t size) {
    if (head->mark != g->work->mark) {
        sx_coordinate_lose(g, from, "is out of step");
        return;
    }
    if (head->chunk < g->n_chunks) {
        char *copy = malloc(size + 1);
        if (!copy) {
            sx_coordinate_lose(g, from, "sent more than fits into memory");
            return;
        }
        memcpy(copy, bytes, size);
        note_made(g, (size_t)head->chunk, copy, size, head->seconds);
    }
    size_t next = find_free(g);
    g->member[from].parked = true;
    if (next < g->n_chunks) hand_out(g, from, next);
}

/* A process stops early. */
static void take_bye(sx_group *g, unsigned from, const char *text, size_t size) {
    if (g->member[from].gone) return;
    if (size > 1 && text[size - 1] == 0)
        sx_text_add(&g->report, "process %u stopped: %s; the others do its work\n", from, text);
    sx_coordinate_lose(g, from, NULL);
}

void sx_coordinate_message(sx_group *g, unsigned from, const sx_message *head, const char *bytes,
                           size_t size) {
    if (g->member[from].gone) return;
    if (head->kind == SX_MESSAGE_BYE)
        take_bye(g, from, bytes, size);
    else if (head->kind != SX_MESSAGE_RESULT || head->call < g->call + !g->open)
        return;
    else if (g->open && head->call == g->call)
        take_result(g, from, head, bytes, size);
    else if (!sx_group_keep(g, from, head, bytes, size))
        sx_coordinate_lose(g, from, "sent more than fits into memory");
}

/* Takes the messages that came before the call that they are about. */
static void take_early(sx_group *g) {
    sx_arrived *a = g->first;
    g->first = NULL;
    g->last = &g->first;
    for (sx_arrived *next; a; a = next) {
        next = a->next;
        sx_coordinate_message(g, a->from, &a->head, a->bytes, a->size);
        free(a);
    }
}

/* Begins a call: the first chunks are those of the processes of their numbers, which begin without asking. */
static sx_status open_call(sx_group *g, const sx_shared *work) {
    size_t n = sx_group_chunks(g, work);
    sx_chunk *chunk = calloc(n + 1, sizeof *chunk);
    if (!chunk) return sx_error_memory();
    for (size_t i = 0; i < n && i < g->ranks.count; i++)
        if (i == 0 || !g->member[i].gone) chunk[i] = (sx_chunk){.state = SX_CHUNK_OUT, .at = (unsigned)i};
    for (unsigned i = 1; i < g->ranks.count; i++) g->member[i].parked = false;
    g->call++;
    g->work = work;
    g->chunk = chunk;
    g->n_chunks = n;
    g->n_made = 0;
    g->seconds = 0;
    g->open = true;
    take_early(g);
    return SX_OK;
}

/* Ends the work together: this process goes on alone. */
static void leave_group(sx_group *g) {
    const sx_message head = {.kind = SX_MESSAGE_END, .lost = g->lost};
    sx_group_send_all(g, &head, NULL, 0);
    for (unsigned i = 1; i < g->ranks.count; i++) sx_coordinate_lose(g, i, NULL);
}

/* Makes a chunk here. The lock is given up meanwhile. */
static sx_status make_here(sx_group *g, size_t chunk) {
    sx_text bytes = {0};
    double seconds = 0;
    g->chunk[chunk].state = SX_CHUNK_OUT;
    g->chunk[chunk].at = 0;
    pthread_mutex_unlock(&g->lock);
    sx_status status = sx_group_make(g, g->work, g->n_chunks, chunk, &bytes, &seconds);
    pthread_mutex_lock(&g->lock);
    if (status)
        sx_text_free(&bytes);
    else
        note_made(g, chunk, bytes.data, bytes.size, seconds);
    return status;
}

/* Takes the chunks that are made and have no other before them. The lock is given up meanwhile. */
static sx_status take_made(sx_group *g, size_t *next, sx_shared_result *out) {
    const sx_shared *work = g->work;
    sx_status status = SX_OK;
    while (!status && *next < g->n_chunks && g->chunk[*next].state == SX_CHUNK_MADE) {
        sx_chunk *c = &g->chunk[*next];
        size_t first = sx_group_first(work, g->n_chunks, *next);
        out->taken = sx_group_first(work, g->n_chunks, ++*next);
        pthread_mutex_unlock(&g->lock);
        status = work->take(work->user, first, out->taken - first, c->bytes, c->size);
        pthread_mutex_lock(&g->lock);
        free(c->bytes);
        c->bytes = NULL;
    }
    return status;
}

/* Tells the others that all is made, with all bytes where everyone takes them. */
static sx_status tell_all(sx_group *g) {
    const sx_message head = {.kind = SX_MESSAGE_ALL, .call = g->call, .seconds = g->seconds};
    sx_text all = {0};
    for (size_t i = 0; g->work->everyone && i < g->n_chunks; i++) {
        uint64_t size = g->chunk[i].size;
        sx_text_add_bytes(&all, (const char *)&size, sizeof size);
        if (size) sx_text_add_bytes(&all, g->chunk[i].bytes, (size_t)size);
    }
    sx_status status = all.failed ? sx_error_memory() : SX_OK;
    if (!status) sx_group_send_all(g, &head, all.data, all.size);
    sx_text_free(&all);
    return status;
}

/* Works until all chunks are made, or it is cancelled; takes them in order where no other process does. */
static sx_status work_on(sx_group *g, size_t *next, sx_shared_result *out) {
    const sx_shared *work = g->work;
    sx_status status = SX_OK;
    double began = sx_clock_seconds();
    while (!status && g->n_made < g->n_chunks) {
        sx_group_progress(g);
        if (sx_cancel_is_set(work->cancel)) return SX_OK;
        size_t chunk = find_free(g);
        if (chunk < g->n_chunks) {
            status = make_here(g, chunk);
            if (!status && !work->everyone) status = take_made(g, next, out);
            began = sx_clock_seconds();
        } else if (g->n_made < g->n_chunks) {
            pthread_mutex_unlock(&g->lock);
            sx_group_wait(began);
            pthread_mutex_lock(&g->lock);
            if (!work->everyone) status = take_made(g, next, out);
        }
    }
    return status;
}

sx_status sx_coordinate(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out) {
    sx_group *g = (sx_group *)ranks;
    size_t next = 0;
    pthread_mutex_lock(&g->lock);
    sx_status status = open_call(g, work);
    if (!status && g->n_chunks > 0 && !sx_cancel_is_set(work->cancel)) status = make_here(g, 0);
    if (!status) status = work_on(g, &next, out);
    if (!status && g->n_made == g->n_chunks) status = tell_all(g);
    if (status || sx_cancel_is_set(work->cancel)) leave_group(g);
    g->open = false;
    if (!status) status = take_made(g, &next, out);
    out->seconds = g->seconds;
    for (size_t i = 0; g->chunk && i < g->n_chunks; i++) free(g->chunk[i].bytes);
    free(g->chunk);
    g->chunk = NULL;
    g->n_chunks = 0;
    pthread_mutex_unlock(&g->lock);
    return status;
}
