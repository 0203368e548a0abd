#include "scale/group.h"

#include "base/clock.h"
#include "base/status.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GROUPS_EACH = 1 /* groups of small parts for each process */ };
static const double BEATS = 8; /* in the time after which a process is lost */
static const double SPIN = 2e-4, NAP = 5e-5, LONG_WAIT = 0.02, LONG_NAP = 5e-4, HELP = 3e-4, LAST_SENDS = 2;

/* Bytes that are being sent, to one process or to several. */
typedef struct parcel {
    unsigned uses;
    size_t size;
    char bytes[];
} parcel;

typedef struct sending {
    void *request;
    parcel *parcel;
    unsigned to;
} sending;

/* Waits for some seconds, less than one. */
static void sleep_seconds(double seconds) {
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

void sx_group_wait(double began) {
    double waited = sx_clock_seconds() - began;
    if (waited < SPIN)
        sched_yield();
    else
        sleep_seconds(waited < LONG_WAIT ? NAP : LONG_NAP);
}

static void parcel_drop(parcel *p) {
    if (--p->uses == 0) free(p);
}

static parcel *pack_message(const sx_message *head, const void *bytes, size_t size) {
    parcel *p = malloc(sizeof *p + sizeof *head + size);
    if (!p) return NULL;
    p->uses = 1;
    p->size = sizeof *head + size;
    memcpy(p->bytes, head, sizeof *head);
    if (size) memcpy(p->bytes + sizeof *head, bytes, size);
    return p;
}

/* The end of this process where the others keep it waiting. */
typedef struct deadline {
    double seconds;
    int code;
} deadline;

static void *end_late(void *user) {
    deadline d = *(deadline *)user;
    free(user);
    for (double began = sx_clock_seconds(); sx_clock_seconds() < began + d.seconds;) sleep_seconds(LONG_NAP);
    _exit(d.code);
}

/* Ends the link. That all processes end together may take for ever where one has just died: this one then ends
 * by itself. */
static void close_link(sx_group *g, bool lost, int code) {
    deadline *d = g->exits && !lost ? malloc(sizeof *d) : NULL;
    pthread_t watch;
    if (d) {
        *d = (deadline){g->patience, code};
        if (pthread_create(&watch, NULL, end_late, d) == 0)
            pthread_detach(watch);
        else
            free(d);
    }
    g->link.close(g->link.state, lost);
}

/* The end, in a process other than number 0. */
static void end_group(sx_group *g, bool lost) {
    g->ended = true;
    if (!g->exits) return;
    close_link(g, lost, 0);
    _exit(lost && g->lost);
}

/* A message cannot be sent: process 0 goes on without the other, another process ends. */
static void give_up(sx_group *g, unsigned to) {
    if (g->ranks.number > 0) {
        g->lost = true;
        end_group(g, true);
    } else {
        sx_coordinate_lose(g, to, "cannot be sent a message");
    }
}

/* Begins to send a parcel (NULL: memory was out). */
static void send_parcel(sx_group *g, unsigned to, parcel *p) {
    sending *s = p ? sx_vector_add(&g->sends) : NULL;
    if (s) *s = (sending){.parcel = p, .to = to};
    if (s && g->link.send(g->link.state, (int)to, p->bytes, p->size, &s->request)) {
        p->uses++;
        return;
    }
    g->sends.n -= s != NULL;
    give_up(g, to);
}

void sx_group_send(sx_group *g, unsigned to, const sx_message *head, const void *bytes, size_t size) {
    parcel *p = pack_message(head, bytes, size);
    send_parcel(g, to, p);
    if (p) parcel_drop(p);
}

void sx_group_send_all(sx_group *g, const sx_message *head, const void *bytes, size_t size) {
    parcel *p = pack_message(head, bytes, size);
    for (unsigned i = 1; i < g->ranks.count; i++)
        if (!g->member[i].gone) send_parcel(g, i, p);
    if (p) parcel_drop(p);
}

/* Frees what has been sent; returns how many sends to processes that are not gone are left. */
static size_t finish_sends(sx_group *g) {
    sending *all = (sending *)(void *)g->sends.data;
    size_t left = 0, waited = 0;
    for (size_t i = 0; i < g->sends.n; i++) {
        if (g->link.sent(g->link.state, all[i].request)) {
            parcel_drop(all[i].parcel);
            continue;
        }
        waited += !g->member[all[i].to].gone;
        all[left++] = all[i];
    }
    g->sends.n = left;
    return waited;
}

sx_arrived *sx_group_keep(sx_group *g, unsigned from, const sx_message *head, const char *bytes,
                          size_t size) {
    sx_arrived *a = malloc(sizeof *a + size);
    if (!a) return NULL;
    *a = (sx_arrived){.from = from, .size = size, .head = *head};
    if (size) memcpy(a->bytes, bytes, size);
    *g->last = a;
    g->last = &a->next;
    return a;
}

sx_arrived *sx_group_next(sx_group *g) {
    sx_arrived *a = g->first;
    if (!a) return NULL;
    g->first = a->next;
    if (!g->first) g->last = &g->first;
    return a;
}

/* Takes a message that has arrived. */
static void take_message(sx_group *g, unsigned from, const sx_message *head, const char *bytes, size_t size) {
    g->member[from].heard = sx_clock_seconds();
    if (head->kind == SX_MESSAGE_BEAT) return;
    if (g->ranks.number == 0)
        sx_coordinate_message(g, from, head, bytes, size);
    else if (head->kind == SX_MESSAGE_END)
        end_group(g, head->lost != 0);
    else if (!sx_group_keep(g, from, head, bytes, size))
        end_group(g, true);
}

/* Receives a message, if there is one. */
static bool receive_message(sx_group *g) {
    int from;
    size_t size;
    if (g->ended || !g->link.probe(g->link.state, &from, &size)) return false;
    char *bytes = malloc(size + 1);
    if (!bytes) return false;
    sx_message head;
    bool whole = g->link.receive(g->link.state, from, bytes, size) && size >= sizeof head;
    if (whole) {
        memcpy(&head, bytes, sizeof head);
        take_message(g, (unsigned)from, &head, bytes + sizeof head, size - sizeof head);
    }
    free(bytes);
    return whole;
}

/* Tells the others, now and then, that this process is there. */
static void send_heartbeat(sx_group *g, double now) {
    const sx_message head = {.kind = SX_MESSAGE_BEAT};
    if (now < g->beaten + g->patience / BEATS) return;
    g->beaten = now;
    if (g->ranks.number == 0)
        sx_group_send_all(g, &head, NULL, 0);
    else
        sx_group_send(g, 0, &head, NULL, 0);
}

/* Finds out who is silent. Without process 0 there is nothing left to do. */
static void find_lost(sx_group *g, double now) {
    if (g->ranks.number > 0) {
        if (now < g->member[0].heard + g->patience) return;
        g->lost = true;
        end_group(g, true);
        return;
    }
    for (unsigned i = 1; i < g->ranks.count; i++)
        if (!g->member[i].gone && now >= g->member[i].heard + g->patience)
            sx_coordinate_lose(g, i, "does not answer");
}

void sx_group_progress(sx_group *g) {
    while (receive_message(g)) continue;
    double now = sx_clock_seconds();
    send_heartbeat(g, now);
    (void)finish_sends(g);
    find_lost(g, now);
}

/* The helper: makes progress while the other thread makes parts. */
static void *run_helper(void *user) {
    sx_group *g = user;
    bool closing = false;
    while (!closing) {
        pthread_mutex_lock(&g->lock);
        closing = g->closing;
        if (!closing) sx_group_progress(g);
        pthread_mutex_unlock(&g->lock);
        sleep_seconds(HELP);
    }
    return NULL;
}

/* Starts the helper, which takes no signals. */
static sx_status start_helper(sx_group *g) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    g->helping = pthread_create(&g->helper, NULL, run_helper, g) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return g->helping ? SX_OK : sx_error_new(SX_ERR_LIMIT, "cannot start a thread for messages");
}

