#include "base/hash.h"

#include <string.h>

/* Eight bytes as a little-endian number, whatever the machine. */
static uint64_t load_word(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint64_t sx_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    const unsigned char *at = bytes;
    uint64_t hash = sx_hash_mix(seed, size);
    for (; size >= 8; size -= 8, at += 8) hash = sx_hash_mix(hash, load_word(at));
    if (size > 0) {
        unsigned char rest[8] = {0};
        memcpy(rest, at, size);
        hash = sx_hash_mix(hash, load_word(rest));
    }
    return sx_hash_mix(hash, 0x2545f4914f6cdd1du);
}
