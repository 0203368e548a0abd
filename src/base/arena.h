/* Memory that dies together: many small pieces, one free. */
#ifndef SX_BASE_ARENA_H
#define SX_BASE_ARENA_H

#include "base/status.h"

#include <stddef.h>

struct sx_arena_block;

/* A growing arena; all zero is an empty one. `limit` bytes may be given out (0: any number). */
typedef struct sx_arena {
    struct sx_arena_block *block;
    size_t used, room; /* of the newest block */
    size_t total, limit;
} sx_arena;

/* Zeroed memory for n items of `size` bytes, aligned for any type; NULL when memory is out or the limit is
 * reached. */
void *sx_arena_alloc(sx_arena *arena, size_t n, size_t size);

/* A zero-terminated copy of `size` bytes; NULL as above. */
char *sx_arena_copy(sx_arena *arena, const char *bytes, size_t size);

/* What a NULL of the two above means: the limit, where another such piece would pass it, else out of memory.
 */
SX_ERROR sx_status sx_arena_error(const sx_arena *arena);

/* Frees all of it and leaves an empty arena with the same limit. */
void sx_arena_free(sx_arena *arena);

#endif
