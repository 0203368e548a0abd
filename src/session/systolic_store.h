/* Keeping the answers of searches for systolic arrays in a database. */
#ifndef SX_SESSION_SYSTOLIC_STORE_H
#define SX_SESSION_SYSTOLIC_STORE_H

#include "session/systolic_job.h"

/* Looks up an earlier answer for a space of the job: a point to begin from or, with proven_before, the answer. */
SX_MUST_USE sx_status sx_systolic_recall(const sx_systolic_job *job, const sx_space *space,
                                         sx_systolic_answer *out);

/* Keeps the answer of a search. */
SX_MUST_USE sx_status sx_systolic_keep(const sx_systolic_job *job, const sx_space *space,
                                       const sx_systolic_answer *answer);

#endif
