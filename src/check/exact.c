#include "check/exact.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t sx_gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool sx_lcm_add(int64_t *multiple, int64_t n) {
    return !__builtin_mul_overflow(*multiple, n / sx_gcd(*multiple, n), multiple);
}

/* num / den in lowest terms; den > 0. */
static sx_ratio lowest_terms(int64_t num, int64_t den) {
    int64_t common = sx_gcd(num < 0 ? -num : num, den);
    return (sx_ratio){num / common, den / common};
}

/* A decimal as digits times a power of ten. */
typedef struct decimal {
    int64_t digits;
    int n_digits; /* without leading zeros */
    int exponent;
    bool negative;
} decimal;

/* Reads digits with at most one point among them; false where there are none, or too many. */
static bool read_digits(const char **text, decimal *out) {
    bool point = false, any = false;
    for (;; ++*text) {
        if (**text == '.' && !point) {
            point = true;
            continue;
        }
        if (!isdigit((unsigned char)**text)) return any;
        any = true;
        out->exponent -= point;
        if (out->digits == 0 && **text == '0') continue;
        if (++out->n_digits > 18) return false;
        out->digits = out->digits * 10 + (**text - '0');
    }
}

/* Reads a whole text as a decimal. */
static bool read_decimal(const char *text, decimal *out) {
    memset(out, 0, sizeof *out);
    if (*text == '-' || *text == '+') out->negative = *text++ == '-';
    if (!read_digits(&text, out)) return false;
    if (*text == 'e' || *text == 'E') {
        char *end;
        if (!isdigit((unsigned char)text[1]) && text[1] != '-' && text[1] != '+') return false;
        long power = strtol(text + 1, &end, 10);
        if (end == text + 1 || power < -400 || power > 400) return false;
        out->exponent += (int)power;
        text = end;
    }
    return *text == 0;
}

/* The fraction that a decimal is. */
static bool decimal_ratio(const decimal *d, sx_ratio *out) {
    sx_ratio value = {d->negative ? -d->digits : d->digits, 1};
    if (value.num == 0) {
        *out = (sx_ratio){0, 1};
        return true;
    }
    for (int i = 0; i < d->exponent; i++)
        if (__builtin_mul_overflow(value.num, 10, &value.num)) return false;
    for (int i = 0; i > d->exponent; i--) {
        if (value.num % 10 == 0)
            value.num /= 10;
        else if (__builtin_mul_overflow(value.den, 10, &value.den))
            return false;
    }
    *out = lowest_terms(value.num, value.den);
    return true;
}

bool sx_ratio_read(const char *text, sx_ratio *out) {
    enum { SURE = 15 }; /* digits that every double keeps apart */
    decimal d;
    char shorter[40], *end;
    if (read_decimal(text, &d) && d.n_digits <= SURE) return decimal_ratio(&d, out);
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value)) return false;
    for (int n = SURE; n <= 17; n++) {
        snprintf(shorter, sizeof shorter, "%.*e", n - 1, value);
        if (strtod(shorter, NULL) == value) break;
    }
    return read_decimal(shorter, &d) && decimal_ratio(&d, out);
}
