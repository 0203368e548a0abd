/* Tasks of a call divided among processes. Every process has the same run in the same state: each does some
 * of the tasks, and all of them join the logs and outputs of all tasks, in order. Where a call takes less time
 * than messages do, the next ones of its kind are done by every process itself. */
#include "base/hash.h"
#include "base/status.h"
#include "base/vector.h"
#include "run/worker_pool.h"

#include <stdlib.h>
#include <string.h>

/* What is sent of a task: its log and its output. */
typedef struct sent_log {
    uint64_t begun, n_steps, valid, hits, rejected, rejected_last, n_candidates, n_cached, n_appended;
} sent_log;

/* Adds an array. */
static void add_array(sx_text *out, const void *items, size_t n, size_t size) {
    if (n) sx_text_add_bytes(out, items, n * size);
}

/* Adds a log (NULL: the task was not begun) and an output. */
static void add_log(const sx_worker_pool *workers, const sx_log *log, const unsigned char *output,
                    sx_text *out) {
    sent_log head = {0};
    if (log)
        head = (sent_log){1,
                          log->n_steps,
                          log->valid,
                          log->hits,
                          log->rejected,
                          log->rejected_last,
                          log->n_candidates,
                          log->n_cached,
                          log->n_appended};
    sx_text_add_bytes(out, (const char *)&head, sizeof head);
    if (!log) return;
    add_array(out, log->step, log->n_steps, sizeof *log->step);
    add_array(out, log->candidate, log->n_candidates, sizeof *log->candidate);
    add_array(out, log->points, log->n_candidates, workers->space->point_size);
    add_array(out, log->cached, log->n_cached, sizeof *log->cached);
    add_array(out, log->appended, log->n_appended, 1);
    add_array(out, output, workers->output_size, 1);
}

/* Bytes that are being read. */
typedef struct reader {
    const char *at;
    size_t left;
    bool failed;
} reader;

/* Reads n items into an array, which grows. */
static void take_array(reader *r, void *items, size_t *room, size_t n, size_t size) {
    if (r->failed || n > r->left / size || !sx_reserve(items, room, n, size)) {
        r->failed = true;
        return;
    }
    if (n) memcpy(*(void **)items, r->at, n * size);
    r->at += n * size;
    r->left -= n * size;
}

/* Reads a log; false where the task was not begun. */
static bool take_log(const sx_worker_pool *workers, reader *r, sx_log *log) {
    sent_log head = {0};
    size_t candidates = log->candidate_room;
    if (r->left < sizeof head) r->failed = true;
    if (r->failed) return false;
    memcpy(&head, r->at, sizeof head);
    r->at += sizeof head;
    r->left -= sizeof head;
    if (!head.begun) return false;
    log->n_steps = (size_t)head.n_steps;
    log->valid = head.valid;
    log->hits = head.hits;
    log->rejected = head.rejected;
    log->rejected_last = head.rejected_last;
    log->n_candidates = (size_t)head.n_candidates;
    log->n_cached = (size_t)head.n_cached;
    log->n_appended = (size_t)head.n_appended;
    take_array(r, &log->step, &log->step_room, log->n_steps, sizeof *log->step);
    take_array(r, &log->candidate, &candidates, log->n_candidates, sizeof *log->candidate);
    take_array(r, &log->points, &log->candidate_room, log->n_candidates, workers->space->point_size);
    log->candidate_room = candidates < log->candidate_room ? candidates : log->candidate_room;
    take_array(r, &log->cached, &log->cached_room, log->n_cached, sizeof *log->cached);
    take_array(r, &log->appended, &log->appended_room, log->n_appended, 1);
    return !r->failed;
}

/* The bytes of a task's output that there are: the last one may be shorter. */
static size_t output_of(const sx_worker_pool *workers, size_t task, size_t *at) {
    *at = task * workers->output_size;
    size_t left = workers->output_bytes - *at;
    return left < workers->output_size ? left : workers->output_size;
}

