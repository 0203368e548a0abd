/* Lower bounds of the independent checker for spaces with remainders, all mappings of which the space of the search lists and
 * the cost model evaluates: no bound is above a mapping, a claim above the least is not accepted, and what is certified comes
 * close: test_check_remainders [count [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"

#include "check/remainders.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often something came out, and sums of shares. */
typedef struct tally {
    uint64_t mappings, cases, optimal, undecided, above, counted, walked, refused, found;
    double energy, cycles, certified, known;
} tally;

/* Whether all factors divide. */
static bool is_exact(const sx_mapping *mapping, const sx_problem *problem) {
    bool exact = true;
    for (int d = 0; d < mapping->n_dims; d++)
        exact &= sx_mapping_extent(mapping, mapping->n_levels - 1, d) == problem->size[d];
    return exact;
}

/* Fails where a bound is above a mapping's cost. */
static void hold(const sx_small_space *small, uint64_t number, const char *what, sx_check_corner bound,
                 double scale, const sx_score *cost) {
    const double slack = 1 + 1e-12;
    if ((double)bound.energy <= cost->energy_pj * scale * slack && (double)bound.cycles <= cost->cycles)
        return;
    print_error("%s: %.17g pJ and %lld cycles, above %.17g and %.17g\n", what, (double)bound.energy / scale,
                (long long)bound.cycles, cost->energy_pj, cost->cycles);
    sx_fail_case(small, number, what, "a bound is above a mapping");
}

/* Compares the bounds of a mapping that leaves remainders with its cost. */
static void check_mapping(const sx_small_space *small, uint64_t number, sx_check_work *work,
                          sx_check_tilings *tilings, const sx_mapping *mapping, const sx_score *cost,
                          tally *t) {
    double scale = (double)work->space->c->machine.scale;
    sx_check_spatial spatial;
    sx_check_spread spread;
    unsigned keep[SX_MAX_LEVELS];
    sx_wide tiles;
    for (int s = 0; s < mapping->n_levels; s++) {
        keep[s] = mapping->level[s].keep;
        for (int d = 0; d < mapping->n_dims; d++) spatial.factor[s][d] = mapping->level[s].spatial[d];
    }
    sx_expect_ok(sx_check_tilings_least(tilings, keep, &tiles, NULL));
    sx_check_spread_init(&spread, work->space, work->shape, NULL);
    hold(small, number, "any spatial factors", sx_check_remainder_bound(work, &spread, keep, tiles), scale,
         cost);
    sx_check_spread_init(&spread, work->space, work->shape, &spatial);
    sx_check_corner bound = sx_check_remainder_bound(work, &spread, keep, tiles);
    hold(small, number, "spatial factors", bound, scale, cost);
    if (sx_check_may_walk_remainders(work)) {
        sx_check_pair pair = {.spatial = spatial};
        sx_check_corner known;
        memcpy(pair.keep, keep, sizeof keep);
        sx_expect_ok(sx_check_tilings_least(tilings, keep, &tiles, pair.tiles));
        sx_expect_ok(sx_check_follow_walk(work, &pair, mapping, &known));
        hold(small, number, "the walk", known, scale, cost);
        t->walked++;
        t->known += cost->energy_pj > 0 ? (double)known.energy / scale / cost->energy_pj : 1;
    }
    t->mappings++;
    t->energy += cost->energy_pj > 0 ? (double)bound.energy / scale / cost->energy_pj : 1;
    t->cycles += (double)bound.cycles / cost->cycles;
}

