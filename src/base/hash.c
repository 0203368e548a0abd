#include "base/hash.h"

/* Folds 64 bits in by a 64x64 -> 128 bit product. */
static uint64_t mix(uint64_t hash, uint64_t word) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ word ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t sx_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    const unsigned char *at = bytes;
    uint64_t hash = mix(seed, size);
    for (; size > 0;) {
        uint64_t word = 0; /* little-endian whatever the machine */
        unsigned take = size < 8 ? (unsigned)size : 8;
        for (unsigned i = 0; i < take; i++) word |= (uint64_t)at[i] << (8 * i);
        hash = mix(hash, word);
        at += take;
        size -= take;
    }
    return mix(hash, 0x2545f4914f6cdd1du);
}
