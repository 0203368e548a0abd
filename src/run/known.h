/* Evaluations of points whose score, or a bound of it, a mapper knows without asking sx_worker_evaluate. They count
 * as any other. */
#ifndef SX_RUN_KNOWN_H
#define SX_RUN_KNOWN_H

#include "sextant/navigator.h"

/* The workspace of the worker's model, which must be of a type; NULL where all scores must come from
 * sx_worker_evaluate: the model is of another type, or the run has a cache. */
void *sx_worker_workspace(sx_worker *worker, const sx_point_model_type *type);

/* The value beyond which a point need not be scored; INFINITY: all must be. */
double sx_worker_cutoff(const sx_worker *worker);

/* Counts a legal point whose value is at least `least`, if that is beyond the cutoff; false: it is not, and must be
 * evaluated. */
bool sx_worker_pass(sx_worker *worker, double least, sx_outcome *outcome);

/* The same for n legal points at once, of which as many count as the run still wants. */
bool sx_worker_pass_all(sx_worker *worker, double least, uint64_t n);

/* Counts a legal point of these metrics, as sx_worker_evaluate does within the cutoff. */
sx_outcome sx_worker_record(sx_worker *worker, const void *point, const sx_metrics *metrics);

/* Makes the point of the space that `compact` stands for. */
typedef void sx_expander(const void *user, const void *compact, void *point);

/* Counts a legal point of these metrics, as sx_worker_evaluate does; with `within`, within the cutoff. The point is made only where
 * it may matter to the run. */
sx_outcome sx_worker_record_compact(sx_worker *worker, const sx_metrics *metrics, bool within,
                                    sx_expander *expand, const void *user, const void *compact);

#endif