/* Compares the bounds of all mappings of a list that leave remainders with their costs. */
static void check_mappings(const sx_small_space *small, uint64_t number, const sx_mapping_list *list,
                           tally *t) {
    sx_check_doubt doubt = {""};
    sx_check_space space;
    sx_check_shape shape;
    sx_check_tilings *tilings;
    sx_check_case *c = sx_check_case_of(small, "edp", list, 0, NULL, 0, &doubt);
    sx_check_work work = {.space = &space, .shape = &shape};
    sx_expect_ok(sx_check_space_init(&space, c));
    sx_check_shape_init(&shape, c, &doubt);
    sx_check_energy_prices(c, &work.energy);
    for (int s = 0; s < c->machine.n_levels; s++)
        work.latency += c->machine.level[s].fill_latency + c->machine.level[s].drain_latency;
    sx_expect_ok(sx_check_tilings_new(&work, &tilings));
    for (size_t i = 0; i < list->n && !doubt.why[0]; i++)
        if (!is_exact(&list->mapping[i], &small->c.problem))
            check_mapping(small, number, &work, tilings, &list->mapping[i], &list->score[i], t);
    sx_check_tilings_free(tilings);
    sx_check_space_fini(&space);
    sx_check_case_free(c);
}

/* Compares the bounds of all mappings of a drawn space with their costs. */
static void check_space(uint64_t seed, uint64_t number, tally *t) {
    sx_rng rng = sx_rng_stream(seed, "remainders", number);
    sx_small_space small;
    sx_mapping_list list;
    sx_draw_remainder_space(&rng, &small);
    sx_list_mappings(&small, &list);
    if (list.n) check_mappings(&small, number, &list, t);
    sx_free_mappings(&list);
    sx_small_space_fini(&small);
}

static void bounds_are_below_mappings(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) check_space(set->seed, i, &t);
    check_space(5, 194, &t); /* groups at a level that the output bypasses share accesses, which is rare */
    print_message("%llu mappings: %.3f of the energy, %.3f of the cycles\n", (unsigned long long)t.mappings,
                  t.energy / (double)t.mappings, t.cycles / (double)t.mappings);
    print_message("of the energy of %llu mappings the walk knows %.3f\n", (unsigned long long)t.walked,
                  t.known / (double)t.walked);
    sx_expect_compared("mappings that leave remainders", t.mappings, set->count * 10);
    sx_expect_compared("mappings that are walked to", t.walked, set->count * 10);
    assert_true(t.known >= 0.85 * (double)t.walked);
    assert_true(t.energy >= 0.75 * (double)t.mappings && t.cycles >= 0.8 * (double)t.mappings);
}

/* The verdict on a claim that no mapping is below a bound. */
static sx_independent_verdict judge_bound(sx_check_case *c, double bound, sx_independent_report *report) {
    const sx_check_doubt none = {""};
    c->claim.optimal = false;
    c->claim.lower_bound = bound;
    return sx_judge_case(c, none, false, 0, report);
}

/* The mapping of a list with the least value above a number; the list's length where there is none. */
static size_t find_least_above(const sx_mapping_list *list, const sx_objective *objective, double number) {
    size_t best = list->n;
    for (size_t i = 0; i < list->n; i++) {
        double value = sx_objective_value(objective, &list->score[i]);
        if (value > number && (best == list->n || value < sx_objective_value(objective, &list->score[best])))
            best = i;
    }
    return best;
}

/* Fails where the next best value of a space is taken for the least, or the least and a unit more. */
static void check_false_claims(const sx_small_space *small, uint64_t number, const char *objective,
                               const sx_mapping_list *list, size_t best, size_t next, tally *t) {
    sx_independent_report report;
    sx_check_doubt doubt;
    sx_check_case *c = sx_check_case_of(small, objective, list, best, NULL, 0, &doubt);
    sx_independent_verdict verdict = sx_judge_case(c, doubt, true, 0, &report);
    if (verdict == SX_INDEPENDENT_FAILS) sx_fail_case(small, number, "an optimum is refused", report.why);
    t->walked += verdict == SX_INDEPENDENT_HOLDS;
    if (!report.uncounted && sx_judge_case(c, doubt, false, 1, &report) == SX_INDEPENDENT_HOLDS)
        sx_fail_case(small, number, objective, "a unit more than the optimum is accepted");
    sx_check_case_free(c);
    if (next == list->n) return;
    c = sx_check_case_of(small, objective, list, next, NULL, 0, &doubt);
    verdict = sx_judge_case(c, doubt, false, 0, &report);
    if (verdict == SX_INDEPENDENT_HOLDS && report.cycles == list->score[next].cycles)
        sx_fail_case(small, number, objective, "the next best value is accepted");
    t->refused += verdict == SX_INDEPENDENT_FAILS;
    t->found += sx_judge_case(c, doubt, true, 0, &report) == SX_INDEPENDENT_FAILS;
    sx_check_case_free(c);
}

