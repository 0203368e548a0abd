/* Charging what a sparse pass counted. */
#ifndef SX_MODEL_SPARSE_COST_H
#define SX_MODEL_SPARSE_COST_H

#include "model/energy.h"
#include "model/sparse.h"

/* The most metadata that a tile of a tensor takes at a level, in bits; sets the capacities of its ranks where
 * `ranks` (as sx_cost.rank) is not NULL. */
uint64_t sx_sparse_most_metadata(const sx_sparse_state *state, int tensor, int level, sx_cost_rank *ranks);

/* Sets energy and cycles of computes, and the instances that leak. */
void sx_sparse_begin(sx_cost_accumulator *costs, sx_sparse_state *state);

/* The words read, filled and updated at a level, in the unit of the counts. */
double sx_sparse_accesses(const sx_sparse_state *state, int level);

/* Charges all tensors' accesses to the levels; networks carry dense counts and are charged apart. `out` may be
 * NULL. */
void sx_sparse_charge(sx_cost_accumulator *costs, sx_sparse_state *state, sx_cost *out);

#endif
