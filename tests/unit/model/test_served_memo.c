/* The memory of what was found out about neighbours. */
#include "model/served_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const sx_shape shape = {.n_ranks = 2}, other = {.n_ranks = 2};
static const sx_multicast_group groups[] = {{.m = 2, .count = 3}, {.m = 1, .count = 4}};

/* Whether an answer is known. */
static bool is_known(sx_served_memo *memo, const sx_fanout *slot, int64_t a, int64_t b) {
    bool known = true;
    assert_non_null(sx_served_memo_find(memo, slot, (const int64_t[]){a, b}, &known));
    return known;
}

/* An answer is found again by the same question alone: any number of it makes another one. */
static void answers_are_found_again(void **state) {
    (void)state;
    const sx_loop loop[] = {{.n = 3, .dim = 1, .step = 2}, {.n = 4, .dim = 0, .step = 5}},
                  more[] = {{.n = 3, .dim = 1, .step = 2}, {.n = 5, .dim = 0, .step = 5}},
                  along[] = {{.n = 3, .dim = 1, .step = 2}, {.n = 4, .dim = 2, .step = 5}},
                  farther[] = {{.n = 3, .dim = 1, .step = 3}, {.n = 4, .dim = 0, .step = 5}};
    const sx_fanout slot = {.shape = &shape, .loop = loop, .n_loops = 2, .n_x = 1, .columns = 3, .rows = 4};
    sx_served_memo memo = {0};
    bool known = true;
    sx_served_entry *entry = sx_served_memo_find(&memo, &slot, (const int64_t[]){1, -2}, &known);
    assert_false(known);
    assert_false(is_known(&memo, &slot, 1, -2)); /* no answer yet */
    entry = sx_served_memo_find(&memo, &slot, (const int64_t[]){1, -2}, &known);
    sx_served_entry_set(entry, 6, groups, 2);
    sx_served_entry *again = sx_served_memo_find(&memo, &slot, (const int64_t[]){1, -2}, &known);
    assert_true(known && again == entry && again->served == 6 && again->n_groups == 2);
    assert_memory_equal(again->group, groups, sizeof groups);
    sx_fanout changed[9];
    for (int i = 0; i < 9; i++) changed[i] = slot;
    changed[0].shape = &other;
    changed[1].n_loops = 1;
    changed[2].n_x = 2;
    changed[3].apart = true;
    changed[4].columns = 4;
    changed[5].rows = 3;
    changed[6].loop = more;
    changed[7].loop = along;
    changed[8].loop = farther;
    for (int i = 0; i < 9; i++) {
        assert_false(is_known(&memo, &changed[i], 1, -2));
        sx_served_memo_fini(&memo);
        memo = (sx_served_memo){0};
        entry = sx_served_memo_find(&memo, &slot, (const int64_t[]){1, -2}, &known);
        sx_served_entry_set(entry, 6, groups, 2);
    }
    assert_false(is_known(&memo, &slot, 1, 2));
    sx_served_memo_fini(&memo);
}

/* Questions of more numbers than an entry has, and answers of more groups, are not kept. */
static void what_is_too_long_is_not_kept(void **state) {
    (void)state;
    enum { MOST = (SX_MEMO_KEY - 4 - 2) / 2 };
    static const sx_loop loop[MOST + 1];
    static const sx_multicast_group many[SX_MEMO_GROUPS + 1];
    sx_fanout slot = {.shape = &shape, .loop = loop, .n_loops = MOST + 1};
    const int64_t need[] = {0, 0};
    sx_served_memo memo = {0};
    bool known;
    assert_null(sx_served_memo_find(&memo, &slot, need, &known));
    slot.n_loops = MOST;
    sx_served_entry_set(sx_served_memo_find(&memo, &slot, need, &known), 1, many, SX_MEMO_GROUPS + 1);
    assert_false(is_known(&memo, &slot, 0, 0));
    sx_served_entry_set(sx_served_memo_find(&memo, &slot, need, &known), 1, many, SX_MEMO_GROUPS);
    assert_true(is_known(&memo, &slot, 0, 0));
    sx_served_memo_fini(&memo);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_found_again),
        cmocka_unit_test(what_is_too_long_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
