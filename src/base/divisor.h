/* Divisors. */
#ifndef SX_BASE_DIVISOR_H
#define SX_BASE_DIVISOR_H

#include <stdint.h>

/* The largest divisor of n (>= 1) that is at most `limit` (>= 1). */
uint32_t sx_divisor_within(uint32_t n, uint32_t limit);

#endif
