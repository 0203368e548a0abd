/* Groups of children that need the same words. */
#include "check/siblings.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Four children of two loops, and what they are asked for. */
typedef struct question {
    int64_t n[2], step[2];
    int64_t columns, rows;
    int n_loops;
    bool apart, hops, shifted;
    int64_t shift;
} question;

static void ask(const question *q, sx_check_memory *memory, sx_check_grouping *out) {
    const sx_check_siblings siblings = {.n_loops = q->n_loops,
                                        .n = {q->n[0], q->n[1]},
                                        .step = {q->step[0], q->step[1]},
                                        .span = {8},
                                        .base = {1},
                                        .children = q->n[0] * (q->n_loops > 1 ? q->n[1] : 1),
                                        .columns = q->columns,
                                        .rows = q->rows,
                                        .apart = q->apart,
                                        .hops = q->hops};
    const int64_t shift[SX_MAX_RANKS] = {q->shift};
    memset(out, 0, sizeof *out);
    assert_true(sx_check_siblings_group(&siblings, q->shifted ? shift : NULL, memory, out));
}

/* Displacements 0, 1, 1 and 2, of which a neighbour may have the one before. */
static void neighbours_serve_on_the_mesh(void **state) {
    (void)state;
    static const struct { int64_t columns, rows, groups; } cases[] = {{2, 2, 1}, {4, 1, 2}, {1, 4, 2}};
    sx_check_memory *memory;
    sx_check_grouping found;
    sx_expect_ok(sx_check_memory_new(&memory));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const question q = {.n = {2, 2},
                            .step = {1, 1},
                            .columns = cases[i].columns,
                            .rows = cases[i].rows,
                            .n_loops = 2,
                            .shifted = true,
                            .shift = 1};
        ask(&q, memory, &found);
        assert_int_equal(found.groups, cases[i].groups);
    }
    sx_check_memory_free(memory);
}

/* What was found before is not taken for the answer to a question that differs in anything. */
static void what_is_kept_answers_the_same_question(void **state) {
    (void)state;
    static const question questions[] = {
        {{2, 2}, {1, 1}, 2, 2, 2, false, false, true, 1}, {{2, 2}, {1, 1}, 4, 1, 2, false, false, true, 1},
        {{2, 2}, {1, 1}, 2, 2, 2, false, false, true, 5}, {{2, 2}, {1, 1}, 2, 2, 2, true, false, true, 5},
        {{2, 2}, {1, 1}, 2, 2, 2, false, true, true, 1},  {{2, 2}, {1, 1}, 2, 3, 2, false, true, true, 1},
        {{2, 2}, {1, 1}, 2, 2, 2, false, false, true, 0}, {{2, 2}, {1, 1}, 4, 1, 2, false, true, false, 0},
        {{2, 2}, {1, 2}, 2, 2, 2, false, false, true, 1}, {{4, 1}, {1, 0}, 2, 2, 2, false, false, true, 1},
        {{2, 2}, {1, 1}, 4, 1, 2, false, true, true, 0},  {{2, 2}, {1, 1}, 2, 1, 2, false, true, true, 1},
    };
    enum { QUESTIONS = sizeof questions / sizeof *questions };
    sx_check_memory *memory, *fresh;
    sx_check_grouping found, alone;
    sx_expect_ok(sx_check_memory_new(&memory));
    for (int first = 0; first < QUESTIONS; first++)
        for (int then = 0; then < QUESTIONS; then++) {
            ask(&questions[first], memory, &found);
            ask(&questions[then], memory, &found);
            sx_expect_ok(sx_check_memory_new(&fresh));
            ask(&questions[then], fresh, &alone);
            sx_check_memory_free(fresh);
            if (memcmp(&found, &alone, sizeof found) != 0) fail_msg("question %d after %d", then, first);
        }
    sx_check_memory_free(memory);
}

/* Sums of two loops of the same step: groups of 1, 2, ... up to the shorter loop. */
static void too_many_sizes_are_no_grouping(void **state) {
    (void)state;
    sx_check_memory *memory;
    sx_check_grouping found;
    sx_expect_ok(sx_check_memory_new(&memory));
    for (int64_t n = SX_CHECK_SIZES - 1; n <= SX_CHECK_SIZES + 1; n++) {
        const sx_check_siblings siblings = {.n_loops = 2,
                                            .n = {n, n},
                                            .step = {1, 1},
                                            .span = {8},
                                            .base = {1},
                                            .children = n * n,
                                            .columns = n,
                                            .rows = n};
        const bool few = n <= SX_CHECK_SIZES;
        memset(&found, 0, sizeof found);
        assert_int_equal(sx_check_siblings_group(&siblings, NULL, memory, &found), few);
        if (!few) continue;
        assert_true(found.n == n && found.groups == 2 * n - 1 && found.members == n * n);
        for (int i = 0; i < n; i++)
            assert_true(found.size[i].size == i + 1 && found.size[i].count == 1 + (i + 1 < n));
    }
    sx_check_memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_serve_on_the_mesh),
        cmocka_unit_test(what_is_kept_answers_the_same_question),
        cmocka_unit_test(too_many_sizes_are_no_grouping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
