/* A model of points that asks a function of the caller's. */
#ifndef SX_API_OWN_COST_H
#define SX_API_OWN_COST_H

#include "api/options.h"

typedef struct sx_own_cost {
    sx_point_model model;
    const sx_space *space;
    const sx_options *options;
} sx_own_cost;

/* Makes the model of a map space's points, and the objective that minimises it; both borrow the space and the options. */
SX_MUST_USE sx_status sx_own_cost_init(const sx_space *space, const sx_options *options, sx_own_cost *out,
                                       sx_objective *objective);

#endif
