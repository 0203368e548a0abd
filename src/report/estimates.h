/* Estimates of an architecture's components: table, JSON, and Accelergy's tables. */
#ifndef SX_REPORT_ESTIMATES_H
#define SX_REPORT_ESTIMATES_H

#include "base/text.h"
#include "estimate/component.h"

typedef struct sx_estimates {
    const char *arch, *estimator;
    const sx_estimated_component *component;
    size_t n;
} sx_estimates;

/* Tables of Accelergy's, as bits. */
enum { SX_TABLE_ERT = 1, SX_TABLE_ART = 2 };

/* Prints a table with the source, the rule and the error band of every component. */
void sx_estimates_print(const sx_estimates *estimates, sx_text *out);

/* Adds the answer of `sextant estimate --json`. */
SX_MUST_USE sx_status sx_estimates_json(const sx_estimates *estimates, sx_text *out);

/* The tables as YAML, as Accelergy writes and Timeloop reads them; the text is the caller's. */
SX_MUST_USE sx_status sx_estimates_write(const sx_estimates *estimates, unsigned tables, SX_OWN char **out);

#endif
