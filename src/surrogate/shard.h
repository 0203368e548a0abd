/* A file of samples: a head, then rows of numbers. */
#ifndef SX_SURROGATE_SHARD_H
#define SX_SURROGATE_SHARD_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sx_shard_head {
    uint64_t key; /* of the data set */
    uint64_t n_rows, width;
} sx_shard_head;

/* A file mapped into memory. */
typedef struct sx_shard_map {
    void *bytes;
    size_t size;
    float *row; /* read only */
} sx_shard_map;

/* Writes a shard whole or not at all. */
SX_MUST_USE sx_status sx_shard_write(const char *path, const sx_shard_head *head, const float *row);

/* Maps a shard into memory. *found is false where there is none or it is damaged; one of another data set is
 * an error. */
SX_MUST_USE sx_status sx_shard_read(const char *path, const sx_shard_head *head, sx_shard_map *out,
                                    bool *found);
void sx_shard_unmap(sx_shard_map *map);

#endif
