/* How the spatial loops of a level lie on the two axes of its array. */
#ifndef SX_IR_AXES_H
#define SX_IR_AXES_H

#include "sextant/mapping.h"

/* The dimension that lies on both axes, -1: none, and how many of its iterations lie on X. */
typedef struct sx_axis_split {
    int8_t both;
    uint16_t x_part;
} sx_axis_split;

/* Lays the loops of a level on X where the mask has them and on Y otherwise; false where they have no room.
 * With `split`, where X has no room for all of the mask, one of its dimensions goes on along Y: X takes the
 * largest divisor of its factor that there is room for, Y the rest; of several dimensions that fit so, the
 * last. A smaller part on X never fits where the largest does not, so each set of factors that has room with
 * one dimension on both axes is laid by some mask. */
bool sx_axes_lay(const uint32_t *factor, int n_dims, unsigned x, const uint64_t room[2], bool split,
                 sx_axis_split *out);

/* The children that a level's spatial loops spread over on X and on Y, no more than 2^32 - 1 each. */
void sx_axes_used(const sx_mapping_level *at, int n_dims, uint64_t used[2]);

/* The dimension of a level that lies on both axes, -1: none. */
static inline int sx_axes_both(const sx_mapping_level *at) {
    return at->x_part && at->split ? at->spatial_order[at->split - 1] : -1;
}

/* Whether x_part is 0, or a divisor of the last factor on X with iterations on both axes. */
static inline bool sx_axes_good(const sx_mapping_level *at) {
    if (!at->x_part) return true;
    int d = sx_axes_both(at);
    return d >= 0 && d < SX_MAX_DIMS && at->x_part > 1 && at->spatial[d] > at->x_part &&
           at->spatial[d] % at->x_part == 0;
}

#endif
