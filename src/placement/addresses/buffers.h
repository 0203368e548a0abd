/* Buffers of a CSV file: a row of names, then one row per buffer with id, lower, upper and size. */
#ifndef SX_PLACEMENT_BUFFERS_H
#define SX_PLACEMENT_BUFFERS_H

#include "base/text.h"
#include "placement/addresses/allocate.h"

typedef struct sx_buffers {
    size_t n;
    sx_buffer *buffer;
    char **id; /* into `text` */
    char *text;
} sx_buffers;

/* Reads a file, or a zero-terminated text of `size` characters as if it were the file `name`; *out is freed with
 * sx_buffers_fini. */
SX_MUST_USE sx_status sx_buffers_read(const char *path, sx_buffers *out);
SX_MUST_USE sx_status sx_buffers_parse(const char *name, SX_TAKE char *text, size_t size, sx_buffers *out);
void sx_buffers_fini(sx_buffers *buffers);

/* Adds the buffers with their offsets as such a file. */
void sx_buffers_write(const sx_buffers *buffers, sx_text *out);

#endif
