/* CoSA's integer program: its answer is the least of its own objective. */
#include "mip/mip.h"
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

static const char product[] = "O[m,n] += A[m,k]*B[k,n] {m:12,n:8,k:16}";

/* The logarithm of a level's factor. */
static double bits_of(const sx_mapping_level *at, int d, bool spatial) {
    return log2(spatial ? at->spatial[d] : at->temporal[d]);
}

static bool indexes(const sx_small_map *m, int v, int d) {
    return m->model->shape[v].dims >> d & 1;
}

/* The traffic of a tensor, as the head of cosa.c has it. */
static double traffic_of(const sx_small_map *m, const sx_mapping *mapping, int v) {
    int top = m->map->arch->n_levels - 2;
    double sum = 0;
    bool moved = false;
    for (int s = 0; s < mapping->n_levels; s++)
        for (int d = 0; d < mapping->n_dims; d++) {
            double spatial = bits_of(&mapping->level[s], d, true),
                   temporal = bits_of(&mapping->level[s], d, false);
            if (s < top && indexes(m, v, d)) sum += 0.99 * (0.8 + 0.04 * s) * (spatial + temporal);
            if (s == top) sum += 0.99 * spatial;
            if (s > top)
                sum += (spatial + temporal) * (v == sx_problem_role(m->map->problem, "Weights") ? 1.01 : 1);
        }
    for (int i = 0; i < mapping->n_dims; i++) {
        int d = mapping->level[top].temporal_order[i];
        moved = moved || (indexes(m, v, d) && mapping->level[top].temporal[d] > 1);
        if (moved) sum += bits_of(&mapping->level[top], d, false);
    }
    return sum;
}

/* CoSA's objective; INFINITY where a tensor has more than its share of a level. */
static double objective_of(const sx_small_map *m, const sx_mapping *mapping) {
    double sum = 0, tile[SX_MAX_TENSORS] = {0};
    int n_tensors = m->map->problem->n_tensors;
    for (int v = 0; v < n_tensors; v++) sum += traffic_of(m, mapping, v);
    for (int s = 0; s < mapping->n_levels; s++) {
        const sx_level *at = &m->model->level[s];
        for (int d = 0; d < mapping->n_dims; d++) {
            sum += 10 * bits_of(&mapping->level[s], d, false);
            for (int v = 0; v < n_tensors; v++)
                if (indexes(m, v, d))
                    tile[v] += bits_of(&mapping->level[s], d, false) + bits_of(&mapping->level[s], d, true);
        }
        for (int v = 0; at->limited && v < n_tensors; v++) {
            if (tile[v] > log2(at->effective / n_tensors) + 1e-6) return INFINITY;
            if (s < mapping->n_levels - 2) sum -= 0.1 * tile[v] * (s == 2 ? 1.01 : 1);
        }
    }
    return sum;
}

static void answer_is_the_least_of_its_objective(void **state) {
    (void)state;
    sx_small_map m;
    sx_map_space_options options;
    sx_mapping mapping;
    if (!sx_mip_available()) skip();
    sx_map_space_options_init(&options);
    options.keep_all = true;
    sx_small_map_open(&m, product, "accel-b", NULL, &options);
    assert_int_equal(sx_small_map_search(&m, "cosa:nodes=0", 1, 0, NULL).evaluations, 1);
    double least = objective_of(&m, sx_small_map_point(&m, 0)), drawn = INFINITY;
    void *point = malloc(sx_space_point_size(m.space));
    assert_non_null(point);
    assert_true(isfinite(least));
    for (uint64_t i = 0; i < 3000; i++) {
        assert_true(sx_space_sample(m.space, 1, i, point));
        sx_map_space_mapping(m.space, point, &mapping);
        drawn = fmin(drawn, objective_of(&m, &mapping));
    }
    free(point);
    assert_true(isfinite(drawn));
    if (!(least <= drawn + 1e-6)) print_error("%g, drawn: %g\n", least, drawn);
    assert_true(least <= drawn + 1e-6);
    sx_small_map_close(&m);
}

/* CBC 2.10 aborts while it preprocesses this program. */
static void solved_without_preprocessing_where_that_fails(void **state) {
    (void)state;
    sx_small_map m;
    if (!sx_mip_available()) skip();
    sx_small_map_open(&m, "A[I,J] += B[I,K,L]*C[J,K]*D[J,L] {I:2048,J:4096,K:1024,L:128}", "simba", NULL,
                      NULL);
    assert_int_equal(sx_small_map_search(&m, "cosa", 1, 0, NULL).evaluations, 1);
    sx_small_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solved_without_preprocessing_where_that_fails),
        cmocka_unit_test(answer_is_the_least_of_its_objective),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
