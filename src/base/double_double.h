/* Numbers of twice a double's precision, as the unevaluated sum of two doubles, and the few functions that
 * probabilities of combinations need. Relative errors are about 1e-30. */
#ifndef SX_BASE_DOUBLE_DOUBLE_H
#define SX_BASE_DOUBLE_DOUBLE_H

#include <math.h>
#include <stdint.h>

/* |low| is at most half a unit in the last place of high: high is the number rounded to a double. */
typedef struct sx_dd {
    double high, low;
} sx_dd;

/* The sum of a and b, where |a| >= |b| or a == 0. */
static inline sx_dd sx_dd_fast_sum(double a, double b) {
    double sum = a + b;
    return (sx_dd){sum, b - (sum - a)};
}

/* The sum of two doubles, exactly. */
static inline sx_dd sx_dd_sum(double a, double b) {
    double sum = a + b, part = sum - a;
    return (sx_dd){sum, (a - (sum - part)) + (b - part)};
}

static inline sx_dd sx_dd_add(sx_dd a, sx_dd b) {
    sx_dd high = sx_dd_sum(a.high, b.high), low = sx_dd_sum(a.low, b.low);
    high = sx_dd_fast_sum(high.high, high.low + low.high);
    return sx_dd_fast_sum(high.high, high.low + low.low);
}

static inline sx_dd sx_dd_mul(sx_dd a, sx_dd b) {
    double product = a.high * b.high;
    double rest = fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high);
    return sx_dd_fast_sum(product, rest);
}

static inline sx_dd sx_dd_neg(sx_dd a) {
    return (sx_dd){-a.high, -a.low};
}

/* A whole number, exactly. */
static inline sx_dd sx_dd_from_u64(uint64_t value) {
    return sx_dd_sum((double)(value >> 32) * 0x1p32, (double)(value & UINT32_MAX));
}

sx_dd sx_dd_div(sx_dd a, sx_dd b);
sx_dd sx_dd_exp(sx_dd a);
/* The natural logarithm of a number above 0. */
sx_dd sx_dd_log(sx_dd a);
/* The natural logarithm of n factorial. */
sx_dd sx_dd_log_factorial(uint64_t n);

#endif
