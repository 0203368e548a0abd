/* What a level hands to its children where factors leave remainders. */
#ifndef SX_CHECK_REMAINDER_FLOW_H
#define SX_CHECK_REMAINDER_FLOW_H

#include "check/traffic.h"

/* What all instances of level s hand to their children of a tensor together, by true execution (docs/proof.md, "The
 * evaluator"); `children` is 1, as nothing is per child. False where there is no rule, or a number does not fit, as `doubt`
 * says. */
bool sx_check_remainder_flow(const sx_check_case *c, const sx_check_nest *nest, const sx_mapping *mapping,
                             int tensor, int s, sx_check_flow *out, sx_check_doubt *doubt);

/* The different words that all instances of level s hold over the whole run, each counted for itself; -1: no rule. */
sx_wide sx_check_remainder_partition(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s);

/* The temporal iterations at which the first compute unit has work, which has most of all. */
int64_t sx_check_remainder_steps(const sx_check_case *c, const sx_check_nest *nest);

#endif
