/* Tensors whose non-zeros have known places: banded matrices, and those that a file lists. What tiles hold is
 * counted over all tiles of a size (docs/sparse.md, section 2). */
#ifndef SX_MODEL_SPARSE_POSITIONS_H
#define SX_MODEL_SPARSE_POSITIONS_H

#include "base/steps.h"
#include "text/coordinates.h"

#include <stdbool.h>

typedef struct sx_positions {
    uint8_t n_ranks;
    bool banded;
    uint8_t dim[SX_MAX_RANKS]; /* of each rank */
    uint32_t band_width;
    uint64_t size[SX_MAX_RANKS], stride[SX_MAX_RANKS]; /* stride: words between neighbours of a rank */
    uint64_t words, nonzeros;
    sx_coordinates listed; /* unless banded */
} sx_positions;

/* The non-zeros of a tensor of a problem that has a banded or an actual density. */
SX_MUST_USE sx_status sx_positions_new(const sx_problem *problem, int tensor, SX_OWN sx_positions **out);
void sx_positions_free(SX_TAKE sx_positions *positions);

/* The number of a size of tiles, which its extents in the problem's dimensions say: 1 for a single word, the
 * tensor's words for all of it. */
static inline uint64_t sx_positions_tile(const sx_positions *positions, const uint32_t *extent) {
    uint64_t number = 1;
    for (int r = 0; r < positions->n_ranks; r++)
        number += (uint64_t)(extent[positions->dim[r]] - 1) * positions->stride[r];
    return number;
}

/* What the tiles of a size hold. */
typedef struct sx_tile_counts {
    double empty;  /* share of the tensor's words that lie in empty tiles */
    uint64_t most; /* non-zeros of one tile */
    double
        blocks; /* blocks of a given number of words that the non-zeros of a tile fill or begin, on average */
} sx_tile_counts;

/* What counting needs again and again; one thread's. */
typedef struct sx_tile_scratch {
    sx_steps *steps; /* what may end it; NULL: nothing */
    uint64_t taken;  /* steps since it was asked */
    struct sx_filled_tile *table;
    size_t room;
} sx_tile_scratch;
void sx_tile_scratch_fini(sx_tile_scratch *scratch);

/* Counts them; false when memory is out, or the steps of the scratch are ended. */
bool sx_positions_count(const sx_positions *positions, uint64_t tile, uint32_t block,
                        sx_tile_scratch *scratch, sx_tile_counts *out);

#endif
