/* What an einsum costs on its path, by the accounting of LoopTree: a tile is fetched once for every iteration of
 * the loops above its holder, also of loops that do not move it; drained outputs are read from the memory that
 * they leave; everything is counted in bits. */
#ifndef SX_LOOPTREE_LOOPTREE_H
#define SX_LOOPTREE_LOOPTREE_H

#include "looptree/path.h"

/* Room that a holder takes in its memory. */
typedef struct sx_reservation {
    uint8_t level, tensor;
    uint8_t depth; /* loops above the place from which on it is taken */
    bool backing;  /* the outermost holder of its tensor */
    uint64_t bits;
} sx_reservation;

typedef struct sx_path_cost {
    double energy, latency;
    uint64_t reads[SX_MAX_LEVELS], writes[SX_MAX_LEVELS]; /* bits, of all instances together */
    uint8_t n_reservations;
    sx_reservation reservation[SX_MAX_PATH];
} sx_path_cost;

/* The cost of an einsum whose tensors have elements of `bits`; false where a count is beyond 2^63. */
bool sx_looptree_cost(const sx_arch *arch, const sx_problem *einsum, const uint32_t *bits,
                      const sx_path_layout *layout, sx_path_cost *cost);

#endif
