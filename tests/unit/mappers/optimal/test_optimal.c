/* The parts of the mapper `optimal`: what it compares bounds with, the order of its nodes, and which layouts
 * on X and Y it tells apart. */
#include "mappers/optimal/leaf.h"
#include "mappers/optimal/proof.h"
#include "sextant/input.h"
#include "sextant/run.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A second criterion is visited where the first is within its tolerance of the optimum, and only there. */
static void earlier_criteria_are_held_to_the_tolerance(void **state) {
    (void)state;
    const double tolerances[] = {0.001, 0.05, 0.3}, off = 1e-9;
    for (size_t i = 0; i < 3; i++) {
        sx_objective objective;
        sx_expect_ok(sx_objective_parse("energy,delay", &objective));
        objective.tolerance = tolerances[i];
        const sx_prune_rule rule = {.objective = &objective, .criterion = 1, .least = {100}, .k = 1};
        double edge = 100 / (1 - tolerances[i]);
        const sx_score inside = {.energy_pj = edge * (1 - off), .cycles = 7};
        const sx_score outside = {.energy_pj = edge * (1 + off), .cycles = 5};
        assert_true(sx_prune_rule_value(&rule, &inside) == 7);
        assert_true(sx_prune_rule_value(&rule, &outside) == INFINITY);
        sx_cutoff cutoff = {.rule = &rule, .best = INFINITY, .limit = INFINITY};
        sx_cutoff_update(&cutoff, &outside, NULL);
        assert_int_equal(cutoff.kept.n, 0);
        sx_cutoff_update(&cutoff, &inside, NULL);
        assert_true(cutoff.kept.n == 1 && cutoff.best == 7);
        sx_cutoff_fini(&cutoff);
    }
}

/* Bounds are pruned at the best value, less the gap and what rounding takes. */
static void bounds_are_pruned_at_the_best(void **state) {
    (void)state;
    sx_objective objective;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    for (int gap = 0; gap < 3; gap++) {
        const sx_prune_rule rule = {.objective = &objective, .gap = gap * 0.1, .k = 1};
        double limit = sx_prune_rule_cutoff(&rule, 1000), expected = 1000 / (1 + gap * 0.1);
        assert_true(limit < expected && limit > expected * (1 - 1e-9));
        assert_true(sx_prune_rule_cutoff(&rule, -1) <= -1);
    }
}

static double rank_of(const sx_search_node *node) {
    return node->bound * (1 + (node->visits > 1 ? node->visits - 1 : 0) / (node->imperfect ? 64.0 : 4.0));
}

/* Nodes come out of the heap by bound, those of many visits later, those with remainders last. */
static void nodes_come_out_in_order(void **state) {
    (void)state;
    enum { N = 500 };
    sx_search_node heap[N];
    sx_rng rng = sx_rng_stream(1, "optimal.heap", 0);
    for (size_t i = 0; i < N; i++) {
        heap[i] = (sx_search_node){.bound = 1 + (double)sx_rng_below(&rng, 50),
                                   .spatial = (uint32_t)sx_rng_below(&rng, 20),
                                   .visits = (uint16_t)sx_rng_below(&rng, 6),
                                   .imperfect = sx_rng_below(&rng, 4) == 0};
        sx_heap_push(heap, i);
    }
    for (size_t n = N; n > 1; n--) sx_heap_pop(heap, n);
    for (size_t i = 1; i < N; i++) {
        const sx_search_node *late = &heap[i - 1], *early = &heap[i];
        assert_true(late->imperfect >= early->imperfect);
        if (late->imperfect != early->imperfect) continue;
        assert_true(rank_of(late) >= rank_of(early));
        if (rank_of(late) == rank_of(early)) assert_true(late->spatial >= early->spatial);
    }
}

static const char grid[] = "arch:\n"
                           "  name: grid\n"
                           "  arithmetic: {name: MAC, instances: 16, meshX: 4, word-bits: 16, energy: 1.0}\n"
                           "  storage:\n"
                           "  - {name: L1, instances: 16, meshX: 4, entries: 8, vector-access-energy: 1.5}\n"
                           "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

