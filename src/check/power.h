/* Products that may exceed 128 bits, compared without computing them in a fixed width. */
#ifndef SX_CHECK_POWER_H
#define SX_CHECK_POWER_H

#include "check/exact.h"

/* Most factors of a product: powers of energy, cycles and units up to this, and what a double is made of. */
enum { SX_MAX_POWER = 4, SX_MAX_FACTORS = 32 };

/* A product of numbers that are not negative. */
typedef struct sx_long_product {
    int n;
    sx_wide factor[SX_MAX_FACTORS];
} sx_long_product;

/* Appends a factor some times; there must be room. */
void sx_long_product_add(sx_long_product *product, sx_wide factor, int times);

/* Appends a finite double that is not negative: its digits go to `above`, and its power of two to `above`
 * or, where it is negative, to `below`. False where there is no room. */
bool sx_long_product_add_double(double number, sx_long_product *above, sx_long_product *below);

/* Whether a product is at least another one. */
bool sx_long_product_reaches(const sx_long_product *product, const sx_long_product *other);

#endif
