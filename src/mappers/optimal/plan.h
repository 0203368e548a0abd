/* A search by the mapper `optimal`: what its files share. */
#ifndef SX_MAPPERS_OPTIMAL_PLAN_H
#define SX_MAPPERS_OPTIMAL_PLAN_H

#include "mappers/optimal/descend.h"
#include "mappers/optimal/heuristics.h"
#include "mappers/optimal/proof.h"
#include "mappers/optimal/remainder_search.h"

#include <pthread.h>

/* The steps from which on an effort counts the first bounds, too. */
#define SX_OPTIMAL_LARGE 1e7

/* Which spatial mappings came into the heap: none, those whose factors divide, then those with remainders. */
enum { SX_LISTED_NONE, SX_LISTED_DIVIDING, SX_LISTED_REMAINDERS };

/* State of a search: this, then per spatial mapping (of those whose factors divide) the bound by tables
 * and whether it was searched, then the best points of the criteria that are done, then the heap. */
typedef struct sx_optimal_state {
    sx_heuristics_state begun;
    uint64_t n_spatials, n_nodes, room;
    uint64_t steps, pace;       /* so far; of a visit in the last round, about */
    uint64_t criterion, listed; /* the current one; which of its spatial mappings came into the heap */
    uint64_t began;             /* the steps at which those with remainders came */
    double aside;               /* then the least bound of others that were still open, */
    double longest;             /* and the iterations of a compute unit that a better mapping has at most */
    double least[SX_MAX_CRITERIA];
    uint64_t found; /* criteria that have a point, as a mask */
    sx_score score[SX_MAX_CRITERIA];
} sx_optimal_state;

/* What a task works with. */
typedef struct sx_workspace {
    sx_descent *descent;
    sx_remainder_search *remainder_search; /* NULL without remainders */
    sx_cutoff cutoff;
    sx_search_nodes left; /* by a visit */
} sx_workspace;

/* What a visit as a task comes to: its output. It appends the nodes that are left, and the point of `found`
 * where there are several criteria. */
typedef struct sx_visit_result {
    sx_visit_end end;
    bool illegal, found; /* as of the visit and of its cutoff */
    uint64_t steps;
    double value; /* of what was found */
    sx_score score;
} sx_visit_result;

/* The least cycles of a mapping that uses that many compute units. */
static inline double sx_optimal_cycles_on(const sx_model *model, double units) {
    return (double)model->computes / units * model->least_steps * (1 - 1e-12);
}

/* Shared by all tasks, read-only. */
typedef struct sx_optimal {
    sx_run *run;
    const sx_map_space *space;
    sx_map_choices *choices;
    sx_bound *bound;
    sx_latency_bound *latency; /* NULL: no criterion has the tile pipeline's latency */
    sx_imperfect_tiles *tiles; /* NULL without remainders */
    sx_spatial_mappings spatials,
        imperfect;                 /* those whose factors divide; with remainders, all, once these are
                                                searched */
    double access[SX_MAX_TENSORS]; /* the least energy of a word of each tensor */
    sx_score root;                 /* a lower bound of all mappings; 0 where it is not used */
    double least_spread; /* and one of their value, with the root (root.h); -INFINITY where it is not known */
    double
        unsearched; /* the least value of mappings whose factors divide and that are not listed, as they are
                               too many or another search has closed them; INFINITY: there are none */
    bool unlisted;  /* mappings with remainders have one bound only: they come later, or are too many */
    sx_search_node outside; /* that bound */
    size_t arrays;          /* spatial mappings that are listed, at most */
    double most;            /* steps; 0: any number */
    double visit_seconds;   /* of a visit in the last round, where time is limited; 0: none yet */
    sx_prune_rule rule;
    sx_heuristics start;

    size_t state_size;   /* of what a checkpoint had, or of an empty state */
    sx_optimal_state *s; /* and its parts */
    double *sharp;
    uint8_t *searched;
    unsigned char *point;
    sx_search_node *heap;

    sx_cutoff known;         /* at the start of the tasks */
    sx_search_node *picked;  /* the nodes of a round, */
    sx_visit_result *result; /* and what became of them */
    pthread_mutex_t lock;
    size_t n_idle, idle_room; /* under the lock: workspaces */
    sx_workspace *idle;
    bool failed; /* memory is out */
} sx_optimal;

#endif