static void group_free(sx_group *g) {
    sending *unsent = (sending *)(void *)g->sends.data;
    for (sx_arrived *a; (a = sx_group_next(g));) free(a);
    for (size_t i = 0; i < g->sends.n; i++) parcel_drop(unsent[i].parcel);
    sx_vector_clear(&g->sends);
    sx_text_free(&g->report);
    pthread_mutex_destroy(&g->lock);
    free(g->member);
    free(g);
}

sx_status sx_group_new(const sx_link *link, double patience, bool exits, sx_ranks **out) {
    sx_group *g = calloc(1, sizeof *g);
    if (!g) return sx_error_memory();
    *g = (sx_group){.link = *link, .patience = patience, .exits = exits, .sends = {.size = sizeof(sending)}};
    g->ranks = (sx_ranks){.number = (unsigned)link->number,
                          .count = (unsigned)link->count,
                          .others = link->number ? 1 : (unsigned)link->count - 1,
                          .share = link->number ? sx_follow : sx_coordinate};
    g->last = &g->first;
    g->member = calloc(g->ranks.count, sizeof *g->member);
    if (!g->member || pthread_mutex_init(&g->lock, NULL) != 0) {
        free(g->member);
        free(g);
        return sx_error_memory();
    }
    for (unsigned i = 0; i < g->ranks.count; i++) g->member[i].heard = sx_clock_seconds();
    sx_status status = start_helper(g);
    if (status)
        group_free(g);
    else
        *out = &g->ranks;
    return status;
}

