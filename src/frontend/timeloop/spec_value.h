/* Values of constraints that the front end of Timeloop 0.4 computes: ("X=" + str(BITS)), f"X={BITS}", len(spec.problem.instance),
 * attributes.depth. */
#ifndef SX_FRONTEND_TIMELOOP_SPEC_VALUE_H
#define SX_FRONTEND_TIMELOOP_SPEC_VALUE_H

#include "frontend/input.h"

/* What such a value may refer to beside variables; all but the input may be NULL. */
typedef struct sx_spec_scope {
    sx_input *input;
    const sx_problem *problem;
    const sx_storage *level;   /* the component of the constraint */
    const sx_node *attributes; /* of the node that has the constraint */
} sx_spec_scope;

/* The text of a scalar; one with quotes in it is computed. It lives as long as the input. */
SX_MUST_USE sx_status sx_spec_text(const sx_spec_scope *scope, const sx_node *node, const char **out);

/* A whole number from `low` to `high`; one that is computed and larger counts as `high`. */
SX_MUST_USE sx_status sx_spec_count(const sx_spec_scope *scope, const sx_node *node, const char *what,
                                    uint64_t low, uint64_t high, uint64_t *out);

#endif
