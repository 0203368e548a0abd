/* The inside of a run, shared by its files. */
#ifndef SX_RUN_ENGINE_H
#define SX_RUN_ENGINE_H

#include "base/ranks.h"
#include "run/cache.h"
#include "run/incumbent.h"
#include "run/registered.h"
#include "space/scorer.h"

/* The threads of a run and what they found in the current call (tasks.c). */
typedef struct sx_worker_pool sx_worker_pool;

enum { SX_MAX_DEPTH = 4, SX_MAX_CALLED = 1 + SX_MAX_PARTS };

/* A navigator at work. */
typedef struct sx_frame {
    const sx_registered *entry;
    double *settings;
    void *state;
    size_t state_size;
    void *saved; /* the state out of a checkpoint, until the navigator asks for it */
    size_t saved_size;
    void *start;          /* of one that was called: the best at that time; NULL: as the run's */
    uint64_t turn_end;    /* evaluations of the run after which a safe point ends the turn; 0: none */
    uint64_t plan;        /* evaluations that it plans with; 0: as the run's */
    uint64_t other_parts; /* evaluations of the run that were not its own */
    bool news;            /* the best was found by others since its last turn */
} sx_frame;

/* A navigator that is called again and again, each time going on where it was. */
typedef struct sx_resumable_call {
    void *state; /* between two calls */
    size_t size;
    uint64_t used;  /* evaluations in the calls before */
    uint64_t from;  /* of the run when the last call began */
    uint64_t name;  /* a hash of its text */
    uint64_t seen;  /* the evaluation that found the best it knows of */
    bool ended;     /* it completed */
    double seconds; /* in the calls of this process */
} sx_resumable_call;

struct sx_run {
    const sx_space *space;
    const sx_point_model *model;
    sx_goal goal;               /* the objective for the model */
    sx_run_options options;     /* threads and k_best at least 1; limits of the navigator at work */
    uint64_t evaluations_limit; /* of the whole run */
    double seconds_limit;
    const sx_registry *registry; /* the navigators that it and the one at work may name */
    const sx_registered *entry;  /* NULL: not searched yet */
    sx_registered own;           /* the entry of a navigator that is not registered, and its name */
    char *own_name;
    char *navigator;   /* with every setting */
    char *identity;    /* what tells it from other runs, where there are checkpoints */
    sx_status failure; /* the first; ends the search */

    uint64_t evaluations, valid, rejected, cache_hits;
    uint64_t improved; /* the evaluation that found the incumbent */
    uint64_t
        drawn; /* the evaluation of a random draw that stands in for a point of the navigator's own; 0: none */
    double cutoff; /* values above it are no incumbent's: they would be worse than an earlier one's */
    sx_archive best, front;
    uint64_t fronts;       /* how often the front has changed */
    sx_trace_point *trace; /* one per incumbent */
    size_t n_trace, trace_room;
    double lower_bound;
    bool optimal;
    bool none;          /* proven: there is no legal point */
    sx_proof *proof;    /* NULL: none */
    double first_bound; /* the lower bound before the search */

    bool found;  /* there is an incumbent, or a task at work has found one */
    bool ended;  /* the search should end, because of `stop` */
    bool closed; /* what is evaluated from now on is forgotten */
    sx_stop stop;

    double began;   /* by the clock, less the seconds of earlier parts */
    double seconds; /* once it is over */
    double progressed, checkpointed;
    char *paused; /* the state when it was paused; NULL: it was not */
    size_t paused_size;
    uint64_t told; /* evaluations that were told to progress */

    unsigned depth; /* the navigator at work: one that another one called stands behind it */
    sx_frame frame[SX_MAX_DEPTH];
    sx_resumable_call called[SX_MAX_CALLED]; /* that of sx_run_call_on, and those of sx_run_turn */

    sx_cache cache;
    sx_worker_pool *workers;
};

/* An error where a navigator does not search spaces of this type, or relies on another model. */
SX_MUST_USE sx_status sx_run_accepts(const sx_run *run, const sx_registered *entry);

/* Evaluations left to the run, UINT64_MAX without a limit, whatever its navigators plan. */
uint64_t sx_run_budget(const sx_run *run);

/* Whether the time of the run, or of the navigator that it has called, is over. */
bool sx_run_is_late(const sx_run *run);
/* Notes that the search should end; the first reason stays. */
void sx_run_end(sx_run *run, sx_stop stop);
/* Notes a failure that ends the search; the first stays. */
void sx_run_fail(sx_run *run, SX_TAKE sx_status failure);
/* Looks at the clock and the stop flag, and tells of progress with `more` evaluations that are not joined. */
void sx_run_poll(sx_run *run, uint64_t more);

/* Takes in a point found by the run's evaluation number `kept->evaluation`; true where it is the new
 * incumbent. */
bool sx_run_take(sx_run *run, const sx_archived *kept, const void *point);

/* Adds evaluations that were made elsewhere, such as on a GPU: how many, how many of these were legal, and how many draws
 * were not worth one; and the best point among them, which is scored again (NULL: none is better than the incumbent). */
void sx_run_add(sx_run *run, uint64_t evaluations, uint64_t valid, uint64_t rejected, const void *best);

SX_MUST_USE sx_status sx_worker_pool_new(sx_run *run, SX_OWN sx_worker_pool **out);
void sx_worker_pool_free(SX_TAKE sx_worker_pool *workers);

/* What tells a run from others, a line each. */
SX_MUST_USE sx_status sx_checkpoint_identify(const sx_run *run, SX_OWN char **out);
/* The error for a checkpoint of this run with something wrong in it, such as the state of a navigator. */
SX_MUST_USE sx_status sx_checkpoint_damaged(const char *where);
/* The run's state as bytes, and back: a run that cannot take them is as it was. */
SX_MUST_USE sx_status sx_checkpoint_write(const sx_run *run, SX_OWN char **bytes, size_t *size);
SX_MUST_USE sx_status sx_checkpoint_read(sx_run *run, const void *bytes, size_t size);

#endif
