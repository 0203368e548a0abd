/* How many cases a random test really compared. */
#ifndef SX_TESTS_COMPARED_H
#define SX_TESTS_COMPARED_H

#include <stdint.h>

/* Prints how many there were; fails the test where there are fewer than `least`. */
void sx_expect_compared(const char *what, uint64_t n, uint64_t least);

#endif
