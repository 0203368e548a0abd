/* Projections: how a tensor's ranks come from the dimensions. All of these say the same:
 *     [ [[N]], [[C]], [[P, Wstride], [R, Wdilation]] ]                  lists of terms: dimension,
 * coefficient
 *     [ N, C, P*Wstride + R*Wdilation ]                                 a list of sums
 *     "[ N, C, P*Wstride + R*Wdilation ]"                               the same as one text
 *     { batch: N, channel: C, width: [[P, Wstride], [R, Wdilation]] }   ranks with names, which are dropped
 */
#ifndef SX_FRONTEND_TIMELOOP_PROJECTION_H
#define SX_FRONTEND_TIMELOOP_PROJECTION_H

#include "frontend/affine.h"
#include "text/document/document.h"

/* Reads a projection into a tensor's ranks. */
SX_MUST_USE sx_status sx_projection_read(const sx_node *node, const sx_symbols *symbols, sx_tensor *tensor);

#endif
