/* The threads of a run. Each worker writes what it evaluates into a log of its task; the run's own thread
 * joins the logs in the order of the tasks. What workers read of the run is frozen for the length of a call,
 * so that a log says the same whatever other tasks are about. */
#ifndef SX_RUN_WORKER_POOL_H
#define SX_RUN_WORKER_POOL_H

#include "base/pool.h"
#include "run/engine.h"

#include <pthread.h>
#include <stdatomic.h>

/* An evaluation as its log has it. */
enum { STEP_VALID = 1, STEP_HIT = 2, STEP_REJECTED = 4 /* times the draws rejected just before it */ };

/* A point that may be of interest to the run. */
typedef struct sx_candidate {
    size_t step;
    sx_metrics metrics;
    double value;
} sx_candidate;

/* What a task did. */
typedef struct sx_log {
    struct sx_log *next; /* while it is free */
    uint64_t *step;
    size_t n_steps, step_room;
    uint64_t valid, hits, rejected; /* sums over all steps */
    uint64_t rejected_last;         /* after the last step */
    sx_candidate *candidate;
    unsigned char *points; /* of the candidates */
    size_t n_candidates, candidate_room;
    sx_cached *cached; /* for the cache */
    size_t n_cached, cached_room;
    unsigned char *appended; /* to its output */
    size_t n_appended, appended_room;
} sx_log;

enum { CACHE_LINES = 128 }; /* bytes that keep what threads write apart */

/* Of each point that a worker has room for: any may begin where a compact one does. */
static inline size_t sx_worker_scratch_size(const sx_space *space) {
    return (space->point_size + 7) / 8 * 8;
}

struct sx_worker {
    sx_worker_pool *workers;
    sx_log *log;
    sx_log *spare; /* free logs of its own, which need no lock */
    size_t task;   /* its number */
    sx_scorer scorer;
    unsigned char *scratch, *batch; /* room for points: a few; as many as the model likes at once */
    unsigned char *expanded;        /* and for one that a compact point stands for */
    struct sx_core_work *core; /* for functions on compact points (compact.c); NULL before it is asked for */
    sx_outcome *outcome;       /* as many */
    bool own;                  /* the run's own thread */
    unsigned until_poll;       /* evaluations until the clock is read */
    double looked;             /* what it said the last time */
    uint64_t left;             /* evaluations, as known when the task began */
    uint64_t limit;            /* steps beyond it are forgotten in any case */
    double cutoff;             /* values above it are of no interest to the best */
    uint64_t rejected;         /* since the last step */
    sx_archive best, front;    /* of this task */
    char apart[CACHE_LINES];   /* from the next worker */
};

struct sx_worker_pool {
    sx_run *run;
    const sx_space *space;
    unsigned n_workers;
    sx_worker *worker;
    sx_pool *pool; /* NULL with one thread */
    bool cuts;     /* `within` may be obeyed */
    size_t batch;  /* points that the model gets at once */

    /* The current call. */
    size_t n_tasks, joined;
    sx_task *task;
    const void *input;
    unsigned char *outputs;
    size_t output_size, output_bytes; /* of each task, and of all: the last one may have less */
    unsigned char *made;              /* NULL: outputs are written in place; otherwise those from */
    size_t made_first;                /* this task on are written there */
    size_t done_first;                /* the first task that this process does, where they are divided */
    _Atomic(sx_log *) *log_of;
    size_t log_room;
    char apart[CACHE_LINES]; /* what is written seldom, and read at every evaluation: */
    atomic_bool halted;      /* nothing more should be evaluated */
    atomic_size_t failed_at; /* the first task that failed: those after it do not count; SIZE_MAX: none */
    char apart_too[CACHE_LINES];
    atomic_uint_fast64_t left; /* evaluations, when the joined ones are taken off */

    /* Frozen at its start. */
    bool full; /* there are k best */
    sx_archived last;
    double cutoff; /* values above it are of no interest to the best */
    sx_archive front;
    uint64_t fronts; /* the changes of the run's front that it has */

    sx_log skipped; /* stands for tasks that were not begun */
    pthread_mutex_t lock;
    sx_log *free_logs; /* under the lock, as the next */
    sx_status failure; /* of the task `failed_at` */
    sx_cached *cached; /* what the cache learns when the call is over */
    size_t n_cached, cached_room;

    unsigned char *appended; /* what the tasks of the last call have appended to their outputs */
    size_t n_appended, appended_room;
    struct sx_appended { /* where that of each task stands, up to the last one that has any */
        size_t at, size;
    } * part;
    size_t n_parts, part_room;
};

/* Notes a failure of a task, which ends the run. That of the first task stays: tasks before it are done to their end,
 * so that the error and what was found before it do not depend on the number of threads. Memory that is out, and a
 * program that failed, end all tasks at once. */
void sx_worker_pool_fail(sx_worker_pool *workers, size_t task, SX_TAKE sx_status failure);

/* The value above which a point cannot be better than one of `value`. */
double sx_worker_pool_cutoff(const sx_objective *objective, double value);

/* Whether the tasks of the current call are divided among processes, and doing that (share.c). */
bool sx_worker_pool_shares(sx_worker_pool *workers);
void sx_worker_pool_share(sx_worker_pool *workers);

/* Does tasks first..first+n-1; their logs are at log_of[0..n-1]. False when memory is out. */
bool sx_worker_pool_do(sx_worker_pool *workers, size_t first, size_t n);
/* A free log, NULL when memory is out; giving it back; and joining the task that it is of, which leaves the log to the caller. */
sx_log *sx_worker_pool_log(sx_worker_pool *workers);
void sx_worker_pool_give(sx_worker_pool *workers, SX_TAKE sx_log *log);
void sx_worker_pool_settle(sx_worker_pool *workers, const sx_log *log, size_t task);

/* Begins a task on a worker with an empty log. */
void sx_worker_begin(sx_worker *worker, sx_log *log);
/* Ends it and returns its log. */
sx_log *sx_worker_finish(sx_worker *worker);

#endif
