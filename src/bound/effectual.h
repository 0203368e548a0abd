/* What zeros leave of a flow, for every tile. */
#ifndef SX_BOUND_EFFECTUAL_H
#define SX_BOUND_EFFECTUAL_H

#include "bound/bound.h"

/* Fills what sx_bound says of sparse tensors; false when memory is out. */
bool sx_bound_effectual(sx_bound *bound);
void sx_bound_effectual_free(sx_bound *bound);

/* The share of compute cycles that is left with the spatial loops of an outline. */
double sx_outline_bound_busy(const sx_outline_bound *bounds);

/* The share of a flow of a tensor from level `to` into level `from` (-1: compute units) that is left at the
 * least, where the tile of `from` stays as long as it can. */
double sx_outline_bound_left(const sx_outline_bound *bounds, int tensor, int from, int to);

/* Whether nothing may be left of a tensor's reads: Timeloop rounds up what actions remove of those of an output. */
bool sx_bound_loses_reads(const sx_model *model, int tensor);

/* The number of the irrelevant spatial loops of a tensor from a level to another, these included. */
uint32_t sx_outline_bound_apart(const sx_outline_bound *bounds, int tensor, int low, int high);

#endif
