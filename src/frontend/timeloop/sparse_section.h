/* Timeloop's sparse optimizations: formats, gating and skipping, by level. */
#ifndef SX_FRONTEND_TIMELOOP_SPARSE_SECTION_H
#define SX_FRONTEND_TIMELOOP_SPARSE_SECTION_H

#include "frontend/input.h"

/* Reads a `sparse_optimizations` node of targets, each a level or the compute unit by name, into an
 * architecture; versions 0.3 and 0.4. */
SX_MUST_USE sx_status sx_sparse_read(sx_input *input, const sx_node *node, sx_arch *arch);

/* Reads the sparse keys of a component (version 0.4): formats and actions of one level, or those of the
 * compute unit (level == n_levels). */
SX_MUST_USE sx_status sx_sparse_read_component(sx_input *input, const sx_node *map, int level, sx_arch *arch);

/* Reads the densities of a problem's tensors. */
SX_MUST_USE sx_status sx_densities_read(sx_input *input, const sx_node *map, sx_problem *problem);

/* Gives tensors without a density of their own this one, as `commonDensity` does. */
SX_MUST_USE sx_status sx_densities_common(const sx_node *value, sx_problem *problem);

#endif
