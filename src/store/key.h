/* Keys of rows: hashes of their content. */
#ifndef SX_STORE_KEY_H
#define SX_STORE_KEY_H

#include <stddef.h>
#include <stdint.h>

/* A hash of content, 128 bits in hexadecimal digits. */
typedef struct sx_key {
    char hex[33];
} sx_key;

/* Two hashes of the same content from different seeds. */
typedef struct sx_digest {
    uint64_t half[2];
} sx_digest;

extern const sx_digest sx_digest_start;

/* Adds content to a digest. The two zeros of a double are the same. */
void sx_digest_text(sx_digest *d, const char *text);
void sx_digest_number(sx_digest *d, uint64_t number);
void sx_digest_double(sx_digest *d, double value);

/* The key of all that was added; and of a single text. */
sx_key sx_digest_key(const sx_digest *d);
sx_key sx_text_key(const char *text);

#endif
