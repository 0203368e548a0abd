/* Offsets of buffers in one memory, so that buffers that live at the same step do not overlap. */
#ifndef SX_PLACEMENT_ALLOCATE_H
#define SX_PLACEMENT_ALLOCATE_H

#include "sextant/error.h"
#include "sextant/run.h"

/* A buffer that lives at the steps from `lower` to before `upper`. */
typedef struct sx_buffer {
    uint64_t lower, upper;
    uint64_t size;   /* bytes */
    uint64_t offset; /* bytes; what is asked for */
} sx_buffer;

/* What is known of the offsets of some buffers. Bytes count whole blocks. */
typedef struct sx_allocation {
    bool found;     /* every buffer has an offset */
    bool proven;    /* no allocation takes fewer bytes; none exists within the capacity */
    uint64_t bytes; /* from 0 to the highest end of a buffer */
    uint64_t bound; /* no allocation takes fewer */
    uint64_t live;  /* the most bytes that live at a step */
    uint64_t nodes; /* of the search tree */
    double seconds; /* of the processor's clock */
    sx_stop stop;   /* done, evaluations (nodes), time or signal */
} sx_allocation;

typedef struct sx_allocate_options {
    uint64_t capacity; /* bytes; any allocation within them will do. 0: the fewest bytes are asked for */
    uint64_t align;    /* offsets are multiples of it, and a buffer occupies whole blocks of it; 0: 1 */
    uint64_t nodes;    /* of the search tree; 0: no limit */
    double seconds;    /* 0: no limit */
    const sx_cancel *cancel;
    void (*progress)(void *user, const sx_allocation *so_far);
    void *user;
} sx_allocate_options;

enum { SX_MAX_BUFFERS = 1 << 20 };

/* Gives n buffers offsets. Where none are found, those of the buffers are not changed. */
SX_MUST_USE sx_status sx_allocate(sx_buffer *buffer, size_t n, const sx_allocate_options *options,
                                  sx_allocation *out);

#endif
