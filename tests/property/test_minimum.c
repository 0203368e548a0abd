/* The compulsory minimum against the cost of random legal mappings, bypassing ones among them, by the model
 * and by the oracle: test_minimum [count [seed]]. Prints how close mappings come. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STEPS = 20000 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* What was compared. */
typedef struct tally {
    uint64_t n, simulated, bypassing, reached;
} tally;

/* Fails where a cost is below the minimum. */
static void hold(const sx_case *c, uint64_t number, const sx_score *least, const sx_cost *cost) {
    const double slack = 1 - 1e-9;
    if ((double)cost->cycles >= least->cycles * slack && cost->energy_pj >= least->energy_pj * slack &&
        cost->last_level_accesses >= least->last_level_accesses * slack &&
        cost->utilization * slack <= least->utilization)
        return;
    sx_text text = {0};
    sx_case_write(c, &text);
    print_error("case %llu: minimum %.17g pJ, %.17g cycles, %.17g words; cost %.17g, %llu, %.17g\n%s\n",
                (unsigned long long)number, least->energy_pj, least->cycles, least->last_level_accesses,
                cost->energy_pj, (unsigned long long)cost->cycles, cost->last_level_accesses, text.data);
    sx_text_free(&text);
    fail();
}

/* Whether some level that is built for a tensor does not keep it. */
static bool bypasses(const sx_case *c) {
    for (int s = 0; s < c->arch.n_levels; s++)
        if (sx_arch_keep_mask(&c->arch, s, &c->problem) & ~(unsigned)c->mapping.level[s].keep) return true;
    return false;
}

/* Compares one case's mapping with the minimum. */
static void try_case(const sx_case *c, uint64_t number, tally *t) {
    sx_model *model;
    sx_evaluator *evaluator;
    sx_cost cost;
    sx_verdict verdict;
    sx_expect_ok(sx_model_new(&c->problem, &c->arch, &c->options, &model));
    sx_expect_ok(sx_evaluator_new(model, &evaluator));
    sx_score least = sx_model_minimum(model, c->mapping.level[c->arch.n_levels - 1].keep);
    if (sx_evaluate(evaluator, &c->mapping, &cost).reason == SX_LEGAL) {
        hold(c, number, &least, &cost);
        t->n++;
        t->bypassing += bypasses(c);
        t->reached += cost.energy_pj <= least.energy_pj * (1 + 1e-9);
        sx_status limit =
            sx_simulate(&c->problem, &c->arch, &c->mapping, &c->options, STEPS, &verdict, &cost);
        if (!limit) {
            assert_int_equal(verdict.reason, SX_LEGAL);
            hold(c, number, &least, &cost);
            t->simulated++;
        }
        sx_status_free(limit);
    }
    sx_evaluator_free(evaluator);
    sx_model_free(model);
}

static void no_legal_mapping_is_below_it(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "minimum", i);
        sx_case c;
        sx_random_case(&rng, i % 3 == 0 ? SX_CASE_REMAINDER : 0, &c);
        try_case(&c, i, &t);
    }
    print_message("%llu mappings, %llu of them bypassing, %llu simulated; %llu reach the energy\n",
                  (unsigned long long)t.n, (unsigned long long)t.bypassing, (unsigned long long)t.simulated,
                  (unsigned long long)t.reached);
    sx_expect_compared("legal mappings", t.n, set->count / 4);
    sx_expect_compared("bypassing mappings", t.bypassing, set->count / 50);
    sx_expect_compared("simulated mappings", t.simulated, set->count / 10);
    assert_true(t.reached >= 1);
}

int main(int argc, char **argv) {
    settings set = {5000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(no_legal_mapping_is_below_it, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
