/* The points that a search looks at, recorded: the same seed leads to the same points on every machine, and a change of them is
 * one of the search's rules, which must be meant. */
#ifndef SX_TESTS_TRAIL_H
#define SX_TESTS_TRAIL_H

#include <stddef.h>
#include <stdint.h>

/* A search of seed 1 on one thread: how many points it looks at, and the hash of all of them in their order. */
typedef struct sx_trail {
    const char *navigator;
    uint64_t evaluations, points, hash;
} sx_trail;

/* Fails the test unless searches of a small convolution look at the points recorded; says what they are now. */
void sx_expect_trails(const sx_trail *trails, size_t n);

#endif
