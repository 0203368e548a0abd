/* Temporary files beside the file that they are to replace. One is locked for as long as its process is at
 * it, so that those of processes that were killed can be told from those in use, and are removed when the
 * same file is written the next time. */
#ifndef SX_BASE_TEMP_FILE_H
#define SX_BASE_TEMP_FILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sx_temp_file {
    const char *path; /* the file to be replaced */
    char *name;       /* of the temporary file */
    size_t room;
    int fd; /* open for writing and locked; -1: none */
} sx_temp_file;

/* Makes ready, and removes what killed processes left beside `path`. Ended with sx_temp_file_fini, which
 * closes the file but does not remove it. */
SX_MUST_USE sx_status sx_temp_file_init(const char *path, sx_temp_file *out);
void sx_temp_file_fini(sx_temp_file *temp);

/* Creates a new file, with the permissions of any fresh file; false, with errno, on failure. */
bool sx_temp_file_create(sx_temp_file *temp);

#endif
