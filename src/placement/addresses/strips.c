/* Packings without waste by strips.
 *
 * Source: Sextant. Where a memory is full at every step, a set of buffers that has one height at every step can be packed by
 * itself, beside the rest. Such a strip (strip_search.c) is divided at the steps that none of its buffers crosses, each part
 * again into strips, until few buffers are left for the general search. A rectangle that straight cuts
 * divided is divided like that again, up to strips that exist by coincidence. These may have no packing, or leave a rest
 * without one; strips without a packing are remembered, and a division that fails is repeated with other strips. */
#include "placement/addresses/strips.h"

#include "base/hash.h"
#include "base/status.h"
#include "placement/addresses/strip_search.h"

#include <stdlib.h>

enum { FEW = 40 };      /* buffers that are left to the general search */
enum { SOME = 150 };    /* those that are left to it where they have no strip */
enum { MANY = 4096 };   /* more are not divided: a decision takes time proportional to them */
enum { DIVISIONS = 4 }; /* of one strip or part before it counts as one without a packing */
enum { FAILURES = 1 << 12 };

typedef struct divider {
    sx_strip_search *search;
    const sx_strips_packer *packer;
    uint64_t limit;
    uint64_t *failed;  /* hashes of sets without a packing */
    sx_buffer *packed; /* room for those given to the packer */
} divider;

static bool divide_part(divider *x, sx_strip_buffer *buffer, size_t n, uint64_t offset);

/* A hash of the lives and sizes of some buffers. */
static uint64_t hash_of(const sx_strip_buffer *buffer, size_t n) {
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++) {
        const sx_buffer *b = &buffer[i].buffer;
        hash += sx_hash_mix(sx_hash_mix(b->lower, b->upper), b->size);
    }
    return hash;
}

static bool is_failed(const divider *x, uint64_t hash) {
    return x->failed[hash % FAILURES] == hash;
}

/* Remembers that a set has no packing; false. */
static bool keep_failed(divider *x, uint64_t hash) {
    x->failed[hash % FAILURES] = hash;
    return false;
}

/* The height of buffers that are a strip: of those at the first step. */
static uint64_t height_of(const sx_strip_buffer *buffer, size_t n) {
    uint64_t height = 0, lower = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (buffer[i].buffer.lower < lower) lower = buffer[i].buffer.lower;
    for (size_t i = 0; i < n; i++)
        if (buffer[i].buffer.lower == lower) height += buffer[i].buffer.size;
    return height;
}

/* Packs a strip by the general search. */
static bool pack_whole(divider *x, sx_strip_buffer *buffer, size_t n, uint64_t offset) {
    for (size_t i = 0; i < n; i++) x->packed[i] = buffer[i].buffer;
    if (!x->packer->pack(x->packer->user, x->packed, n, height_of(buffer, n))) return false;
    for (size_t i = 0; i < n; i++) buffer[i].buffer.offset = offset + x->packed[i].offset;
    return true;
}

/* Stacks the buffers that live at all steps from an offset on and moves them to the front; returns how many they are. */
static size_t stack_spanning(sx_strip_buffer *buffer, size_t n, uint64_t *offset) {
    size_t m = 0;
    uint64_t lower = UINT64_MAX, upper = 0;
    for (size_t i = 0; i < n; i++) {
        if (buffer[i].buffer.lower < lower) lower = buffer[i].buffer.lower;
        if (buffer[i].buffer.upper > upper) upper = buffer[i].buffer.upper;
    }
    for (size_t i = 0; i < n; i++) {
        sx_strip_buffer b = buffer[i];
        if (b.buffer.lower != lower || b.buffer.upper != upper) continue;
        b.buffer.offset = *offset;
        *offset += b.buffer.size;
        buffer[i] = buffer[m];
        buffer[m++] = b;
    }
    return m;
}