/* Makes the outputs of some tasks as they are now. */
static bool copy_outputs(sx_worker_pool *workers, size_t first, size_t n) {
    workers->made_first = first;
    workers->made = NULL;
    if (!workers->outputs) return true;
    workers->made = calloc(n, workers->output_size);
    for (size_t i = 0; workers->made && i < n; i++) {
        size_t at, size = output_of(workers, first + i, &at);
        memcpy(workers->made + i * workers->output_size, workers->outputs + at, size);
    }
    return workers->made != NULL;
}

/* Does some of the tasks and adds what they did. */
static sx_status make_tasks(void *user, size_t first, size_t n, sx_text *out) {
    sx_worker_pool *workers = user;
    bool ready = copy_outputs(workers, first, n) && sx_worker_pool_do(workers, first, n);
    sx_status status = ready ? SX_OK : sx_error_memory();
    for (size_t i = 0; ready && i < n; i++) {
        sx_log *log = atomic_load(&workers->log_of[i]);
        bool begun = log != &workers->skipped;
        const unsigned char *made = workers->made ? workers->made + i * workers->output_size : NULL;
        add_log(workers, begun ? log : NULL, made, out);
        if (begun) sx_worker_pool_give(workers, log);
    }
    free(workers->made);
    workers->made = NULL;
    if (!workers->failure) return status;
    sx_status_free(status);
    status = workers->failure;
    workers->failure = NULL;
    return status;
}

/* Takes the output of a task, unless the run has ended before it. */
static void take_output(sx_worker_pool *workers, size_t task, reader *r) {
    size_t at, size = output_of(workers, task, &at);
    if (!workers->outputs) return;
    if (workers->output_size > r->left) {
        r->failed = true;
        return;
    }
    if (!workers->run->closed) memcpy(workers->outputs + at, r->at, size);
    r->at += workers->output_size;
    r->left -= workers->output_size;
}

/* Joins some of the tasks. What comes after the end of the run is as if it had not begun. */
static sx_status take_tasks(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    sx_worker_pool *workers = user;
    reader r = {bytes, size, false};
    for (size_t task = first; task < first + n && !r.failed; task++) {
        sx_log *log = sx_worker_pool_log(workers);
        if (!log) return sx_error_memory();
        bool begun = take_log(workers, &r, log);
        if (begun) take_output(workers, task, &r);
        if (begun && !r.failed && !workers->run->closed) sx_worker_pool_settle(workers, log, task);
        sx_worker_pool_give(workers, log);
    }
    return r.failed ? sx_error_new(SX_ERR_INTERNAL, "the message of a task is damaged") : SX_OK;
}

bool sx_worker_pool_shares(sx_worker_pool *workers) {
    const sx_run_options *o = &workers->run->options;
    if (!sx_ranks_active(o->ranks) || o->seconds > 0 || workers->n_tasks < 2) return false;
    return sx_ranks_worth(o->ranks, (void (*)(void))workers->task);
}

/* What tells this call of this run from others. */
static uint64_t mark_of(const sx_worker_pool *workers) {
    const sx_run *run = workers->run;
    const uint64_t numbers[] = {workers->n_tasks, run->evaluations, run->valid, run->rejected, run->improved};
    return sx_hash_bytes(numbers, sizeof numbers, 0);
}

void sx_worker_pool_share(sx_worker_pool *workers) {
    const sx_shared work = {.n = workers->n_tasks,
                            .grouped = true,
                            .everyone = true,
                            .mark = mark_of(workers),
                            .cancel = workers->run->options.cancel,
                            .user = workers,
                            .make = make_tasks,
                            .take = take_tasks};
    sx_shared_result result;
    sx_ranks *ranks = workers->run->options.ranks;
    sx_status status = sx_ranks_share(ranks, &work, &result);
    if (status) {
        sx_worker_pool_fail(workers, 0, status);
        return;
    }
    sx_ranks_took(ranks, (void (*)(void))workers->task, result.seconds);
}
