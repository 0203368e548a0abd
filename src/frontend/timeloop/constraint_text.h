/* Constraints as they are written: in sections of targets, or beside the parts of an architecture. */
#ifndef SX_FRONTEND_TIMELOOP_CONSTRAINT_TEXT_H
#define SX_FRONTEND_TIMELOOP_CONSTRAINT_TEXT_H

#include "frontend/input.h"

/* How the keys of lists begin that `constraints: NAME` refers to. */
#define SX_CONSTRAINTS_OF "constraints_"

typedef enum sx_constraint_type {
    SX_TEMPORAL_CONSTRAINT,
    SX_SPATIAL_CONSTRAINT,
    SX_TENSOR_CONSTRAINT,
    SX_PARALLELISM_CONSTRAINT,
    SX_OVERBOOKING_CONSTRAINT,
} sx_constraint_type;

typedef struct sx_constraint {
    sx_constraint_type type;
    const char *name;    /* of the type, such as "datatype" */
    const char *target;  /* what it is for */
    sx_place place;      /* where that is named */
    const char *section; /* the key of its section; NULL where it stands beside its target */
    const sx_node *map;  /* its keys; not checked yet */
} sx_constraint;

typedef sx_status sx_constraint_visitor(void *user, const sx_constraint *constraint);

/* Shows all constraints of the sections, in their order, and stops at the first error. The section `mapspace`
 * is about searches alone. */
SX_MUST_USE sx_status sx_constraints_in_sections(const sx_input *input, bool search,
                                                 sx_constraint_visitor *each, void *user);

/* Checks the keys of a section that holds a list of constraints, which is `what` in messages. */
SX_MUST_USE sx_status sx_constraints_check(sx_input *input, const sx_node *value, const char *what);

/* Shows the constraints of `constraints:` beside a part of that name; `node` may be NULL. */
SX_MUST_USE sx_status sx_constraints_beside(const sx_node *node, const char *name,
                                            sx_constraint_visitor *each, void *user);

/* Checks the keys of a constraint. */
SX_MUST_USE sx_status sx_constraint_check(sx_input *input, const sx_constraint *constraint);

#endif
