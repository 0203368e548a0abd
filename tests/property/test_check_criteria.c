/* Claims of two criteria one after the other before the independent checker, on random small spaces all mappings of
 * which are listed: the optimum is accepted or undecided; a mapping that is worse by what it may be told apart by, one
 * unit of energy above the optimum, and a number that is changed by a share of 10^-5 to 10^-9 are never accepted:
 * test_check_criteria [count [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* How often something came out. */
typedef struct tally {
    uint64_t claims, holds, undecided, beside, worse, later, near;
} tally;

/* What a mapping costs: the criterion that comes first, and the other one. */
typedef struct price {
    sx_wide first, second;
} price;

/* An objective: its text, and the powers of energy and delay of each criterion. */
typedef struct criteria {
    const char *text;
    int power[2][2];
} criteria;

static const criteria tried[] = {
    {"delay,energy", {{0, 1}, {1, 0}}}, {"energy,delay", {{1, 0}, {0, 1}}}, {"edp,energy", {{1, 1}, {1, 0}}},
    {"edp,delay", {{1, 1}, {0, 1}}},    {"energy,edp", {{1, 0}, {1, 1}}},   {"ed2p,energy", {{1, 2}, {1, 0}}},
    {"delay,edp", {{0, 1}, {1, 1}}},
};

/* The product of powers of a cost. */
static sx_wide product_of(const int *power, const sx_check_cost *cost) {
    sx_wide product = 1;
    for (int i = 0; i < power[0]; i++) product *= cost->energy;
    for (int i = 0; i < power[1]; i++) product *= cost->cycles;
    return product;
}

/* Whether a first criterion counts as equal to its least value: the share of 0.001 itself is left out. */
static bool is_near(sx_wide first, sx_wide least) {
    return first == least || (first - least) * 1000 < first;
}

/* Prices all mappings by the checker's own count; false where one cannot be. */
static bool price_mappings(const sx_check_case *c, const sx_mapping_list *list, const criteria *objective,
                           price *out) {
    sx_check_evaluator *evaluator;
    bool priced = true;
    sx_expect_ok(sx_check_evaluator_new(c, &evaluator));
    for (size_t i = 0; i < list->n && priced; i++) {
        sx_check_doubt doubt = {""};
        sx_check_cost cost;
        priced = sx_check_evaluator_cost(evaluator, &list->mapping[i], &cost, &doubt) == SX_COST_LEGAL;
        if (!priced) continue;
        out[i] = (price){product_of(objective->power[0], &cost), product_of(objective->power[1], &cost)};
    }
    sx_check_evaluator_free(evaluator);
    return priced;
}

/* The verdict on the claim that a mapping is optimal. */
static sx_independent_verdict judge(sx_rng *rng, const sx_small_space *small, const criteria *objective,
                                    const sx_mapping_list *list, size_t best, int64_t more,
                                    sx_independent_report *report) {
    sx_check_doubt doubt = {""};
    sx_check_case *c = sx_check_case_of(small, objective->text, list, best, NULL, 0, &doubt);
    sx_independent_verdict verdict = sx_judge_case(c, doubt, sx_rng_below(rng, 3) == 0, more, report);
    sx_check_case_free(c);
    return verdict;
}

/* The verdict on the claim that a mapping is optimal, of which number `which` (value, bound, energy, cycles) is changed by a share
 * of 10^-5 to 10^-9. */
static sx_independent_verdict judge_near(sx_rng *rng, const sx_small_space *small, const criteria *objective,
                                         const sx_mapping_list *list, size_t best, int which) {
    sx_check_doubt doubt = {""};
    sx_independent_report report;
    sx_check_case *c = sx_check_case_of(small, objective->text, list, best, NULL, 0, &doubt);
    double *const claimed[] = {&c->claim.value, &c->claim.lower_bound, &c->best.energy_pj, &c->best.cycles};
    const double share = pow(10, -5 - (double)sx_rng_below(rng, 5)), before = *claimed[which];
    *claimed[which] *= 1 + (sx_rng_below(rng, 2) ? share : -share);
    sx_independent_verdict verdict =
        *claimed[which] == before ? SX_INDEPENDENT_UNDECIDED : sx_judge_case(c, doubt, false, 0, &report);
    sx_check_case_free(c);
    return verdict;
}

