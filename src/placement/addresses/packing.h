/* A tree search for offsets below one capacity. Sizes and offsets are in units that divide all sizes.
 *
 * Time is cut into sections, at whose ends buffers begin or end. A buffer without an offset is open, and has a
 * lowest offset that is still possible, `low`. */
#ifndef SX_PLACEMENT_PACKING_H
#define SX_PLACEMENT_PACKING_H

#include "base/vector.h"
#include "placement/addresses/allocate.h"

/* How a search of the tree chooses; any choice finds what there is. */
typedef struct sx_packing_rule {
    bool weighted;  /* sections where searches failed come first */
    bool lowest;    /* of two sections with as many options, the one with the lower floor comes first */
    bool full;      /* sections that must not leave a gap come first */
    int key;        /* what buffers are tried first: 0 to SX_PACKING_KEYS - 1 */
    double noise;   /* of the key: 0 none, 1 all */
    uint64_t index; /* of the stream of random numbers */
} sx_packing_rule;
enum { SX_PACKING_KEYS = 5 };

typedef enum sx_packing_result { SX_PACKED, SX_NOT_PACKABLE, SX_PACKING_STOPPED } sx_packing_result;

typedef struct sx_packing {
    size_t n, n_sections;
    int64_t capacity;
    /* by buffer */
    uint32_t *first, *end;  /* it lives in the sections first <= s < end */
    int64_t *size, *offset; /* the offset is valid where it is not open */
    int64_t *low;
    uint32_t *kind;  /* the first buffer of the same size and sections */
    double *rank;    /* larger: tried earlier */
    size_t *slot;    /* where its places begin in `place` */
    uint32_t *place; /* by buffer and section: where it is in the section's list */
    /* by section */
    uint32_t *list;                  /* its buffers, the open ones first */
    size_t *begin;                   /* where its list begins */
    uint32_t *open;                  /* how many are open */
    uint32_t *crossing;              /* open ones that live in the next section, too */
    int64_t *load;                   /* the sum of sizes of open ones */
    double *weight;                  /* grows with every failure there */
    struct sx_packing_section *view; /* of the node at hand */
    /* the search */
    sx_vector trail, frame, option;
    struct sx_packing_failure *failed; /* nodes without a solution, by their hash */
    uint64_t nodes, limit;             /* visited in all; where to stop */
    bool out_of_memory;
    bool (*stopped)(void *user); /* asked now and then */
    void *user;
} sx_packing;

/* Makes the sections of n buffers, whose lives and sizes are given; freed with sx_packing_fini, also on
 * errors. */
SX_MUST_USE sx_status sx_packing_init(const sx_buffer *buffer, size_t n, uint64_t unit, sx_packing *out);
void sx_packing_fini(sx_packing *packing);

/* Gives an open buffer its lowest offset. */
void sx_packing_place(sx_packing *packing, uint32_t buffer);

/* Searches for offsets of all open buffers in the sections first <= s < end, which no other open buffer shares,
 * visiting at most `limit` nodes. Afterwards buffers are as before, but for `offset` where all were packed. */
sx_packing_result sx_packing_search(sx_packing *packing, uint32_t first, uint32_t end, int64_t capacity,
                                    const sx_packing_rule *rule, uint64_t limit);

/* The next group of sections from *first on, before `end`, that share open buffers with no others; false past
 * the last. */
bool sx_packing_part(const sx_packing *packing, uint32_t *first, uint32_t end, uint32_t *part_end);

#endif
