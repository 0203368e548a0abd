/* Divisors. */
#ifndef SX_BASE_DIVISOR_H
#define SX_BASE_DIVISOR_H

#include <stdint.h>

/* The largest divisor of n (>= 1) that is at most `limit` (>= 1). */
uint32_t sx_divisor_within(uint32_t n, uint32_t limit);

/* The greatest common divisor; that of 0 and a number is the number. */
uint64_t sx_divisor_common(uint64_t a, uint64_t b);

#endif
