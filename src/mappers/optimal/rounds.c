/* Rounds of the mapper `optimal`: the most hopeful open parts are taken out of the heap and looked at, each
 * as a task; what they leave is put back.
 *
 * A task knows what was known when the round began, and what it finds itself. Tasks do not learn from each
 * other meanwhile, as that would make results depend on who is faster; so rounds are short. */
#include "mappers/optimal/plan.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEARCHES = 16, /* of a round */
    LOOKS = 4096,  /* of a round, at most */
    FIRST_EFFORT = 20000,
    CHUNK = 512, /* arrays of a task */
    POLL = 64,   /* of them between two looks at the clock */
    MOST_LOOKS = 30,
    ROUND_STEPS = 1000000, /* of a round, about, where it has more looks than searches */
    ARRAY_STEPS = 400,     /* that bounding an array counts for, */
    RAGGED_STEPS = 100     /* and one with remainders */
};

static const double ROUND_SHARE = 0.05; /* of the time, where it is limited */

static void free_workspace(sx_workspace *w) {
    sx_descent_free(w->descent);
    sx_ramble_free(w->ramble);
}

/* A workspace that nobody uses, or a new one. */
static sx_status take(sx_optimal *o, sx_workspace *out) {
    pthread_mutex_lock(&o->lock);
    bool idle = o->n_idle > 0;
    if (idle) *out = o->idle[--o->n_idle];
    pthread_mutex_unlock(&o->lock);
    if (idle) return SX_OK;
    sx_workspace w = {0};
    sx_status status = sx_descent_new(o->bound, o->choices, o->space, &w.descent);
    if (!status && o->space->options.remainders) status = sx_ramble_new(o->choices, o->space, &w.ramble);
    if (status)
        free_workspace(&w);
    else
        *out = w;
    return status;
}

static void give(sx_optimal *o, sx_workspace *w) {
    pthread_mutex_lock(&o->lock);
    if (o->n_idle == o->idle_room) {
        size_t room = o->idle_room + 16;
        sx_workspace *idle = realloc(o->idle, room * sizeof *idle);
        o->idle = idle ? idle : o->idle;
        o->idle_room = idle ? room : o->idle_room;
    }
    bool kept = o->n_idle < o->idle_room;
    if (kept) o->idle[o->n_idle++] = *w;
    pthread_mutex_unlock(&o->lock);
    if (!kept) free_workspace(w);
}

sx_status sx_optimal_prepare(sx_optimal *o) {
    o->look = calloc(LOOKS, sizeof *o->look);
    o->hope = calloc(LOOKS, sizeof *o->hope);
    o->ending = calloc(LOOKS, sizeof *o->ending);
    return o->look && o->hope && o->ending ? SX_OK : sx_error_memory();
}

void sx_optimal_finish(sx_optimal *o) {
    for (size_t i = 0; i < LOOKS; i++) {
        if (o->look) free(o->look[i].left.at);
        if (o->hope) sx_hope_fini(&o->hope[i]);
    }
    for (size_t i = 0; i < o->n_idle; i++) free_workspace(&o->idle[i]);
    sx_hope_fini(&o->known);
    free(o->idle);
    free(o->look);
    free(o->hope);
    free(o->ending);
}

/* Makes nodes of arrays number first..first+n-1. */
static void begin_nodes(sx_search_node *node, size_t n, bool ragged) {
    for (size_t i = 0; i < n; i++)
        node[i] = (sx_search_node){.bound = -INFINITY,
                                   .from = -INFINITY,
                                   .array = (uint32_t)i,
                                   .keep = SX_ANY_KEEP,
                                   .parts = 1,
                                   .looks = ragged,
                                   .ragged = ragged};
}

/* A list of nodes of arrays that tasks bound. */
typedef struct listing {
    sx_optimal *o;
    sx_search_node *node;
    size_t n;
    bool ragged;
} listing;

/* Bounds some of them, each by itself. */
static void bound_some(const listing *l, sx_workspace *w, sx_search_node *node, size_t n) {
    if (l->ragged)
        sx_ramble_arrays(w->ramble, &l->o->ragged, &l->o->judge, node, n);
    else
        sx_descent_arrays(w->descent, &l->o->arrays, &l->o->judge, node, n);
}

/* A task: a chunk of them, which is its output. */
static sx_status run_arrays(const void *input, size_t task, sx_worker *worker, void *output) {
    const listing *l = input;
    sx_search_node *node = output;
    sx_workspace w;
    SX_TRY(take(l->o, &w));
    size_t n = l->n - task * CHUNK < CHUNK ? l->n - task * CHUNK : CHUNK;
    for (size_t i = 0; i < n && sx_worker_goes_on(worker); i += POLL)
        bound_some(l, &w, node + i, n - i < POLL ? n - i : POLL);
    give(l->o, &w);
    return SX_OK;
}

