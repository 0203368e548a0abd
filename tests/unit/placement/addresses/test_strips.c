/* Packings whose cuts coincide are divided into strips. */
#include "placement/addresses/strips.h"
#include "support/expect.h"
#include "support/packings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BUFFERS = 400, STEPS = 100, BYTES = 1000, CASES = 4, FEW = 40, SOME = 150 };

/* What was left to a packer. */
typedef struct packed {
    size_t calls, most;
} packed;

/* Packs what the general search packs, and counts. */
static bool pack_few(void *user, sx_buffer *buffer, size_t n, uint64_t height) {
    const sx_allocate_options options = {.capacity = height, .nodes = 2000};
    packed *k = user;
    sx_allocation found;
    k->calls++;
    if (n > k->most) k->most = n;
    sx_expect_ok(sx_allocate(buffer, n, &options, &found));
    return found.found;
}

static bool never(void *user) {
    (void)user;
    return false;
}

static bool at_once(void *user) {
    (void)user;
    return true;
}

/* Only few buffers at once are left to the packer, and what it packs fits together. */
static void packings_are_divided(void **state) {
    sx_buffer *buffer = calloc(BUFFERS, sizeof *buffer);
    (void)state;
    assert_non_null(buffer);
    for (uint64_t number = 0; number < CASES; number++) {
        packed user = {0};
        const sx_strips_packer packer = {pack_few, never, &user};
        uint64_t nodes = 100000;
        bool found = false;
        sx_cut_rectangle(sx_rng_stream(0, "test.joins", number), STEPS, BYTES, 20, buffer, BUFFERS);
        for (size_t i = 0; i < BUFFERS; i++) buffer[i].offset = 7;
        for (uint64_t attempt = 0; attempt < 4 && !found; attempt++)
            sx_expect_ok(sx_strips_divide(buffer, BUFFERS, BYTES, attempt, &packer, &nodes, &found));
        assert_true(found && nodes > 0 && user.calls > 4 && user.most < SOME);
        sx_expect_apart(buffer, BUFFERS, BYTES);
    }
    free(buffer);
}

/* Nothing is divided where a step is not full, where the height is another one, or after the end. */
static void other_buffers_are_refused(void **state) {
    sx_buffer buffer[FEW];
    packed user = {0};
    const sx_strips_packer packer = {pack_few, never, &user}, stopped = {pack_few, at_once, &user};
    uint64_t nodes = 1000;
    bool found = true;
    (void)state;
    sx_cut_rectangle(sx_rng_stream(0, "test.joins", 1), STEPS, BYTES, 20, buffer, FEW);
    sx_expect_ok(sx_strips_divide(buffer, FEW, BYTES + 1, 0, &packer, &nodes, &found));
    assert_false(found);
    for (int i = 0; i < FEW; i++)
        if (buffer[i].upper == STEPS) buffer[i].size++;
    sx_expect_ok(sx_strips_divide(buffer, FEW, BYTES, 0, &packer, &nodes, &found));
    assert_false(found);
    assert_int_equal(user.calls, 0);
    sx_cut_rectangle(sx_rng_stream(0, "test.joins", 1), STEPS, BYTES, 20, buffer, FEW);
    sx_expect_ok(sx_strips_divide(buffer, FEW, BYTES, 0, &packer, &nodes, &found));
    assert_true(found && nodes <= 1000);
    sx_expect_ok(sx_strips_divide(buffer, 0, BYTES, 0, &stopped, &nodes, &found));
    assert_false(found);
}

/* The allocator takes strips where joins do not lead to a packing. */
static void the_allocator_uses_strips(void **state) {
    sx_buffer *buffer = calloc(BUFFERS, sizeof *buffer);
    (void)state;
    assert_non_null(buffer);
    for (uint64_t number = 0; number < CASES; number++) {
        const sx_allocate_options options = {.capacity = number % 2 ? 0 : BYTES, .nodes = 100000};
        sx_allocation found;
        sx_cut_rectangle(sx_rng_stream(0, "test.joins", number), STEPS, BYTES, 3, buffer, BUFFERS);
        sx_expect_ok(sx_allocate(buffer, BUFFERS, &options, &found));
        assert_true(found.found && found.proven && found.bytes == BYTES && found.live == BYTES);
        sx_expect_apart(buffer, BUFFERS, BYTES);
    }
    free(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packings_are_divided),
        cmocka_unit_test(other_buffers_are_refused),
        cmocka_unit_test(the_allocator_uses_strips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
