/* The inside of an outside evaluator: asking it, and the model of points that does. */
#ifndef SX_SPACE_OUTSIDE_EVALUATOR_H
#define SX_SPACE_OUTSIDE_EVALUATOR_H

#include "sextant/outside_evaluator.h"
#include "sextant/space_type.h"

#include <jansson.h>

/* What an outside evaluator is asked, and what it answers. */
typedef struct sx_question_kind {
    const char *value;   /* the key of a score */
    const char *refusal; /* that of why a point cannot run */
    bool positive;       /* a score is above 0 */
    size_t metric;       /* of the space's own model, which the score replaces; SX_MAX_METRICS: one more */
    const char *name;    /* of that one */
    /* Sets in an object what tells a point from others. */
    sx_status (*describe)(const sx_space *space, const void *point, json_t *object);
} sx_question_kind;

/* Asks about a point. *reason is that of its outcome: 0 and its score is in *value, SX_REFUSED, or
 * SX_NOT_EVALUATED where the search was told to stop. */
SX_MUST_USE sx_status sx_outside_evaluator_ask(sx_outside_evaluator *outside, const sx_question_kind *kind,
                                               SX_TAKE json_t *question, double *value, unsigned *reason);

/* A model that asks, beside a space's own. */
SX_MUST_USE sx_status sx_outside_evaluator_model_new(sx_outside_evaluator *outside, const sx_space *space,
                                                     const sx_question_kind *kind,
                                                     SX_OWN sx_point_model **out);

#endif
