/* Calls of sx_run_tasks and sx_run_evaluate: handing out tasks and joining their logs. */
#include "base/status.h"
#include "run/crew.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { N_SCRATCH = 4, CHUNK = 8 /* points of sx_run_evaluate in a task, at least */ };

/* Frees what a log holds. */
static void log_fini(sx_log *log) {
    free(log->step);
    free(log->candidate);
    free(log->points);
    free(log->cached);
}

void sx_crew_free(sx_crew *crew) {
    if (!crew) return;
    sx_pool_free(crew->pool);
    for (unsigned i = 0; crew->worker && i < crew->n_workers; i++) {
        sx_worker *worker = &crew->worker[i];
        sx_scorer_fini(&worker->scorer);
        free(worker->scratch);
        free(worker->batch);
        free(worker->outcome);
        sx_shelf_fini(&worker->best);
        sx_shelf_fini(&worker->front);
    }
    for (sx_log *log = crew->free_logs, *next; log; log = next) {
        next = log->next;
        log_fini(log);
        free(log);
    }
    sx_shelf_fini(&crew->front);
    pthread_mutex_destroy(&crew->lock);
    free(crew->worker);
    free(crew->log_of);
    free(crew->cached);
    sx_status_free(crew->failure);
    free(crew);
}

/* Gives a worker its workspace. */
static sx_status worker_init(sx_crew *crew, unsigned number) {
    sx_worker *worker = &crew->worker[number];
    worker->crew = crew;
    worker->own = number == 0;
    worker->best.point_size = worker->front.point_size = crew->space->point_size;
    worker->scratch = calloc(N_SCRATCH, crew->space->point_size);
    worker->batch = calloc(crew->batch, crew->space->point_size);
    worker->outcome = calloc(crew->batch, sizeof *worker->outcome);
    if (!worker->scratch || !worker->batch || !worker->outcome) return sx_error_memory();
    return sx_scorer_init(&worker->scorer, crew->space, crew->run->model, &crew->run->goal);
}

sx_status sx_crew_new(sx_run *run, sx_crew **out) {
    const sx_run_options *o = &run->options;
    sx_crew *crew = calloc(1, sizeof *crew);
    if (!crew) return sx_error_memory();
    if (pthread_mutex_init(&crew->lock, NULL) != 0) {
        free(crew);
        return sx_error_memory();
    }
    crew->run = run;
    crew->space = run->space;
    crew->n_workers = o->threads;
    crew->cuts = o->k_best == 1 && !o->pareto;
    crew->batch = run->model->type->batch > 1 ? run->model->type->batch : 1;
    crew->worker = calloc(o->threads, sizeof *crew->worker);
    sx_status status = crew->worker ? SX_OK : sx_error_memory();
    for (unsigned i = 0; !status && i < o->threads; i++) status = worker_init(crew, i);
    if (!status && o->threads > 1) status = sx_pool_new(o->threads, &crew->pool);
    if (status)
        sx_crew_free(crew);
    else
        *out = crew;
    return status;
}

/* How many of a log's steps count, as far as budget and patience go. */
static uint64_t cut(const sx_run *run, const sx_log *log) {
    const sx_run_options *o = &run->options;
    uint64_t n = log->n_steps, left = sx_run_left(run);
    if (n > left) n = left;
    if (o->patience) {
        uint64_t until = run->improved + o->patience;
        left = until > run->evaluations ? until - run->evaluations : 0;
        if (n > left) n = left;
    }
    return n;
}

