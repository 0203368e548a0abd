/* Which tensors an input's constraints and mapping name. */
#ifndef SX_FRONTEND_TIMELOOP_TENSOR_USES_H
#define SX_FRONTEND_TIMELOOP_TENSOR_USES_H

#include "frontend/input.h"

/* Visits every name of a tensor in the sections about architecture, constraints and mapping, in their order;
 * a name may come more than once. */
SX_MUST_USE sx_status sx_input_tensor_uses(const sx_input *input, sx_name_visitor *each, void *user);

#endif
