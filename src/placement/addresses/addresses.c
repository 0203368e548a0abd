#include "placement/addresses/addresses.h"

#include "base/status.h"

#include <stdlib.h>

enum {
    FEWEST_NODES = 100000, /* of the search for the fewest bytes of a memory */
    CHECK_NODES = 5000,    /* of the search whether a placement has addresses */
};

/* Collects the tensors of a memory; returns how many. */
static size_t collect_buffers(const sx_placement_space *space, const uint8_t *placement, size_t memory,
                              sx_buffer *buffer, size_t *tensor) {
    size_t n = 0;
    for (size_t t = 0; t < space->n_tensors; t++) {
        if (!space->size[t] || (placement[t] & ~SX_PLACE_MOVED) != (int)memory) continue;
        buffer[n] = (sx_buffer){sx_place_first(space, t), sx_place_last(space, t) + 1, space->size[t], 0};
        tensor[n++] = t;
    }
    return n;
}

/* Gives the tensors of a memory offsets: the fewest bytes, or any within the capacity where those found are too
 * many. */
static sx_status find_memory(const sx_placement_space *space, size_t memory, sx_allocate_options options,
                             sx_buffer *buffer, size_t n, sx_allocation *out) {
    uint64_t capacity = space->chip.memory[memory].capacity;
    SX_TRY(sx_allocate(buffer, n, &options, out));
    if (!out->found || out->bytes <= capacity || out->bound > capacity) return SX_OK;
    sx_allocation within;
    options.capacity = capacity;
    SX_TRY(sx_allocate(buffer, n, &options, &within));
    if (within.found || within.proven) out->bound = within.bound > out->bound ? within.bound : out->bound;
    if (within.found) out->bytes = within.bytes;
    return SX_OK;
}

sx_status sx_addresses_find(const sx_placement_space *space, const uint8_t *placement, uint64_t align,
                            const sx_cancel *cancel, sx_addresses *out) {
    sx_addresses found = {.align = align, .offset = calloc(space->n_tensors, sizeof *found.offset)};
    sx_buffer *buffer = calloc(space->n_tensors, sizeof *buffer);
    size_t *tensor = calloc(space->n_tensors, sizeof *tensor);
    sx_status status = found.offset && buffer && tensor ? SX_OK : sx_error_memory();
    for (size_t m = 0; m < space->chip.n_memories && !status; m++) {
        const sx_allocate_options options = {.align = align, .nodes = FEWEST_NODES, .cancel = cancel};
        size_t n = collect_buffers(space, placement, m, buffer, tensor);
        status = find_memory(space, m, options, buffer, n, &found.memory[m]);
        for (size_t i = 0; i < n && !status; i++) found.offset[tensor[i]] = buffer[i].offset;
    }
    if (status)
        free(found.offset);
    else
        *out = found;
    free(buffer);
    free(tensor);
    return status;
}

void sx_addresses_fini(sx_addresses *addresses) {
    free(addresses->offset);
}

bool sx_addresses_fit(const sx_placement_space *space, const sx_addresses *addresses, size_t memory) {
    const sx_allocation *found = &addresses->memory[memory];
    return found->found && found->bytes <= space->chip.memory[memory].capacity;
}

sx_status sx_addresses_require(sx_space *base, uint64_t align) {
    sx_placement_space *space = (sx_placement_space *)base;
    space->undecided = calloc(1, sizeof *space->undecided);
    if (!space->undecided) return sx_error_memory();
    space->align = align;
    return SX_OK;
}

/* Whether a short search gives n buffers offsets within the capacity of a memory. */
static bool buffers_fit(const sx_placement_space *space, size_t memory, sx_buffer *buffer, size_t n) {
    const sx_allocate_options options = {
        .capacity = space->chip.memory[memory].capacity, .align = space->align, .nodes = CHECK_NODES};
    sx_allocation found = {0};
    uint64_t stacked = 0;
    for (size_t i = 0; i < n; i++)
        stacked += (buffer[i].size + space->align - 1) / space->align * space->align;
    if (stacked <= options.capacity) return true;
    sx_status status = sx_allocate(buffer, n, &options, &found);
    if (status || (!found.found && !found.proven)) __atomic_fetch_add(space->undecided, 1, __ATOMIC_RELAXED);
    sx_status_free(status);
    return found.found;
}

size_t sx_addresses_lack(const sx_placement_space *space, const uint8_t *placement) {
    sx_buffer *buffer = calloc(space->n_tensors, sizeof *buffer);
    size_t *tensor = calloc(space->n_tensors, sizeof *tensor), m = space->chip.n_memories;
    while (buffer && tensor && m > 0) {
        size_t n = collect_buffers(space, placement, m - 1, buffer, tensor);
        if (!buffers_fit(space, m - 1, buffer, n)) break;
        m--;
    }
    bool known = buffer && tensor;
    free(buffer);
    free(tensor);
    if (!known) __atomic_fetch_add(space->undecided, 1, __ATOMIC_RELAXED);
    return !known ? 0 : m > 0 ? m - 1 : space->chip.n_memories;
}
