/* The search of a plan with proof: inner optima are searched one by one, those first on which the best plan by lower
 * bounds rests. The lower bound of the whole holds at every moment. */
#ifndef SX_FUSE_PLAN_SEARCH_H
#define SX_FUSE_PLAN_SEARCH_H

#include "fuse/plan.h"

typedef struct sx_plan_answer {
    sx_plan plan;       /* the best known */
    double lower_bound; /* of the weight of every plan */
    bool stopped;       /* before it was complete */
} sx_plan_answer;

/* Whether a search should stop, asked before each inner optimum. */
typedef bool sx_plan_stop(void *user);

/* Searches the best plan, or one whose weight is at most the share `gap` above the lower bound. *out is freed with
 * sx_plan_fini(&out->plan), also after an error. */
SX_MUST_USE sx_status sx_plan_search(const sx_plan_space *space, double gap, sx_plan_stop *stop, void *user,
                                     sx_plan_answer *out);

#endif
