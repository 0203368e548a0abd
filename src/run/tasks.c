/* Calls of sx_run_tasks and sx_run_evaluate: handing out tasks and joining their logs. */
#include "base/status.h"
#include "base/vector.h"
#include "run/worker_pool.h"

#include <assert.h>
#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_SCRATCH = 4,
    CHUNK = 8,  /* points of sx_run_evaluate in a task, at least */
    SPARES = 32 /* free logs that a worker takes at once, at most */
};

/* Frees what a log holds. */
static void log_fini(sx_log *log) {
    free(log->step);
    free(log->candidate);
    free(log->points);
    free(log->cached);
    free(log->appended);
}

/* Frees the logs of a list. */
static void free_logs(sx_log *first) {
    for (sx_log *log = first, *next; log; log = next) {
        next = log->next;
        log_fini(log);
        free(log);
    }
}

void sx_worker_pool_free(sx_worker_pool *workers) {
    if (!workers) return;
    sx_pool_free(workers->pool);
    for (unsigned i = 0; workers->worker && i < workers->n_workers; i++) {
        sx_worker *worker = &workers->worker[i];
        free_logs(worker->spare);
        sx_scorer_fini(&worker->scorer);
        free(worker->scratch);
        free(worker->batch);
        free(worker->expanded);
        free(worker->core);
        free(worker->outcome);
        sx_archive_fini(&worker->best);
        sx_archive_fini(&worker->front);
    }
    free_logs(workers->free_logs);
    sx_archive_fini(&workers->front);
    pthread_mutex_destroy(&workers->lock);
    free(workers->worker);
    free(workers->log_of);
    free(workers->cached);
    free(workers->appended);
    free(workers->part);
    sx_status_free(workers->failure);
    free(workers);
}

/* Gives a worker its workspace. */
static sx_status worker_init(sx_worker_pool *workers, unsigned number) {
    sx_worker *worker = &workers->worker[number];
    worker->workers = workers;
    worker->own = number == 0;
    worker->best.point_size = worker->front.point_size = workers->space->point_size;
    worker->scratch = calloc(N_SCRATCH, sx_worker_scratch_size(workers->space));
    worker->batch = calloc(workers->batch, workers->space->point_size);
    worker->expanded = calloc(1, workers->space->point_size);
    worker->outcome = calloc(workers->batch, sizeof *worker->outcome);
    if (!worker->scratch || !worker->batch || !worker->expanded || !worker->outcome) return sx_error_memory();
    return sx_scorer_init(&worker->scorer, workers->space, workers->run->model, &workers->run->goal);
}

sx_status sx_worker_pool_new(sx_run *run, sx_worker_pool **out) {
    const sx_run_options *o = &run->options;
    sx_worker_pool *workers = calloc(1, sizeof *workers);
    if (!workers) return sx_error_memory();
    if (pthread_mutex_init(&workers->lock, NULL) != 0) {
        free(workers);
        return sx_error_memory();
    }
    workers->run = run;
    workers->space = run->space;
    atomic_store(&workers->failed_at, SIZE_MAX);
    workers->n_workers = o->threads;
    workers->cuts = o->k_best == 1 && !o->pareto;
    workers->batch = run->model->type->batch > 1 ? run->model->type->batch : 1;
    workers->worker = calloc(o->threads, sizeof *workers->worker);
    sx_status status = workers->worker ? SX_OK : sx_error_memory();
    for (unsigned i = 0; !status && i < o->threads; i++) status = worker_init(workers, i);
    if (!status && o->threads > 1) status = sx_pool_new(o->threads, &workers->pool);
    if (status)
        sx_worker_pool_free(workers);
    else
        *out = workers;
    return status;
}

/* How many of a log's steps count, as far as budget and patience go. */
static uint64_t counted_steps(const sx_run *run, const sx_log *log) {
    const sx_run_options *o = &run->options;
    uint64_t n = log->n_steps, left = sx_run_budget(run);
    if (n > left) n = left;
    if (o->patience) {
        uint64_t until = run->improved + o->patience;
        left = until > run->evaluations ? until - run->evaluations : 0;
        if (n > left) n = left;
    }
    return n;
}

