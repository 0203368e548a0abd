/* Rectangles that were cut into buffers are put together again. */
#include "placement/addresses/joins.h"
#include "support/expect.h"
#include "support/packings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BUFFERS = 800, STEPS = 1000, BYTES = 1000000, NODES = 9000 };

static void packings_without_waste_are_found(void **state) {
    sx_buffer *buffer = malloc(BUFFERS * sizeof *buffer);
    (void)state;
    assert_non_null(buffer);
    for (uint64_t number = 0; number < 4; number++) {
        const sx_allocate_options options = {.capacity = number % 2 ? 0 : BYTES, .nodes = NODES};
        sx_allocation found;
        sx_cut_rectangle(sx_rng_stream(0, "test.joins", number), STEPS, BYTES, 20, buffer, BUFFERS);
        sx_expect_apart(buffer, BUFFERS, BYTES);
        for (size_t i = 0; i < BUFFERS; i++) buffer[i].offset = 7;
        sx_expect_ok(sx_allocate(buffer, BUFFERS, &options, &found));
        assert_true(found.found && found.proven && found.nodes <= NODES);
        assert_true(found.bytes == BYTES && found.bound == BYTES && found.live == BYTES);
        sx_expect_apart(buffer, BUFFERS, BYTES);
    }
    free(buffer);
}

/* Joins keep the area; offsets of what is left are offsets of all. */
static void joins_are_taken_apart_again(void **state) {
    enum { FEW = 30 };
    sx_buffer buffer[FEW], left[FEW];
    sx_joins *joins;
    uint64_t live;
    (void)state;
    sx_cut_rectangle(sx_rng_stream(0, "test.joins", 9), STEPS, BYTES, 20, buffer, FEW);
    sx_expect_ok(sx_joins_new(buffer, FEW, &joins));
    sx_expect_ok(sx_joins_live(joins, &live));
    assert_true(live == BYTES);
    assert_true(sx_joins_suit(joins, BYTES) && !sx_joins_suit(joins, 2 * BYTES));
    for (uint64_t attempt = 0; attempt < 3; attempt++) {
        size_t n = sx_joins_make(joins, attempt, left);
        assert_int_equal(n, 1);
        assert_true(left[0].lower == 0 && left[0].upper == STEPS && left[0].size == BYTES);
        sx_joins_expand(joins, left, buffer);
        sx_expect_apart(buffer, FEW, BYTES);
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