/* The mapping with the least second criterion of those whose first one is as small as any. */
static size_t find_optimum(const price *prices, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (prices[i].first < prices[best].first ||
            (prices[i].first == prices[best].first && prices[i].second < prices[best].second))
            best = i;
    return best;
}

/* Checks the claims of one space. */
static void check_claims(sx_rng *rng, const sx_small_space *small, const criteria *objective,
                         const sx_mapping_list *list, const price *prices, uint64_t number, tally *t) {
    const size_t best = find_optimum(prices, list->n), other = sx_rng_below(rng, list->n);
    sx_independent_report report;
    bool beside = false;
    for (size_t i = 0; i < list->n; i++)
        beside |= is_near(prices[i].first, prices[best].first) && prices[i].second < prices[best].second;
    sx_independent_verdict verdict = judge(rng, small, objective, list, best, 0, &report);
    t->claims++;
    t->beside += beside;
    t->holds += verdict == SX_INDEPENDENT_HOLDS;
    t->undecided += verdict == SX_INDEPENDENT_UNDECIDED;
    if (beside && verdict == SX_INDEPENDENT_HOLDS)
        sx_fail_case(small, number, "a mapping", "is accepted where one beside it is better");
    if (!beside && verdict == SX_INDEPENDENT_FAILS) sx_fail_case(small, number, "an optimum", report.why);
    if (judge(rng, small, objective, list, best, 1, &report) == SX_INDEPENDENT_HOLDS)
        sx_fail_case(small, number, "an optimum", "with one unit of energy more is accepted");
    for (int which = 0; which < 4 && verdict == SX_INDEPENDENT_HOLDS; which++) {
        const sx_independent_verdict near = judge_near(rng, small, objective, list, best, which);
        if (near == SX_INDEPENDENT_HOLDS)
            sx_fail_case(small, number, "an optimum", "with a changed number is accepted");
        t->near += near == SX_INDEPENDENT_FAILS;
    }
    bool later = prices[other].first > prices[best].first;
    if (!later && prices[other].second == prices[best].second) return;
    t->later += later;
    t->worse += !later;
    if (judge(rng, small, objective, list, other, 0, &report) == SX_INDEPENDENT_HOLDS)
        sx_fail_case(small, number, "a worse mapping", "is accepted");
}

static void criteria_are_decided(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "criteria", i);
        sx_small_space small;
        sx_mapping_list list;
        sx_check_doubt doubt = {""};
        const criteria *objective = &tried[i % (sizeof tried / sizeof *tried)];
        sx_draw_check_space(&rng, &small);
        sx_list_mappings(&small, &list);
        price *prices = calloc(list.n + 1, sizeof *prices);
        assert_non_null(prices);
        if (list.n) {
            sx_check_case *c = sx_check_case_of(&small, "edp", &list, 0, NULL, 0, &doubt);
            if (price_mappings(c, &list, objective, prices))
                check_claims(&rng, &small, objective, &list, prices, i, &t);
            sx_check_case_free(c);
        }
        free(prices);
        sx_free_mappings(&list);
        sx_small_space_fini(&small);
    }
    print_message(
        "%llu claims: %llu hold, %llu undecided, %llu with a better one beside; %llu worse, %llu later\n",
        (unsigned long long)t.claims, (unsigned long long)t.holds, (unsigned long long)t.undecided,
        (unsigned long long)t.beside, (unsigned long long)t.worse, (unsigned long long)t.later);
    sx_expect_compared("claims that hold", t.holds, set->count / 2);
    sx_expect_compared("later mappings", t.later, set->count / 4);
    sx_expect_compared("worse mappings", t.worse, set->count / 40);
    sx_expect_compared("claims with a changed number", t.near, set->count);
    assert_true(t.undecided * 20 <= t.claims);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 300, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(criteria_are_decided, &set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
