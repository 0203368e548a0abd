/* A 64-bit hash of bytes, the same on every machine (not for secrets). */
#ifndef SX_BASE_HASH_H
#define SX_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t sx_hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* A 64-bit hash of a number, whose low half depends on all its bits. */
static inline uint64_t sx_hash_word(uint64_t word) {
    uint64_t hash = (word ^ word >> 32) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

#endif