sx_status sx_optimal_bounds(sx_optimal *o, sx_search_node *node) {
    listing l = {o, node, o->arrays.n, false};
    sx_workspace w;
    SX_TRY(take(o, &w));
    begin_nodes(node, l.n, false);
    bound_some(&l, &w, node, l.n);
    give(o, &w);
    return SX_OK;
}

/* Puts arrays of one kind into the heap, bounded as far as the run lets it; -INFINITY for the others. */
static sx_status list(sx_optimal *o, bool ragged) {
    size_t n = ragged ? o->ragged.n : o->arrays.n;
    listing l = {o, malloc((n + 1) * sizeof *l.node), n, ragged};
    if (!l.node) return sx_error_memory();
    begin_nodes(l.node, n, ragged);
    sx_run_tasks(o->run, (n + CHUNK - 1) / CHUNK, run_arrays, &l, l.node, CHUNK * sizeof *l.node);
    bool good = !o->failed;
    for (size_t i = 0; i < n && good; i++) {
        if (!ragged) {
            o->sharp[i] = l.node[i].bound;
            o->searched[i] = 0;
        }
        if (l.node[i].bound < INFINITY) good = sx_optimal_push(o, &l.node[i]);
    }
    free(l.node);
    return good ? SX_OK : sx_error_memory();
}

uint64_t sx_optimal_list_steps(const sx_optimal *o) {
    return o->arrays.n * (uint64_t)ARRAY_STEPS + o->ragged.n * (uint64_t)RAGGED_STEPS;
}

sx_status sx_optimal_list(sx_optimal *o) {
    o->s->n_nodes = 0;
    SX_TRY(list(o, false));
    SX_TRY(list(o, true));
    o->s->steps += sx_optimal_list_steps(o);
    o->s->listed = true;
    return SX_OK;
}

/* Bounds what is not in the heap. */
static sx_status bound_outside(sx_optimal *o) {
    sx_workspace w;
    SX_TRY(take(o, &w));
    begin_nodes(&o->outside, 1, true);
    sx_ramble_any(w.ramble, &o->judge, &o->outside);
    give(o, &w);
    return SX_OK;
}

static bool is_open(const sx_optimal *o, const sx_search_node *node) {
    return sx_hope_open(&o->known, node->bound, node->energy, node->cycles);
}

/* The least bound of all that is open; INFINITY where nothing is. */
static double least_open(const sx_optimal *o) {
    double least = o->unlisted && is_open(o, &o->outside) ? o->outside.bound : INFINITY;
    for (size_t i = 0; i < o->s->n_nodes; i++)
        if (is_open(o, &o->heap[i])) least = fmin(least, o->heap[i].bound);
    return least;
}

/* Reads what is known for the criterion at hand, with the best point so far of its own. */
static void read_known(sx_optimal *o) {
    const sx_optimal_state *s = o->s;
    sx_hope_read(&o->known, &o->judge, o->run);
    if (s->found >> s->criterion & 1)
        sx_hope_learn(&o->known, &s->score[s->criterion],
                      o->point + s->criterion * o->space->space.point_size);
    sx_optimal_keep(o, &o->known);
    if (o->known.failed) o->failed = true;
}

void sx_optimal_tell(sx_optimal *o) {
    const sx_archive *best = &o->known.kept;
    read_known(o);
    if (o->judge.criterion > 0 || !sx_judge_sound(&o->judge, 0)) return;
    double least = fmin(least_open(o), o->known.limit);
    if (best->n > 0) least = fmin(least, best->kept[0].value);
    if (least > 0 && least < INFINITY) sx_run_bound(o->run, least * (1 - 1e-12));
}

/* Drops nodes that leave no hope from the top of the heap; false where nothing is left there. */
static bool drop_closed(sx_optimal *o) {
    sx_optimal_state *s = o->s;
    while (s->n_nodes > 0 && !is_open(o, o->heap)) sx_heap_pop(o->heap, s->n_nodes--);
    return s->n_nodes > 0;
}

/* The looks of the next round, at most. Where time is limited a round has a small share of it. */
static size_t round_looks(const sx_optimal *o) {
    const sx_optimal_state *s = o->s;
    double seconds = sx_run_time(o->run);
    size_t most = s->n_nodes / 256;
    if (s->pace > 0 && most > ROUND_STEPS / s->pace) most = ROUND_STEPS / s->pace;
    most = s->pace == 0 || most < SEARCHES || o->judge.k > 1 ? SEARCHES : most > LOOKS ? LOOKS : most;
    if (seconds <= 0) return most;
    double fit = o->look_seconds > 0 ? seconds * ROUND_SHARE / o->look_seconds : 1;
    return fit < 1 ? 1 : fit < (double)most ? (size_t)fit : most;
}

