#include "base/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void pieces_are_zero_aligned_and_apart(void **state) {
    (void)state;
    sx_arena arena = {0};
    unsigned char *piece[300];
    for (size_t i = 0; i < 300; i++) {
        piece[i] = sx_arena_alloc(&arena, i, 7);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
        for (size_t j = 0; j < 7 * i; j++) assert_int_equal(piece[i][j], 0);
        memset(piece[i], (int)(i % 255 + 1), 7 * i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 7 * i; j++) assert_int_equal(piece[i][j], i % 255 + 1);
    sx_arena_free(&arena);
}

static void piece_of_nothing_is_a_place_of_its_own(void **state) {
    (void)state;
    sx_arena arena = {0};
    void *a = sx_arena_alloc(&arena, 0, 8), *b = sx_arena_alloc(&arena, 8, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    sx_arena_free(&arena);
}

static void piece_larger_than_any_block_fits(void **state) {
    (void)state;
    sx_arena arena = {0};
    const size_t large = (size_t)5 << 20;
    char *a = sx_arena_alloc(&arena, large, 1);
    char *b = sx_arena_alloc(&arena, 1, 1);
    assert_non_null(a);
    assert_non_null(b);
    a[large - 1] = 1;
    *b = 2;
    assert_int_equal(a[large - 1], 1);
    sx_arena_free(&arena);
}

static void product_that_overflows_is_refused(void **state) {
    (void)state;
    sx_arena arena = {0};
    assert_null(sx_arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_null(sx_arena_alloc(&arena, SIZE_MAX, SIZE_MAX));
    sx_status error = sx_arena_error(&arena);
    assert_ptr_equal(error, sx_error_memory());
    sx_arena_free(&arena);
}

static void copy_ends_in_zero(void **state) {
    (void)state;
    sx_arena arena = {0};
    assert_string_equal(sx_arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(sx_arena_copy(&arena, "", 0), "");
    assert_memory_equal(sx_arena_copy(&arena, "a\0b", 3), "a\0b", 4);
    sx_arena_free(&arena);
}

static void limit_is_kept_and_named(void **state) {
    (void)state;
    sx_arena arena = {.limit = (size_t)1 << 20};
    size_t given = 0;
    while (sx_arena_alloc(&arena, 1, 1000)) given += 1000;
    assert_true(given > (size_t)1 << 19 && given <= (size_t)1 << 20);
    assert_null(sx_arena_alloc(&arena, 1, 1));
    sx_status error = sx_arena_error(&arena);
    assert_int_equal(error->code, SX_ERR_LIMIT);
    assert_string_equal(error->message, "the input needs more than 1 MB of memory");
    sx_status_free(error);
    sx_arena_free(&arena);
    assert_int_equal(arena.limit, (size_t)1 << 20);
    assert_non_null(sx_arena_alloc(&arena, 1, 1000));
    sx_arena_free(&arena);
}

static void free_takes_an_empty_arena_and_a_free_one(void **state) {
    (void)state;
    sx_arena arena = {0};
    sx_arena_free(&arena);
    assert_non_null(sx_arena_alloc(&arena, 1, 1));
    sx_arena_free(&arena);
    sx_arena_free(&arena);
    assert_null(arena.block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_aligned_and_apart),
        cmocka_unit_test(piece_of_nothing_is_a_place_of_its_own),
        cmocka_unit_test(piece_larger_than_any_block_fits),
        cmocka_unit_test(product_that_overflows_is_refused),
        cmocka_unit_test(copy_ends_in_zero),
        cmocka_unit_test(limit_is_kept_and_named),
        cmocka_unit_test(free_takes_an_empty_arena_and_a_free_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
