/* The runs of a result's network: totals, vector operators and what they come to on the machine. */
#ifndef SX_REPORT_RUNS_H
#define SX_REPORT_RUNS_H

#include "report/serving.h"

/* The runs of a result as they are served, whose number becomes *n: none where the architecture has no clock, or where the
 * network is no run. Each is freed with sx_serving_fini, also after an error. */
enum { SX_MOST_RUNS = 2 };
SX_MUST_USE sx_status sx_runs_serve(const sx_result *r, sx_serving out[SX_MOST_RUNS], size_t *n);

/* Adds "totals", "vector" and, where the architecture has a clock, "serving" of a result's run; of two runs an array
 * "runs" of such objects. */
SX_MUST_USE sx_status sx_runs_put(json_t *object, const sx_result *r);

/* Adds the same for people; `quiet`: the totals alone. */
SX_MUST_USE sx_status sx_runs_report(const sx_result *r, bool quiet, bool verbose, sx_text *out);

#endif