/* Takes the most hopeful nodes out of the heap; returns how many. */
static size_t pick(sx_optimal *o) {
    sx_optimal_state *s = o->s;
    size_t most = round_looks(o), searches = 0, n = 0;
    while (s->n_nodes > 0 && n < most && searches < SEARCHES) {
        sx_heap_pop(o->heap, s->n_nodes);
        const sx_search_node *node = &o->heap[--s->n_nodes];
        if (!is_open(o, node)) continue;
        o->look[n++].node = *node;
        searches += node->looks > 0 && (node->ragged || node->keep != SX_ANY_KEEP);
    }
    return n;
}

/* A task: a look at a node. */
static sx_status run_look(const void *input, size_t task, sx_worker *worker, void *output) {
    sx_optimal *o = *(sx_optimal *const *)input;
    sx_look *look = output;
    sx_workspace w;
    SX_TRY(take(o, &w));
    sx_hope_copy(&o->hope[task], &o->known);
    look->arrays = look->node.ragged ? &o->ragged : &o->arrays;
    look->hope = &o->hope[task];
    look->worker = worker;
    unsigned looks = look->node.looks < MOST_LOOKS ? look->node.looks : MOST_LOOKS;
    bool sharpens = looks == 0 || look->node.keep == SX_ANY_KEEP;
    look->effort = (uint64_t)FIRST_EFFORT << looks;
    if (!look->hope->failed)
        o->ending[task] = look->node.ragged ? sx_ramble_search(w.ramble, look)
                          : sharpens        ? sx_descent_sharpen(w.descent, look)
                                            : sx_descent_search(w.descent, look);
    give(o, &w);
    return look->hope->failed ? sx_error_memory() : SX_OK;
}

/* Takes over what a look left; false when memory is out. */
static bool learn(sx_optimal *o, size_t task) {
    const sx_look *look = &o->look[task];
    const sx_search_node *node = &look->node;
    bool good = true;
    o->s->steps += look->steps;
    if (!node->ragged && (node->looks > 0 || look->unlawful)) o->searched[node->array] = 1;
    if (!node->ragged && node->looks == 0 && node->keep == SX_ANY_KEEP && !look->unlawful)
        o->sharp[node->array] = look->left.n > 0 ? look->left.at[0].bound : INFINITY;
    for (size_t k = 0; k < look->left.n; k++) good = good && sx_optimal_push(o, &look->left.at[k]);
    if (o->hope[task].found) sx_optimal_keep(o, &o->hope[task]);
    return good;
}

/* One round; what was not looked at to its end is put back as it was. */
static sx_status do_round(sx_optimal *o) {
    size_t n = pick(o);
    uint64_t before = o->s->steps;
    double began = sx_run_result(o->run).seconds;
    bool good = true;
    for (size_t i = 0; i < n; i++) o->ending[i] = SX_STOPPED;
    sx_run_tasks(o->run, n, run_look, &o, o->look, sizeof *o->look);
    if (o->failed) return sx_error_memory();
    bool stopped = sx_run_stopped(o->run);
    for (size_t i = 0; i < n; i++) {
        bool done = !stopped && o->ending[i] != SX_STOPPED;
        good = good && (done ? learn(o, i) : sx_optimal_push(o, &o->look[i].node));
    }
    if (n > 0 && !stopped) o->s->pace = (o->s->steps - before) / n + 1;
    if (n > 0) o->look_seconds = (sx_run_result(o->run).seconds - began) / (double)n;
    return good ? SX_OK : sx_error_memory();
}

/* Whether the effort is spent; a small one is for what comes after the first bounds. */
static bool is_spent(const sx_optimal *o) {
    uint64_t steps = o->s->steps, first = o->most < SX_OPTIMAL_LARGE ? sx_optimal_list_steps(o) : 0;
    return o->most > 0 && (double)(steps > first ? steps - first : 0) >= o->most;
}

sx_status sx_optimal_search(sx_optimal *o, bool *all) {
    o->judge.criterion = (int)o->s->criterion;
    memcpy(o->judge.least, o->s->least, sizeof o->judge.least);
    if (!o->s->listed) SX_TRY(sx_optimal_list(o));
    if (o->unlisted) SX_TRY(bound_outside(o));
    for (;;) {
        SX_TRY(sx_optimal_share(&o->start, &o->s->begun, o->s->steps));
        sx_optimal_tell(o);
        if (o->failed) return sx_error_memory();
        bool left = drop_closed(o);
        *all = !left && !(o->unlisted && is_open(o, &o->outside));
        if (!left || !sx_run_continue(o->run) || is_spent(o)) break;
        SX_TRY(do_round(o));
    }
    *all = *all && o->s->n_nodes == 0;
    return is_spent(o) ? sx_optimal_share(&o->start, &o->s->begun, SX_ANY_STEPS) : SX_OK;
}
