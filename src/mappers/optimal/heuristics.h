/* The primal heuristics: searches beside the proof. */
#ifndef SX_MAPPERS_OPTIMAL_HEURISTICS_H
#define SX_MAPPERS_OPTIMAL_HEURISTICS_H

#include "mapspace/map_choices.h"
#include "sextant/navigator.h"

/* Whether nothing but time limits a run. */
static inline bool sx_run_timed(const sx_run *run) {
    return sx_run_time(run) > 0 && sx_run_left(run) == UINT64_MAX;
}

/* Whether there is so little time that a proof may not get anywhere. */
static inline bool sx_run_hurried(const sx_run *run) {
    return sx_run_timed(run) && sx_run_time(run) < 5;
}

/* The primal heuristics: searches beside the proof (heuristics.c). */
typedef struct sx_heuristics {
    sx_run *run;
    const sx_map_space *space;
    sx_map_choices *choices;
    uint64_t spatials;     /* ways to spread loops */
    uint64_t listing;      /* steps of the proof that bound all of them, */
    uint64_t likely;       /* and those that a good incumbent leaves open */
    uint64_t sunstone;     /* of them, where it is called at once, at most; 0: it is never called */
    uint64_t gamma;        /* evaluations of it, at most */
    uint64_t walks, moves; /* descents by random moves */
} sx_heuristics;

/* What comes one after another: until all spatial mappings are bounded, then where there are few of them,
 * then in long proofs. */
enum sx_optimal_stage {
    SX_OPTIMAL_STARTS,
    SX_OPTIMAL_GAMMA,
    SX_OPTIMAL_LISTING,
    SX_OPTIMAL_FEW,
    SX_OPTIMAL_LONG,
    SX_OPTIMAL_ALL
};

/* How far polishing has come; zero at first. */
typedef struct sx_polish_state {
    uint64_t evaluations, walks;
    double value; /* of the last incumbent that was polished */
} sx_polish_state;

/* How far these have come; zero at first. */
typedef struct sx_heuristics_state {
    uint64_t stage, walks;
    uint64_t first;       /* evaluations of Gamma before the bounds */
    uint64_t target;      /* and up to which it may go now; 0: not called */
    uint64_t from, until; /* of Sunstone; until 0: not called */
    uint64_t other;       /* steps that count for what it took */
    uint64_t early;       /* Sunstone and Gamma have had their turn, as time is short */
    sx_polish_state polish;
} sx_heuristics_state;

/* Finds an answer before anything else, where time is short. */
SX_MUST_USE sx_status sx_heuristics_hurry(const sx_heuristics *start);

/* Finds a good answer before the proof. */
SX_MUST_USE sx_status sx_heuristics_first(const sx_heuristics *start, sx_heuristics_state *at);

/* Gives these searches what is due to them after a given number of steps of the proof: all there is after
 * SX_ANY_STEPS. */
#define SX_ANY_STEPS (UINT64_MAX / 2)
SX_MUST_USE sx_status sx_heuristics_share(const sx_heuristics *start, sx_heuristics_state *at,
                                          uint64_t steps);

#endif
