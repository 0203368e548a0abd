/* Addresses of the tensors of a placement: an offset of each in its memory. */
#ifndef SX_PLACEMENT_ADDRESSES_H
#define SX_PLACEMENT_ADDRESSES_H

#include "placement/addresses/allocate.h"
#include "placement/place.h"

typedef struct sx_addresses {
    uint64_t align;
    uint64_t *offset; /* by tensor */
    sx_allocation memory[SX_MAX_MEMORIES];
} sx_addresses;

/* Gives all tensors offsets with the fewest bytes per memory; *out is freed by sx_addresses_fini. */
SX_MUST_USE sx_status sx_addresses_find(const sx_placement_space *space, const uint8_t *placement,
                                        uint64_t align, const sx_cancel *cancel, sx_addresses *out);
void sx_addresses_fini(sx_addresses *addresses);

/* Whether the tensors of a memory have offsets within its capacity. */
bool sx_addresses_fit(const sx_placement_space *space, const sx_addresses *addresses, size_t memory);

/* Makes addresses part of what is valid in a space: multiples of `align`. */
SX_MUST_USE sx_status sx_addresses_require(sx_space *space, uint64_t align);

/* The fastest memory whose tensors are given no offsets within its capacity by a short search; n_memories where
 * there is none. */
size_t sx_addresses_lack(const sx_placement_space *space, const uint8_t *placement);

#endif
