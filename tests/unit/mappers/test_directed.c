/* The directed searches: what dmaze and interstellar look at keeps to their rules. */
#include "model/model.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char conv[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:64,c:64,p:16,q:16,r:3,s:3}";

/* The children in use at all levels together. */
static double spread_of(const sx_mapping *mapping) {
    double used = 1;
    for (int s = 0; s < mapping->n_levels; s++)
        for (int d = 0; d < mapping->n_dims; d++) used *= mapping->level[s].spatial[d];
    return used;
}

static void dmaze_uses_its_share_of_the_array(void **state) {
    (void)state;
    sx_small_map m;
    const sx_mapping *mapping;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "accel-b", NULL, NULL);
    sx_run_summary summary = sx_small_map_search(&m, "dmaze:array=1,l1=0,l2=0", 1, 500, NULL);
    assert_int_equal(summary.evaluations, 500);
    assert_int_equal(summary.valid, 500);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++)
        assert_true(spread_of(mapping) == (double)m.map->arch->compute.instances);
    sx_small_map_close(&m);
}

static void dmaze_orders_hold_a_tensor(void **state) {
    (void)state;
    sx_small_map m;
    const sx_mapping *mapping;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    (void)sx_small_map_search(&m, "dmaze", 1, 500, NULL);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++)
        for (int s = 1; s < mapping->n_levels; s++) {
            bool holds = false;
            for (int v = 0; v < m.map->problem->n_tensors; v++)
                holds = holds || sx_small_map_holds(&m, mapping, s, v);
            assert_true(holds);
        }
    sx_small_map_close(&m);
}

static void interstellar_keeps_its_dataflow(void **state) {
    (void)state;
    sx_small_map m;
    const sx_mapping *mapping, *first;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    sx_run_summary summary = sx_small_map_search(&m, "interstellar", 1, 500, NULL);
    assert_int_equal(summary.valid, 500);
    first = sx_small_map_point(&m, 0);
    int k = sx_problem_dim(m.map->problem, "k"), c = sx_problem_dim(m.map->problem, "c");
    double spread = 1;
    for (int s = 0; s < first->n_levels; s++)
        spread *= first->level[s].spatial[k] * first->level[s].spatial[c];
    assert_true(spread > 1);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++)
        for (int s = 0; s < mapping->n_levels; s++)
            assert_memory_equal(mapping->level[s].spatial, first->level[s].spatial,
                                sizeof first->level[s].spatial);
    sx_small_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dmaze_uses_its_share_of_the_array),
        cmocka_unit_test(dmaze_orders_hold_a_tensor),
        cmocka_unit_test(interstellar_keeps_its_dataflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
