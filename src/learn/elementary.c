/* Argument reductions by sums with constants split in two, then polynomials in Horner's form. */
#include "learn/elementary.h"

#include <math.h>
#include <string.h>

static const double LN2_HIGH = 0x1.62e42fefa38p-1,
                    LN2_LOW = 0x1.ef35793c7673p-45; /* the high part has 42 bits */
static const double PI = 0x1.921fb54442d18p1;

/* The nearest whole number of |x| < 2^51. */
static double nearest_whole(double x) {
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* 2^n of a normal number. */
static double power_of_two(int n) {
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(r) - 1 for |r| <= 0.35: Taylor's series. */
static double exp_minus_one(double r) {
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 1.0 / 2;
    return r + r * r * p;
}

double sx_exp(double x) {
    if (x > 710) return INFINITY;
    if (x < -746) return 0;
    if (x != x) return x;
    double n = nearest_whole(x * 0x1.71547652b82fep0);
    double r = (x - n * LN2_HIGH) - n * LN2_LOW;
    int half = (int)n / 2;
    return (1 + exp_minus_one(r)) * power_of_two(half) * power_of_two((int)n - half);
}

/* x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log(m) by the series of atanh(s), s = f / (2 + f), f = m - 1. */
double sx_log(double x) {
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x == INFINITY) return x;
    double e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    e += (double)((int)(bits >> 52) - 1023);
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof x);
    if (x > 0x1.6a09e667f3bcdp0) {
        x *= 0.5;
        e += 1;
    }
    double f = x - 1, s = f / (2 + f), z = s * s, p = 0;
    for (int i = 23; i >= 3; i -= 2) p = p * z + 2.0 / i;
    double half = 0.5 * f * f;
    return e * LN2_HIGH - ((half - (s * (half + z * p) + e * LN2_LOW)) - f);
}

/* With t = exp(2x) - 1: t / (t + 2), and without a difference of near numbers for small x. */
double sx_tanh(double x) {
    double a = fabs(x), y;
    if (a != a) return x;
    if (a <= 0.7) {
        double quarter = exp_minus_one(a / 2), half = quarter * (quarter + 2), t = half * (half + 2);
        y = t / (t + 2);
    } else {
        y = a > 20 ? 1 : 1 - 2 / (sx_exp(2 * a) + 1);
    }
    return x < 0 ? -y : y;
}

double sx_sigmoid(double x) {
    double e = sx_exp(-fabs(x));
    return (x < 0 ? e : 1) / (1 + e);
}

/* The cosine and the sine of |x| <= pi / 4: Taylor's series. */
static double cos_series(double x) {
    double z = x * x, p = 0,
           factorial[] = {2, 24, 720, 40320, 3628800, 479001600, 87178291200, 20922789888000};
    for (int i = 7; i >= 0; i--) p = (i % 2 ? 1 : -1) / factorial[i] + z * p;
    return 1 + z * p;
}
static double sin_series(double x) {
    double z = x * x, p = 0, factorial[] = {6, 120, 5040, 362880, 39916800, 6227020800, 1307674368000};
    for (int i = 6; i >= 0; i--) p = (i % 2 ? 1 : -1) / factorial[i] + z * p;
    return x + x * (z * p);
}

double sx_cos_pi(double x) {
    double a = fabs(x - 2 * nearest_whole(x / 2));
    double sign = a > 0.5 ? -1 : 1;
    if (a > 0.5) a = 1 - a;
    return sign * (a <= 0.25 ? cos_series(PI * a) : sin_series(PI * (0.5 - a)));
}

double sx_whole_power(double x, uint64_t n) {
    double y = 1;
    for (; n > 0; n /= 2, x *= x)
        if (n % 2) y *= x;
    return y;
}

double sx_normal(sx_rng *rng) {
    double u = 1 - sx_rng_double(rng), v = sx_rng_double(rng);
    return sqrt(-2 * sx_log(u)) * sx_cos_pi(2 * v);
}
