/* Offsets of buffers: alignment, limits and what ends a search. */
#include "placement/addresses/allocate.h"
#include "support/expect.h"
#include "support/packings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void nothing_takes_no_bytes(void **state) {
    const sx_allocate_options options = {.capacity = 1};
    sx_buffer empty = {0, 5, 0, 99};
    sx_allocation found;
    (void)state;
    sx_expect_ok(sx_allocate(NULL, 0, &options, &found));
    assert_true(found.found && found.proven && found.bytes == 0);
    sx_expect_ok(sx_allocate(&empty, 1, &options, &found));
    assert_true(found.found && found.bytes == 0 && empty.offset == 0);
}

static void buffers_that_live_throughout_lie_below_the_others(void **state) {
    sx_buffer buffer[] = {{2, 4, 10, 0}, {0, 9, 7, 0}, {4, 9, 20, 0}, {0, 9, 5, 0}, {0, 2, 3, 0}};
    const sx_allocate_options options = {0};
    sx_allocation found;
    (void)state;
    sx_expect_ok(sx_allocate(buffer, 5, &options, &found));
    assert_true(found.found && found.proven && found.bytes == 32 && found.nodes == 0);
    assert_true(buffer[0].offset == 12 && buffer[2].offset == 12 && buffer[4].offset == 12);
}

static void buffers_occupy_whole_blocks(void **state) {
    sx_buffer buffer[] = {{0, 2, 65, 0}, {1, 3, 64, 0}, {2, 4, 1, 0}};
    sx_allocate_options options = {.align = 64};
    sx_allocation found;
    (void)state;
    sx_expect_ok(sx_allocate(buffer, 3, &options, &found));
    assert_true(found.found && found.proven && found.bytes == 192 && found.live == 192);
    for (int i = 0; i < 3; i++) assert_true(buffer[i].offset % 64 == 0);
    options.capacity = 191;
    sx_expect_ok(sx_allocate(buffer, 3, &options, &found));
    assert_true(!found.found && found.proven);
    options.capacity = 63;
    sx_expect_ok(sx_allocate(buffer, 3, &options, &found));
    assert_true(!found.found && found.proven);
}

static void sizes_that_overflow_are_refused(void **state) {
    sx_buffer buffer[] = {{0, 2, INT64_MAX / 4, 0}, {1, 3, INT64_MAX / 4, 0}, {5, 5, 1, 0}};
    sx_allocate_options options = {0};
    sx_allocation found;
    (void)state;
    sx_expect_error(sx_allocate(buffer, 2, &options, &found), "their sizes overflow");
    sx_expect_error(sx_allocate(buffer + 2, 1, &options, &found), "ends before it begins");
    options.align = UINT64_MAX;
    sx_expect_error(sx_allocate(buffer, 1, &options, &found), "the alignment is too large");
}

/* Cuts a rectangle of steps and bytes into n buffers and makes every tenth smaller, so that the fewest bytes take a
 * long search. */
static void draw(sx_buffer *buffer, size_t n) {
    sx_cut_rectangle(sx_rng_stream(0, "test.allocate", 0), 1000, 1000, 0, buffer, n);
    for (size_t k = 0; k < n; k += 10) buffer[k].size = (buffer[k].size + 1) / 2;
}

enum { MANY = 300 };

static void a_limit_of_nodes_ends_a_search(void **state) {
    static sx_buffer buffer[MANY], again[MANY];
    const sx_allocate_options options = {.nodes = 5000};
    sx_allocation found, same;
    (void)state;
    draw(buffer, MANY);
    draw(again, MANY);
    sx_expect_ok(sx_allocate(buffer, MANY, &options, &found));
    assert_true(found.found && found.nodes == 5000 && found.stop == SX_STOP_EVALUATIONS && !found.proven);
    assert_true(found.bytes > found.bound && found.bound >= found.live);
    sx_expect_ok(sx_allocate(again, MANY, &options, &same));
    assert_true(same.bytes == found.bytes && same.bound == found.bound);
    for (int i = 0; i < MANY; i++) assert_true(again[i].offset == buffer[i].offset);
}

/* Sets a cancel object once something was found. */
static void cancel_when_found(void *user, const sx_allocation *so_far) {
    if (so_far->found) sx_cancel_set(user);
}

static void a_cancelled_search_gives_its_best(void **state) {
    static sx_buffer buffer[MANY];
    sx_cancel cancel = {0};
    const sx_allocate_options options = {.cancel = &cancel, .progress = cancel_when_found, .user = &cancel};
    sx_allocation found;
    (void)state;
    draw(buffer, MANY);
    sx_expect_ok(sx_allocate(buffer, MANY, &options, &found));
    assert_true(found.found && found.stop == SX_STOP_SIGNAL);
    sx_expect_ok(sx_allocate(buffer, MANY, &options, &found));
    assert_true(found.found && !found.proven && found.stop == SX_STOP_SIGNAL && found.nodes == 0);
}

static void time_ends_a_search(void **state) {
    static sx_buffer buffer[MANY];
    const sx_allocate_options options = {.seconds = 1e-9};
    sx_allocation found;
    (void)state;
    draw(buffer, MANY);
    sx_expect_ok(sx_allocate(buffer, MANY, &options, &found));
    assert_true(found.stop == SX_STOP_TIME && found.found && !found.proven && found.nodes == 0);
    sx_expect_apart(buffer, MANY, found.bytes);
    assert_true(found.bound == found.live);
}

/* Seconds of preparing do not grow with the square of the buffers. */
static void many_buffers_end_in_time(void **state) {
    enum { LOTS = 60000 };
    sx_buffer *buffer = calloc(LOTS, sizeof *buffer);
    const sx_allocate_options options = {.seconds = 1e-9};
    sx_allocation found;
    (void)state;
    assert_non_null(buffer);
    for (uint64_t i = 0; i < LOTS; i++) buffer[i] = (sx_buffer){i, i + 3, 1 + i % 7, 0};
    const clock_t begun = clock();
    sx_expect_ok(sx_allocate(buffer, LOTS, &options, &found));
    assert_true(found.found && (double)(clock() - begun) / CLOCKS_PER_SEC < 2);
    free(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_takes_no_bytes),
        cmocka_unit_test(buffers_that_live_throughout_lie_below_the_others),
        cmocka_unit_test(buffers_occupy_whole_blocks),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_limit_of_nodes_ends_a_search),
        cmocka_unit_test(a_cancelled_search_gives_its_best),
        cmocka_unit_test(time_ends_a_search),
        cmocka_unit_test(many_buffers_end_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