/* Tiles of windows that are unrolled at an outer level hand their halo to neighbours: which layouts make them
 * neighbours decides the cost. */
static void layouts_of_windows_are_told_apart(void **state) {
    (void)state;
    static const char *const problems[] = {
        "O[k,p] += I[p+r]*W[k,r] {k:2,p:2,r:5}",
        "O[k,p] += I[p+r]*W[k,r] {k:2,p:2,r:7}",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        sx_small_map m;
        double all, best;
        sx_small_map_open(&m, problems[i], grid, NULL, NULL);
        sx_run_summary s = sx_small_map_search(&m, "exhaustive", 1, 0, &all);
        assert_true(s.optimal);
        s = sx_small_map_search(&m, "optimal:gamma=0,sunstone=0,descents=0", 1, 0, &best);
        assert_true(s.optimal);
        assert_true(fabs(best - all) <= 1e-12 * all);
        sx_small_map_close(&m);
    }
}

/* Searches the space of a problem on a machine of the catalog; the best value. */
static double search_space(const char *einsum, const char *machine, const sx_map_space_options *space_options,
                           const char *mapper, const char *objective, sx_run_summary *summary) {
    static sx_problem problem;
    static sx_arch arch;
    sx_run_options options;
    sx_model *model;
    sx_space *space;
    sx_run *run;
    sx_found found;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_expect_ok(sx_catalog_arch(machine, &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, space_options, &space));
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(objective, &options.objective));
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, mapper));
    *summary = sx_run_result(run);
    assert_true(sx_run_best(run, 0, &found));
    double value = found.value;
    sx_run_free(run);
    sx_space_free(space);
    sx_model_free(model);
    return value;
}

static double search_product(const char *mapper, const char *objective, sx_run_summary *summary) {
    return search_space("O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "edge-unified", NULL, mapper, objective,
                        summary);
}

/* A mapping at the compulsory minimum is optimal at once. */
static void the_minimum_closes_the_search(void **state) {
    (void)state;
    sx_run_summary summary;
    double value = search_product("optimal:gamma=2000,sunstone=0", "delay", &summary);
    assert_true(summary.optimal && summary.lower_bound == value && summary.evaluations <= 2000);
}

/* Where there are too many spatial mappings to list there is an answer all the same, and a bound. */
static void too_many_spatial_mappings_have_a_bound(void **state) {
    (void)state;
    sx_run_summary whole, few;
    double optimum = search_product("optimal", "edp", &whole);
    double value = search_product("optimal:arrays=10,gamma=2000,sunstone=0", "edp", &few);
    assert_true(whole.optimal && !few.optimal && value >= optimum);
    assert_true(few.lower_bound > 0.01 * optimum && few.lower_bound <= optimum);
}

/* Where tiles that divide cannot use all compute units, the cycles on those that they can use are the least: of 108 x 1024
 * units powers of two use 64 x 1024. It needs no list of spatial mappings, which are too many here. */
static void unused_compute_units_raise_the_bound(void **state) {
    (void)state;
    static const char einsum[] = "O[m,n] += A[m,k]*B[k,n] {m:1024,n:1024,k:1024}";
    sx_run_summary whole, few;
    double value =
        search_space(einsum, "a100", NULL, "optimal:arrays=10,gamma=20000,sunstone=0", "delay", &few);
    assert_true(value == 16384 && few.optimal);
    value =
        search_space(einsum, "a100", NULL, "optimal:arrays=10,gamma=20000,sunstone=0", "delay,energy", &few);
    assert_true(value == 16384 && few.lower_bound > 16384 * (1 - 1e-9));
    value = search_space(einsum, "a100", NULL, "optimal:gamma=20000,sunstone=0", "edp", &whole);
    assert_true(whole.optimal && fabs(value / 14311432325693.44 - 1) < 1e-8);
}

