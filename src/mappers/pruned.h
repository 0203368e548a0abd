/* What the walks of the random-pruned search share: by mappings (pruned.c) and by compact points (pruned_compact.c). */
#ifndef SX_MAPPERS_PRUNED_H
#define SX_MAPPERS_PRUNED_H

#include "mappers/keep_sweep.h"
#include "mapspace/map_choices.h"
#include "run/compact.h"

enum {
    SX_PRUNED_TASKS = 128,      /* joined at once, at most */
    SX_PRUNED_TASK_SIZE = 1024, /* evaluations or draws of a task, about */
};

/* Result of a task, counted over its own part of the sequence. */
typedef struct sx_pruned_account {
    double best;             /* INFINITY: no improvement */
    uint64_t valid;          /* legal mappings */
    uint64_t since;          /* legal ones since the best, all of them without one */
    uint64_t illegal, after; /* illegal ones in a row at the beginning and at the end */
} sx_pruned_account;

/* Shared by all tasks, read-only. */
typedef struct sx_pruned_plan {
    const sx_map_space *space;
    sx_map_choices *choices;
    const sx_compact_search *compact; /* what compact points are walked by; NULL: points are the space's */
    uint64_t seed, first;             /* number of the first task */
    uint64_t permutations, keeps, victory, timeout;
    bool classes;
    double incumbent;
    const sx_objective *objective;
} sx_pruned_plan;

/* What a task counts. */
typedef struct sx_pruned_count {
    const sx_pruned_plan *plan;
    sx_worker *worker;
    sx_pruned_account *account;
    uint64_t evaluations;
    bool over;
} sx_pruned_count;

/* Counts an illegal mapping, and one that was evaluated. */
void sx_pruned_illegal(sx_pruned_count *count);
void sx_pruned_evaluated(sx_pruned_count *count, const sx_outcome *outcome);

/* Distinct numbers below a limit in random order: steps of a stride that is coprime to it. */
typedef struct sx_pruned_sequence {
    uint64_t total, at, step;
} sx_pruned_sequence;

/* The next number of a sequence. */
static inline uint64_t sx_pruned_next(sx_pruned_sequence *d) {
    uint64_t out = d->at, rest = d->total - d->step;
    d->at = d->at < rest ? d->at + d->step : d->at - rest;
    return out;
}

/* A task: factorisations until it has done its share; its output is an account of them. */
sx_status sx_pruned_compact_task(const void *input, size_t task, sx_worker *worker, void *output);

#endif
