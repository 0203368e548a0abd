/* Orders of one class cost the same to the last bit: test_order_classes [count [seed]]. */
#include "mapspace/orders.h"
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_legal.h"
#include "support/random_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A mapping with exact factors in hand. */
typedef struct trial {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_orders *orders;
    sx_mapping mapping;
    uint64_t compared; /* pairs of orders that cost the same */
    char why[512];
} trial;

static void trial_begin(trial *t, const sx_problem *problem, const sx_arch *arch,
                        const sx_model_options *options) {
    memset(t, 0, sizeof *t);
    sx_expect_ok(sx_model_new(problem, arch, options, &t->model));
    sx_expect_ok(sx_model_workspace_new(t->model, &t->evaluator));
    sx_expect_ok(sx_orders_new(problem, false, &t->orders));
}

static void trial_end(trial *t) {
    sx_orders_free(t->orders);
    sx_model_workspace_free(t->evaluator);
    sx_model_free(t->model);
}

/* The dimensions with a temporal loop at a level. */
static uint32_t loops_of(const sx_mapping *mapping, int level) {
    uint32_t dims = 0;
    for (int d = 0; d < mapping->n_dims; d++)
        if (mapping->level[level].temporal[d] > 1) dims |= 1u << d;
    return dims;
}

/* Whether an order is among the classes of its set, once. */
static bool listed_once(trial *t, uint32_t dims, const uint8_t *order) {
    size_t n, found = 0;
    const uint8_t(*classes)[SX_MAX_DIMS] = sx_orders_classes(t->orders, dims, &n);
    for (size_t i = 0; i < n; i++) found += memcmp(classes[i], order, t->mapping.n_dims) == 0;
    if (found != 1) snprintf(t->why, sizeof t->why, "found %zu times among %zu classes", found, n);
    return found == 1;
}

/* Whether the mapping costs the same with the orders of a level, and then of all levels, made canonical. */
static bool same_cost(trial *t) {
    static sx_cost cost[2];
    sx_score score[2] = {{0}};
    sx_verdict verdict[2];
    verdict[0] = sx_evaluate(t->evaluator, &t->mapping, &cost[0]);
    if (verdict[0].reason != SX_LEGAL) return true;
    sx_evaluate_score(t->evaluator, &t->mapping, &score[0]);
    sx_mapping changed = t->mapping;
    for (int s = 0; s < t->mapping.n_levels; s++) {
        uint32_t dims = loops_of(&changed, s);
        uint8_t before[SX_MAX_DIMS];
        memcpy(before, changed.level[s].temporal_order, sizeof before);
        sx_orders_canonical(t->orders, dims, changed.level[s].temporal_order);
        if (!listed_once(t, dims, changed.level[s].temporal_order)) return false;
        if (memcmp(before, changed.level[s].temporal_order, t->mapping.n_dims) == 0) continue;
        verdict[1] = sx_evaluate(t->evaluator, &changed, &cost[1]);
        sx_evaluate_score(t->evaluator, &changed, &score[1]);
        char text[256];
        if (sx_verdicts_differ(&verdict[0], &verdict[1], text, sizeof text) ||
            sx_costs_differ(&cost[0], &cost[1], 0, text, sizeof text)) {
            snprintf(t->why, sizeof t->why, "level %d: %s", s, text);
            return false;
        }
        t->compared++;
        if (memcmp(&score[0], &score[1], sizeof score[0]) == 0) continue;
        snprintf(t->why, sizeof t->why, "level %d: energies %.17g and %.17g", s, score[0].energy_pj,
                 score[1].energy_pj);
        return false;
    }
    return true;
}

/* Puts the loops of every level in random order. */
static void shuffle_orders(sx_rng *rng, sx_mapping *mapping) {
    for (int s = 0; s < mapping->n_levels; s++)
        sx_rng_shuffle(rng, mapping->level[s].temporal_order, mapping->n_dims);
}

static void small_cases(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "order-classes.small", i);
        sx_case c;
        sx_random_case(&rng, i % 4 ? 0 : SX_CASE_PASSING, &c);
        trial t;
        trial_begin(&t, &c.problem, &c.arch, &c.options);
        t.mapping = c.mapping;
        for (int k = 0; k < 4; k++) {
            bool same = same_cost(&t);
            if (!same) fail_msg("case %llu, order %d: %s", (unsigned long long)i, k, t.why);
            shuffle_orders(&rng, &t.mapping);
        }
        compared += t.compared;
        trial_end(&t);
    }
    sx_expect_compared("pairs of orders", compared, set->count / 2);
}

static void windows(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "order-classes.windows", i);
        sx_window w;
        sx_random_window(&rng, false, &w);
        trial t;
        trial_begin(&t, &w.problem, &w.arch, NULL);
        t.mapping = w.mapping;
        for (int k = 0; k < 4; k++) {
            bool same = same_cost(&t);
            if (!same) fail_msg("case %llu, order %d: %s", (unsigned long long)i, k, t.why);
            shuffle_orders(&rng, &t.mapping);
        }
        compared += t.compared;
        trial_end(&t);
        sx_window_fini(&w);
    }
    sx_expect_compared("pairs of orders of windows", compared, set->count / 2);
}

static void real_problems(void **state) {
    const settings *set = *state;
    static const char *const problems[] = {
        "resnet-conv4",
        "inception-conv2",
        "O[m,n] += A[m,k]*B[k,n] {m:64,n:48,k:36}",
        "O[n,k,p,q] += I[n,c,2*p+r,2*q+s]*W[k,c,r,s] {n:2,k:16,c:8,p:14,q:14,r:3,s:3}",
        "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:4,k:16,c:8,p:14,q:14,r:1,s:1}",
        "O[i,j] += A[i,k,l]*B[k,j]*C[l,j] {i:16,j:12,k:18,l:8}"};
    static const char *const archs[] = {"mind-mappings", "eyeriss", "simba"};
    uint64_t compared = 0;
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
        for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
            trial t = {0};
            sx_catalog_model(problems[p], archs[a], &t.model, &t.evaluator);
            sx_expect_ok(sx_orders_new(sx_model_problem(t.model), false, &t.orders));
            for (uint64_t i = 0; i < set->count / 50 + 1; i++) {
                sx_rng rng = sx_rng_stream(set->seed, "order-classes.real", i);
                if (!sx_random_legal(&rng, t.model, SX_LEGAL_DIRECTIVES, &t.mapping)) continue;
                if (!same_cost(&t))
                    fail_msg("%s on %s, case %llu: %s", problems[p], archs[a], (unsigned long long)i, t.why);
            }
            compared += t.compared;
            trial_end(&t);
        }
    sx_expect_compared("pairs of orders of real problems", compared, set->count / 5);
}

int main(int argc, char **argv) {
    settings set = {3000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(small_cases, &set),
        cmocka_unit_test_prestate(windows, &set),
        cmocka_unit_test_prestate(real_problems, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
