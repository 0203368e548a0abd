/* Odyssey's hybrid search: its operators, its settings, and how near to proven optima it comes. */
#include "support/expect.h"
#include "systolic/hybrid_moves.h"
#include "systolic/program.h"

#include "sextant/run.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PUBLISHED                                                                                            \
    "hybrid:population=200,alpha=0.8,loops=all,snap=published,first=copies,elites=again,twins=keep,"         \
    "idle=search,nudge=0,crowd=1,restart=0"

/* The space of a matrix product on the paper's device, of one design or (NULL) of all. */
static sx_space *open_matrix(uint32_t i, uint32_t j, uint32_t k, const char *design) {
    sx_systolic_kernel kernel;
    sx_device device;
    sx_space *space;
    size_t index = 0;
    sx_systolic_options options = {0};
    sx_expect_ok(sx_systolic_matrix(i, j, k, &kernel));
    sx_expect_ok(sx_catalog_device("u250", &device));
    if (design) {
        sx_expect_ok(sx_systolic_design_find(&kernel, design, &index));
        options.designs = &index;
        options.n_designs = 1;
    }
    sx_expect_ok(sx_systolic_space_new(&kernel, 1, &device, &options, &space));
    return space;
}

/* Searches for the least latency. */
static sx_run *searched(const sx_space *space, const char *navigator, uint64_t evaluations, uint64_t seed) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = evaluations;
    options.seed = seed;
    sx_expect_ok(sx_objective_parse("delay", &options.objective));
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    return run;
}

/* The mean share of an optimum that a navigator reaches with seeds 0 to n - 1. */
static double reached(const sx_space *space, const char *navigator, uint64_t evaluations, uint64_t n,
                      double optimum) {
    double sum = 0;
    for (uint64_t seed = 0; seed < n; seed++) {
        sx_run *run = searched(space, navigator, evaluations, seed);
        sx_found f;
        assert_true(sx_run_best(run, 0, &f));
        assert_true(f.value >= optimum);
        sum += optimum / f.value;
        sx_run_free(run);
    }
    return sum / (double)n;
}

static sx_hybrid_moves moves_of(const sx_space *space, bool all_loops, bool as_published) {
    return (sx_hybrid_moves){.space = space,
                             .systolic = sx_systolic_space_of(space),
                             .alpha = 0.5,
                             .nudge = as_published ? 0 : 0.2,
                             .all_loops = all_loops,
                             .as_published = as_published,
                             .settle = !as_published};
}

static void operators_make_tiles_of_the_space(void **state) {
    (void)state;
    sx_space *space = open_matrix(60, 70, 96, NULL);
    const sx_systolic_space *own = sx_systolic_space_of(space);
    for (uint64_t i = 0; i < 2000; i++) {
        sx_rng rng = sx_rng_stream(1, "operators", i);
        sx_hybrid_moves moves = moves_of(space, i % 2, false);
        sx_systolic_point mother, father, child;
        sx_hybrid_draw(&moves, &rng, &mother);
        sx_hybrid_draw(&moves, &rng, &father);
        sx_hybrid_cross(&moves, &rng, &mother, &father, &child);
        sx_hybrid_mutate(&moves, &rng, &child);
        const sx_systolic_plan *plan = &own->plan[child.design];
        for (int d = 0; d < own->n_loops; d++) {
            assert_true(sx_systolic_tile_in(&own->tiles[d], child.t1[d]));
            assert_int_equal(child.t1[d] % child.t2[d], 0);
            if (d == plan->simd)
                assert_true(child.t2[d] <= plan->limits.lanes);
            else if (!(plan->form.space >> d & 1))
                assert_int_equal(child.t2[d], child.t1[d]);
        }
    }
    sx_space_free(space);
}

static void published_mutations_leave_no_inner_tile_of_one(void **state) {
    (void)state;
    sx_space *space = open_matrix(60, 70, 96, "3_2");
    size_t ones[2] = {0}, beyond = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        sx_rng rng = sx_rng_stream(1, "published", i);
        sx_hybrid_moves moves = moves_of(space, true, i % 2);
        sx_systolic_point point;
        sx_hybrid_draw(&moves, &rng, &point);
        sx_hybrid_mutate(&moves, &rng, &point);
        for (int d = 0; d < 2; d++) ones[i % 2] += point.t2[d] == 1 && point.t1[d] > 1;
        beyond += i % 2 && point.t2[2] > 8;
    }
    assert_true(ones[0] > 100);
    assert_int_equal(ones[1], 0);
    assert_true(beyond > 0);
    sx_space_free(space);
}

static void draws_hide_the_latency_of_adding(void **state) {
    (void)state;
    sx_space *space = open_matrix(1024, 1024, 1024, "3_2");
    sx_hybrid_moves moves = moves_of(space, false, true);
    sx_rng rng = sx_rng_stream(1, "draws", 0);
    for (int i = 0; i < 2000; i++) {
        sx_systolic_point p;
        sx_hybrid_draw(&moves, &rng, &p);
        assert_true(p.t2[0] * (uint64_t)p.t2[1] >= 8 * p.t2[2]);
    }
    sx_space_free(space);
}

