/* Kinds of ranks of formats: their names, and which leave zeros out. */
#include "base/status.h"
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

/* An action is of a tensor that is named, and looks at one that is. */
static void actions_name_tensors(void **state) {
    (void)state;
    static sx_sparse sparse;
    sparse.n_names = 2;
    sparse.name[0][0] = 'A';
    sparse.name[1][0] = 'B';
    sparse.n_actions = 1;
    sparse.action[0].n_options = 1;
    sparse.action[0].option[0].on = 2;
    for (int target = 0; target < 4; target++) {
        sparse.action[0].option[0].target = (uint8_t)target;
        sx_status status = sx_sparse_check(&sparse, 1);
        assert_int_equal(status == NULL, target < 2);
        sx_status_free(status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_named),
        cmocka_unit_test(each_optimization_counts),
        cmocka_unit_test(actions_name_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
