/* Files mapped into memory, of which only the parts that are looked at are read from the disk. */
#ifndef SX_BASE_FILE_MAP_H
#define SX_BASE_FILE_MAP_H

#include "base/status.h"

#include <stddef.h>

typedef struct sx_file_map {
    const unsigned char *data; /* NULL for an empty file */
    size_t size;
} sx_file_map;

/* Maps a regular file for reading. *out is freed with sx_file_unmap. */
SX_MUST_USE sx_status sx_file_map_open(const char *path, sx_file_map *out);
void sx_file_unmap(sx_file_map *map);

#endif
