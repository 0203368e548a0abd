#include "base/hash.h"

#include <string.h>

/* Folds 64 bits in by a 64x64 -> 128 bit product. */
static uint64_t mix(uint64_t hash, uint64_t word) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ word ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes as a little-endian number, whatever the machine. */
static uint64_t load(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint64_t sx_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    const unsigned char *at = bytes;
    uint64_t hash = mix(seed, size);
    for (; size >= 8; size -= 8, at += 8) hash = mix(hash, load(at));
    if (size > 0) {
        unsigned char rest[8] = {0};
        memcpy(rest, at, size);
        hash = mix(hash, load(rest));
    }
    return mix(hash, 0x2545f4914f6cdd1du);
}
