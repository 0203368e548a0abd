/* The least and the largest of two numbers, as fmin and fmax without a call; a NaN as the second is passed over. */
#ifndef SX_BASE_EXTREME_H
#define SX_BASE_EXTREME_H

static inline double sx_lesser(double a, double b) {
    return b < a ? b : a;
}

static inline double sx_larger(double a, double b) {
    return b > a ? b : a;
}

#endif
