/* Jobs are claimed by an atomic counter. A worker enters a round of jobs through a gate that the caller closes
 * once every job is claimed, so that the caller does not wait for workers that have not woken up. Waiters spin
 * for a moment, since rounds often follow each other closely, and then block. */
#include "base/pool.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double SPIN = 100e-6; /* seconds of spinning before blocking */
static const long BLOCK = 5000000; /* nanoseconds between two calls of `idle` while blocked */
enum { STACK_BYTES = 1 << 20 };
enum { CLOSED = 1 << 30 }; /* a bit of the gate; the others count the workers inside */

struct sx_pool {
    pthread_mutex_t lock;
    pthread_cond_t begins, left;
    unsigned n_workers;
    struct pool_worker {
        sx_pool *pool;
        pthread_t thread;
        unsigned number;
    } * worker;
    sx_pool_job *job;
    void *user;
    size_t n;
    atomic_size_t next;
    atomic_uint gate;
    atomic_uint_fast64_t round;
    atomic_bool ending;
};

/* Does jobs until all are claimed. */
static void do_jobs(sx_pool *pool, unsigned worker, sx_pool_idle *idle) {
    size_t index;
    while ((index = atomic_fetch_add(&pool->next, 1)) < pool->n) {
        pool->job(pool->user, index, worker);
        if (idle) idle(pool->user);
    }
}

/* Takes part in the round that is open, if one is. */
static void join_round(sx_pool *pool, unsigned worker) {
    if (!(atomic_fetch_add(&pool->gate, 1) & CLOSED)) do_jobs(pool, worker, NULL);
    if (atomic_fetch_sub(&pool->gate, 1) != (CLOSED | 1)) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

static bool nothing_new(sx_pool *pool, uint64_t round) {
    return atomic_load(&pool->round) == round && !atomic_load(&pool->ending);
}

/* Waits for a round after the given one, or the end. */
static void wait_for_round(sx_pool *pool, uint64_t round) {
    double until = sx_clock_seconds() + SPIN;
    while (nothing_new(pool, round) && sx_clock_seconds() < until) sched_yield();
    if (!nothing_new(pool, round)) return;
    pthread_mutex_lock(&pool->lock);
    while (nothing_new(pool, round)) pthread_cond_wait(&pool->begins, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void *run_worker(void *data) {
    const struct pool_worker *worker = data;
    sx_pool *pool = worker->pool;
    uint64_t round = 0;
    while (wait_for_round(pool, round), !atomic_load(&pool->ending)) {
        round = atomic_load(&pool->round);
        join_round(pool, worker->number);
    }
    return NULL;
}

/* Blocks until the last worker has left, for a bounded time. */
static void block_until_left(sx_pool *pool) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += BLOCK;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&pool->lock);
    if (atomic_load(&pool->gate) != CLOSED) pthread_cond_timedwait(&pool->left, &pool->lock, &until);
    pthread_mutex_unlock(&pool->lock);
}

void sx_pool_run(sx_pool *pool, size_t n, sx_pool_job *job, sx_pool_idle *idle, void *user) {
    unsigned closed = CLOSED;
    pool->job = job;
    pool->user = user;
    pool->n = n;
    atomic_store(&pool->next, 0);
    while (!atomic_compare_exchange_weak(&pool->gate, &closed, 0)) closed = CLOSED;
    if (n > 1) {
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->round, 1);
        pthread_cond_broadcast(&pool->begins);
        pthread_mutex_unlock(&pool->lock);
    }
    do_jobs(pool, 0, idle);
    atomic_fetch_or(&pool->gate, CLOSED);
    double until = sx_clock_seconds() + SPIN;
    while (atomic_load(&pool->gate) != CLOSED && sx_clock_seconds() < until) sched_yield();
    while (atomic_load(&pool->gate) != CLOSED) {
        block_until_left(pool);
        if (idle) idle(user);
    }
    if (idle) idle(user);
}

/* Makes the locks; false where the system has none left. */
static bool locks_init(sx_pool *pool) {
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0) return false;
    bool lock = pthread_mutex_init(&pool->lock, NULL) == 0;
    bool begins = pthread_cond_init(&pool->begins, NULL) == 0;
    bool left = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&pool->left, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (lock && begins && left) return true;
    if (lock) pthread_mutex_destroy(&pool->lock);
    if (begins) pthread_cond_destroy(&pool->begins);
    if (left) pthread_cond_destroy(&pool->left);
    return false;
}

/* Starts the thread of a worker, with a stack that does not depend on the default of the system. Searches take
 * less than 128 kB of it; functions of a caller, such as an evaluator in Python, may take more. False where it cannot
 * be started. */
static bool start_thread(struct pool_worker *worker) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                   pthread_create(&worker->thread, &attributes, run_worker, worker) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

sx_status sx_pool_new(unsigned threads, sx_pool **out) {
    sx_pool *pool = calloc(1, sizeof *pool);
    struct pool_worker *worker = calloc(threads, sizeof *worker);
    if (!pool || !worker || !locks_init(pool)) {
        free(worker);
        free(pool);
        return sx_error_memory();
    }
    pool->worker = worker;
    atomic_store(&pool->gate, CLOSED);
    for (unsigned i = 0; i + 1 < threads; i++) {
        worker[i] = (struct pool_worker){.pool = pool, .number = i + 1};
        if (!start_thread(&worker[i])) break;
        pool->n_workers++;
    }
    *out = pool;
    return SX_OK;
}

unsigned sx_pool_threads(const sx_pool *pool) {
    return pool->n_workers + 1;
}

void sx_pool_free(sx_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->ending, true);
    pthread_cond_broadcast(&pool->begins);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_workers; i++) pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->begins);
    pthread_cond_destroy(&pool->left);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool);
}
