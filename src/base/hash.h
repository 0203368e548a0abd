/* A 64-bit hash of bytes, the same on every machine (not for secrets). */
#ifndef SX_BASE_HASH_H
#define SX_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Folds 64 bits in by a 64x64 -> 128 bit product. */
static inline uint64_t sx_hash_mix(uint64_t hash, uint64_t word) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ word ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t sx_hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* The same task for whole numbers in memory, faster; another hash than that of their bytes. */
static inline uint64_t sx_hash_words(const int64_t *word, size_t n) {
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) hash = sx_hash_mix(hash, (uint64_t)word[i]);
    return hash;
}

#endif
