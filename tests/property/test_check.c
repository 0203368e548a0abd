/* The independent checker on random small spaces, all mappings of which the space of the search lists and the cost model
 * evaluates: the optimum is accepted or undecided, anything above it is not accepted, with the rules and without them,
 * and bounds along a mapping's loops are never above its cost: test_check [count [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often something came out. */
typedef struct tally {
    uint64_t cases, holds, undecided, walked, refused, rounded;
} tally;

/* Writes the energies of a case in a unit so small that bounds of them reach their cap. */
static void refine_units(sx_check_case *c) {
    int bits = 60 - ilogb(c->best.energy_pj * (double)c->machine.scale + 1);
    c->machine.scale <<= bits;
    c->machine.compute_energy <<= bits;
    for (int s = 0; s < c->machine.n_levels; s++) {
        sx_check_level *level = &c->machine.level[s];
        for (int i = 0; i < SX_N_ACCESSES; i++) level->energy[i] <<= bits;
        level->leak <<= bits;
        level->address <<= bits;
        level->hop <<= bits;
        level->router <<= bits;
    }
}

/* The value of a mapping by the checker's own count: the model may have a cycle more, and what leaks in it. */
static double exact_value(const sx_check_case *c, const sx_objective *objective, const sx_mapping *mapping) {
    sx_check_doubt doubt = {""};
    sx_check_cost cost;
    if (sx_check_evaluate(c, mapping, &cost, &doubt) != SX_COST_LEGAL) return 0;
    const sx_score score = {.energy_pj = (double)cost.energy / (double)c->machine.scale,
                            .cycles = (double)cost.cycles};
    return sx_objective_value(objective, &score);
}

/* Checks the claims of one space. */
static void check_claims(sx_rng *rng, const sx_small_space *small, uint64_t number, tally *t) {
    static const char *const objectives[] = {"edp",  "energy", "delay",   "edp",     "energy", "delay",
                                             "ed2p", "e^2*d",  "e^3*d^4", "d^3*e^2", "e^2",    "d^2"};
    const char *objective = objectives[sx_rng_below(rng, sizeof objectives / sizeof *objectives)];
    sx_independent_report report;
    sx_check_doubt doubt = {""};
    sx_objective parsed;
    sx_mapping_list list;
    size_t best = 0, other;
    sx_list_mappings(small, &list);
    sx_expect_ok(sx_objective_parse(objective, &parsed));
    for (size_t i = 0; i < list.n; i++)
        if (sx_objective_value(&parsed, &list.score[i]) < sx_objective_value(&parsed, &list.score[best]))
            best = i;
    if (list.n) {
        sx_check_case *c = sx_check_case_of(small, objective, &list, best, NULL, 0, &doubt);
        bool walk = sx_rng_below(rng, 3) == 0;
        sx_independent_verdict verdict = sx_judge_case(c, doubt, walk, 0, &report);
        t->cases++;
        if (verdict == SX_INDEPENDENT_FAILS) sx_fail_case(small, number, "an optimum is refused", report.why);
        t->holds += verdict == SX_INDEPENDENT_HOLDS;
        t->rounded += verdict == SX_INDEPENDENT_HOLDS && report.slack > 0;
        t->walked += report.walked > 0;
        t->undecided += verdict == SX_INDEPENDENT_UNDECIDED;
        if (sx_judge_case(c, doubt, walk, 1, &report) == SX_INDEPENDENT_HOLDS && report.slack == 0)
            sx_fail_case(small, number, objective, "more than the optimum is accepted");
        if (doubt.why[0] == 0) {
            c->claim.arrays = report.spatial + 1;
            if (sx_judge_case(c, doubt, walk, 0, &report) == SX_INDEPENDENT_HOLDS)
                sx_fail_case(small, number, objective, "a space of another size is accepted");
            c->claim.arrays = 0;
            refine_units(c);
            if (sx_judge_case(c, doubt, walk, 1, &report) == SX_INDEPENDENT_HOLDS && report.slack == 0)
                sx_fail_case(small, number, objective, "more than the optimum is accepted in small units");
        }
        sx_check_case_free(c);
        other = sx_rng_below(rng, list.n);
        c = sx_check_case_of(small, objective, &list, other, NULL, 0, &doubt);
        if (exact_value(c, &parsed, &list.mapping[other]) > exact_value(c, &parsed, &list.mapping[best])) {
            verdict = sx_judge_case(c, doubt, walk, 0, &report);
            if (verdict == SX_INDEPENDENT_HOLDS && report.slack == 0)
                sx_fail_case(small, number, objective, "a worse mapping is accepted");
            t->refused += verdict == SX_INDEPENDENT_FAILS;
        }
        sx_check_case_free(c);
    }
    sx_free_mappings(&list);
}

