/* An outside evaluator: a program of the user's own that scores points, such as a simulator or the driver of a real
 * chip. It is started once, gets one question per line of its standard input as JSON, and answers each with one
 * line of JSON on its standard output. docs/evaluator.md has the protocol.
 *
 * An outside evaluator that dies, answers late or with nonsense is started again and asked again. A point that it fails on
 * twice counts as illegal. When it was restarted as often as allowed, or has never answered, the search ends with
 * an error, and what was found before stands. */
#ifndef SX_OUTSIDE_EVALUATOR_H
#define SX_OUTSIDE_EVALUATOR_H

#include "sextant/error.h"
#include "sextant/point_model.h"

typedef struct sx_outside_evaluator sx_outside_evaluator;

typedef struct sx_outside_evaluator_options {
    const char *command;     /* of the shell */
    double seconds;          /* that it has for an answer */
    unsigned restarts;       /* at the most */
    const sx_cancel *cancel; /* when it is set, the outside evaluator is ended at once; may be NULL */
    unsigned repeats;        /* answers about a point that would be the best: their mean counts */
} sx_outside_evaluator_options;

/* No command, 60 seconds, 10 restarts, one answer. */
void sx_outside_evaluator_options_init(sx_outside_evaluator_options *options);

/* An outside evaluator; its program is started with the first question. What the options point to must outlive it, the
 * command aside. */
SX_MUST_USE sx_status sx_outside_evaluator_new(const sx_outside_evaluator_options *options,
                                               SX_OWN sx_outside_evaluator **out);
/* Closes the program's input, and kills it where it does not end within a second. */
void sx_outside_evaluator_free(SX_TAKE sx_outside_evaluator *outside);

/* What happened so far. */
typedef struct sx_outside_evaluator_account {
    uint64_t questions; /* that it was asked, repeated ones among them */
    uint64_t recalled;  /* others, whose answers a database had */
    uint64_t refused;   /* those that it said cannot run */
    uint64_t failed;    /* those that it gave no answer to, twice */
    unsigned restarts;  /* of its program */
    uint64_t failed_at; /* the question of the last failure; 0: none */
    char failure[256];  /* what that was */
    double expected;    /* of the last answer, before it was asked for; 0: nothing was expected */
    char refusal[128];  /* what it said of the last point that it refused */
} sx_outside_evaluator_account;
sx_outside_evaluator_account sx_outside_evaluator_report(const sx_outside_evaluator *outside);
const char *sx_outside_evaluator_command(const sx_outside_evaluator *outside);

/* A model that asks the outside evaluator about the legal points of a map space, or of a space of placements; both must
 * outlive it. Threads take turns. Freed with sx_outside_evaluator_model_free(). */
SX_MUST_USE sx_status sx_outside_evaluator_map_model(sx_outside_evaluator *outside, const sx_space *space,
                                                     SX_OWN sx_point_model **out);
SX_MUST_USE sx_status sx_outside_evaluator_placement_model(sx_outside_evaluator *outside,
                                                           const sx_space *space,
                                                           SX_OWN sx_point_model **out);
void sx_outside_evaluator_model_free(SX_TAKE sx_point_model *model);

/* The objective of searches of a map space with an outside evaluator: the number that it answers, "judged". */
#define SX_JUDGED "judged"
void sx_outside_evaluator_objective(sx_objective *out);

#endif
