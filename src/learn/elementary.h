/* Elementary functions with a fixed order of operations: the same bits on every machine. libm's differ between
 * machines (tanh) or may. sqrt() is exact everywhere and used as it is. */
#ifndef SX_LEARN_ELEMENTARY_H
#define SX_LEARN_ELEMENTARY_H

#include "sextant/rng.h"

/* Within 4 units in the last place, exp and log within 2; infinite, 0 or NaN where the function is. */
double sx_exp(double x);
double sx_log(double x); /* NaN below 0 */
double sx_tanh(double x);
double sx_sigmoid(double x); /* 1 / (1 + exp(-x)) */

/* The cosine of pi * x, for |x| <= 2^50. */
double sx_cos_pi(double x);

/* x to the power n, by repeated multiplication. */
double sx_whole_power(double x, uint64_t n);

/* A draw from the standard normal distribution (Box and Muller; two uniform numbers each). */
double sx_normal(sx_rng *rng);

#endif
