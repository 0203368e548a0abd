#include "support/packings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void sx_cut_rectangle(sx_rng rng, uint64_t steps, uint64_t bytes, int tries, sx_buffer *buffer, size_t n) {
    buffer[0] = (sx_buffer){0, steps, bytes, 0};
    for (size_t k = 1; k < n;) {
        sx_buffer *cut = &buffer[sx_rng_below(&rng, k)], *rest = &buffer[k];
        for (int i = 0; i < tries; i++) {
            sx_buffer *other = &buffer[sx_rng_below(&rng, k)];
            if (other->size * (other->upper - other->lower) > cut->size * (cut->upper - cut->lower))
                cut = other;
        }
        *rest = *cut;
        if (sx_rng_below(&rng, 2) && cut->upper - cut->lower > 1) {
            cut->upper = cut->lower + 1 + sx_rng_below(&rng, cut->upper - cut->lower - 1);
            rest->lower = cut->upper;
            k++;
        } else if (cut->size > 1) {
            cut->size = 1 + sx_rng_below(&rng, cut->size - 1);
            rest->size -= cut->size;
            rest->offset += cut->size;
            k++;
        }
    }
}

void sx_expect_apart(const sx_buffer *buffer, size_t n, uint64_t bytes) {
    for (size_t i = 0; i < n; i++) {
        assert_true(buffer[i].offset + buffer[i].size <= bytes);
        for (size_t k = 0; k < i; k++) {
            if (buffer[i].lower >= buffer[k].upper || buffer[k].lower >= buffer[i].upper) continue;
            assert_true(buffer[i].offset + buffer[i].size <= buffer[k].offset ||
                        buffer[k].offset + buffer[k].size <= buffer[i].offset);
        }
    }
}
