/* Which loops to spread over a fan-out. */
#ifndef SX_MAPPERS_SUNSTONE_UNROLL_H
#define SX_MAPPERS_SUNSTONE_UNROLL_H

#include "base/vector.h"
#include "mappers/sunstone/tiles.h"

/* A way to spread loops over the fan-out of a level. */
typedef struct sx_sunstone_unrolling {
    uint32_t factor[SX_MAX_DIMS];
    uint32_t on_x; /* a mask of dimensions; the others lie on Y */
} sx_sunstone_unrolling;

typedef enum sx_sunstone_spread {
    SX_SPREAD_TENSOR, /* the thesis' rule: on each axis the dimensions of one tensor, others only to fill it
                       */
    SX_SPREAD_MIXED,  /* dimensions of any tensors, axes filled as far as they go */
    SX_SPREAD_ALL,    /* everything that fits */
} sx_sunstone_spread;

/* Appends the ways to spread what is left of the dimensions over a level's fan-out to a list of
 * sx_sunstone_unrolling; at least one. Of those with the same factors there is one only. Stops at `limit`
 * of them. */
void sx_sunstone_unroll(const sx_map_space *space, const sx_sunstone_divisors *divisors, int level,
                        const uint32_t *left, sx_sunstone_spread rule, size_t limit, sx_vector *out);

#endif
