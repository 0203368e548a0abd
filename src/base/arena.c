#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct sx_arena_block {
    struct sx_arena_block *previous;
    alignas(max_align_t) unsigned char bytes[];
};

/* Starts a block with room for at least `size` bytes; blocks grow with the arena, up to a limit. */
static bool block_new(sx_arena *arena, size_t size) {
    size_t room = arena->room ? arena->room * 2 : FIRST_BLOCK;
    if (room > LARGEST_BLOCK) room = LARGEST_BLOCK;
    if (room < size) room = size;
    struct sx_arena_block *block = malloc(sizeof *block + room);
    if (!block) return false;
    block->previous = arena->block;
    arena->block = block;
    arena->used = 0;
    arena->room = room;
    return true;
}

void *sx_arena_alloc(sx_arena *arena, size_t n, size_t size) {
    const size_t align = alignof(max_align_t);
    if (size != 0 && n > (SIZE_MAX / 2) / size) return NULL;
    size_t bytes = (n * size + align - 1) / align * align;
    if (bytes == 0) bytes = align;
    if (arena->limit != 0 && bytes > arena->limit - arena->total) {
        arena->total = arena->limit;
        return NULL;
    }
    if (bytes > arena->room - arena->used && !block_new(arena, bytes)) return NULL;
    void *piece = arena->block->bytes + arena->used;
    arena->used += bytes;
    arena->total += bytes;
    return memset(piece, 0, bytes);
}

char *sx_arena_copy(sx_arena *arena, const char *bytes, size_t size) {
    char *copy = sx_arena_alloc(arena, size + 1, 1);
    if (copy) memcpy(copy, bytes, size);
    return copy;
}

sx_status sx_arena_error(const sx_arena *arena) {
    if (arena->limit == 0 || arena->total < arena->limit) return sx_error_memory();
    return sx_error_new(SX_ERR_LIMIT, "the input needs more than %zu MB of memory", arena->limit >> 20);
}

void sx_arena_free(sx_arena *arena) {
    for (struct sx_arena_block *block = arena->block, *previous; block; block = previous) {
        previous = block->previous;
        free(block);
    }
    *arena = (sx_arena){.limit = arena->limit};
}
