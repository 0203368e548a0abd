#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void pieces_are_zero_aligned_and_apart(void **state) {
    (void)state;
    sx_arena arena = {0};
    unsigned char *piece[500];
    for (size_t i = 0; i < 500; i++) {
        piece[i] = sx_arena_alloc(&arena, i, 3);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < 3 * i; k++) assert_int_equal(piece[i][k], 0);
        memset(piece[i], (int)i & 0xff, 3 * i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < 3 * i; k++) assert_int_equal(piece[i][k], i & 0xff);
    assert_string_equal(sx_arena_copy(&arena, "text and more", 4), "text");
    assert_non_null(sx_arena_alloc(&arena, 3, 1 << 20));
    sx_arena_free(&arena);
    assert_int_equal(arena.total, 0);
    assert_null(arena.block);
}

static void the_limit_is_kept(void **state) {
    (void)state;
    sx_arena arena = {.limit = 2 << 20};
    assert_non_null(sx_arena_alloc(&arena, 1, 1 << 20));
    assert_null(sx_arena_alloc(&arena, 2, 1 << 20));
    assert_null(sx_arena_alloc(&arena, 1, 1));
    assert_null(sx_arena_copy(&arena, "text", 4));
    sx_status error = sx_arena_error(&arena);
    assert_int_equal(error->code, SX_ERR_LIMIT);
    assert_string_equal(error->message, "the input needs more than 2 MB of memory");
    sx_status_free(error);
    sx_arena_free(&arena);
    assert_int_equal(arena.limit, 2 << 20);
    assert_non_null(sx_arena_alloc(&arena, 1, 1));
    sx_arena_free(&arena);
}

static void impossible_sizes_fail(void **state) {
    (void)state;
    sx_arena arena = {0};
    assert_null(sx_arena_alloc(&arena, SIZE_MAX, 2));
    assert_int_equal(sx_arena_error(&arena)->code, SX_ERR_MEMORY);
    sx_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_aligned_and_apart),
        cmocka_unit_test(the_limit_is_kept),
        cmocka_unit_test(impossible_sizes_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