/* A case in which a tensor stops waiting at a loop that the order of the following ones was once compared with. */
static void hard_claims_are_decided(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(41, "check", 748);
    sx_small_space small;
    tally t = {0};
    sx_draw_check_space(&rng, &small);
    check_claims(&rng, &small, 748, &t);
    assert_int_equal(t.holds, 1);
    sx_small_space_fini(&small);
}

/* A case with a mapping that is better but for a cycle that the model rounds up. */
static void claims_that_hold_but_for_rounding_say_so(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(3, "check", 445);
    sx_small_space small;
    tally t = {0};
    sx_draw_check_space(&rng, &small);
    check_claims(&rng, &small, 445, &t);
    assert_int_equal(t.rounded, 1);
    sx_small_space_fini(&small);
}

static void claims_are_decided(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "check", i);
        sx_small_space small;
        sx_draw_check_space(&rng, &small);
        check_claims(&rng, &small, i, &t);
        sx_small_space_fini(&small);
    }
    print_message(
        "%llu optima: %llu hold, %llu of them but for rounding, %llu undecided, %llu by a walk; %llu worse "
        "mappings refused\n",
        (unsigned long long)t.cases, (unsigned long long)t.holds, (unsigned long long)t.rounded,
        (unsigned long long)t.undecided, (unsigned long long)t.walked, (unsigned long long)t.refused);
    sx_expect_compared("optima", t.holds, set->count / 2);
    assert_true(t.undecided * 20 <= t.cases && t.rounded * 40 <= t.cases + 40);
    sx_expect_compared("walks", t.walked, set->count / 8);
    sx_expect_compared("worse mappings", t.refused, set->count / 8);
}

/* The energy of a mapping's path through the tables may nowhere be above its own. */
static void check_path(const sx_small_space *small, const sx_check_space *space, const sx_check_shape *shape,
                       const sx_mapping *mapping, const sx_score *score, uint64_t number) {
    sx_check_outline o = {.space = space, .shape = shape};
    sx_check_spatial spatial;
    sx_check_lattice lattice = {0};
    sx_check_prices prices;
    int64_t flows, paid = 0;
    uint32_t point = 0;
    int n = space->n_dims;
    sx_wide energy = (sx_wide)llround(score->energy_pj * (double)space->c->machine.scale);
    for (int s = 0; s < space->n_levels; s++) {
        o.keep[s] = mapping->level[s].keep;
        for (int d = 0; d < n; d++) spatial.factor[s][d] = mapping->level[s].spatial[d];
    }
    o.spatial = &spatial;
    sx_check_outline_spread(&o);
    sx_expect_ok(sx_check_find_links(&o));
    sx_check_find_neighbours(&o);
    sx_check_energy_prices(space->c, &prices);
    sx_expect_ok(sx_check_lattice_points(&lattice, &o));
    sx_expect_ok(sx_check_lattice_solve(&lattice, &o, &prices, SX_CHECK_NONE, &flows));
    sx_expect_ok(sx_check_lattice_tables(&lattice));
    sx_wide shared = sx_check_shared(&o, &prices);
    int k = sx_check_first_state(&lattice);
    if (shared + sx_check_compulsory(&o, &prices) > energy)
        sx_fail_case(small, number, "compulsory", "is above a mapping");
    for (int s = 0; s < space->n_levels; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        for (int i = 0; i <= n; i++) {
            int64_t rest = lattice.rest[s][(size_t)point * (size_t)lattice.states[s].n + (size_t)k];
            if (shared + paid + rest > energy) {
                print_error("level %d loop %d: %lld + %lld + %lld above %lld\n", s, i, (long long)shared,
                            (long long)paid, (long long)rest, (long long)energy);
                sx_fail_case(small, number, "a bound", "is above a mapping");
            }
            if (i == n) break;
            int d = at->temporal_order[i], next;
            if (at->temporal[d] == 1) continue;
            paid += sx_check_pay_loop(&lattice, s, k, d, at->temporal[d], point, &next);
            k = next;
            int64_t to = lattice.divisor[d][point / lattice.stride[d] % (uint32_t)lattice.n_divisors[d]] *
                         at->temporal[d];
            while (lattice.divisor[d][point / lattice.stride[d] % (uint32_t)lattice.n_divisors[d]] != to)
                point += lattice.stride[d];
        }
        if (s + 1 < space->n_levels) k = sx_check_pass_edge(&lattice, s, k);
    }
    sx_check_lattice_fini(&lattice);
}

