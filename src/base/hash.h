/* A 64-bit hash of bytes, the same on every machine (not for secrets). */
#ifndef SX_BASE_HASH_H
#define SX_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t sx_hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
