/* Search where points are measured by an outside evaluator and the cost model is at hand: questions are few. */
#ifndef SX_MAPPERS_MEASURED_H
#define SX_MAPPERS_MEASURED_H

#include "run/navigator.h"
#include "run/registered.h"

/* Whether the points of a run are measured, beside the cost model of their map space. */
bool sx_is_measured(const sx_run *run);

enum { SX_PROPOSALS = 7 }; /* points of the model at most */

/* How proposals are searched. */
typedef struct sx_proposing {
    const char *navigator;
    const sx_registry *registry; /* that has it */
    uint64_t seed;
    const sx_cancel *cancel; /* may be NULL */
} sx_proposing;

/* Finds points to ask about first, best by a space's own model: by energy-delay product the optimum and those next to it, then
 * the optima by delay and by energy. `points` has room for SX_PROPOSALS; *n becomes how many there are. */
SX_MUST_USE sx_status sx_measured_propose(const sx_space *space, const sx_proposing *how, void *points,
                                          size_t *n);

/* Searches by questions. The first are the model's optimum by energy-delay product, found (and mostly proven) by the
 * navigator `proposals`, the next best, and the optima by delay and by energy. Each further one is the point with the largest
 * expected improvement of the model times its correction, which is learned from all answers so far. */
SX_MUST_USE sx_status sx_measured_search(sx_run *run, const char *proposals);

#endif
