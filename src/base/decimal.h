/* Doubles as the decimals that they were written as. */
#ifndef SX_BASE_DECIMAL_H
#define SX_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Room for the text of any double, with its final zero. */
enum { SX_DECIMAL_SIZE = 32 };

/* Writes the decimal of 15 digits, else 16, else 17 that reads back as this finite double, without final zeros.
 * A decimal of up to 15 digits that somebody wrote comes back as it was. Whole numbers below 10^17 have no
 * exponent. */
void sx_decimal_text(double value, char text[SX_DECIMAL_SIZE]);

/* A decimal: digits * 10^exponent. */
typedef struct sx_decimal {
    int64_t digits; /* without final zeros */
    int exponent;   /* 0 where digits is 0 */
} sx_decimal;

/* The decimal of that text. */
sx_decimal sx_decimal_of(double value);

#endif
