#include "base/divisor.h"

uint32_t sx_divisor_within(uint32_t n, uint32_t limit) {
    uint32_t best = 1;
    if (n <= limit) return n;
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

size_t sx_divisors_of(uint32_t n, uint32_t *out) {
    size_t count = 0, low = 0;
    for (uint32_t d = 1; (uint64_t)d * d <= n; d++) {
        if (n % d) continue;
        if (out) out[low] = d;
        low++;
        count += (uint64_t)d * d == n ? 1 : 2;
    }
    for (size_t i = low; out && i < count; i++) out[i] = n / out[count - 1 - i];
    return count;
}
