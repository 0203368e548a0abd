/* Internals of a scorer, for callers that already have the goal. */
#ifndef SX_SPACE_SCORER_H
#define SX_SPACE_SCORER_H

#include "ir/goal.h"
#include "sextant/space_type.h"

struct sx_scorer {
    const sx_space *space;
    const sx_point_model *model;
    const sx_goal *goal;
    void *workspace;
};

/* The objective as a goal for a model of a space; an error where the model does not measure what it needs. */
SX_MUST_USE sx_status sx_scorer_goal_init(const sx_space *space, const sx_point_model *model,
                                          const sx_objective *objective, sx_goal *out);

/* A scorer in the caller's memory, for a goal that outlives it. sx_scorer_fini may be called on zeros. */
SX_MUST_USE sx_status sx_scorer_init(sx_scorer *scorer, const sx_space *space, const sx_point_model *model,
                                     const sx_goal *goal);
void sx_scorer_fini(sx_scorer *scorer);

/* A hash of what decides a point's score. */
void sx_scorer_key(const sx_scorer *scorer, const void *point, uint64_t key[2]);

#endif
