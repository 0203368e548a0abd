/* The compulsory minimum, and what it takes to hand operands to units side by side, against the cost of random legal
 * mappings, bypassing ones among them, by the model and by the oracle: test_minimum [count [seed]]. Prints how close mappings
 * come. */
#include "model/delivery.h"
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
    uint64_t n, simulated, bypassing, reached, delivered, delivered_closely;
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

/* The least energy of mappings that spread dimensions as this one does, beyond the minimum; 0 where factors leave
 * remainders. */
static double delivery_of(const sx_case *c, const sx_model *model) {
    double spread[SX_MAX_DIMS], access[SX_MAX_TENSORS];
    for (int v = 0; v < c->problem.n_tensors; v++) access[v] = sx_model_cheapest_access(model, v);
    for (int d = 0; d < c->problem.n_dims; d++) {
        double parts = spread[d] = 1;
        for (int s = 0; s < c->arch.n_levels; s++) {
            spread[d] *= c->mapping.level[s].spatial[d];
            parts *= (double)c->mapping.level[s].spatial[d] * c->mapping.level[s].temporal[d];
        }
        if (parts != (double)c->problem.size[d]) return 0;
    }
    return sx_model_delivery(model, access, spread);
}

/* Compares one case's mapping with the minimum. */
static void try_case(const sx_case *c, uint64_t number, tally *t) {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_cost cost;
    sx_verdict verdict;
    sx_expect_ok(sx_model_new(&c->problem, &c->arch, &c->options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    sx_score least = sx_model_minimum(model, c->mapping.level[c->arch.n_levels - 1].keep);
    if (sx_evaluate(evaluator, &c->mapping, &cost).reason == SX_LEGAL) {
        hold(c, number, &least, &cost);
        t->n++;
        t->bypassing += bypasses(c);
        t->reached += cost.energy_pj <= least.energy_pj * (1 + 1e-9);
        const double delivery = delivery_of(c, model);
        least.energy_pj += delivery;
        hold(c, number, &least, &cost);
        t->delivered += delivery > 0;
        t->delivered_closely += delivery > 0 && cost.energy_pj <= least.energy_pj * 1.1;
        sx_status limit =
            sx_simulate(&c->problem, &c->arch, &c->mapping, &c->options, STEPS, &verdict, &cost);
        if (!limit) {
            assert_int_equal(verdict.reason, SX_LEGAL);
            hold(c, number, &least, &cost);
            t->simulated++;
        }
        sx_status_free(limit);
    }
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
}

static void no_legal_mapping_is_below_it(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "minimum", i);
        sx_case c;
        unsigned flags = i % 3 == 0 ? SX_CASE_REMAINDER : i % 3 == 1 ? SX_CASE_PLAIN : 0;
        sx_random_case(&rng, flags | (i % 4 ? 0 : SX_CASE_PASSING), &c);
        try_case(&c, i, &t);
    }
    print_message("%llu mappings, %llu of them bypassing, %llu simulated; %llu reach the energy; %llu hand "
                  "out words again, "
                  "%llu within 10 %% of the least energy of that\n",
                  (unsigned long long)t.n, (unsigned long long)t.bypassing, (unsigned long long)t.simulated,
                  (unsigned long long)t.reached, (unsigned long long)t.delivered,
                  (unsigned long long)t.delivered_closely);
    sx_expect_compared("legal mappings", t.n, set->count / 4);
    sx_expect_compared("bypassing mappings", t.bypassing, set->count / 50);
    sx_expect_compared("simulated mappings", t.simulated, set->count / 10);
    assert_true(t.reached >= 1);
    sx_expect_compared("mappings that hand out words again", t.delivered, set->count / 60);
    assert_true(t.delivered_closely >= 1 || set->count < 5000);
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