/* The largest product of the factors of all spatial mappings that are listed. */
static double largest_listed(const sx_map_space *space) {
    sx_spatial_mappings all;
    sx_map_choices *choices;
    double largest = 0;
    sx_expect_ok(sx_map_choices_new(space, &choices));
    sx_expect_ok(sx_spatial_mappings_list(choices, space, false, 1000000, INFINITY, NULL, &all));
    const size_t each = (size_t)space->problem->n_dims * space->arch->n_levels;
    for (size_t i = 0; i < all.n; i++) {
        double product = 1;
        for (size_t k = 0; k < each; k++) product *= all.factor[i * each + k];
        largest = fmax(largest, product);
    }
    sx_spatial_mappings_fini(&all);
    sx_map_choices_free(choices);
    return largest;
}

/* Whether it was asked as often as a counter said. */
static bool counts_down(void *user) {
    unsigned *left = user;
    return *left == 0 || --*left == 0;
}

/* A list that is ended early is empty and says so; one that is not is what it would be without. */
static void a_list_is_ended_early(void **state) {
    static sx_problem problem;
    static sx_arch arch;
    sx_spatial_mappings all, part;
    sx_map_choices *choices;
    sx_model *model;
    sx_space *space;
    (void)state;
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:1024,n:1024,k:1024}", &problem));
    sx_expect_ok(sx_catalog_arch("a100", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    const sx_map_space *map = sx_map_space_of(space);
    sx_expect_ok(sx_map_choices_new(map, &choices));
    sx_expect_ok(sx_spatial_mappings_list(choices, map, false, 1000000, INFINITY, NULL, &all));
    unsigned asked = 1u << 31;
    sx_interrupt halt = {counts_down, &asked};
    sx_expect_ok(sx_spatial_mappings_list(choices, map, false, 1000000, INFINITY, &halt, &part));
    assert_true(!part.halted && part.n == all.n && all.n > 0);
    const unsigned asks = (1u << 31) - asked;
    assert_true(asks > 1);
    sx_spatial_mappings_fini(&part);
    for (unsigned i = 1; i <= asks; i += asks - 1) {
        asked = i;
        sx_expect_ok(sx_spatial_mappings_list(choices, map, false, 1000000, INFINITY, &halt, &part));
        assert_true(part.halted && part.n == 0 && !part.factor && asked == 0);
    }
    sx_spatial_mappings_fini(&all);
    sx_map_choices_free(choices);
    sx_space_free(space);
    sx_model_free(model);
}

/* The compute units that tiles can use are those of the spatial mapping that uses most. */
static void utilization_is_that_of_the_list(void **state) {
    (void)state;
    static const char *const machines[] = {"a100", "eyeriss", "simba", "glb128"};
    static const uint32_t sizes[][3] = {{12, 10, 7}, {30, 77, 1}, {96, 5, 54}, {13, 13, 13}, {1, 108, 36}};
    static sx_arch arch;
    for (size_t i = 0; i < 4 * 5; i++) {
        const uint32_t *size = sizes[i / 4];
        char einsum[96];
        sx_problem problem;
        sx_model *model;
        sx_space *space;
        double share;
        snprintf(einsum, sizeof einsum, "O[m,n] += A[m,k]*B[k,n] {m:%u,n:%u,k:%u}", size[0], size[1],
                 size[2]);
        sx_expect_ok(sx_einsum_parse(einsum, &problem));
        sx_expect_ok(sx_catalog_arch(machines[i % 4], &arch));
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
        sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
        sx_expect_ok(sx_spatial_mappings_utilization(sx_map_space_of(space), &share));
        assert_true(share * (double)arch.compute.instances == largest_listed(sx_map_space_of(space)));
        sx_space_free(space);
        sx_model_free(model);
    }
}

/* A search that leaves tiles that divide to another one proves no more than that has. */
static void what_another_search_left_open_stays_open(void **state) {
    (void)state;
    static const char einsum[] = "O[m] += A[m,k]*B[k] {m:7,k:17}";
    sx_map_space_options options = {.remainders = true};
    sx_run_summary whole, part;
    double optimum = search_space(einsum, "edge-unified", &options, "optimal", "edp", &whole);
    options.dividing = 0.9 * optimum;
    double value = search_space(einsum, "edge-unified", &options, "optimal", "edp", &part);
    assert_true(whole.optimal && value == optimum && !part.optimal);
    assert_true(part.lower_bound < optimum && part.lower_bound > 0.89 * optimum);
    options.dividing = optimum;
    assert_true(search_space(einsum, "edge-unified", &options, "optimal", "edp", &part) == optimum &&
                part.optimal);
}

/* Optima over all whole tile sizes, and their proofs. */
static void optima_with_remainders_are_proven(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        double optimum;
    } cases[] = {{"O[m,n] += A[m,k]*B[k,n] {m:197,n:768,k:768}", 1.04667208e14},
                 {"O[m,n] += A[m,k]*B[k,n] {m:197,n:197,k:64}", 7.66905751e10}};
    const sx_map_space_options options = {.remainders = true};
    for (int i = 0; i < 2; i++) {
        sx_run_summary summary;
        double value = search_space(cases[i].einsum, "glb128", &options, "optimal:gamma=2000,sunstone=0",
                                    "edp", &summary);
        assert_true(summary.optimal && fabs(value / cases[i].optimum - 1) < 1e-8);
    }
}

