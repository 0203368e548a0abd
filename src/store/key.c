#include "store/key.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const sx_digest sx_digest_start = {{0x736578746e616e74u, 0x6d617070696e6773u}};

/* Adds bytes to a digest. */
static void add_bytes(sx_digest *d, const void *bytes, size_t size) {
    for (int i = 0; i < 2; i++) d->half[i] = sx_hash_bytes(bytes, size, d->half[i]);
}

void sx_digest_text(sx_digest *d, const char *text) {
    add_bytes(d, text, strlen(text));
}

void sx_digest_number(sx_digest *d, uint64_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> 8 * i);
    add_bytes(d, bytes, sizeof bytes);
}

void sx_digest_double(sx_digest *d, double value) {
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    sx_digest_number(d, bits);
}

sx_key sx_digest_key(const sx_digest *d) {
    sx_key key;
    snprintf(key.hex, sizeof key.hex, "%016" PRIx64 "%016" PRIx64, d->half[0], d->half[1]);
    return key;
}

sx_key sx_text_key(const char *text) {
    sx_digest d = sx_digest_start;
    sx_digest_text(&d, text);
    return sx_digest_key(&d);
}
