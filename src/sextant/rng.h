/* Random numbers: xoshiro256** (Blackman, Vigna) seeded by SplitMix64. All state is the caller's. */
#ifndef SX_RNG_H
#define SX_RNG_H

#include "sextant/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sx_rng {
    uint64_t s[4];
} sx_rng;

/* The stream of a logical unit (an island, a layer, a test case), derived from the seed, its name and its
 * number. */
sx_rng sx_rng_stream(uint64_t seed, const char *name, uint64_t index);

/* Whether a state is one of a stream's: all but one are. */
static inline bool sx_rng_holds(const sx_rng *rng) {
    return (rng->s[0] | rng->s[1] | rng->s[2] | rng->s[3]) != 0;
}

/* 64 uniform bits. */
uint64_t sx_rng_next(sx_rng *rng);

/* Uniform in [0, bound), without bias; bound >= 1. */
uint64_t sx_rng_below(sx_rng *rng, uint64_t bound);

/* Uniform in [low, high]. */
int64_t sx_rng_range(sx_rng *rng, int64_t low, int64_t high);

/* Uniform in [0, 1), 53 bits. */
double sx_rng_double(sx_rng *rng);

/* Shuffles n bytes. */
void sx_rng_shuffle(sx_rng *rng, uint8_t *items, unsigned n);

#endif
