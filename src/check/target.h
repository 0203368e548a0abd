/* What must be shown of every mapping: that its value is not below the claim's. */
#ifndef SX_CHECK_TARGET_H
#define SX_CHECK_TARGET_H

#include "check/cost.h"
#include "check/lattice.h"
#include "sextant/independent.h"

#include <stdatomic.h>

/* A point of a front. */
typedef struct sx_check_corner {
    sx_wide energy;
    int64_t cycles;
} sx_check_corner;

/* What mappings must reach: energy^a cycles^b, of which the exponents are the goal's, a value; or a front, which is that
 * some point of it has no more energy and no more cycles. */
typedef struct sx_check_target {
    sx_check_goal goal;
    sx_wide value;                  /* where no exponent is above 1 */
    sx_wide said;                   /* the same as the certificate says it; 0: nothing is */
    double excess;                  /* by what share more the certificate says, where the model rounds up */
    sx_long_product needed, spread; /* else: energy^a cycles^b spread is at least needed */
    size_t n_corners;               /* 0: no front */
    sx_check_corner *corner;        /* more cycles and less energy from one to the next */
    /* NULL, or three, one of the first two of which must be reached besides: the second criterion, the first by what
     * tells it from its least value, the first alone. */
    struct sx_check_target *tie;
} sx_check_target;

void sx_check_target_fini(sx_check_target *target);

/* Whether energy and cycles of at least these reach the target; the same for an energy of num / den, false where that
 * cannot be computed. */
bool sx_check_reaches(const sx_check_target *target, sx_wide energy, int64_t cycles);
bool sx_check_fraction_reaches(const sx_check_target *target, sx_wide num, int64_t den, int64_t cycles);

/* The value of a cost under a goal without an exponent above 1; false where it does not fit. */
bool sx_check_value(sx_check_goal goal, sx_wide energy, int64_t cycles, sx_wide *out);

/* Whether a cost that does not reach the target is no better than the certificate says where the model counts a cycle
 * more. */
bool sx_check_is_rounded(const sx_check_target *target, const sx_check_cost *cost);

/* The least energy that reaches the target together with some cycles; no more than 2^100. Not of a front. */
sx_wide sx_check_least_energy(const sx_check_target *target, int64_t cycles);
/* The least cycles that reach it together with some energy; no more than 2^61. */
int64_t sx_check_least_cycles(const sx_check_target *target, sx_wide energy);

/* Whether the mappings of a case are in the space and cost what is claimed: sets out->verdict, which holds where they do,
 * and the target, which is freed with sx_check_target_fini. `doubt` has the reason where they do not. `more`: see
 * sx_check_trial. */
SX_MUST_USE sx_status sx_check_points(const sx_check_space *space, int64_t more, sx_check_target *target,
                                      sx_independent_report *out, sx_check_doubt *doubt);

/* Whether the best mapping is in the space and has the energy and cycles that are claimed, which go to `out`; *said are the
 * cycles that the model's doubles make of it, a cycle more where a port is full. */
sx_independent_verdict sx_check_best(const sx_check_space *space, sx_independent_report *out, double *said,
                                     sx_check_doubt *doubt);

/* What all threads of a check share. */
typedef struct sx_check_work {
    const sx_check_space *space;
    const sx_check_shape *shape;
    sx_check_target target;
    sx_check_prices energy;
    int64_t latency; /* cycles that networks add to every mapping */
    const sx_independent_options *options;
    bool walk_only; /* rules T1 to T4 close nothing */
    bool any_count; /* the number of spatial mappings is not compared with the certificate's */
    double end;     /* by the clock; 0: none */
    atomic_bool over, stopped;
    atomic_uint_fast64_t evaluations;
} sx_check_work;

/* What one thread found out. */
typedef struct sx_check_found {
    uint64_t outlines, compulsory, tiles, ports, walked;
    uint64_t steps; /* of the walks */
    sx_status status;
    sx_check_doubt doubt; /* why something stays undecided */
    bool below;           /* a mapping is */
    bool rounded;         /* one is only because it is counted without rounding */
    sx_mapping mapping;   /* this one, or of those rounded the best */
    sx_check_cost cost;
} sx_check_found;

/* Holds a mapping's cost against the target: what is below it goes to `found`. */
void sx_check_judge(const sx_check_target *target, const sx_mapping *mapping, const sx_check_cost *cost,
                    sx_check_found *found);

/* A mapping without loops that keeps some tensors, with the directives against reuse that all mappings of the space have. */
void sx_check_mapping_init(const sx_check_case *c, const unsigned *keep, sx_mapping *out);

/* What every mapping of an outline costs besides flows at some prices: multiply-accumulates, words that units take, leakage. */
sx_wide sx_check_shared(const sx_check_outline *o, const sx_check_prices *prices);

/* Flows of an outline that reach the target whatever the cycles; SX_CHECK_NONE where no number of them does. */
int64_t sx_check_enough(const sx_check_work *work, const sx_check_outline *o);

/* Whether to end early: cancelled, out of time, or decided by another thread. */
bool sx_check_is_over(sx_check_work *work);

/* How a test bends a check: rules T1 to T4 close nothing; the target is more than what the mapping costs, in energy (of
 * the smallest unit) or cycles; the number of spatial mappings is not compared. */
typedef struct sx_check_trial {
    bool walk_only;
    int64_t more;
    bool any_count;
} sx_check_trial;

/* Checks a case that was read, with a doubt from reading it; `trial` may be NULL. */
SX_MUST_USE sx_status sx_check_decide(const sx_check_case *c, const sx_independent_options *options,
                                      const sx_check_trial *trial, sx_check_doubt *doubt,
                                      sx_independent_report *out);

/* T4: whether ports and energy together close an outline whose energy is at least this. */
SX_MUST_USE sx_status sx_check_ports(const sx_check_work *work, sx_check_lattice *lattice,
                                     const sx_check_outline *o, sx_wide energy, bool *closed);

/* T8: enumerates the mappings of an outline that the tables leave, and evaluates them. */
void sx_check_walk(sx_check_work *work, sx_check_lattice *lattice, const sx_check_outline *o,
                   sx_check_found *found);

#endif