/* Process 0: ends the others, also those that it has given up; returns when they can know. */
static void end_others(sx_group *g) {
    const sx_message head = {.kind = SX_MESSAGE_END, .lost = g->lost};
    parcel *p = pack_message(&head, NULL, 0);
    double until = sx_clock_seconds() + LAST_SENDS;
    for (unsigned i = 1; i < g->ranks.count; i++) send_parcel(g, i, p);
    if (p) parcel_drop(p);
    while (finish_sends(g) > 0 && sx_clock_seconds() < until) sleep_seconds(NAP);
}

/* Another process: says that it does no more work, and why where that is early; waits for the end. */
static void wait_for_end(sx_group *g, const struct sx_error *why) {
    const char *text = why && why->message && !g->ranks.finished ? why->message : "";
    const sx_message head = {.kind = SX_MESSAGE_BYE};
    sx_group_send(g, 0, &head, text, strlen(text) + 1);
    for (double began = sx_clock_seconds(); !g->ended;) {
        sx_group_progress(g);
        pthread_mutex_unlock(&g->lock);
        sx_group_wait(began);
        pthread_mutex_lock(&g->lock);
    }
}

void sx_group_leave(sx_ranks *ranks, const struct sx_error *why, int code) {
    sx_group *g = (sx_group *)ranks;
    pthread_mutex_lock(&g->lock);
    if (ranks->number == 0)
        end_others(g);
    else
        wait_for_end(g, why);
    g->closing = true;
    pthread_mutex_unlock(&g->lock);
    if (g->helping) pthread_join(g->helper, NULL);
    close_link(g, g->lost, code);
    group_free(g);
}

size_t sx_group_chunks(const sx_group *g, const sx_shared *work) {
    size_t groups = (size_t)g->ranks.count * GROUPS_EACH;
    return work->grouped && work->n > groups ? groups : work->n;
}

size_t sx_group_first(const sx_shared *work, size_t n_chunks, size_t chunk) {
    return chunk * (work->n / n_chunks) + (chunk < work->n % n_chunks ? chunk : work->n % n_chunks);
}

sx_status sx_group_make(sx_group *g, const sx_shared *work, size_t n_chunks, size_t chunk, sx_text *out,
                        double *seconds) {
    size_t first = sx_group_first(work, n_chunks, chunk), next = sx_group_first(work, n_chunks, chunk + 1);
    double began = sx_clock_seconds();
    g->ranks.busy = true;
    sx_status status = work->make(work->user, first, next - first, out);
    g->ranks.busy = false;
    *seconds = sx_clock_seconds() - began;
    return !status && out->failed ? sx_error_memory() : status;
}
