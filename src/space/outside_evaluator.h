/* The inside of an outside evaluator: asking it, and the model of points that does. */
#ifndef SX_SPACE_OUTSIDE_EVALUATOR_H
#define SX_SPACE_OUTSIDE_EVALUATOR_H

#include "base/text.h"
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

/* Asks about a point, which the question describes. *reason is that of its outcome: 0 and its score is in *value, SX_REFUSED, or
 * SX_NOT_EVALUATED where the search was told to stop. */
SX_MUST_USE sx_status sx_outside_evaluator_ask(sx_outside_evaluator *outside, const sx_question_kind *kind,
                                               const void *point, SX_TAKE json_t *question, double *value,
                                               unsigned *reason);

/* Adds to an identity all that decides an evaluator's answers; NULL: there is none. */
void sx_outside_evaluator_identity(const sx_outside_evaluator *outside, sx_text *text);

/* How many answers about a point that would be the best are asked for. */
unsigned sx_outside_evaluator_repeats(const sx_outside_evaluator *outside);

/* Where answers are kept between runs of the program. Questions are texts, equal for equal points. A value is infinite where the
 * point was refused. */
typedef struct sx_answer_keeper {
    void *user;
    bool (*find)(void *user, const char *question, double *value); /* false where there is none */
    sx_status (*keep)(void *user, const void *point, const char *question, double value);
} sx_answer_keeper;

/* Answers of an evaluator are looked for and kept there from now on; NULL: no longer. */
void sx_outside_evaluator_set_keeper(sx_outside_evaluator *outside, const sx_answer_keeper *keeper);

/* Sets the best score of the space at hand: points with a better first answer are asked about again. */
void sx_outside_evaluator_set_incumbent(sx_outside_evaluator *outside, double best);

/* A model that asks, beside a space's own. */
SX_MUST_USE sx_status sx_outside_evaluator_model_new(sx_outside_evaluator *outside, const sx_space *space,
                                                     const sx_question_kind *kind,
                                                     SX_OWN sx_point_model **out);

/* The evaluator that a model asks; NULL where it is another model. */
sx_outside_evaluator *sx_outside_evaluator_of(const sx_point_model *model);

/* What the evaluator answered so far, over all layers: for each answer the features of the point, d of them, and the
 * logarithm of measured over modelled. Those of another d are not seen. Where memory is out an answer is forgotten. */
void sx_outside_evaluator_remember(sx_outside_evaluator *outside, size_t d, const double *features,
                                   double ratio);
const double *sx_outside_evaluator_remembered(const sx_outside_evaluator *outside, size_t d, size_t *n);

/* Notes what the next answer is expected to be. */
void sx_outside_evaluator_expect(sx_outside_evaluator *outside, double value);

#endif
