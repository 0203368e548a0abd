/* --evaluator: an outside evaluator for the commands that search with one. */
#ifndef SX_CLI_EVALUATOR_H
#define SX_CLI_EVALUATOR_H

#include "base/text.h"
#include "cli/options.h"
#include "sextant/outside_evaluator.h"

#define SX_OPTIONS_EVALUATOR                                                                                 \
    SX_ROW_ONCE(                                                                                             \
        "evaluator", 0, "exec:COMMAND", TEXT,                                                                \
        "a program of your own that scores: a line of JSON in, a line of JSON out (docs/evaluator.md)"),     \
        SX_ROW_ONCE("evaluator-time", 0, "SECONDS", NUMBER,                                                  \
                    "time limit for an answer of the evaluator (60)"),                                       \
        SX_ROW_ONCE(                                                                                         \
            "evaluator-repeats", 0, "N", COUNT,                                                              \
            "answers about a point that would be the best, of which the mean counts: for noise (1)"),        \
        SX_ROW_ONCE("evaluator-restarts", 0, "N", COUNT,                                                     \
                    "how often an evaluator that fails is started again (10)")

/* Makes the outside evaluator of --evaluator; *out is NULL without it. The search has one thread then. */
SX_MUST_USE sx_status sx_evaluator_read(const sx_args *args, SX_OWN sx_outside_evaluator **out);

/* Adds how often an outside evaluator was started again, and why. */
void sx_evaluator_note(const sx_outside_evaluator *outside, bool quiet, sx_text *err);

#endif