static void bounds_are_below_mappings(void **state) {
    const settings *set = *state;
    uint64_t paths = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "path", i);
        sx_small_space small;
        sx_check_space space;
        sx_check_shape shape;
        sx_check_doubt doubt = {""};
        sx_mapping_list list;
        sx_draw_check_space(&rng, &small);
        sx_list_mappings(&small, &list);
        if (list.n) {
            sx_check_case *c = sx_check_case_of(&small, "edp", &list, 0, NULL, 0, &doubt);
            sx_expect_ok(sx_check_space_init(&space, c));
            sx_check_shape_init(&shape, c, &doubt);
            for (int tries = 0; tries < 20 && !doubt.why[0]; tries++, paths++) {
                size_t m = sx_rng_below(&rng, list.n);
                check_path(&small, &space, &shape, &list.mapping[m], &list.score[m], i);
            }
            sx_check_space_fini(&space);
            sx_check_case_free(c);
        }
        sx_free_mappings(&list);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("paths", paths, set->count * 8);
}

/* Turns the sign of one term of some windows of a space's problem. */
static void turn_windows(sx_rng *rng, sx_small_space *small) {
    sx_problem *p = &small->c.problem;
    bool turned = false;
    for (int r = 0; r < p->tensor[1].n_ranks; r++)
        for (int d = 0, before = 0; d < p->n_dims; d++) {
            int32_t *coef = &p->tensor[1].coef[r][d];
            if (!*coef || before++ == 0 || sx_rng_below(rng, 3)) continue;
            *coef = -*coef;
            turned = true;
        }
    if (!turned) return;
    sx_small_space_fini(small);
    sx_expect_ok(sx_model_new(p, &small->c.arch, &small->c.options, &small->model));
    sx_expect_ok(sx_map_space_new(small->model, &small->limits, &small->options, &small->space));
}

/* The same for convolutions on arrays whose memories and units hand words on, with mappings that are drawn. */
static void bounds_are_below_linked_mappings(void **state) {
    const settings *set = *state;
    uint64_t paths = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "links", i);
        sx_small_space small;
        sx_check_space space;
        sx_check_shape shape;
        sx_check_doubt doubt = {""};
        sx_model_workspace *evaluator;
        sx_mapping_list one = {
            .mapping = calloc(1, sizeof *one.mapping), .score = calloc(1, sizeof *one.score), .n = 1};
        uint64_t rejected = 0;
        sx_random_link_space(&rng, &small);
        turn_windows(&rng, &small);
        sx_tame_limits(&small.limits);
        void *point = malloc(sx_space_point_size(small.space));
        sx_expect_ok(sx_model_workspace_new(small.model, &evaluator));
        for (int tries = 0; tries < 6 && sx_space_draw_legal(small.space, &rng, point, &rejected); tries++) {
            sx_map_space_mapping(small.space, point, one.mapping);
            for (int s = 0; s < one.mapping->n_levels; s++) one.mapping->level[s].no_temporal_reuse = 0;
            if (sx_evaluate_score(evaluator, one.mapping, one.score).reason != SX_LEGAL) continue;
            sx_check_case *c = sx_check_case_of(&small, "edp", &one, 0, NULL, 0, &doubt);
            sx_expect_ok(sx_check_space_init(&space, c));
            sx_check_shape_init(&shape, c, &doubt);
            if (!doubt.why[0]) check_path(&small, &space, &shape, one.mapping, one.score, i);
            paths += !doubt.why[0];
            sx_check_space_fini(&space);
            sx_check_case_free(c);
        }
        sx_model_workspace_free(evaluator);
        free(point);
        sx_free_mappings(&one);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("linked paths", paths, set->count * 2);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 300, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(bounds_are_below_mappings, &set),
        cmocka_unit_test_prestate(bounds_are_below_linked_mappings, &set),
        cmocka_unit_test(hard_claims_are_decided),
        cmocka_unit_test(claims_that_hold_but_for_rounding_say_so),
        cmocka_unit_test_prestate(claims_are_decided, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