/* Adds up the first n steps of a log. */
static void count_steps(sx_run *run, const sx_log *log, uint64_t n) {
    run->evaluations += n;
    if (n == log->n_steps) {
        run->valid += log->valid;
        run->cache_hits += log->hits;
        run->rejected += log->rejected;
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        run->valid += (log->step[i] & STEP_VALID) != 0;
        run->cache_hits += (log->step[i] & STEP_HIT) != 0;
        run->rejected += log->step[i] / STEP_REJECTED;
    }
}

/* Ends the run where its budget, its patience or its target say so after what was counted. */
static void check_limits(sx_run *run, bool reached) {
    const sx_run_options *o = &run->options;
    bool spent = o->evaluations && run->evaluations >= o->evaluations;
    bool tired = o->patience && run->evaluations - run->improved >= o->patience;
    if (!reached && !spent && !tired) return;
    sx_run_end(run, reached ? SX_STOP_TARGET : spent ? SX_STOP_EVALUATIONS : SX_STOP_PATIENCE);
    run->closed = true;
}

void sx_run_add(sx_run *run, uint64_t evaluations, uint64_t valid, uint64_t rejected, const void *best) {
    bool reached = false;
    sx_outcome outcome;
    if (run->closed) return;
    if (best) {
        sx_status status = sx_scorer_score(&run->workers->worker[0].scorer, best, 1, INFINITY, &outcome);
        if (!status && outcome.reason != 0)
            status = sx_error_new(SX_ERR_INTERNAL, "a point that was scored elsewhere is not legal");
        if (status) {
            sx_run_fail(run, status);
            return;
        }
        sx_archived kept = {
            .metrics = outcome.metrics, .value = outcome.value, .evaluation = run->evaluations + evaluations};
        reached =
            sx_run_take(run, &kept, best) && run->options.target != 0 && outcome.value <= run->options.target;
    }
    run->evaluations += evaluations;
    run->valid += valid;
    run->rejected += rejected;
    assert(!run->evaluations_limit || run->evaluations <= run->evaluations_limit);
    assert(run->valid <= run->evaluations);
    check_limits(run, reached);
}

/* Keeps what a log has for the cache until the call is over. */
static bool remember_scores(sx_worker_pool *workers, const sx_log *log) {
    for (size_t i = 0; i < log->n_cached && workers->n_cached <= workers->run->cache.mask; i++) {
        if (!sx_reserve(&workers->cached, &workers->cached_room, workers->n_cached + 1,
                        sizeof *workers->cached))
            return false;
        workers->cached[workers->n_cached++] = log->cached[i];
    }
    return true;
}

/* Takes a task's log into the run. */
static void join_log(sx_worker_pool *workers, const sx_log *log) {
    sx_run *run = workers->run;
    if (run->closed) return;
    uint64_t n = counted_steps(run, log), base = run->evaluations;
    bool reached = false;
    for (size_t i = 0; i < log->n_candidates && log->candidate[i].step < n && !reached; i++) {
        const sx_candidate *c = &log->candidate[i];
        sx_archived kept = {.metrics = c->metrics, .value = c->value, .evaluation = base + c->step + 1};
        if (!sx_run_take(run, &kept, log->points + i * workers->space->point_size)) continue;
        reached = run->options.target != 0 && c->value <= run->options.target;
        n = reached ? c->step + 1 : counted_steps(run, log);
    }
    count_steps(run, log, n);
    assert(!run->evaluations_limit || run->evaluations <= run->evaluations_limit);
    assert(run->valid <= run->evaluations);
    check_limits(run, reached);
    if (!run->closed) run->rejected += log->rejected_last;
    if (!remember_scores(workers, log)) sx_run_fail(run, sx_error_memory());
    atomic_store_explicit(&workers->left, sx_run_budget(run), memory_order_relaxed);
    if (run->ended) atomic_store(&workers->halted, true);
}

