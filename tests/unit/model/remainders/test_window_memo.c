/* The memory of blocks and steps of windows. */
#include "base/hash.h"
#include "model/remainders/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { FIRST = 256, MOST = 1 << 18 }; /* slots in the beginning, and at most */

/* Keeps a key, and asserts that it is found with its own result. */
static void keep_key(sx_window_memo *memo, uint64_t key) {
    sx_window_result result = {.key = key};
    assert_null(sx_window_memo_find(memo, key));
    assert_true(sx_window_memo_keep(memo, &result));
    assert_non_null(sx_window_memo_find(memo, key));
    assert_true(sx_window_memo_find(memo, key)->key == key);
}

/* Half of the slots are taken by keys of even places alone: all are found, and others are not. */
static void keys_that_meet_are_found(void **state) {
    (void)state;
    sx_window_memo memo = {0};
    uint64_t key = 0, kept[FIRST / 2];
    assert_true(sx_window_memo_clear(&memo));
    for (size_t n = 0; n < FIRST / 2; key++)
        if (sx_hash_mix(0, key) % 2 == 0) keep_key(&memo, kept[n++] = key);
    for (size_t i = 0; i < FIRST / 2; i++) assert_true(sx_window_memo_find(&memo, kept[i])->key == kept[i]);
    for (size_t n = 0; n < FIRST; key++, n++) assert_null(sx_window_memo_find(&memo, key));
    assert_true(sx_window_memo_clear(&memo));
    for (size_t i = 0; i < FIRST / 2; i++) assert_null(sx_window_memo_find(&memo, kept[i]));
    sx_window_memo_fini(&memo);
}

/* It grows until half of its most slots are taken, and then keeps no more. */
static void it_grows_to_its_limit(void **state) {
    (void)state;
    sx_window_memo memo = {0};
    const sx_window_result more = {.key = MOST};
    assert_true(sx_window_memo_clear(&memo));
    for (uint64_t key = 0; key < MOST / 2; key++) keep_key(&memo, key);
    for (uint64_t key = 0; key < MOST / 2; key++) assert_true(sx_window_memo_find(&memo, key)->key == key);
    assert_false(sx_window_memo_keep(&memo, &more));
    assert_null(sx_window_memo_find(&memo, MOST));
    sx_window_memo_fini(&memo);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_meet_are_found),
        cmocka_unit_test(it_grows_to_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
