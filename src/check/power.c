#include "check/power.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A number of 32 bits a limb, the lowest first. */
enum { FACTOR_LIMBS = 4, N_LIMBS = SX_MAX_FACTORS * FACTOR_LIMBS };

void sx_long_product_add(sx_long_product *product, sx_wide factor, int times) {
    assert(factor >= 0 && product->n + times <= SX_MAX_FACTORS);
    for (int i = 0; i < times; i++) product->factor[product->n++] = factor;
}

bool sx_long_product_add_double(double number, sx_long_product *above, sx_long_product *below) {
    enum { DIGITS = 53, POWER = 120 };
    int exponent;
    sx_wide digits = (sx_wide)ldexp(frexp(number, &exponent), DIGITS);
    exponent -= DIGITS;
    sx_long_product *to = exponent < 0 ? below : above;
    int left = exponent < 0 ? -exponent : exponent;
    if (above->n + to->n + left / POWER + 2 > SX_MAX_FACTORS) return false;
    sx_long_product_add(above, digits, 1);
    for (; left > POWER; left -= POWER) sx_long_product_add(to, (sx_wide)1 << POWER, 1);
    sx_long_product_add(to, (sx_wide)1 << left, 1);
    return true;
}

/* Multiplies a number of n limbs by a factor of up to 127 bits; the product fits them. */
static void multiply_limbs(uint32_t *limb, int n, sx_wide factor) {
    uint32_t from[N_LIMBS];
    memcpy(from, limb, (size_t)n * sizeof *limb);
    memset(limb, 0, (size_t)n * sizeof *limb);
    for (int k = 0; k < FACTOR_LIMBS; k++) {
        uint64_t part = (uint32_t)(factor >> (32 * k)), carry = 0;
        for (int i = 0; i + k < n; i++) {
            uint64_t sum = part * from[i] + limb[i + k] + carry;
            limb[i + k] = (uint32_t)sum;
            carry = sum >> 32;
        }
    }
}

/* Computes a product in n limbs. */
static void compute_product(const sx_long_product *product, uint32_t *limb, int n) {
    memset(limb, 0, (size_t)n * sizeof *limb);
    limb[0] = 1;
    for (int i = 0; i < product->n; i++) multiply_limbs(limb, FACTOR_LIMBS * (i + 1), product->factor[i]);
}

bool sx_long_product_reaches(const sx_long_product *product, const sx_long_product *other) {
    uint32_t a[N_LIMBS], b[N_LIMBS];
    int n = FACTOR_LIMBS * (product->n > other->n ? product->n : other->n);
    if (n == 0) return true;
    compute_product(product, a, n);
    compute_product(other, b, n);
    for (int i = n - 1; i >= 0; i--)
        if (a[i] != b[i]) return a[i] > b[i];
    return true;
}