/* Checks the claims of one space. */
static void check_claims(sx_rng *rng, const sx_small_space *small, uint64_t number, tally *t) {
    static const char *const objectives[] = {"edp", "energy", "delay"};
    const char *objective = objectives[sx_rng_below(rng, 3)];
    sx_independent_report report;
    sx_check_doubt doubt;
    sx_objective parsed;
    sx_mapping_list list;
    sx_list_mappings(small, &list);
    sx_expect_ok(sx_objective_parse(objective, &parsed));
    size_t best = find_least_above(&list, &parsed, -1);
    if (list.n) {
        double least = sx_objective_value(&parsed, &list.score[best]);
        sx_check_case *c = sx_check_case_of(small, objective, &list, best, NULL, 0, &doubt);
        sx_independent_verdict verdict = sx_judge_case(c, doubt, false, 0, &report);
        t->cases++;
        t->optimal += verdict == SX_INDEPENDENT_HOLDS;
        t->undecided += report.certified == 0;
        if (verdict == SX_INDEPENDENT_FAILS) sx_fail_case(small, number, "an optimum is refused", report.why);
        if (report.certified > least * (1 + 1e-12))
            sx_fail_case(small, number, objective, "more than the optimum is certified");
        t->certified += least > 0 ? report.certified / least : 1;
        double certified = report.certified;
        bool uncounted = report.uncounted;
        t->counted += !uncounted;
        if (!doubt.why[0] && !is_exact(&list.mapping[best], &small->c.problem)) {
            if (uncounted) c->claim.value = INFINITY;
            if (certified > 0 && judge_bound(c, certified * (1 - 1e-12), &report) != SX_INDEPENDENT_HOLDS)
                sx_fail_case(small, number, "a certified bound is not accepted", report.why);
            t->above++;
            if (judge_bound(c, least * 1.001 + 1, &report) == SX_INDEPENDENT_HOLDS)
                sx_fail_case(small, number, objective, "a bound above the optimum is accepted");
            c->claim.value = least;
            if (judge_bound(c, least * 1.001 + 1, &report) != SX_INDEPENDENT_FAILS)
                sx_fail_case(small, number, objective, "a bound above the value is not refused");
        }
        sx_check_case_free(c);
        check_false_claims(small, number, objective, &list, best,
                           find_least_above(&list, &parsed, least * (1 + 1e-9)), t);
    }
    sx_free_mappings(&list);
}

static void claims_are_decided(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "claims", i);
        sx_small_space small;
        sx_draw_remainder_space(&rng, &small);
        check_claims(&rng, &small, i, &t);
        sx_small_space_fini(&small);
    }
    print_message("%llu optima: %llu are counted, %llu hold, of %llu nothing is certified; of an optimum "
                  "%.3f is certified\n",
                  (unsigned long long)t.cases, (unsigned long long)t.counted, (unsigned long long)t.optimal,
                  (unsigned long long)t.undecided, t.certified / (double)t.cases);
    sx_expect_compared("optima", t.optimal, set->count / 3);
    sx_expect_compared("optima without bounds", t.walked, set->count / 3);
    sx_expect_compared("next best values that are refused", t.refused, set->count / 4);
    sx_expect_compared("best mappings that are found without bounds", t.found, set->count / 4);
    sx_expect_compared("bounds above an optimum", t.above, set->count / 10);
    assert_true(t.undecided * 10 <= t.cases && t.certified >= 0.75 * (double)t.cases);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 300, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(bounds_are_below_mappings, &set),
        cmocka_unit_test_prestate(claims_are_decided, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
