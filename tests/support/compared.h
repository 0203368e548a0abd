/* How many cases a random test really compared. */
#ifndef SX_TESTS_COMPARED_H
#define SX_TESTS_COMPARED_H

#include <stdint.h>

/* Prints how many there were; fails the test where there are fewer than `least`. */
void sx_expect_compared(const char *what, uint64_t n, uint64_t least);

/* Prints a sum over the first cases of a test, which are the same in every run; fails the test where it is another one than was
 * recorded: bounds that get less close are still true, and show here alone. */
void sx_expect_recorded(const char *what, double sum, double recorded);

#endif
