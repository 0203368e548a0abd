/* The runs of a result's network: totals, vector operators and what they come to on the machine. */
#ifndef SX_REPORT_RUNS_H
#define SX_REPORT_RUNS_H

#include "report/serving.h"

/* One run: its graph, and its layers among those of the result. */
typedef struct sx_run_part {
    const sx_graph *graph;
    size_t first, n;
    sx_score total; /* cycles and energy of its layers */
} sx_run_part;

/* The runs of a result, two at most; returns how many. */
enum { SX_MOST_RUNS = 2 };
size_t sx_result_runs(const sx_result *r, sx_run_part out[SX_MOST_RUNS]);

/* Adds "totals", "vector" and, where the architecture has a clock, "serving" of a result's run; of two runs an array
 * "runs" of such objects. */
SX_MUST_USE sx_status sx_runs_put(json_t *object, const sx_result *r);

/* Adds the same for people. */
SX_MUST_USE sx_status sx_runs_report(const sx_result *r, bool verbose, sx_text *out);

#endif
