/* Quantities as people write them: 10k, 16 KB, 2 MiB, 25 GB/s. */
#ifndef SX_TEXT_QUANTITY_H
#define SX_TEXT_QUANTITY_H

#include <stdbool.h>

typedef struct sx_quantity {
    double value; /* with its prefix: 10k is 10,000; of bytes KB, KiB are 1,024, MB, MiB 2^20, and so on */
    bool bytes;
} sx_quantity;

/* Whether a text is a number with a prefix (k, M, G, T), a unit (B) or both; a plain number is none. */
bool sx_quantity_parse(const char *text, sx_quantity *out);

/* Whether a text is a rate in bytes per second, such as 25 GB/s: kB, MB, GB and TB are powers of 1,000 here, KiB and so on of
 * 1,024. */
bool sx_rate_parse(const char *text, double *bytes_per_second);

#endif
