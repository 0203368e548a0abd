/* Charging what a sparse pass counted. */
#ifndef SX_MODEL_SPARSE_CHARGE_H
#define SX_MODEL_SPARSE_CHARGE_H

#include "model/energy.h"
#include "model/sparse/pass.h"

/* The most metadata that a tile of a tensor takes at a level, in bits; sets the capacities of its ranks where
 * `ranks` (as sx_cost.rank) is not NULL. */
uint64_t sx_sparse_most_metadata(const sx_sparse_state *state, int tensor, int level, sx_cost_rank *ranks);

/* What computes take. */
typedef struct sx_sparse_computed {
    double energy, cycles;
    double busy; /* computes that take a unit's time */
} sx_sparse_computed;

/* What state->computes take where dense ones take a given number of cycles on a given number of units. */
sx_sparse_computed sx_sparse_compute(const sx_sparse_state *state, double cycles, double units);

/* The blocks that the non-zeros of a tile take on average; those of the level's last tile are remembered. The tile is
 * given as for sx_density_empty. */
double sx_sparse_blocks(sx_sparse_state *state, int tensor, int level, uint64_t tile, uint32_t block);

/* Sets energy and cycles of computes, and the instances that leak. */
void sx_sparse_begin(sx_cost_accumulator *costs, sx_sparse_state *state);

/* The words read, filled and updated at all instances of a level; `totals`: counts are over all of them. */
double sx_sparse_accesses(const sx_sparse_state *state, int level, bool totals);

/* The second part of the pass, over state->dense: charges computes and all tensors' accesses to the levels; networks
 * carry dense counts and are charged apart. `out` may be NULL. False when memory is out. */
SX_MUST_USE bool sx_sparse_charge(sx_cost_accumulator *costs, sx_sparse_state *state, sx_cost *out);

#endif
