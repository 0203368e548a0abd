/* Whole files. */
#ifndef SX_BASE_FILE_H
#define SX_BASE_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a file of at most `limit` bytes; *text is zero-terminated beyond *size. */
SX_MUST_USE sx_status sx_file_read(const char *path, size_t limit, SX_OWN char **text, size_t *size);

/* The same for a regular file only: a pipe or a device is refused without waiting for it. */
SX_MUST_USE sx_status sx_file_read_regular(const char *path, size_t limit, SX_OWN char **text, size_t *size);

/* Whether a file begins with a mark of at most 64 bytes: to be asked before a large file is read whole. True for what
 * cannot be opened or is no regular file, which the reader refuses. */
bool sx_file_begins(const char *path, const char *mark, size_t length);

/* Whether an error number of opening says that there is nothing for this user, rather than that something
 * went wrong. */
bool sx_file_is_absent(int error);

/* Writes a file whole or not at all: under a temporary name first, then renamed, both flushed to the disk. A
 * link's target is what is replaced; a device or a pipe is written to as it is. A file that is there keeps
 * its permissions. */
SX_MUST_USE sx_status sx_file_write(const char *path, const char *text, size_t size);
/* Writes a text unless there is an error, which is then returned, and frees it. */
SX_MUST_USE sx_status sx_file_finish(const char *path, SX_TAKE sx_text *text, SX_TAKE sx_status status);

/* Writes all bytes to a descriptor, however many the system takes at a time; false where that fails, with errno. */
bool sx_write_all(int fd, const void *bytes, size_t size);

/* Refuses a path that sx_file_write could not write to, before there is anything to lose. */
SX_MUST_USE sx_status sx_file_writable(const char *path);

#endif
