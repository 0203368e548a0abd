/* Kinds of ranks of formats: their names, and which leave zeros out. */
#include "sextant/sparse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void kinds_are_named(void **state) {
    (void)state;
    static const struct {
        const char *name;
        sx_rank_kind kind;
        bool compressed;
    } cases[] = {{"CP", SX_RANK_CP, true},
                 {"rle", SX_RANK_RLE, true},
                 {"B", SX_RANK_B, true},
                 {"UOP", SX_RANK_UOP, false},
                 {"UB", SX_RANK_UB, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sx_rank_kind_named(cases[i].name), cases[i].kind);
        assert_int_equal(sx_rank_kind_named(sx_rank_kind_name(cases[i].kind)), cases[i].kind);
        assert_int_equal(sx_rank_compressed(cases[i].kind), cases[i].compressed);
    }
    assert_int_equal(sx_rank_kind_named("CPU"), -1);
}

static void each_optimization_counts(void **state) {
    (void)state;
    static sx_sparse none, sparse;
    assert_false(sx_sparse_active(&none));
    sparse.n_formats = 1;
    assert_true(sx_sparse_active(&sparse));
    sparse = none, sparse.n_actions = 1;
    assert_true(sx_sparse_active(&sparse));
    sparse = none, sparse.gates_compute = true;
    assert_true(sx_sparse_active(&sparse));
    sparse = none, sparse.skips_compute = true;
    assert_true(sx_sparse_active(&sparse));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_named),
        cmocka_unit_test(each_optimization_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
