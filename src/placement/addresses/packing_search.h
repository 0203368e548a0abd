/* The parts of a tree search that its two files share. */
#ifndef SX_PLACEMENT_PACKING_SEARCH_H
#define SX_PLACEMENT_PACKING_SEARCH_H

#include "placement/addresses/packing.h"

/* What is undone on the way back: an offset, or a lowest offset that rose. */
typedef struct sx_packing_change {
    int64_t low; /* as it was */
    uint32_t buffer;
    bool placed;
} sx_packing_change;

/* The open buffers of a section in short. */
typedef struct sx_packing_section {
    int64_t floor;    /* the least lowest offset */
    int64_t next;     /* the least one above that */
    int64_t top;      /* the least end of an open buffer at its lowest offset */
    uint32_t options; /* buffers that could be at the floor */
} sx_packing_section;

/* A node of the tree whose options are being tried. */
typedef struct sx_packing_frame {
    uint64_t hash[2];
    uint32_t first, end; /* its sections */
    uint32_t at;         /* sections before it are solved, under the option at hand */
    uint32_t section;    /* the one that is branched over */
    int64_t raised;      /* its floor where all its buffers are above a gap; -1: a gap does not fit */
    size_t option, options_begin, options_end; /* the next buffer to try, of these */
    size_t mark;                               /* length of the trail before an option */
} sx_packing_frame;

/* A node without a solution. */
typedef struct sx_packing_failure {
    uint64_t hash[2];
} sx_packing_failure;
enum { SX_PACKING_FAILURES = 1 << 17 };

/* Raises the lowest offsets of the open buffers of a section to its floor. */
void sx_packing_raise(sx_packing *packing, uint32_t section, int64_t floor);

/* Takes back all changes after the first `mark` ones. */
void sx_packing_undo(sx_packing *packing, size_t mark);

#endif
