/* Time on a real machine, for people and as JSON. */
#ifndef SX_REPORT_TIME_H
#define SX_REPORT_TIME_H

#include "report/figures.h"

/* Adds the time of all layers and, unless `quiet`, of each: how long, what limits it, and which share of all that is.
 * `times`: how often each is run. */
void sx_time_table(const sx_result *r, const sx_work *works, const uint64_t *times, bool quiet, sx_text *out);

/* The same, where the result has a timing, with works that it makes itself. */
SX_MUST_USE sx_status sx_time_report(const sx_result *r, bool quiet, sx_text *out);

/* {"seconds", "overhead", "compute", "levels", "limit"}; the caller owns it. */
SX_OWN json_t *sx_time_json(const sx_arch *arch, const sx_operator_time *time);

#endif
