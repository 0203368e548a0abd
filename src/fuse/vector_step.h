/* Steps on the vector unit: what a softmax, a norm, an activation function or an addition costs where some of its tensors are in
 * the exchange memory. */
#ifndef SX_FUSE_VECTOR_STEP_H
#define SX_FUSE_VECTOR_STEP_H

#include "fuse/plan.h"

/* Sets what the steps of a graph that are no einsums take of the machine's vector unit; nothing where it has none. */
SX_MUST_USE sx_status sx_vector_steps_set(sx_exchange *exchange);

/* The cost of a step with the values of a state in the exchange memory, and those inside of a group (NULL: it is in none); tensors
 * on chip are read and written there. `bytes` (may be NULL) is what goes to and from the outermost memory. */
sx_score sx_vector_step_score(const sx_exchange *exchange, size_t step, uint64_t state,
                              const sx_fuse_group *group, double *bytes);

#endif
