/* Evaluating the mappings of one factorisation under many choices of what to keep: what all of them share is counted
 * once, and those that a bound shows to be beyond the incumbent are not scored. Outcomes and counts are those of
 * sx_worker_evaluate. */
#ifndef SX_MAPPERS_KEEP_SWEEP_H
#define SX_MAPPERS_KEEP_SWEEP_H

#include "mapspace/map_space.h"
#include "run/known.h"

struct sx_core_scorer;

typedef struct sx_keep_sweep {
    sx_worker *worker;
    const sx_map_space *space;
    const sx_objective *objective;
    struct sx_core_scorer *core; /* NULL: choices are scored one by one */
    bool bounded;                /* values of a factorisation's mappings are */
    sx_score minimum;            /* that no mapping goes below */
    double least;                /* value of the factorisation's mappings */
    bool open;                   /* the core has the point */
} sx_keep_sweep;

/* A sweep on a worker whose model is the space's own. */
sx_keep_sweep sx_keep_sweep_make(const sx_map_space *space, sx_worker *worker, const sx_objective *objective);

/* Takes note of a point's factors or of the compute units that they use, of its orders or array. */
void sx_keep_sweep_factors(sx_keep_sweep *sweep, const void *point);
void sx_keep_sweep_units(sx_keep_sweep *sweep, double units);
static inline void sx_keep_sweep_moved(sx_keep_sweep *sweep) {
    sweep->open = false;
}

/* Counts a legal mapping of the factorisation where none can matter; false: it must be evaluated. */
static inline bool sx_keep_sweep_pass(sx_keep_sweep *sweep, sx_outcome *outcome) {
    return sx_worker_pass(sweep->worker, sweep->least, outcome);
}

/* Evaluates the point where levels keep a choice that is legal, the sum of sx_kept_at of all of them; the point may
 * get these keeps. The banks of a point must be those of the choice already. */
sx_outcome sx_keep_sweep_evaluate(sx_keep_sweep *sweep, void *point, uint64_t levels);

#endif
