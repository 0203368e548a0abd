#include "base/divisor.h"

uint32_t sx_divisor_within(uint32_t n, uint32_t limit) {
    uint32_t best = 1;
    for (uint32_t i = 1; i <= n / i; i++) {
        if (n % i) continue;
        if (i <= limit && i > best) best = i;
        if (n / i <= limit && n / i > best) best = n / i;
    }
    return best;
}

uint64_t sx_divisor_common(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
