/* ZigZag's orders of loop prime factors and their allocation to memories. */
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

/* One unit with a buffer of some words. */
static void open_buffer(sx_small_map *m, const char *einsum, int entries) {
    char arch[400];
    snprintf(arch, sizeof arch,
             "arch:\n"
             "  name: buffer\n"
             "  arithmetic: {name: MAC, instances: 1, word-bits: 16, energy: 1.0}\n"
             "  storage:\n"
             "  - {name: L1, instances: 1, entries: %d, vector-access-energy: 1.5}\n"
             "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n",
             entries);
    sx_small_map_open(m, einsum, arch, NULL, NULL);
}

static void loma_takes_each_order_once(void **state) {
    (void)state;
    sx_small_map m;
    open_buffer(&m, "O[m,n] += A[m,k]*B[k,n] {m:4,n:2,k:6}", 16);
    assert_int_equal(sx_small_map_search(&m, "zigzag", 1, 1000, NULL).evaluations, 60);
    assert_int_equal(sx_small_map_search(&m, "zigzag:lpfs=4", 1, 1000, NULL).evaluations, 24);
    assert_int_equal(sx_small_map_search(&m, "zigzag:lpfs=1", 1, 1000, NULL).evaluations, 6);
    sx_small_map_close(&m);
}

static void a_memory_that_holds_all_takes_all_loops(void **state) {
    (void)state;
    sx_small_map m;
    const sx_mapping *mapping;
    open_buffer(&m, "O[m,n] += A[m,k]*B[k,n] {m:4,n:2,k:6}", 100);
    (void)sx_small_map_search(&m, "zigzag", 1, 1000, NULL);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++)
        for (int d = 0; d < mapping->n_dims; d++) {
            assert_int_equal(mapping->level[0].temporal[d], m.map->problem->size[d]);
            assert_int_equal(mapping->level[1].temporal[d], 1);
        }
    sx_small_map_close(&m);
}

/* The words read from above the buffer when it keeps some tensors at a tile of the first n loops. */
static double words_of(const sx_small_map *m, const int *order, int n, unsigned keep) {
    double outside = 1, all = 1, sum = 0;
    for (int i = 0; i < m->map->problem->n_dims; i++) {
        all *= m->map->problem->size[order[i]];
        if (i >= n) outside *= m->map->problem->size[order[i]];
    }
    for (int v = 0; v < m->map->problem->n_tensors; v++) {
        double tile = 1;
        for (int i = 0; i < n; i++)
            if (m->model->shape[v].dims >> order[i] & 1) tile *= m->map->problem->size[order[i]];
        sum += keep >> v & 1 ? tile * outside : all;
    }
    return sum;
}

/* Whether the buffer has room for that. */
static bool fits(const sx_small_map *m, const int *order, int n, unsigned keep, double entries) {
    for (int v = 0; v < m->map->problem->n_tensors; v++) {
        double tile = 1;
        for (int i = 0; i < n; i++)
            if (m->model->shape[v].dims >> order[i] & 1) tile *= m->map->problem->size[order[i]];
        if (keep >> v & 1) entries -= tile;
    }
    return entries >= 0;
}

static void memories_take_loops_that_save_most_words(void **state) {
    (void)state;
    for (int entries = 1; entries < 32; entries++) {
        sx_small_map m;
        const sx_mapping *mapping;
        open_buffer(&m, "O[m,n] += A[m,k]*B[k,n] {m:2,n:3,k:5}", entries);
        assert_int_equal(sx_small_map_search(&m, "zigzag", 1, 1000, NULL).evaluations, 6);
        for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++) {
            int order[3], n = 0, inner = 0;
            for (int s = 0; s < 2; s++)
                for (int k = 0; k < 3; k++) {
                    int d = mapping->level[s].temporal_order[k];
                    if (mapping->level[s].temporal[d] > 1) order[n++] = d;
                    inner += s == 0 && mapping->level[s].temporal[d] > 1;
                }
            double least = INFINITY;
            for (int k = 0; k <= 3; k++)
                for (unsigned keep = 0; keep < 8; keep++)
                    if (fits(&m, order, k, keep, entries)) least = fmin(least, words_of(&m, order, k, keep));
            assert_int_equal(n, 3);
            assert_true(words_of(&m, order, inner, mapping->level[0].keep) == least);
        }
        sx_small_map_close(&m);
    }
}

static void salsa_finds_what_loma_finds(void **state) {
    (void)state;
    sx_small_map m;
    double loma, salsa;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:16,n:8,k:12}", "eyeriss", NULL, NULL);
    (void)sx_small_map_search(&m, "zigzag:lpfs=20,spatial=1", 1, 10000, &loma);
    sx_run_summary summary = sx_small_map_search(&m, "zigzag:order=salsa,spatial=1", 1, 10000, &salsa);
    assert_int_equal(summary.evaluations, 10000);
    assert_true(salsa == loma);
    sx_small_map_close(&m);
}

static void spatial_mappings_use_the_array(void **state) {
    (void)state;
    sx_small_map m;
    const sx_mapping *mapping;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "accel-b", NULL, NULL);
    (void)sx_small_map_search(&m, "zigzag", 1, 500, NULL);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++) {
        double used = 1;
        for (int s = 0; s < mapping->n_levels; s++)
            for (int d = 0; d < mapping->n_dims; d++) used *= mapping->level[s].spatial[d];
        assert_true(used == (double)m.map->arch->compute.instances);
    }
    sx_small_map_close(&m);
}

static void spatial_mappings_fit_both_axes(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, "A[i,j] += B[i,k,l]*C[k,j]*D[l,j] {i:16,j:64,k:32,l:16}", "eyeriss", NULL, NULL);
    sx_run_summary summary = sx_small_map_search(&m, "zigzag", 1, 1000, NULL);
    assert_true(summary.evaluations > 100 && summary.rejected == 0);
    sx_small_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loma_takes_each_order_once),
        cmocka_unit_test(a_memory_that_holds_all_takes_all_loops),
        cmocka_unit_test(memories_take_loops_that_save_most_words),
        cmocka_unit_test(salsa_finds_what_loma_finds),
        cmocka_unit_test(spatial_mappings_use_the_array),
        cmocka_unit_test(spatial_mappings_fit_both_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