/* What a search with remainders claims that a brief effort, its settings or the room of its lists end, against the optimum. */
static void ended_searches_claim_what_holds(void **state) {
    (void)state;
    static const char *const machines[] = {"edge-unified", "glb128"},
                             *const mappers[] = {"optimal:gamma=0,sunstone=0,descents=0",
                                                 "optimal:gamma=0,sunstone=0,effort=0.1",
                                                 "optimal:gamma=0,sunstone=0,arrays=2",
                                                 "optimal:gamma=0,sunstone=0,arrays=8", "auto:gamma=100"};
    unsigned closed = 0, open = 0;
    for (uint32_t i = 0; i < 24; i++) {
        char einsum[80];
        sx_map_space_options options = {.remainders = true};
        sx_run_summary summary;
        snprintf(einsum, sizeof einsum, "O[m] += A[m,k]*B[k] {m:%u,k:%u}", 5 + i * 7 % 13, 7 + i * 5 % 17);
        const char *machine = machines[i % 2];
        double optimum = search_space(einsum, machine, &options, mappers[0], "edp", &summary);
        assert_true(summary.optimal);
        for (size_t k = 1; k < 3 * sizeof mappers / sizeof *mappers; k++) {
            options.brief = (double)(k % 3) * 0.002;
            double value = search_space(einsum, machine, &options, mappers[k / 3], "edp", &summary);
            assert_true(value >= optimum * (1 - 1e-12) && summary.lower_bound <= optimum * (1 + 1e-12));
            assert_true(!summary.optimal || value <= optimum * (1 + 1e-12));
            closed += summary.optimal;
            open += !summary.optimal;
        }
    }
    print_message("%u searches are closed, %u open\n", closed, open);
    assert_true(closed >= 20 && open >= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_criteria_are_held_to_the_tolerance),
        cmocka_unit_test(bounds_are_pruned_at_the_best),
        cmocka_unit_test(nodes_come_out_in_order),
        cmocka_unit_test(layouts_of_windows_are_told_apart),
        cmocka_unit_test(the_minimum_closes_the_search),
        cmocka_unit_test(too_many_spatial_mappings_have_a_bound),
        cmocka_unit_test(unused_compute_units_raise_the_bound),
        cmocka_unit_test(utilization_is_that_of_the_list),
        cmocka_unit_test(a_list_is_ended_early),
        cmocka_unit_test(what_another_search_left_open_stays_open),
        cmocka_unit_test(optima_with_remainders_are_proven),
        cmocka_unit_test(ended_searches_claim_what_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
