/* Shapes of problems that are named rather than written out. */
#ifndef SX_FRONTEND_TIMELOOP_SHAPE_H
#define SX_FRONTEND_TIMELOOP_SHAPE_H

#include "frontend/input.h"

/* The shape of that name: of a file NAME.yaml beside the one that names it, one that Timeloop has built in,
 * or of a file in a folder problem-shapes beside it or its folder. NULL stands for Timeloop's preset. */
SX_MUST_USE sx_status sx_shape_named(sx_input *input, const sx_node *name, const sx_node **out);

#endif
