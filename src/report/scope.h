/* What a certificate covers: the constraints, the options of the space, the switches of the model. */
#ifndef SX_REPORT_SCOPE_H
#define SX_REPORT_SCOPE_H

#include "base/json.h"
#include "report/table.h"
#include "sextant/certificate.h"

/* Adds rows of two cells about the space that a certificate speaks of. */
SX_MUST_USE sx_status sx_scope_rows(const sx_certificate *c, sx_table *table);

/* The same as JSON. */
SX_MUST_USE sx_status sx_scope_json(const sx_certificate *c, SX_OWN json_t **out);

/* Whether two architectures, two problems or the constraints on one problem and architecture are the same but
 * for their names; where they are not, `why` gets the first difference. */
SX_MUST_USE sx_status sx_scope_same_arch(const sx_arch *a, const sx_arch *b, sx_text *why, bool *same);
SX_MUST_USE sx_status sx_scope_same_problem(const sx_problem *a, const sx_problem *b, sx_text *why,
                                            bool *same);
SX_MUST_USE sx_status sx_scope_same_constraints(const sx_certificate *c, const sx_constraints *other,
                                                sx_text *why, bool *same);

#endif
