/* Quantities as people write them: 10k, 16 KB, 2 MiB. */
#ifndef SX_TEXT_QUANTITY_H
#define SX_TEXT_QUANTITY_H

#include <stdbool.h>

typedef struct sx_quantity {
    double value; /* with its prefix: 10k is 10,000; of bytes KB, KiB are 1,024, MB, MiB 2^20, and so on */
    bool bytes;
} sx_quantity;

/* Whether a text is a number with a prefix (k, M, G, T), a unit (B) or both; a plain number is none. */
bool sx_quantity_parse(const char *text, sx_quantity *out);

#endif
