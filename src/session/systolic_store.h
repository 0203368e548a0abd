/* Keeping the answers of searches for systolic arrays in a database. */
#ifndef SX_SESSION_SYSTOLIC_STORE_H
#define SX_SESSION_SYSTOLIC_STORE_H

#include "session/systolic_job.h"
#include "sextant/store.h"

/* Makes a job keep its answers in a database and begin from those that are in it; answers that were proven
 * for the same space by the same version are taken over, unless `again`. */
void sx_systolic_job_use_store(sx_systolic_job *job, sx_store *store, bool again);

#endif
