/* Timeloop's searches in the order of mappings' numbers. */
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char units[] = "arch:\n"
                            "  name: units\n"
                            "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
                            "  storage:\n"
                            "  - {name: L1, instances: 4, entries: 12, vector-access-energy: 1.5}\n"
                            "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

static const char product[] = "O[m,n] += A[m,k]*B[k,n] {m:4,n:3,k:2}";

/* Whether two mappings have the same factors. */
static bool same_factors(const sx_mapping *a, const sx_mapping *b) {
    for (int s = 0; s < a->n_levels; s++)
        for (int d = 0; d < a->n_dims; d++)
            if (a->level[s].temporal[d] != b->level[s].temporal[d] ||
                a->level[s].spatial[d] != b->level[s].spatial[d])
                return false;
    return true;
}

/* Points that were looked at and have the factors of a mapping, or (NULL) all. */
static size_t count(const sx_small_map *m, const sx_mapping *like) {
    size_t n = 0;
    const sx_mapping *point;
    for (size_t i = 0; (point = sx_small_map_point(m, i)); i++) n += !like || same_factors(point, like);
    return n;
}

/* Different factors of the points that were looked at. */
static size_t count_factorisations(const sx_small_map *m) {
    size_t n = 0;
    const sx_mapping *point;
    for (size_t i = 0; (point = sx_small_map_point(m, i)); i++) {
        size_t j = 0;
        while (j < i && !same_factors(point, sx_small_map_point(m, j))) j++;
        n += j == i;
    }
    return n;
}

static void linear_goes_through_all_mappings_once(void **state) {
    (void)state;
    sx_small_map m;
    double least, best;
    sx_small_map_open(&m, product, units, NULL, NULL);
    (void)sx_small_map_search(&m, "exhaustive", 1, 1000000, &least);
    for (int walks = 1; walks <= 3; walks++) {
        char text[64];
        snprintf(text, sizeof text, "timeloop-linear:walks=%d,victory=0,timeout=0", walks);
        sx_run_summary summary = sx_small_map_search(&m, text, 1, 1000000, &best);
        assert_int_equal(summary.stop, SX_STOP_DONE);
        assert_true(best == least);
        assert_int_equal(count(&m, NULL), summary.evaluations);
    }
    sx_small_map_close(&m);
}

static void factorisations_change_last(void **state) {
    (void)state;
    sx_small_map part, whole;
    const sx_mapping *point;
    sx_small_map_open(&part, product, units, NULL, NULL);
    sx_small_map_open(&whole, product, units, NULL, NULL);
    (void)sx_small_map_search(&whole, "timeloop-linear:walks=1,victory=0,timeout=0", 1, 1000000, NULL);
    for (uint64_t budget = 1; budget < 500; budget *= 3) {
        size_t cut = 0;
        (void)sx_small_map_search(&part, "timeloop-linear:walks=1,victory=0,timeout=0", 1, budget, NULL);
        assert_int_equal(count(&part, NULL), budget);
        for (size_t i = 0; (point = sx_small_map_point(&part, i)); i++) {
            size_t seen = count(&part, point);
            if (seen < count(&whole, point)) cut = cut && cut != seen ? SIZE_MAX : seen;
        }
        assert_true(cut <= budget && count_factorisations(&part) <= budget);
    }
    assert_true(count(&whole, NULL) > 3 * count_factorisations(&whole));
    sx_small_map_close(&part);
    sx_small_map_close(&whole);
}

static void hybrid_draws_factorisations(void **state) {
    (void)state;
    sx_small_map m;
    double least, best;
    sx_small_map_open(&m, product, units, NULL, NULL);
    (void)sx_small_map_search(&m, "exhaustive", 1, 1000000, &least);
    sx_run_summary summary = sx_small_map_search(&m, "timeloop-hybrid:walks=1,victory=0", 1, 20000, &best);
    assert_true(best == least && summary.evaluations == 20000);
    assert_true(count(&m, NULL) < 20000);
    sx_small_map_close(&m);
}

static void victory_ends_each_walk(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "accel-b", NULL, NULL);
    sx_run_summary one =
        sx_small_map_search(&m, "timeloop-hybrid:walks=1,victory=20,timeout=0", 1, 100000, NULL);
    sx_run_summary four =
        sx_small_map_search(&m, "timeloop-hybrid:walks=4,victory=20,timeout=0", 1, 100000, NULL);
    assert_int_equal(one.stop, SX_STOP_DONE);
    assert_int_equal(four.stop, SX_STOP_DONE);
    assert_true(one.evaluations > 20 && four.evaluations >= 4 * 21 && four.evaluations > one.evaluations);
    sx_small_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_goes_through_all_mappings_once),
        cmocka_unit_test(factorisations_change_last),
        cmocka_unit_test(hybrid_draws_factorisations),
        cmocka_unit_test(victory_ends_each_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
