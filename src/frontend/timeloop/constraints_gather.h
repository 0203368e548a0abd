/* Constraints being gathered for one problem and architecture: what they limit, and where each limit is
 * written. */
#ifndef SX_FRONTEND_TIMELOOP_CONSTRAINTS_GATHER_H
#define SX_FRONTEND_TIMELOOP_CONSTRAINTS_GATHER_H

#include "frontend/timeloop/constraint_text.h"

/* Where the limits of a slot are written; a place without a file: nowhere. */
typedef struct sx_slot_places {
    sx_place min[SX_MAX_DIMS], max[SX_MAX_DIMS];
    sx_place order;
    const sx_node *maximize,
        *capacity; /* dimensions to be maximized, and up to what; NULL: none, the fan-out */
} sx_slot_places;

typedef struct sx_gathering {
    sx_input *input;
    const sx_problem *problem;
    const sx_arch *arch;
    bool remainders; /* the text expects factors that do not divide */
    bool completes;  /* spatial orders are completed as by the front end of Timeloop 0.4 */
    sx_constraints limits;
    sx_slot_places slot[2 * SX_MAX_LEVELS]; /* of level s: 2s spatial, 2s + 1 temporal */
    sx_place split[SX_MAX_LEVELS];
    sx_place keep[SX_MAX_LEVELS][SX_MAX_TENSORS], bypass[SX_MAX_LEVELS][SX_MAX_TENSORS];
    sx_place parallelism;
} sx_gathering;

/* The limits of a slot, 2s for the spatial loops of level s and 2s + 1 for its temporal ones. */
static inline sx_loop_limits *sx_slot_limits(sx_gathering *g, int slot) {
    sx_level_limits *level = &g->limits.level[slot / 2];
    return slot % 2 ? &level->temporal : &level->spatial;
}

/* Adds a constraint on the loops of a level; a level of -1 has none, so that nothing but factors of 1 can be
 * asked of it. */
SX_MUST_USE sx_status sx_gather_loops(sx_gathering *gathering, const sx_constraint *constraint, int level);

/* Adds the kinds of reuse that a constraint on loops forbids at a level (-1: nothing to forbid). */
SX_MUST_USE sx_status sx_gather_reuse(sx_gathering *gathering, const sx_constraint *constraint, int level);

/* Adds the tensors of `no_coalesce` at a level (-1: none). */
SX_MUST_USE sx_status sx_gather_coalescing(sx_gathering *gathering, const sx_constraint *constraint,
                                           int level);

/* Gives dimensions that are to be maximized their factors; then ignores fixed factors that do not divide what
 * the ones inside them leave, as Timeloop does, unless remainders are allowed. */
SX_MUST_USE sx_status sx_gathering_settle(sx_gathering *gathering);

/* Refuses limits that no mapping can keep, naming the constraints they come from. */
SX_MUST_USE sx_status sx_gathering_check(sx_gathering *gathering);

#endif
