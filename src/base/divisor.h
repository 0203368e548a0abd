/* Divisors. */
#ifndef SX_BASE_DIVISOR_H
#define SX_BASE_DIVISOR_H

#include <stddef.h>
#include <stdint.h>

/* The largest divisor of n (>= 1) that is at most `limit` (>= 1). */
uint32_t sx_divisor_within(uint32_t n, uint32_t limit);

enum { SX_MOST_DIVISORS = 1920 }; /* of a number below 2^32 */

/* The divisors of n (>= 1), ascending, into `out` where that is not NULL; returns how many. */
size_t sx_divisors_of(uint32_t n, uint32_t *out);

/* The greatest common divisor; that of 0 and a number is the number. */
uint64_t sx_divisor_common(uint64_t a, uint64_t b);

#endif
