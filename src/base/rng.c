#include "sextant/rng.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

static uint64_t next_splitmix64(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

sx_rng sx_rng_stream(uint64_t seed, const char *name, uint64_t index) {
    uint64_t state = seed;
    state = next_splitmix64(&state) ^ sx_hash_bytes(name, strlen(name), 0);
    state = next_splitmix64(&state) ^ index;
    sx_rng rng;
    for (int i = 0; i < 4; i++) rng.s[i] = next_splitmix64(&state);
    return rng;
}

static uint64_t rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

uint64_t sx_rng_next(sx_rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t sx_rng_below(sx_rng *rng, uint64_t bound) {
    assert(bound > 0);
    uint64_t limit = UINT64_MAX - (UINT64_MAX % bound + 1) % bound; /* last value of the last whole cycle */
    uint64_t x;
    do x = sx_rng_next(rng);
    while (x > limit);
    return x % bound;
}

int64_t sx_rng_range(sx_rng *rng, int64_t low, int64_t high) {
    uint64_t width = (uint64_t)high - (uint64_t)low + 1; /* 0: all of 2^64 */
    uint64_t offset = width ? sx_rng_below(rng, width) : sx_rng_next(rng);
    return (int64_t)((uint64_t)low + offset);
}

double sx_rng_double(sx_rng *rng) {
    return (double)(sx_rng_next(rng) >> 11) * 0x1p-53;
}

void sx_rng_shuffle(sx_rng *rng, uint8_t *items, unsigned n) {
    for (unsigned i = n; i > 1; i--) {
        unsigned j = (unsigned)sx_rng_below(rng, i);
        uint8_t swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}