/* Takes over what a task has appended to its output; false when memory is out. */
static bool collect_output(sx_worker_pool *workers, const sx_log *log, size_t task) {
    const size_t align = alignof(max_align_t), at = (workers->n_appended + align - 1) / align * align;
    if (log->n_appended == 0) return true;
    if (!sx_reserve(&workers->appended, &workers->appended_room, at + log->n_appended, 1) ||
        !sx_reserve(&workers->part, &workers->part_room, task + 1, sizeof *workers->part))
        return false;
    memcpy(workers->appended + at, log->appended, log->n_appended);
    workers->n_appended = at + log->n_appended;
    while (workers->n_parts < task) workers->part[workers->n_parts++] = (struct sx_appended){0};
    workers->part[workers->n_parts++] = (struct sx_appended){at, log->n_appended};
    return true;
}

const void *sx_run_appended(const sx_run *run, size_t task, size_t *size) {
    const sx_worker_pool *workers = run->workers;
    *size = task < workers->n_parts ? workers->part[task].size : 0;
    return *size ? workers->appended + workers->part[task].at : NULL;
}

/* Whether threads other than the run's own may take and give logs. */
static bool has_company(const sx_worker_pool *workers) {
    return workers->pool || sx_ranks_active(workers->run->options.ranks);
}

/* Locks the list of free logs where that is needed. */
static void lock_logs(sx_worker_pool *workers) {
    if (has_company(workers)) pthread_mutex_lock(&workers->lock);
}
static void unlock_logs(sx_worker_pool *workers) {
    if (has_company(workers)) pthread_mutex_unlock(&workers->lock);
}

/* Gives back a list of logs, which ends with `last`. */
static void give_logs(sx_worker_pool *workers, sx_log *first, sx_log *last) {
    lock_logs(workers);
    last->next = workers->free_logs;
    workers->free_logs = first;
    unlock_logs(workers);
}

void sx_worker_pool_give(sx_worker_pool *workers, sx_log *log) {
    give_logs(workers, log, log);
}

void sx_worker_pool_settle(sx_worker_pool *workers, const sx_log *log, size_t task) {
    if (!collect_output(workers, log, task)) sx_run_fail(workers->run, sx_error_memory());
    join_log(workers, log);
}

/* Up to n free logs as a list, NULL where there is none. */
static sx_log *take_logs(sx_worker_pool *workers, int n) {
    lock_logs(workers);
    sx_log *first = workers->free_logs, *last = first;
    while (last && last->next && --n > 0) last = last->next;
    if (last) {
        workers->free_logs = last->next;
        last->next = NULL;
    }
    unlock_logs(workers);
    return first;
}

sx_log *sx_worker_pool_log(sx_worker_pool *workers) {
    sx_log *log = take_logs(workers, 1);
    return log ? log : calloc(1, sizeof *log);
}

/* A free log of the worker's own, NULL when memory is out. */
static sx_log *spare_log(sx_worker_pool *workers, sx_worker *worker) {
    if (!worker->spare) worker->spare = take_logs(workers, SPARES);
    sx_log *log = worker->spare;
    if (log) worker->spare = log->next;
    return log ? log : calloc(1, sizeof *log);
}

/* Does a task and returns its log; NULL when memory is out. */
static sx_log *do_task(sx_worker_pool *workers, size_t task, unsigned number) {
    sx_worker *worker = &workers->worker[number];
    sx_log *log = spare_log(workers, worker);
    if (!log) {
        sx_worker_pool_fail(workers, task, sx_error_memory());
        return NULL;
    }
    worker->task = task;
    sx_worker_begin(worker, log);
    unsigned char *outputs = workers->made ? workers->made : workers->outputs;
    size_t number_there = workers->made ? task - workers->made_first : task;
    void *output = outputs ? outputs + number_there * workers->output_size : NULL;
    sx_status status = workers->task(workers->input, task, worker, output);
    if (status) sx_worker_pool_fail(workers, task, status);
    return sx_worker_finish(worker);
}

