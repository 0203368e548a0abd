/* The objective's value of tiles: exact, or a lower bound where they are known in part. */
#ifndef SX_SYSTOLIC_OBJECTIVE_VALUE_H
#define SX_SYSTOLIC_OBJECTIVE_VALUE_H

#include "systolic/space.h"

typedef struct sx_systolic_objective_value {
    const sx_systolic_space *space;
    const sx_goal *goal;
    bool energy; /* the objective's first criterion needs it */
} sx_systolic_objective_value;

sx_systolic_objective_value sx_systolic_objective_of(const sx_systolic_space *space, const sx_goal *goal);

/* The value of the objective's first criterion for records, tile[kernel][loop]; for records that are lower
 * bounds, a lower bound. INFINITY above the usable BRAM. */
double sx_systolic_objective_apply(const sx_systolic_objective_value *objective, const sx_systolic_plan *plan,
                                   double lanes, sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]);

/* Whether a bound admits a value below `best`. Beyond 2^50 sums are no longer exact, and
 * neither are comparisons. */
bool sx_systolic_promises(double bound, double best);

#endif
