/* What the conformance tests search, and how they look at what came out. */
#ifndef SX_CONFORM_GROUND_H
#define SX_CONFORM_GROUND_H

#include "base/text.h"
#include "registry/registry.h"

/* A space to search, with what it needs. */
typedef struct ground {
    const char *name;
    sx_model *model; /* NULL: none */
    sx_space *space;
    bool small; /* an exhaustive search comes to its end */
} ground;

enum { MAX_GROUNDS = 12 };

/* The spaces that a navigator accepts, which it may refuse as too large with SX_ERR_LIMIT; returns how many.
 */
size_t grounds_open(const char *name, const sx_navigator *navigator, ground *out);
void grounds_close(ground *grounds, size_t n);

/* Makes sure that a navigator that needs surrogates finds one for every ground. */
void make_surrogates(const ground *grounds, size_t n);

/* A finished search: the run (freed by the caller) after it searched; fails the test on an error. */
SX_OWN sx_run *searched(const ground *g, const char *navigator, const sx_run_options *options);

/* All that a run found, as text that is equal where runs are; without the clock, and without `stop` and
 * counts of the cache. */
SX_OWN char *account(const sx_run *run, size_t point_size);

/* Fails the test unless the two are equal; `what` says what was compared. */
void expect_same(const char *expected, const char *found, const char *what);

/* The promise that damage.c holds navigators to. */
void damaged_checkpoints_are_refused_or_harmless(const char *navigator, uint64_t evaluations,
                                                 const ground *grounds, size_t n);

/* What a space's own model says of a point; fails the test where it is not legal. */
sx_outcome score_of(const ground *g, const sx_objective *objective, const void *point);

#endif