/* Whether a task is not to be begun any more: the run has ended, or one before it has failed. */
static bool is_over(sx_worker_pool *workers, size_t task) {
    return atomic_load(&workers->halted) || task > atomic_load(&workers->failed_at);
}

/* A task as a job of the pool. */
static void do_job(void *user, size_t task, unsigned number) {
    sx_worker_pool *workers = user;
    sx_log *log = is_over(workers, task) ? NULL : do_task(workers, task, number);
    atomic_store_explicit(&workers->log_of[task], log ? log : &workers->skipped, memory_order_release);
}

/* Joins the tasks that are done and have no unfinished one before them, and looks after the run. */
static void join_done(void *user) {
    sx_worker_pool *workers = user;
    sx_log *log, *first = NULL, *last = NULL;
    while (workers->joined < workers->n_tasks &&
           (log = atomic_load_explicit(&workers->log_of[workers->joined], memory_order_acquire)) != NULL) {
        size_t task = workers->joined++;
        if (log == &workers->skipped) continue;
        if (task <= atomic_load(&workers->failed_at)) sx_worker_pool_settle(workers, log, task);
        log->next = first;
        first = log;
        if (!last) last = log;
    }
    if (first) give_logs(workers, first, last);
    sx_run_poll(workers->run, 0);
    if (workers->run->ended) atomic_store(&workers->halted, true);
}

/* Does the tasks one after another on the run's own thread. */
static void run_inline(sx_worker_pool *workers) {
    for (size_t task = 0; task < workers->n_tasks && !workers->run->ended && !workers->failure; task++) {
        sx_log *log = do_task(workers, task, 0);
        if (!log) return;
        sx_worker_pool_settle(workers, log, task);
        sx_worker_pool_give(workers, log);
        if (workers->n_tasks > 1) sx_run_poll(workers->run, 0);
    }
}

/* Makes room for n logs; false when memory is out. */
static bool reserve_logs(sx_worker_pool *workers, size_t n) {
    if (n > workers->log_room) {
        free(workers->log_of);
        workers->log_of = malloc(n * sizeof *workers->log_of);
        workers->log_room = workers->log_of ? n : 0;
    }
    for (size_t i = 0; workers->log_of && i < n; i++) atomic_init(&workers->log_of[i], NULL);
    return workers->log_of != NULL;
}

/* Does the tasks on all threads. */
static void run_parallel(sx_worker_pool *workers) {
    workers->joined = 0;
    if (reserve_logs(workers, workers->n_tasks))
        sx_pool_run(workers->pool, workers->n_tasks, do_job, join_done, workers);
    else
        sx_worker_pool_fail(workers, 0, sx_error_memory());
}

/* One of the tasks that this process does, as a job of the pool. */
static void do_some(void *user, size_t index, unsigned number) {
    sx_worker_pool *workers = user;
    size_t task = workers->done_first + index;
    sx_log *log = is_over(workers, task) ? NULL : do_task(workers, task, number);
    atomic_store_explicit(&workers->log_of[index], log ? log : &workers->skipped, memory_order_release);
}

/* Looks after the run while other threads are at work. */
static void look_after(void *user) {
    sx_worker_pool *workers = user;
    sx_run_poll(workers->run, 0);
    if (workers->run->ended) atomic_store(&workers->halted, true);
}

bool sx_worker_pool_do(sx_worker_pool *workers, size_t first, size_t n) {
    if (!reserve_logs(workers, n)) return false;
    workers->done_first = first;
    if (workers->pool)
        sx_pool_run(workers->pool, n, do_some, look_after, workers);
    else
        for (size_t i = 0; i < n; i++) do_some(workers, i, 0);
    return true;
}

