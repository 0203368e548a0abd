/* Processes that search together: those that one `mpirun` or `srun` started. All of them read the same input
 * and make the same calls; the parts of a search are divided among them. Results are complete in process 0,
 * and the same as those of one process. */
#ifndef SX_RANKS_H
#define SX_RANKS_H

#include "sextant/status.h"

typedef struct sx_ranks sx_ranks;

/* Joins the processes that a launcher of MPI started together with this one; *out is NULL where this process
 * was started alone. An error where the library is built without MPI, or the launcher and the library do not
 * find each other. */
SX_MUST_USE sx_status sx_ranks_join(SX_OWN sx_ranks **out);

/* Ends working together. In process 0 this ends the others; where they keep it waiting it ends itself with an
 * exit code. In another process the call does not return: it waits for that end. `why` (may be NULL) is what
 * made another process stop early, which process 0 then reports. */
void sx_ranks_leave(SX_TAKE sx_ranks *ranks, const struct sx_error *why, int code);

/* What process 0 should report of the others, such as that one was lost, one line for each; NULL: nothing.
 * Freed with sx_free(). */
SX_OWN char *sx_ranks_report(sx_ranks *ranks);

#endif
