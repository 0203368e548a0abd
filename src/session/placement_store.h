/* Keeping the answers of searches for placements in a database. */
#ifndef SX_SESSION_PLACEMENT_STORE_H
#define SX_SESSION_PLACEMENT_STORE_H

#include "base/text.h"
#include "session/placement_job.h"
#include "sextant/store.h"

/* Looks for the best answer that a database has for the job's space under its objective: a placement to begin
 * from or, where it was proven by the same version and not `again`, the answer itself. Answers of an evaluator are kept from now
 * on. */
SX_MUST_USE sx_status sx_placement_recall(sx_placement_job *job, sx_store *store, bool again);

/* Adds all that decides what a job finds to an identity (base/saved_state.h). */
SX_MUST_USE sx_status sx_placement_identity(const sx_placement_job *job, sx_text *text);

/* Keeps what a job found. */
SX_MUST_USE sx_status sx_placement_keep(const sx_placement_job *job, sx_store *store);

#endif
