/* What one mapping costs, in integers: docs/model.md, sections 1 to 6, for exact factors. */
#ifndef SX_CHECK_COST_H
#define SX_CHECK_COST_H

#include "check/case.h"

typedef enum sx_check_legality {
    SX_COST_LEGAL,
    SX_COST_ILLEGAL,
    SX_COST_UNDECIDED, /* a rule is missing, or a number does not fit: see the doubt */
} sx_check_legality;

typedef struct sx_check_cost {
    sx_wide energy; /* in units of 1 / scale pJ */
    int64_t cycles;
} sx_check_cost;

/* The cost of a mapping of the case's problem on its machine, and whether it can run there: factors, mesh, keeping,
 * capacities. Whether it is in the space (limits, banks that bypass, options) is another matter. Where it is illegal,
 * `doubt` says why. Threads may call it at the same time. */
sx_check_legality sx_check_evaluate(const sx_check_case *c, const sx_mapping *mapping, sx_check_cost *out,
                                    sx_check_doubt *doubt);

#endif
