/* Counting with numbers of points: exact while they fit 128 bits, then by their logarithm. */
#ifndef SX_SPACE_CARDINAL_H
#define SX_SPACE_CARDINAL_H

#include "sextant/space_type.h"

sx_cardinal sx_cardinal_of(sx_u128 count);

/* About 10^log10: not exact. */
sx_cardinal sx_cardinal_near(double log10);

/* About a number that need not be whole. */
sx_cardinal sx_cardinal_about(double count);

sx_cardinal sx_cardinal_times(sx_cardinal a, sx_cardinal b);

static inline sx_u128 sx_cardinal_u128(sx_cardinal cardinal) {
    return (sx_u128)cardinal.high << 64 | cardinal.low;
}

#endif