static void shapes_are_design_sides_and_lanes(void **state) {
    (void)state;
    sx_space *space = open_matrix(1024, 1024, 1024, NULL);
    sx_hybrid_moves moves = moves_of(space, false, false);
    const sx_systolic_point a = {.design = 11, .t1 = {130, 205, 64}, .t2 = {26, 41, 8}};
    sx_systolic_point b = {.design = 11, .t1 = {65, 200, 32}, .t2 = {13, 40, 8}};
    assert_true(sx_hybrid_alike(&moves, &a, &b));
    b.t2[2] = 4;
    assert_false(sx_hybrid_alike(&moves, &a, &b));
    b.t2[2] = 8;
    b.t1[1] = 240;
    assert_false(sx_hybrid_alike(&moves, &a, &b));
    b = a;
    b.design = 10;
    assert_false(sx_hybrid_alike(&moves, &a, &b));
    sx_space_free(space);
}

static void searches_begin_from_the_program(void **state) {
    (void)state;
    sx_space *space = open_matrix(1024, 1024, 1024, "1_2");
    const sx_systolic_space *own = sx_systolic_space_of(space);
    sx_program program;
    sx_program_tiles tiles;
    sx_systolic_point point;
    sx_found f;
    sx_program_init(&own->kernel[0], &own->plan[own->open_list[0]], &program);
    assert_true(sx_program_solve(&program, SX_PROGRAM_LANES, &tiles));
    sx_program_round(own, own->open_list[0], &tiles, &point);
    sx_hybrid_moves moves = moves_of(space, false, false);
    sx_hybrid_settle(&moves, &point);
    sx_run *run = searched(space, "hybrid:seed=1", 1, 0);
    assert_true(sx_run_best(run, 0, &f));
    assert_memory_equal(f.point, &point, sizeof point);
    sx_run_free(run);
    sx_space_free(space);
}

static void the_best_design_is_near_the_optimum_after_3000_evaluations(void **state) {
    (void)state;
    sx_space *space = open_matrix(1024, 1024, 1024, "3_2");
    double ours = reached(space, "hybrid", 3000, 10, 637832.25);
    double published = reached(space, PUBLISHED, 3000, 10, 637832.25);
    print_message("3_2: %.4f of the optimum, as published %.4f\n", ours, published);
    assert_true(ours >= 0.93);
    assert_true(published >= 0.8 && published < ours);
    sx_space_free(space);
}

static void all_designs_come_near_their_optima(void **state) {
    (void)state;
    static const struct {
        const char *design;
        double optimum;
    } cases[] = {
        {"0_0", 1320425},   {"0_1", 1320994},   {"0_2", 797115.25}, {"1_0", 2029771.25}, {"1_1", 1745028.94},
        {"1_2", 819046},    {"2_0", 4051585},   {"2_1", 4030549},   {"2_2", 2101762},    {"3_0", 893280},
        {"3_1", 806492.25}, {"3_2", 637832.25}, {"4_0", 5427200},   {"4_1", 2731648},    {"4_2", 723546.75},
        {"5_0", 3020800},   {"5_1", 5515264},   {"5_2", 680727},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += SX_SANITIZED ? 9 : 1) {
        sx_space *space = open_matrix(1024, 1024, 1024, cases[i].design);
        double share = reached(space, "hybrid", 100000, 1, cases[i].optimum - 0.01);
        if (share < 0.93) print_error("%s: %.4f of the optimum\n", cases[i].design, share);
        assert_true(share >= 0.93);
        sx_space_free(space);
    }
}

static void designs_are_genes_where_several_are_open(void **state) {
    (void)state;
    sx_space *space = open_matrix(1024, 1024, 1024, NULL);
    sx_run *run = searched(space, "hybrid", 100000, 1);
    sx_found f;
    assert_true(sx_run_best(run, 0, &f));
    print_message("all designs: %.4f of the optimum\n", 637832.25 / f.value);
    assert_true(f.value >= 637832.25 && f.value <= 637832.25 / 0.9);
    sx_run_free(run);
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_make_tiles_of_the_space),
        cmocka_unit_test(published_mutations_leave_no_inner_tile_of_one),
        cmocka_unit_test(draws_hide_the_latency_of_adding),
        cmocka_unit_test(shapes_are_design_sides_and_lanes),
        cmocka_unit_test(searches_begin_from_the_program),
        cmocka_unit_test(the_best_design_is_near_the_optimum_after_3000_evaluations),
        cmocka_unit_test(all_designs_come_near_their_optima),
        cmocka_unit_test(designs_are_genes_where_several_are_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
