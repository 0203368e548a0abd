/* `sextant eval --json`. The keys are promises: more may be added, none renamed. */
#ifndef SX_REPORT_EVALUATION_JSON_H
#define SX_REPORT_EVALUATION_JSON_H

#include "report/evaluation.h"

/* Adds the cost of a legal mapping, with its reasons where `explain`. */
SX_MUST_USE sx_status sx_json_cost(const sx_evaluation *e, bool explain, sx_text *out);

/* Adds why a mapping is illegal. */
SX_MUST_USE sx_status sx_json_illegal(const sx_evaluation *e, sx_text *out);

/* Adds why a mapping could not be read. */
SX_MUST_USE sx_status sx_json_unreadable(const struct sx_error *error, sx_text *out);

#endif
