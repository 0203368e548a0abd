/* What a search for a placement found: for a person, as JSON and as a figure. */
#ifndef SX_REPORT_PLACEMENT_H
#define SX_REPORT_PLACEMENT_H

#include "base/text.h"
#include "session/placement_job.h"

/* Adds the answer for a person; `verbose`: every node. */
SX_MUST_USE sx_status sx_placement_print(const sx_placement_job *job, bool quiet, bool verbose, sx_text *out);

/* Adds everything as JSON. The keys are promises: more may be added, none renamed. */
SX_MUST_USE sx_status sx_placement_json(const sx_placement_job *job, sx_text *out);

/* Adds the figure: the memories of all tensors, the compiler's and those found, the use of each memory over the
 * steps, the shares of tensors that change their memory, and the best so far against evaluations. */
void sx_placement_svg(const sx_placement_job *job, sx_text *out);

#endif
