/* Search where points are measured by an outside evaluator and the cost model is at hand: questions are few. */
#ifndef SX_MAPPERS_MEASURED_H
#define SX_MAPPERS_MEASURED_H

#include "run/navigator.h"

/* Whether the points of a run are measured, beside the cost model of their map space. */
bool sx_is_measured(const sx_run *run);

/* Searches by questions. The first are the model's optimum by energy-delay product, found (and mostly proven) by the
 * navigator `proposals`, the next best, and the optima by delay and by energy. Each further one is the point with the largest
 * expected improvement of the model times its correction, which is learned from all answers so far. */
SX_MUST_USE sx_status sx_measured_search(sx_run *run, const char *proposals);

#endif
