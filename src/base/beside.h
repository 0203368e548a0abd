/* Temporary files beside the file that they are to replace. One is locked for as long as its process is at
 * it, so that those of processes that were killed can be told from those in use, and are removed when the
 * same file is written the next time. */
#ifndef SX_BASE_BESIDE_H
#define SX_BASE_BESIDE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sx_beside {
    const char *path; /* the file to be replaced */
    char *name;       /* of the temporary file */
    size_t room;
    int fd; /* open for writing and locked; -1: none */
} sx_beside;

/* Makes ready, and removes what killed processes left beside `path`. Ended with sx_beside_fini, which closes
 * the file but does not remove it. */
SX_MUST_USE sx_status sx_beside_init(const char *path, sx_beside *out);
void sx_beside_fini(sx_beside *beside);

/* Creates a new file, with the permissions of any fresh file; false, with errno, on failure. */
bool sx_beside_create(sx_beside *beside);

#endif
