/* Compact points of the search on a GPU: draws and the choice of parents by how often each thing happens, and children, which are
 * legal. */
#define SX_CORE_GPU_LISTS /* before anything of the core */
#include "gpu/gpu.h"
#include "gpu/points.h"
#include "mapspace/map_core.h"
#include "support/expect.h"
#include "support/random_legal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRIES = 40000 };

static sx_model *model;
static sx_space *space;
static sx_gpu_image *image;
static sx_core_work work;

static int make_image(void **state) {
    sx_model_workspace *evaluator;
    sx_objective objective;
    (void)state;
    sx_catalog_model("C[m,n] = A[m,k] * B[k,n] {m:16,n:6,k:4}", "accel-a", &model, &evaluator);
    sx_model_workspace_free(evaluator);
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_gpu_image_new(space, &objective, SX_GPU_POINTS, &image));
    sx_gpu_begin_points(sx_gpu_space_of(image), &work);
    return 0;
}

static int free_image(void **state) {
    (void)state;
    free(image);
    sx_space_free(space);
    sx_model_free(model);
    return 0;
}

/* Fails the test unless something happened in about this share of all tries: within five standard deviations. */
static void expect_share(double n, double share) {
    const double expected = TRIES * share;
    if (fabs(n - expected) > 5 * sqrt(expected * (1 - share)))
        fail_msg("%g of %d; about %g are expected", n, TRIES, expected);
}

/* All compositions of an exponent are equally likely, as are all splits that fit, and all sets of kept tensors. */
static void draws(void **state) {
    const sx_core_space *c = sx_gpu_space_of(image);
    sx_core_rng rng = sx_gpu_stream(3, 0, 0);
    double first = 0, both = 0, kept = 0;
    (void)state;
    uint32_t n = c->n_slots, choosing = (uint32_t)sx_core_low(c->choosing);
    for (int i = 0; i < TRIES; i++) {
        uint64_t word = sx_compact_spread_word(&rng, 3, SX_COMPACT_ONES & (sx_compact_one((int)n) - 1));
        sx_gpu_point point;
        first += sx_compact_exponent(word, 0) == 3;
        both += sx_compact_exponent(word, 0) == 1 && sx_compact_exponent(word, (int)n - 1) == 2;
        assert_true(sx_gpu_draw_point(c, 4, (uint64_t)i, &point));
        kept += sx_gpu_levels_of(&point)[choosing].keep >> sx_core_low(c->model.level[choosing].may) & 1;
        assert_true(sx_map_compact_holds(c, sx_gpu_levels_of(&point)));
    }
    expect_share(first, 6.0 / (n * (n + 1) * (n + 2)));
    expect_share(both, 6.0 / (n * (n + 1) * (n + 2)));
    expect_share(kept, 0.5);
}

/* An island whose members are better the earlier they stand. */
static void make_island(sx_gpu_member island[SX_GPU_ISLAND]) {
    memset(island, 0, SX_GPU_ISLAND * sizeof *island);
    for (int i = 0; i < SX_GPU_ISLAND; i++) island[i].value = i;
}

/* A parent is the better of two, each of which may be any: a member of rank r of n has won with 2 (n - r) - 1 of n^2 pairs. */
static void tournaments(void **state) {
    (void)state;
    sx_gpu_member island[SX_GPU_ISLAND];
    double won[SX_GPU_ISLAND] = {0};
    const double n = SX_GPU_ISLAND;
    make_island(island);
    for (uint64_t i = 0; i < TRIES; i++) {
        sx_core_rng rng = sx_gpu_stream(6, 0, i);
        won[sx_gpu_tournament(island, &rng)]++;
    }
    for (int i = 0; i < SX_GPU_ISLAND; i++) expect_share(won[i], (2 * (n - i) - 1) / (n * n));
}

/* Children are legal, and have the value that the cost model gives their mapping. Without legal parents they are drawn. */
static void children(void **state) {
    const sx_core_space *c = sx_gpu_space_of(image);
    const sx_core_chances chances = {6554, 6554, 32768, 6554, 65536, 52429};
    sx_gpu_member island[SX_GPU_ISLAND], child;
    sx_model_workspace *evaluator;
    int legal = 0, changed = 0;
    (void)state;
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    make_island(island);
    for (int i = 0; i < SX_GPU_ISLAND; i++) island[i].value = INFINITY;
    for (uint64_t i = 0; i < 2000; i++) {
        sx_core_rng rng = sx_gpu_stream(7, 0, i);
        sx_mapping mapping;
        sx_score score;
        sx_gpu_member *member = &island[i % SX_GPU_ISLAND];
        sx_gpu_breed(image, c, &work, &chances, island, &rng, &child);
        if (child.value == INFINITY) continue;
        sx_gpu_expand(space, image, &child.point, &mapping);
        assert_int_equal(sx_evaluate_score(evaluator, &mapping, &score).reason, SX_LEGAL);
        assert_true(child.value == score.energy_pj * score.cycles);
        changed += memcmp(&child.point, &member->point, sizeof child.point) != 0;
        legal++;
        if (child.value <= member->value) *member = child;
    }
    assert_true(legal > 1900);
    assert_true(changed > 1500);
    sx_model_workspace_free(evaluator);
}