/* The end of the first part of sorted buffers: a step that no buffer crosses follows. */
static size_t part_end(const sx_strip_buffer *buffer, size_t n) {
    uint64_t upper = buffer[0].buffer.upper;
    size_t i = 1;
    for (; i < n && buffer[i].buffer.lower < upper; i++)
        if (buffer[i].buffer.upper > upper) upper = buffer[i].buffer.upper;
    return i;
}

/* Packs a strip, by several divisions where one fails. */
static bool pack_strip(divider *x, sx_strip_buffer *buffer, size_t n, uint64_t offset) {
    uint64_t hash = hash_of(buffer, n);
    for (int i = 0; i < DIVISIONS && !is_failed(x, hash); i++) {
        for (size_t k = 0; k < n; k++) buffer[k].uncut = false;
        if (divide_part(x, buffer, n, offset)) return true;
        if (x->packer->stopped(x->packer->user)) return false;
    }
    return keep_failed(x, hash);
}

/* Packs the next strip that can be packed, then the rest. */
static bool divide_strips(divider *x, sx_strip_buffer *buffer, size_t n, uint64_t offset) {
    sx_strip_cursor cursor = {0};
    while (!cursor.ended && sx_strip_search_nodes(x->search) < x->limit &&
           !x->packer->stopped(x->packer->user)) {
        size_t m = sx_strip_next(x->search, buffer, n, &cursor);
        if (m > 0 && pack_strip(x, buffer, m, offset))
            return divide_part(x, buffer + m, n - m, offset + height_of(buffer, m));
    }
    return n < SOME && pack_whole(x, buffer, n, offset);
}

/* Packs a strip: what lives at all its steps, its parts in time, its strips. */
static bool divide_part(divider *x, sx_strip_buffer *buffer, size_t n, uint64_t offset) {
    size_t m = stack_spanning(buffer, n, &offset);
    if (m == n) return true;
    buffer += m;
    n -= m;
    if (n <= FEW) return pack_whole(x, buffer, n, offset);
    sx_strip_sort(buffer, n);
    size_t end = part_end(buffer, n);
    if (end == n) return divide_strips(x, buffer, n, offset);
    for (size_t first = 0; first < n; first += end) {
        end = part_end(buffer + first, n - first);
        if (!pack_strip(x, buffer + first, end, offset)) return false;
    }
    return true;
}

/* Divides copies of the buffers, and sets the offsets of these where all are packed. */
static sx_status divide_copies(divider *x, sx_buffer *buffer, size_t n, uint64_t height, bool *found) {
    sx_strip_buffer *copy = calloc(n + 1, sizeof *copy);
    if (!copy) return sx_error_memory();
    for (size_t i = 0; i < n; i++) copy[i] = (sx_strip_buffer){.buffer = buffer[i], .index = i};
    *found =
        sx_strip_balanced(x->search, copy, n) && height_of(copy, n) == height && pack_strip(x, copy, n, 0);
    for (size_t i = 0; *found && i < n; i++) buffer[copy[i].index].offset = copy[i].buffer.offset;
    free(copy);
    return SX_OK;
}

sx_status sx_strips_divide(sx_buffer *buffer, size_t n, uint64_t height, uint64_t attempt,
                           const sx_strips_packer *packer, uint64_t *nodes, bool *found) {
    divider x = {.packer = packer, .limit = *nodes};
    *found = false;
    if (n == 0 || n > MANY) return SX_OK;
    SX_TRY(sx_strip_search_new(n, attempt, &x.search));
    x.failed = calloc(FAILURES, sizeof *x.failed);
    x.packed = calloc(n, sizeof *x.packed);
    sx_status status = x.failed && x.packed ? divide_copies(&x, buffer, n, height, found) : sx_error_memory();
    uint64_t made = sx_strip_search_nodes(x.search);
    *nodes -= made < *nodes ? made : *nodes;
    free(x.failed);
    free(x.packed);
    sx_strip_search_free(x.search);
    return status;
}
