/* Statistics of several runs. */
#ifndef SX_SESSION_STATISTICS_H
#define SX_SESSION_STATISTICS_H

#include "base/status.h"
#include "sextant/run.h"

/* Summary statistics. Those that do not exist are NAN: all of them without values, the deviation of one
 * value, the geometric mean unless all values are positive. */
typedef struct sx_statistics {
    size_t n;
    double mean, deviation; /* deviation: the sample's, with n - 1 */
    double geomean;
    double low, high;
} sx_statistics;

sx_statistics sx_statistics_of(const double *value, size_t n);

/* The median, the mean of the two in the middle where n is even; NAN without values. Sorts the values. */
double sx_median_of(double *value, size_t n);

/* A share of successes with its 95% interval (Wilson's). */
typedef struct sx_share {
    double share, low, high;
} sx_share;

sx_share sx_share_of(uint64_t successes, uint64_t tries);

/* The trace of one run: n improvements, ascending, and where the run ended. */
typedef struct sx_run_trace_view {
    const sx_trace_point *point;
    size_t n;
    double end; /* evaluations or seconds */
} sx_run_trace_view;

/* The best so far of several runs over evaluations or seconds: the mean (geometric where all values are
 * positive), the best and the worst of them, from where all of them have found something to where the last of
 * them ended. */
typedef struct sx_convergence {
    size_t n;
    double *x, *mid, *low, *high;
} sx_convergence;

/* Joins traces; runs that found nothing are left out. *out is freed with sx_convergence_fini. */
SX_MUST_USE sx_status sx_convergence_of(const sx_run_trace_view *run, size_t n_runs, bool by_time,
                                        sx_convergence *out);
void sx_convergence_fini(sx_convergence *convergence);

#endif
