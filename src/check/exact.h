/* Exact numbers of the independent checker: fractions of 64-bit integers, and products that notice when they
 * overflow. */
#ifndef SX_CHECK_EXACT_H
#define SX_CHECK_EXACT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 sx_wide;

/* A fraction in lowest terms; den > 0. */
typedef struct sx_ratio {
    int64_t num, den;
} sx_ratio;

/* Reads a decimal such as "0.49", "2.2000000000000002" or "1e-3". Texts of up to 15 digits are taken as they are;
 * of longer ones, which are doubles written out, the shortest decimal that rounds to the same double. False where
 * the text is no finite decimal, or the fraction does not fit. */
bool sx_ratio_read(const char *text, sx_ratio *out);

/* The greatest common divisor of two numbers that are not negative. */
int64_t sx_gcd(int64_t a, int64_t b);

/* Makes *multiple the least common multiple of itself and n; false where that overflows. */
bool sx_lcm_add(int64_t *multiple, int64_t n);

/* a * b and a + b; false where the result does not fit. */
static inline bool sx_wide_mul(sx_wide a, sx_wide b, sx_wide *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool sx_wide_add(sx_wide a, sx_wide b, sx_wide *out) {
    return !__builtin_add_overflow(a, b, out);
}

#endif
