/* Random constraints for a problem and an architecture. */
#ifndef SX_TESTS_RANDOM_LIMITS_H
#define SX_TESTS_RANDOM_LIMITS_H

#include "sextant/constraints.h"
#include "sextant/rng.h"

/* Draws constraints of all kinds, few of each. Some contradict the problem or each other. */
void sx_random_limits(sx_rng *rng, const sx_problem *problem, const sx_arch *arch, sx_constraints *out);

/* A text of them for error messages, in a buffer of the caller's. */
void sx_limits_text(const sx_constraints *constraints, char *text, size_t size);

#endif
