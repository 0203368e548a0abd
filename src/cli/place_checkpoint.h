/* The checkpoint file of `sextant place` (base/saved_state.h): the placement that the search began from, since a database may have
 * another one later, and the state of the run. */
#ifndef SX_CLI_PLACE_CHECKPOINT_H
#define SX_CLI_PLACE_CHECKPOINT_H

#include "session/placement_job.h"

typedef struct sx_place_checkpoint {
    const char *path; /* NULL: no checkpoint is kept */
    char *bytes;      /* the file's; NULL: there was none */
    char *identity;   /* of the search */
} sx_place_checkpoint;

/* Reads the file at `path` into the job's start point and its run to be resumed; a file that is not there leaves the job
 * as it is. `database`, `again`: the search asks a database, and goes on in spite of its answer. `out` is freed with
 * sx_place_checkpoint_fini, after the job's run. */
SX_MUST_USE sx_status sx_place_checkpoint_read(const char *path, bool database, bool again,
                                               sx_placement_job *job, sx_place_checkpoint *out);
void sx_place_checkpoint_fini(sx_place_checkpoint *checkpoint);

/* Writes the file: the job's start point and the state of its run, which may be empty. */
SX_MUST_USE sx_status sx_place_checkpoint_write(const sx_place_checkpoint *checkpoint,
                                                const sx_placement_job *job, const void *run, size_t size);

#endif
