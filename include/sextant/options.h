/* How a model counts, what a space has and how a search goes: one list of options for all three. */
#ifndef SX_OPTIONS_H
#define SX_OPTIONS_H

#include "sextant/cancel.h"
#include "sextant/read.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_options sx_options;
/* The database of results. */
typedef struct sx_store sx_store;
typedef struct sx_mappings sx_mappings;

/* With nothing set: what the command line does when nothing is chosen. */
SX_API SX_MUST_USE sx_status sx_options_new(SX_OWN sx_options **out);
SX_API void sx_options_free(SX_TAKE sx_options *options);

/* Sets an option by its name on the command line without the dashes, to a text as it is written there: ("evals",
 * "1000"), ("mapper", "gamma:population=50"), ("objective", "energy"). A flag is "on" or "off". Unknown names and values
 * are errors. docs/api.md and sx_list_name() list the names. */
SX_API SX_MUST_USE sx_status sx_options_set(sx_options *options, const char *name, const char *value);

/* What the options point to must outlive the searches. NULL takes it back. */

/* Stops searches when it is set. */
SX_API void sx_options_set_cancel(sx_options *options, const sx_cancel *cancel);
/* Documents whose constraints every layer of a network is searched under. */
SX_API void sx_options_set_input(sx_options *options, sx_input *input);
/* Where answers go to, and start points come from. */
SX_API void sx_options_set_store(sx_options *options, sx_store *store);
/* Opens a database, making it where there is none; waits at most `seconds` where another program is writing. */
SX_API SX_MUST_USE sx_status sx_store_open_within(const char *path, double seconds, SX_OWN sx_store **out);
SX_API void sx_store_close(SX_TAKE sx_store *store);

/* A mapping to begin from, in searches of a space; copied. */
SX_API SX_MUST_USE sx_status sx_options_add_start(sx_options *options, const sx_mapping *mapping);

/* Progress, at most ten times a second: the function asks for the figures that it wants. */
typedef struct sx_progress sx_progress;
typedef void sx_watch(void *user, const sx_progress *progress);
SX_API void sx_options_set_watch(sx_options *options, sx_watch *watch, void *user);
typedef enum sx_progress_figure {
    SX_PROGRESS_EVALUATIONS,
    SX_PROGRESS_LIMIT, /* of evaluations; 0: none */
    SX_PROGRESS_SECONDS,
    SX_PROGRESS_BEST,  /* the objective's value; INFINITY: nothing yet */
    SX_PROGRESS_BOUND, /* proven lower bound; 0: none */
    SX_PROGRESS_LAYER, /* of a network; else 0 */
} sx_progress_figure;
SX_API double sx_progress_figure_of(const sx_progress *progress, sx_progress_figure figure);

/* An objective of the caller's own, of the totals of sextant/evaluate.h; smaller is better. In searches of a space. The name
 * is for people. */
typedef double sx_objective_function(void *user, const double *totals, size_t n_totals);
SX_API SX_MUST_USE sx_status sx_options_set_objective(sx_options *options, const char *name,
                                                      sx_objective_function *function, void *user);

/* A cost of the caller's own, of the mappings themselves, minimised in searches of a space: fills cost[i] of every mapping,
 * INFINITY where it cannot run. `totals` are what the model says, n_totals of each. Several threads may call it at once
 * unless "threads" is 1. An error ends the search. */
typedef sx_status sx_cost_function(void *user, const sx_mappings *mappings, const double *totals,
                                   size_t n_totals, double *cost);
SX_API void sx_options_set_cost(sx_options *options, sx_cost_function *function, void *user);

#ifdef __cplusplus
}
#endif

#endif
