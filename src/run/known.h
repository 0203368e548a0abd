/* Evaluations of points whose score is bounded without asking sx_worker_evaluate. They count as any other. */
#ifndef SX_RUN_KNOWN_H
#define SX_RUN_KNOWN_H

#include "sextant/navigator.h"

/* Counts a legal point whose value is at least `least`, if that is beyond the cutoff; false: it is not, and must be
 * evaluated. */
bool sx_worker_pass(sx_worker *worker, double least, sx_outcome *outcome);

#endif