/* Takes over the run's front where it has changed; false when memory is out. */
static bool freeze_front(sx_worker_pool *workers) {
    if (!workers->run->options.pareto || workers->fronts == workers->run->fronts) return true;
    workers->fronts = workers->run->fronts;
    return sx_archive_copy_scores(&workers->run->front, &workers->front);
}

/* Does tasks whose outputs have a number of bytes in all. */
static void do_tasks(sx_run *run, size_t n, sx_task *task, const void *input, void *outputs, size_t size,
                     size_t bytes) {
    sx_worker_pool *workers = run->workers;
    size_t k = run->options.k_best;
    workers->n_appended = workers->n_parts = 0;
    if (run->ended || n == 0) return;
    workers->n_tasks = n;
    workers->task = task;
    workers->input = input;
    workers->outputs = outputs;
    workers->output_size = size;
    workers->output_bytes = bytes;
    workers->full = run->best.n == k;
    if (workers->full) workers->last = run->best.kept[k - 1];
    workers->cutoff =
        workers->full ? sx_worker_pool_cutoff(&run->options.objective, workers->last.value) : INFINITY;
    if (k == 1 && run->cutoff < workers->cutoff) workers->cutoff = run->cutoff;
    atomic_store(&workers->halted, false);
    atomic_store(&workers->failed_at, SIZE_MAX);
    atomic_store(&workers->left, sx_run_budget(run));
    if (!freeze_front(workers))
        sx_worker_pool_fail(workers, 0, sx_error_memory());
    else if (sx_worker_pool_shares(workers))
        sx_worker_pool_share(workers);
    else if (workers->pool && n > 1)
        run_parallel(workers);
    else
        run_inline(workers);
    for (size_t i = 0; i < workers->n_cached; i++) sx_cache_put(&run->cache, &workers->cached[i]);
    workers->n_cached = 0;
    sx_run_poll(run, 0);
    if (workers->failure) sx_run_fail(run, workers->failure);
    workers->failure = NULL;
}

void sx_run_tasks(sx_run *run, size_t n, sx_task *task, const void *input, void *outputs, size_t size) {
    do_tasks(run, n, task, input, outputs, size, n * size);
}

/* A call of sx_run_evaluate. */
typedef struct batch {
    const unsigned char *points;
    size_t n, point_size, chunk;
} batch;

/* A task: evaluates a chunk; its output is the outcomes. */
static sx_status evaluate_chunk(const void *input, size_t task, sx_worker *worker, void *output) {
    const batch *b = input;
    size_t from = task * b->chunk, n = b->n - from < b->chunk ? b->n - from : b->chunk;
    sx_worker_evaluate_batch(worker, b->points + from * b->point_size, n, false, output);
    return SX_OK;
}

size_t sx_run_evaluate(sx_run *run, const void *points, size_t n, sx_outcome *out) {
    size_t chunk = run->workers->batch > CHUNK ? run->workers->batch : CHUNK;
    batch b = {points, n, run->space->point_size, chunk};
    uint64_t before = run->evaluations;
    for (size_t i = 0; i < n; i++) out[i] = (sx_outcome){.value = INFINITY, .reason = SX_NOT_EVALUATED};
    do_tasks(run, (n + chunk - 1) / chunk, evaluate_chunk, &b, out, chunk * sizeof *out, n * sizeof *out);
    size_t evaluated = (size_t)(run->evaluations - before);
    if (run->closed)
        for (size_t i = evaluated; i < n; i++)
            out[i] = (sx_outcome){.value = INFINITY, .reason = SX_NOT_EVALUATED};
    return evaluated;
}

void sx_run_evaluate_starts(sx_run *run, size_t first) {
    size_t n, size = sx_run_space(run)->point_size;
    const unsigned char *start = sx_run_starts(run, &n);
    sx_outcome outcome;
    for (size_t i = first; i < n; i++) sx_run_evaluate(run, start + i * size, 1, &outcome);
}