/* Adds up the first n steps of a log. */
static void count(sx_run *run, const sx_log *log, uint64_t n) {
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
static void judge(sx_run *run, bool reached) {
    const sx_run_options *o = &run->options;
    bool spent = o->evaluations && run->evaluations >= o->evaluations;
    bool tired = o->patience && run->evaluations - run->improved >= o->patience;
    if (!reached && !spent && !tired) return;
    sx_run_end(run, reached ? SX_STOP_TARGET : spent ? SX_STOP_EVALUATIONS : SX_STOP_PATIENCE);
    run->closed = true;
}

/* Keeps what a log has for the cache until the call is over. */
static bool remember(sx_crew *crew, const sx_log *log) {
    for (size_t i = 0; i < log->n_cached && crew->n_cached <= crew->run->cache.mask; i++) {
        if (!sx_crew_grow((void **)&crew->cached, crew->n_cached, &crew->cached_room, sizeof *crew->cached))
            return false;
        crew->cached[crew->n_cached++] = log->cached[i];
    }
    return true;
}

/* Takes a task's log into the run. */
static void join(sx_crew *crew, const sx_log *log) {
    sx_run *run = crew->run;
    if (run->closed) return;
    uint64_t n = cut(run, log), base = run->evaluations;
    bool reached = false;
    for (size_t i = 0; i < log->n_candidates && log->candidate[i].step < n && !reached; i++) {
        const sx_candidate *c = &log->candidate[i];
        sx_kept kept = {.metrics = c->metrics, .value = c->value, .evaluation = base + c->step + 1};
        if (!sx_run_take(run, &kept, log->points + i * crew->space->point_size)) continue;
        reached = run->options.target != 0 && c->value <= run->options.target;
        n = reached ? c->step + 1 : cut(run, log);
    }
    count(run, log, n);
    assert(!run->evaluations_limit || run->evaluations <= run->evaluations_limit);
    assert(run->valid <= run->evaluations);
    judge(run, reached);
    if (!run->closed) run->rejected += log->rejected_last;
    if (!remember(crew, log)) sx_run_fail(run, sx_error_memory());
    atomic_store_explicit(&crew->left, sx_run_left(run), memory_order_relaxed);
    if (run->ended) atomic_store(&crew->halted, true);
}

/* A free log, or a new one; NULL when memory is out. */
static sx_log *log_take(sx_crew *crew) {
    pthread_mutex_lock(&crew->lock);
    sx_log *log = crew->free_logs;
    if (log) crew->free_logs = log->next;
    pthread_mutex_unlock(&crew->lock);
    return log ? log : calloc(1, sizeof *log);
}

static void log_give(sx_crew *crew, sx_log *log) {
    pthread_mutex_lock(&crew->lock);
    log->next = crew->free_logs;
    crew->free_logs = log;
    pthread_mutex_unlock(&crew->lock);
}

/* Does a task and returns its log; NULL when memory is out. */
static sx_log *do_task(sx_crew *crew, size_t task, unsigned number) {
    sx_log *log = log_take(crew);
    if (!log) {
        sx_crew_fail(crew, sx_error_memory());
        return NULL;
    }
    sx_worker *worker = &crew->worker[number];
    sx_worker_begin(worker, log);
    void *output = crew->outputs ? crew->outputs + task * crew->output_size : NULL;
    sx_status status = crew->task(crew->input, task, worker, output);
    if (status) sx_crew_fail(crew, status);
    return sx_worker_finish(worker);
}

/* A task as a job of the pool. */
static void do_job(void *user, size_t task, unsigned number) {
    sx_crew *crew = user;
    sx_log *log = atomic_load(&crew->halted) ? NULL : do_task(crew, task, number);
    atomic_store_explicit(&crew->log_of[task], log ? log : &crew->skipped, memory_order_release);
}

/* Joins the tasks that are done and have no unfinished one before them, and looks after the run. */
static void join_done(void *user) {
    sx_crew *crew = user;
    sx_log *log;
    while (crew->joined < crew->n_tasks &&
           (log = atomic_load_explicit(&crew->log_of[crew->joined], memory_order_acquire)) != NULL) {
        crew->joined++;
        if (log == &crew->skipped) continue;
        join(crew, log);
        log_give(crew, log);
    }
    sx_run_poll(crew->run, 0);
    if (crew->run->ended) atomic_store(&crew->halted, true);
}

/* Does the tasks one after another on the run's own thread. */
static void run_inline(sx_crew *crew) {
    for (size_t task = 0; task < crew->n_tasks && !crew->run->ended; task++) {
        sx_log *log = do_task(crew, task, 0);
        if (!log) return;
        join(crew, log);
        log_give(crew, log);
        if (crew->n_tasks > 1) sx_run_poll(crew->run, 0);
    }
}

/* Does the tasks on all threads. */
static void run_parallel(sx_crew *crew) {
    if (crew->n_tasks > crew->log_room) {
        free(crew->log_of);
        crew->log_of = malloc(crew->n_tasks * sizeof *crew->log_of);
        crew->log_room = crew->log_of ? crew->n_tasks : 0;
    }
    if (!crew->log_of) {
        sx_crew_fail(crew, sx_error_memory());
        return;
    }
    for (size_t i = 0; i < crew->n_tasks; i++) atomic_init(&crew->log_of[i], NULL);
    crew->joined = 0;
    sx_pool_run(crew->pool, crew->n_tasks, do_job, join_done, crew);
}

/* Takes over the run's front where it has changed; false when memory is out. */
static bool freeze_front(sx_crew *crew) {
    if (!crew->run->options.pareto || crew->fronts == crew->run->fronts) return true;
    crew->fronts = crew->run->fronts;
    return sx_shelf_copy_scores(&crew->run->front, &crew->front);
}

void sx_run_tasks(sx_run *run, size_t n, sx_task *task, const void *input, void *outputs, size_t size) {
    sx_crew *crew = run->crew;
    size_t k = run->options.k_best;
    if (run->ended || n == 0) return;
    crew->n_tasks = n;
    crew->task = task;
    crew->input = input;
    crew->outputs = outputs;
    crew->output_size = size;
    crew->full = run->best.n == k;
    if (crew->full) crew->last = run->best.kept[k - 1];
    crew->edge = crew->full ? sx_crew_edge(&run->options.objective, crew->last.value) : INFINITY;
    if (k == 1 && run->edge < crew->edge) crew->edge = run->edge;
    atomic_store(&crew->halted, false);
    atomic_store(&crew->left, sx_run_left(run));
    if (!freeze_front(crew))
        sx_crew_fail(crew, sx_error_memory());
    else if (crew->pool && n > 1)
        run_parallel(crew);
    else
        run_inline(crew);
    for (size_t i = 0; i < crew->n_cached; i++) sx_cache_put(&run->cache, &crew->cached[i]);
    crew->n_cached = 0;
    sx_run_poll(run, 0);
    if (crew->failure) sx_run_fail(run, crew->failure);
    crew->failure = NULL;
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
    size_t chunk = run->crew->batch > CHUNK ? run->crew->batch : CHUNK;
    batch b = {points, n, run->space->point_size, chunk};
    uint64_t before = run->evaluations;
    for (size_t i = 0; i < n; i++) out[i] = (sx_outcome){.value = INFINITY, .reason = SX_NOT_EVALUATED};
    sx_run_tasks(run, (n + chunk - 1) / chunk, evaluate_chunk, &b, out, chunk * sizeof *out);
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
