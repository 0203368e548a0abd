/* What the walks of the exhaustive search share: by mappings (exhaustive.c) and by compact points (exhaustive_compact.c). */
#ifndef SX_MAPPERS_EXHAUSTIVE_H
#define SX_MAPPERS_EXHAUSTIVE_H

#include "mappers/keep_sweep.h"
#include "mapspace/map_choices.h"
#include "run/compact.h"

enum { SX_EXHAUSTIVE_SWEPT = 1024 }; /* choices of what to keep that are swept together */

/* Shared by all tasks, read-only. */
typedef struct sx_exhaustive_plan {
    const sx_map_space *space;
    const sx_objective *objective;
    sx_map_choices *choices;
    sx_compact_search *compact;       /* what compact points are walked by; NULL: points are the space's */
    uint64_t total, chunk, from;      /* factorisations: all, of a task, before the first task */
    uint64_t weight[SX_MAX_DIMS + 1]; /* factorisations that begin alike up to a dimension */
} sx_exhaustive_plan;

/* A walk over the factorisations of a task. Dimensions get their splits one after another: `set` gives dimension d split number
 * `index` and says whether some mapping that begins so can be legal. `visit` goes through the mappings of a factorisation and says
 * whether the walk goes on. */
typedef struct sx_exhaustive_walk {
    bool (*set)(void *user, int d, uint64_t index);
    bool (*visit)(void *user);
    void *user;
} sx_exhaustive_walk;

void sx_exhaustive_walk_task(const sx_exhaustive_plan *plan, size_t task, sx_worker *worker,
                             const sx_exhaustive_walk *walk);

/* A task by compact points. */
sx_status sx_exhaustive_compact_task(const void *input, size_t task, sx_worker *worker, void *output);

#endif
