#include "space/cardinal.h"

#include <math.h>

static const double log10_of_2 = 0.30102999566398120;

sx_cardinal sx_cardinal_of(sx_u128 count) {
    return (sx_cardinal){.high = (uint64_t)(count >> 64),
                         .low = (uint64_t)count,
                         .exact = true,
                         .log10 = log2((double)count) * log10_of_2};
}

sx_cardinal sx_cardinal_near(double log10) {
    return (sx_cardinal){.log10 = log10};
}

sx_cardinal sx_cardinal_about(double count) {
    return sx_cardinal_near(log2(count) * log10_of_2);
}

sx_cardinal sx_cardinal_times(sx_cardinal a, sx_cardinal b) {
    sx_u128 product, x = sx_cardinal_u128(a), y = sx_cardinal_u128(b);
    bool none = isinf(a.log10) || isinf(b.log10);
    if (a.exact && b.exact && !__builtin_mul_overflow(x, y, &product)) return sx_cardinal_of(product);
    return none ? sx_cardinal_of(0) : sx_cardinal_near(a.log10 + b.log10);
}
