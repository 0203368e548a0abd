/* Packings without waste, divided into strips. */
#ifndef SX_PLACEMENT_STRIPS_H
#define SX_PLACEMENT_STRIPS_H

#include "placement/addresses/allocate.h"

/* What packs few buffers: sets their offsets below a height, or returns false. */
typedef struct sx_strips_packer {
    bool (*pack)(void *user, sx_buffer *buffer, size_t n, uint64_t height);
    bool (*stopped)(void *user); /* whether to end the search */
    void *user;
} sx_strips_packer;

/* Packs n buffers below a height that their sizes add up to at every step, from the first step to the last, by division into
 * strips. *found: offsets are set; false where the sizes do not add up, too. Differs with `attempt`; makes at most *nodes
 * decisions, and takes those made from them. */
SX_MUST_USE sx_status sx_strips_divide(sx_buffer *buffer, size_t n, uint64_t height, uint64_t attempt,
                                       const sx_strips_packer *packer, uint64_t *nodes, bool *found);

#endif
