/* Rectangles that were cut into buffers are put together again. */
#include "placement/addresses/joins.h"
#include "sextant/rng.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BUFFERS = 800, STEPS = 1000, BYTES = 1000000, NODES = 9000 };

/* Cuts the largest of three rectangles in two until there are enough; offsets are those of the cuts. */
static void cut_rectangle(uint64_t number, sx_buffer *buffer, size_t n) {
    sx_rng rng = sx_rng_stream(0, "test.joins", number);
    buffer[0] = (sx_buffer){0, STEPS, BYTES, 0};
    for (size_t k = 1; k < n;) {
        sx_buffer *cut = &buffer[sx_rng_below(&rng, k)], *rest = &buffer[k];
        for (int i = 0; i < 20; i++) {
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

/* Asserts that buffers that live at the same time do not overlap, and all are within the bytes. */
static void expect_apart(const sx_buffer *buffer, size_t n) {
    for (size_t i = 0; i < n; i++) {
        assert_true(buffer[i].offset + buffer[i].size <= BYTES);
        for (size_t k = 0; k < i; k++) {
            if (buffer[i].lower >= buffer[k].upper || buffer[k].lower >= buffer[i].upper) continue;
            assert_true(buffer[i].offset + buffer[i].size <= buffer[k].offset ||
                        buffer[k].offset + buffer[k].size <= buffer[i].offset);
        }
    }
}

static void packings_without_waste_are_found(void **state) {
    sx_buffer *buffer = malloc(BUFFERS * sizeof *buffer);
    (void)state;
    assert_non_null(buffer);
    for (uint64_t number = 0; number < 4; number++) {
        const sx_allocate_options options = {.capacity = number % 2 ? 0 : BYTES, .nodes = NODES};
        sx_allocation found;
        cut_rectangle(number, buffer, BUFFERS);
        expect_apart(buffer, BUFFERS);
        for (size_t i = 0; i < BUFFERS; i++) buffer[i].offset = 7;
        sx_expect_ok(sx_allocate(buffer, BUFFERS, &options, &found));
        assert_true(found.found && found.proven && found.nodes <= NODES);
        assert_true(found.bytes == BYTES && found.bound == BYTES && found.live == BYTES);
        expect_apart(buffer, BUFFERS);
    }
    free(buffer);
}

/* Joins keep the area; offsets of what is left are offsets of all. */
static void joins_are_taken_apart_again(void **state) {
    enum { FEW = 30 };
    sx_buffer buffer[FEW], left[FEW];
    sx_joins *joins;
    (void)state;
    cut_rectangle(9, buffer, FEW);
    sx_expect_ok(sx_joins_new(buffer, FEW, &joins));
    assert_true(sx_joins_live(joins) == BYTES);
    assert_true(sx_joins_suit(joins, BYTES) && !sx_joins_suit(joins, 2 * BYTES));
    for (uint64_t attempt = 0; attempt < 3; attempt++) {
        size_t n = sx_joins_make(joins, attempt, left);
        assert_int_equal(n, 1);
        assert_true(left[0].lower == 0 && left[0].upper == STEPS && left[0].size == BYTES);
        sx_joins_expand(joins, left, buffer);
        expect_apart(buffer, FEW);
    }
    sx_joins_free(joins);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packings_without_waste_are_found),
        cmocka_unit_test(joins_are_taken_apart_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
