/* The search of a plan with proof: inner optima are searched one by one, those first on which the best plan by lower
 * bounds rests. The lower bound of the whole holds at every moment. */
#ifndef SX_FUSE_PLAN_SEARCH_H
#define SX_FUSE_PLAN_SEARCH_H

#include "fuse/plan.h"
#include "sextant/fused.h"

enum { SX_MAX_PLANS = SX_MAX_FUSED };

typedef struct sx_plan_answer {
    sx_plan plan;    /* the best known */
    size_t n_others; /* after it, the next best */
    sx_plan other[SX_MAX_PLANS - 1];
    double lower_bound; /* of the weight of every plan */
    bool stopped;       /* before it was complete */
} sx_plan_answer;

/* An inner optimum of a plan. */
typedef struct sx_plan_use {
    size_t optimum;
    double times;
    double open; /* how much its bound may rise in the plan's sum; set by who asks */
} sx_plan_use;

/* Adds the inner optima of a plan, and how often each counts, to a vector of sx_plan_use. */
SX_MUST_USE sx_status sx_plan_list_uses(const sx_plan_space *space, const sx_plan *plan, sx_vector *out);

/* Makes uses of the same inner optimum one, in the order of the first of each. */
void sx_plan_merge_uses(sx_vector *uses);

/* Sorts uses by what they leave open, the most first. */
void sx_plan_sort_uses(sx_vector *uses);

/* Searches the k best plans, or until the weight of the best is at most the share `gap` above the lower bound, or until the
 * lower bound is at least `cutoff`. *out is freed with sx_plan_answer_fini, also after an error. */
SX_MUST_USE sx_status sx_plan_search(const sx_plan_space *space, double gap, double cutoff, size_t k,
                                     sx_plan_stop *stop, void *user, sx_plan_answer *out);
void sx_plan_answer_fini(sx_plan_answer *answer);

#endif
