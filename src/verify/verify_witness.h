/* The mapping that the verifier's walk meets in the place of one that it passes over without a bound. */
#ifndef SX_VERIFY_VERIFY_WITNESS_H
#define SX_VERIFY_VERIFY_WITNESS_H

#include "verify/enumeration.h"

typedef enum sx_verify_skip {
    SX_VERIFY_SKIP_ORDER,     /* orders that all tensors see alike (order_list.c) */
    SX_VERIFY_SKIP_INNERMOST, /* the order of the innermost level, where no neighbour sees it */
    SX_VERIFY_SKIP_MOVABLE,   /* loops that could belong to the next level (bound/movable.c) */
    SX_N_VERIFY_SKIPS
} sx_verify_skip;

/* Makes a canonical member of the space the one that stands for it by a rule, canonical too. */
sx_witness sx_verify_witness(const sx_check_context *context, sx_verify_skip rule, sx_mapping *mapping);

#endif
