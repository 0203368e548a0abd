/* The largest tiles that fit a level, by the blocks that they make. */
#ifndef SX_BOUND_LARGEST_H
#define SX_BOUND_LARGEST_H

#include "bound/bound.h"

/* Tiles of a level that keeps some tensors: rows of blocks of each dimension. Every tile that fits makes in no dimension
 * fewer blocks than some row. */
typedef struct sx_largest_tiles {
    size_t n, room;
    uint32_t *blocks;
} sx_largest_tiles;

/* Makes the rows of a level that keeps some tensors, out of at most `most` vectors of blocks (0: as many as are useful);
 * empty where it was ended early. */
SX_MUST_USE sx_status sx_largest_tiles_make(const sx_model *model, int level, unsigned keep, double most,
                                            const sx_interrupt *halt, SX_OWN sx_largest_tiles *out);
void sx_largest_tiles_fini(sx_largest_tiles *tiles);

#endif
