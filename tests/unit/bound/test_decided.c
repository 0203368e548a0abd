/* Visits of decided loops, by tables worked out by hand. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "bound/decided.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { DIM_M, DIM_K };

/* `O[m,k] += A[k]*B[m] {m:5,k:7}` on three levels; the innermost tile is one word. */
static void open_decided(sx_model **model, sx_decided *decided) {
    sx_problem problem;
    sx_arch arch;
    sx_plain_arch(&arch, 3);
    sx_plain_mesh(&arch, 1, 8, 1);
    sx_expect_ok(sx_einsum_parse("O[m,k] += A[k]*B[m] {m:5,k:7}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, model));
    memset(decided, 0, sizeof *decided);
    decided->model = *model;
    for (int s = 0; s < 3; s++) decided->spatial[s][DIM_M] = decided->spatial[s][DIM_K] = 1;
    for (int d = 0; d < 2; d++) sx_decided_set(decided, 0, d, 1);
}

/* The words of A that flow into the innermost level, where its first loop is decided. */
static uint64_t fills(const sx_decided *decided) {
    sx_loop_place first = sx_decided_first(decided, 0, 2, 1u << DIM_K);
    assert_int_equal(first.dim, DIM_K);
    uint64_t still = sx_decided_still(decided, 0, &first);
    return (7 - still) * sx_decided_visits(decided, DIM_M, 0, 2, &first, false) + still;
}

/* Loops k f and m 5, then k 2: an edge sweep of one block stands still, which f = 6 leaves. */
static void edge_sweeps_stand_still(void **state) {
    (void)state;
    static const uint64_t expected[] = {[4] = 35, [5] = 35, [6] = 31};
    sx_model *model;
    sx_decided decided;
    open_decided(&model, &decided);
    for (uint64_t f = 4; f <= 6; f++) {
        sx_decided_set(&decided, 1, DIM_K, f);
        sx_decided_set(&decided, 1, DIM_M, 5);
        decided.place[1][DIM_M] = 1;
        sx_decided_set(&decided, 2, DIM_K, 2);
        sx_decided_set(&decided, 2, DIM_M, 1);
        assert_int_equal(fills(&decided), expected[f]);
    }
    sx_model_free(model);
}

/* k over S children, in two rounds, then m 5: children that are idle in the second keep their tile. */
static void idle_children_keep_their_tile(void **state) {
    (void)state;
    static const uint64_t expected[] = {[4] = 31, [5] = 23, [6] = 15};
    sx_model *model;
    sx_decided decided;
    open_decided(&model, &decided);
    for (uint32_t side = 4; side <= 6; side++) {
        decided.spatial[1][DIM_K] = side;
        sx_decided_set(&decided, 1, DIM_K, 2);
        sx_decided_set(&decided, 1, DIM_M, 1);
        sx_decided_set(&decided, 2, DIM_K, 1);
        sx_decided_set(&decided, 2, DIM_M, 5);
        assert_int_equal(fills(&decided), expected[side]);
        assert_int_equal(sx_decided_still_outside(&decided, 0, 0, DIM_K), 2 * side - 7);
    }
    sx_model_free(model);
}

/* 100 over 4 units in tiles of 20 or 24, five blocks each: the first unit takes 40 steps, or 28 as it has the last one. */
static void the_first_unit_may_have_the_edge(void **state) {
    (void)state;
    sx_model *model;
    sx_decided decided;
    open_decided(&model, &decided);
    model->size[DIM_K] = 100;
    decided.spatial[1][DIM_K] = 4;
    sx_decided_set(&decided, 0, DIM_K, 20);
    assert_int_equal(sx_decided_steps(&decided, 0, DIM_K, false), 40);
    sx_decided_set(&decided, 0, DIM_K, 24);
    assert_int_equal(sx_decided_steps(&decided, 0, DIM_K, false), 28);
    assert_int_equal(sx_decided_steps(&decided, 0, DIM_K, true), 28);
    sx_model_free(model);
}

/* The same in tiles of 13 or 14, eight blocks each, two of them for each unit. */
static void the_least_of_tiles_that_are_alike(void **state) {
    (void)state;
    sx_model *model;
    sx_decided decided;
    open_decided(&model, &decided);
    model->size[DIM_K] = 100;
    decided.spatial[1][DIM_K] = 4;
    sx_decided_set(&decided, 0, DIM_K, 13);
    assert_int_equal(sx_decided_alike(&decided, 0, DIM_K, 13), 14);
    assert_int_equal(sx_decided_steps(&decided, 0, DIM_K, false), 26);
    sx_decided_set(&decided, 0, DIM_K, 14);
    assert_int_equal(sx_decided_steps(&decided, 0, DIM_K, false), 28);
    assert_int_equal(sx_decided_steps(&decided, 0, DIM_K, true), 26);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_sweeps_stand_still),
        cmocka_unit_test(idle_children_keep_their_tile),
        cmocka_unit_test(the_first_unit_may_have_the_edge),
        cmocka_unit_test(the_least_of_tiles_that_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
