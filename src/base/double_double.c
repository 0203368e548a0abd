#include "base/double_double.h"

static const sx_dd log_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const sx_dd half_log_2pi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};

sx_dd sx_dd_div(sx_dd a, sx_dd b) {
    double first = a.high / b.high;
    sx_dd rest = sx_dd_add(a, sx_dd_neg(sx_dd_mul(b, (sx_dd){first, 0})));
    double second = rest.high / b.high;
    rest = sx_dd_add(rest, sx_dd_neg(sx_dd_mul(b, (sx_dd){second, 0})));
    sx_dd sum = sx_dd_fast_sum(first, second);
    return sx_dd_add(sum, (sx_dd){rest.high / b.high, 0});
}

/* By the series of e^x - 1 for an argument reduced by ln 2 and 2^9, squared back. */
sx_dd sx_dd_exp(sx_dd a) {
    if (a.high < -745) return (sx_dd){0, 0};
    double times = round(a.high / log_2.high);
    sx_dd x = sx_dd_add(a, sx_dd_neg(sx_dd_mul(log_2, (sx_dd){times, 0})));
    x = (sx_dd){x.high * 0x1p-9, x.low * 0x1p-9};
    sx_dd term = x, sum = x;
    for (int i = 2; i <= 10; i++) {
        term = sx_dd_div(sx_dd_mul(term, x), (sx_dd){i, 0});
        sum = sx_dd_add(sum, term);
    }
    for (int i = 0; i < 9; i++) {
        sx_dd square = sx_dd_mul(sum, sum);
        sum = sx_dd_add((sx_dd){2 * sum.high, 2 * sum.low}, square);
    }
    sum = sx_dd_add(sum, (sx_dd){1, 0});
    return (sx_dd){ldexp(sum.high, (int)times), ldexp(sum.low, (int)times)};
}

/* One step of Newton's method doubles the digits of the library's logarithm. */
sx_dd sx_dd_log(sx_dd a) {
    sx_dd guess = {log(a.high), 0};
    sx_dd ratio = sx_dd_mul(a, sx_dd_exp(sx_dd_neg(guess)));
    sx_dd step = sx_dd_add(ratio, (sx_dd){-1, 0});
    sx_dd square = sx_dd_mul(step, step);
    return sx_dd_add(guess, sx_dd_add(step, (sx_dd){-0.5 * square.high, -0.5 * square.low}));
}

/* By Stirling's series, whose terms are B_2k / (2k (2k - 1) n^(2k - 1)). */
sx_dd sx_dd_log_factorial(uint64_t n) {
    static const double series[][2] = {
        {1, 12},  {-1, 360},       {1, 1260},       {-1, 1680},        {1, 1188},     {-691, 360360},
        {1, 156}, {-3617, 122400}, {43867, 244188}, {-174611, 125400}, {77683, 5796}, {-236364091, 1506960},
    };
    if (n < 2) return (sx_dd){0, 0};
    if (n < 32) {
        sx_dd product = {1, 0};
        for (uint64_t i = 2; i <= n; i++) product = sx_dd_mul(product, (sx_dd){(double)i, 0});
        return sx_dd_log(product);
    }
    sx_dd x = sx_dd_from_u64(n), inverse = sx_dd_div((sx_dd){1, 0}, x), square = sx_dd_mul(inverse, inverse);
    sx_dd sum = sx_dd_mul(sx_dd_add(x, (sx_dd){0.5, 0}), sx_dd_log(x));
    sum = sx_dd_add(sx_dd_add(sum, sx_dd_neg(x)), half_log_2pi);
    for (int i = 0; i < 12; i++) {
        sx_dd term = sx_dd_div((sx_dd){series[i][0], 0}, (sx_dd){series[i][1], 0});
        sum = sx_dd_add(sum, sx_dd_mul(term, inverse));
        inverse = sx_dd_mul(inverse, square);
        if (fabs(inverse.high) < 1e-36) break;
    }
    return sum;
}