/* Constraints: factors that are fixed, temporal and spatial, one that is limited, and places of loops. */
static void constrain(const sx_map_space *map, sx_constraints *limits) {
    enum { M, N, K };
    int top = map->arch->n_levels - 1, array = top;
    while (map->spatial_slot[array] < 0) array--;
    sx_constraints_init(limits, map->problem, map->arch);
    sx_loop_limits *inner = &limits->level[0].temporal, *outer = &limits->level[top].temporal;
    inner->min[M] = inner->max[M] = 2;
    limits->level[array].spatial.min[K] = limits->level[array].spatial.max[K] = 4;
    outer->min[N] = outer->max[N] = 3;
    outer->max[M] = 4;
    inner->n_inner = limits->level[1].temporal.n_outer = 1;
    inner->inner[0] = N;
    limits->level[1].temporal.outer[0] = M;
}

/* Draws and children of a space with constraints are points of that space, and nearly all are legal. Tiles are too large for the
 * smallest memory, so that most children are repaired. */
static void constraints(void **state) {
    sx_model *large;
    sx_model_workspace *workspace;
    sx_space *wide, *narrow;
    sx_constraints limits;
    sx_objective objective;
    sx_gpu_image *limited;
    sx_gpu_member island[SX_GPU_ISLAND], child;
    sx_gpu_point drawn;
    sx_mapping mapping;
    const sx_core_chances chances = {6554, 6554, 32768, 6554, 65536, 52429};
    int n[2] = {0};
    (void)state;
    sx_catalog_model("C[m,n] = A[m,k] * B[k,n] {m:64,n:48,k:64}", "accel-b", &large, &workspace);
    sx_model_workspace_free(workspace);
    sx_expect_ok(sx_map_space_new(large, NULL, NULL, &wide));
    const sx_map_space *map = sx_map_space_of(wide);
    constrain(map, &limits);
    sx_expect_ok(sx_map_space_new(large, &limits, NULL, &narrow));
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_gpu_image_new(narrow, &objective, SX_GPU_POINTS, &limited));
    const sx_core_space *c = sx_gpu_space_of(limited);
    sx_gpu_begin_points(c, &work);
    make_island(island);
    for (int i = 0; i < SX_GPU_ISLAND; i++) island[i].value = INFINITY;
    for (uint64_t i = 0; i < 2000; i++) {
        sx_core_rng rng = sx_gpu_stream(8, 0, i);
        sx_gpu_member *member = &island[i % SX_GPU_ISLAND];
        sx_gpu_breed(limited, c, &work, &chances, island, &rng, &child);
        bool legal[2] = {child.value < INFINITY,
                         sx_gpu_try_point(limited, c, &work, 8, i, &drawn) < INFINITY};
        for (int k = 0; k < 2; k++) {
            if (!legal[k]) continue;
            const sx_gpu_point *point = k ? &drawn : &child.point;
            assert_true(sx_map_compact_holds(c, sx_gpu_levels_of(point)));
            sx_gpu_expand(narrow, limited, point, &mapping);
            assert_true(sx_constraints_allow(&limits, &mapping, map->problem, map->arch, NULL, 0));
            n[k]++;
        }
        if (child.value <= member->value) *member = child;
    }
    assert_true(n[0] > 1900 && n[1] > 20);
    sx_gpu_begin_points(sx_gpu_space_of(image), &work);
    free(limited);
    sx_space_free(narrow);
    sx_space_free(wide);
    sx_model_free(large);
}

/* Of equal members the first counts. */
static void best_and_worst(void **state) {
    (void)state;
    sx_gpu_member island[SX_GPU_ISLAND];
    make_island(island);
    assert_int_equal(sx_gpu_best_member(island), 0);
    assert_int_equal(sx_gpu_worst_member(island), SX_GPU_ISLAND - 1);
    island[SX_GPU_ISLAND - 1].value = -1;
    assert_int_equal(sx_gpu_best_member(island), SX_GPU_ISLAND - 1);
    island[4].value = island[7].value = -2;
    island[5].value = island[8].value = 99;
    assert_int_equal(sx_gpu_best_member(island), 4);
    assert_int_equal(sx_gpu_worst_member(island), 5);
    island[0].value = 100;
    assert_int_equal(sx_gpu_worst_member(island), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws),       cmocka_unit_test(tournaments),    cmocka_unit_test(children),
        cmocka_unit_test(constraints), cmocka_unit_test(best_and_worst),
    };
    return cmocka_run_group_tests(tests, make_image, free_image);
}
