/* Compressed execution against the oracle, and its invariants at real size. */
#include "model/model.h"
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_legal.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SX_SANITIZED ? 1200 : 6000, REAL = 25 };

static bool near(uint64_t a, uint64_t b, uint64_t slack) {
    return (a > b ? a - b : b - a) <= slack;
}

/* Whether two costs differ only as the oracle rounds what one instance does, the walk what all do. */
static bool only_rounded(const sx_cost *a, const sx_cost *b) {
    for (int s = 0; s < a->n_levels; s++) {
        uint64_t slack = a->level[s].instances;
        if (slack != b->level[s].instances) return false;
        for (int v = 0; v < a->n_tensors; v++) {
            const sx_cost_tensor *p = &a->level[s].tensor[v], *q = &b->level[s].tensor[v];
            const sx_cost_net_tensor *x = &a->network[s].tensor[v], *y = &b->network[s].tensor[v];
            if (p->tile != q->tile || p->partition != q->partition) return false;
            if (!near(p->reads, q->reads, slack) || !near(p->fills, q->fills, slack)) return false;
            if (!near(p->updates, q->updates, slack)) return false;
            if (sx_numbers_differ(x->ingresses, y->ingresses, 1e-12)) return false;
            if (sx_numbers_differ(x->hops, y->hops, 1e-12) || x->multicast != y->multicast) return false;
        }
    }
    return a->compute_cycles == b->compute_cycles && a->compute_instances == b->compute_instances;
}

/* What became of the cases. */
typedef struct tally {
    uint64_t legal, rounded;
    char why[512];
} tally;

/* Walks a case whose factors are exact; where it is legal, whether the oracle finds the same. */
static bool agrees(const sx_case *c, tally *t) {
    static sx_cost cost, truth;
    sx_model *model;
    sx_model_workspace *e;
    sx_verdict verdict;
    sx_expect_ok(sx_model_new(&c->problem, &c->arch, &c->options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &e));
    e->exact = true;
    bool good = true;
    if (sx_evaluate(e, &c->mapping, &cost).reason == SX_LEGAL) {
        sx_expect_ok(sx_simulate(&c->problem, &c->arch, &c->mapping, &c->options, (uint64_t)1 << 30, &verdict,
                                 &truth));
        good = verdict.reason == SX_LEGAL && !sx_costs_differ(&cost, &truth, 1e-12, t->why, sizeof t->why);
        if (!good && only_rounded(&cost, &truth)) {
            good = true;
            t->rounded++;
        }
        t->legal++;
    }
    sx_model_workspace_free(e);
    sx_model_free(model);
    return good;
}

static void exact_factors_are_executed_as_the_oracle_does(void **state) {
    (void)state;
    sx_case *c = malloc(sizeof *c);
    tally t = {0};
    assert_non_null(c);
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "walk", i);
        sx_random_case(&rng, (i % 3 == 0 ? SX_CASE_PLAIN : 0u) | (i % 5 == 0 ? SX_CASE_SPLIT : 0u), c);
        if (agrees(c, &t)) continue;
        sx_text text = {0};
        sx_case_write(c, &text);
        print_error("case %d: %s\n%s\n", (int)i, t.why, text.data);
        sx_text_free(&text);
        fail();
    }
    sx_expect_compared("legal mappings", t.legal, CASES / 2);
    assert_true(t.rounded < t.legal / 100);
    free(c);
}

/* A mapping with remainders of a problem of real size, and what it costs. */
typedef struct trial {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_mapping mapping;
    sx_cost cost;
} trial;

static void check_sane(const trial *t) {
    const sx_problem *p = sx_model_problem(t->model);
    const sx_cost *c = &t->cost;
    assert_int_equal(c->computes, sx_problem_computes(p));
    assert_true(c->compute_cycles * c->compute_instances >= c->computes);
    assert_true((double)c->cycles >= sx_model_minimum(t->model, 255).cycles);
    assert_true(c->energy_pj >= sx_model_minimum(t->model, 255).energy_pj);
    for (int s = 0; s < c->n_levels; s++)
        for (int v = 0; v < p->n_tensors; v++) {
            const sx_cost_tensor *at = &c->level[s].tensor[v];
            if (!at->kept) continue;
            uint64_t words = sx_problem_words(p, v);
            assert_true(at->partition >= words);
            if (p->tensor[v].output)
                assert_true(at->updates >= words);
            else
                assert_true(at->reads >= words && (s + 1 == c->n_levels || at->fills >= words));
        }
}

/* Moves unit loops elsewhere in both orders of every level, and the split with them. */
static void shuffle_units(sx_mapping *m, sx_rng *rng) {
    for (int s = 0; s < m->n_levels; s++) {
        sx_mapping_level *level = &m->level[s];
        for (int tries = 0; tries < 20; tries++) {
            uint64_t i = sx_rng_below(rng, m->n_dims - 1u);
            uint8_t *t = &level->temporal_order[i], *p = &level->spatial_order[i];
            if (level->temporal[t[0]] == 1 || level->temporal[t[1]] == 1) {
                uint8_t first = t[0];
                t[0] = t[1];
                t[1] = first;
            }
            if ((level->spatial[p[0]] == 1 || level->spatial[p[1]] == 1) && i + 1 != level->split) {
                uint8_t first = p[0];
                p[0] = p[1];
                p[1] = first;
            }
        }
    }
}

static void check_equivalents(trial *t, sx_rng *rng) {
    static sx_cost other;
    char why[512] = "";
    for (int i = 0; i < 2; i++) {
        sx_mapping mapping = t->mapping;
        if (i == 0)
            sx_mapping_canonical(&mapping);
        else
            shuffle_units(&mapping, rng);
        assert_int_equal(sx_evaluate(t->evaluator, &mapping, &other).reason, SX_LEGAL);
        bool differ = sx_costs_differ(&t->cost, &other, 0, why, sizeof why);
        if (differ) print_error("%s\n", why);
        assert_false(differ);
    }
}

/* Swaps two bits of a mask. */
static uint8_t swap_bits(uint8_t mask, int a, int b) {
    bool differ = (mask >> a & 1) != (mask >> b & 1);
    if (!differ) return mask;
    return (uint8_t)(mask ^ (1u << a | 1u << b));
}

static void check_swapped(trial *t, sx_rng *rng) {
    static sx_cost other;
    int n = t->mapping.n_tensors, a = (int)sx_rng_below(rng, (uint64_t)n), b = (a + 1) % n;
    sx_problem problem = *sx_model_problem(t->model);
    sx_mapping mapping = t->mapping;
    problem.tensor[a] = sx_model_problem(t->model)->tensor[b];
    problem.tensor[b] = sx_model_problem(t->model)->tensor[a];
    for (int s = 0; s < mapping.n_levels; s++) mapping.level[s].keep = swap_bits(mapping.level[s].keep, a, b);
    sx_model *model;
    sx_model_workspace *e;
    sx_expect_ok(sx_model_new(&problem, sx_model_arch(t->model), NULL, &model));
    sx_expect_ok(sx_model_workspace_new(model, &e));
    assert_int_equal(sx_evaluate(e, &mapping, &other).reason, SX_LEGAL);
    for (int s = 0; s < mapping.n_levels; s++)
        for (int v = 0; v < n; v++) {
            int w = v == a ? b : v == b ? a : v;
            assert_memory_equal(&t->cost.level[s].tensor[v].tile, &other.level[s].tensor[w].tile,
                                sizeof(sx_cost_tensor) - offsetof(sx_cost_tensor, tile));
            assert_memory_equal(&t->cost.network[s].tensor[v], &other.network[s].tensor[w],
                                sizeof(sx_cost_net_tensor));
        }
    assert_int_equal(t->cost.cycles, other.cycles);
    assert_false(sx_numbers_differ(t->cost.energy_pj, other.energy_pj, 1e-12));
    sx_model_workspace_free(e);
    sx_model_free(model);
}

/* Costs of ResNet's conv_4 on two architectures are sane, whatever the order of unit loops and of tensors. */
static void remainders_of_real_size_keep_their_promises(void **state) {
    (void)state;
    static const char *const archs[] = {"accel-a", "eyeriss"};
    trial *t = malloc(sizeof *t);
    assert_non_null(t);
    for (int a = 0; a < 2; a++) {
        sx_catalog_model("resnet-conv4", archs[a], &t->model, &t->evaluator);
        for (uint64_t i = 0; i < REAL; i++) {
            sx_rng rng = sx_rng_stream(1, "real", i);
            assert_true(sx_random_legal(&rng, t->model, SX_LEGAL_REMAINDERS, &t->mapping));
            assert_int_equal(sx_evaluate(t->evaluator, &t->mapping, &t->cost).reason, SX_LEGAL);
            check_sane(t);
            check_equivalents(t, &rng);
            check_swapped(t, &rng);
        }
        sx_model_workspace_free(t->evaluator);
        sx_model_free(t->model);
    }
    free(t);
}

/* Half of the instances are idle while K is at its edge and M and N go on without end: the walk must not
 * follow them. */
static void idle_instances_are_not_walked(void **state) {
    (void)state;
    trial *t = malloc(sizeof *t);
    sx_problem problem;
    sx_arch arch;
    assert_non_null(t);
    assert_null(sx_einsum_parse("O[m,n] += W[m,k]*I[k,n] {m:65536,n:65536,k:3}", &problem));
    assert_null(sx_catalog_arch("accel-a", &arch));
    assert_null(sx_model_new(&problem, &arch, NULL, &t->model));
    assert_null(sx_model_workspace_new(t->model, &t->evaluator));
    sx_mapping_init(&t->mapping, &problem, &arch);
    t->mapping.level[1].spatial[2] = t->mapping.level[2].temporal[2] = 2;
    t->mapping.level[1].split = 3;
    memcpy(t->mapping.level[2].temporal_order, (uint8_t[]){1, 0, 2}, 3);
    assert_int_equal(sx_evaluate(t->evaluator, &t->mapping, &t->cost).reason, SX_LEGAL);
    assert_int_equal(t->cost.computes, 3 * (uint64_t)65536 * 65536);
    assert_int_equal(t->cost.compute_cycles, 2 * (uint64_t)65536 * 65536);
    assert_int_equal(t->cost.level[0].tensor[0].updates, t->cost.computes);
    assert_int_equal(t->cost.level[1].tensor[0].updates, 2 * (uint64_t)65536 * 65536);
    sx_model_workspace_free(t->evaluator);
    sx_model_free(t->model);
    free(t);
}

/* What has more distinct blocks of iterations than the limit is not evaluated, and says so; the evaluator can be used
 * again. */
static void too_many_blocks_are_a_limit(void **state) {
    (void)state;
    static sx_cost cost;
    sx_case *c = malloc(sizeof *c);
    uint64_t limited = 0;
    assert_non_null(c);
    for (uint64_t i = 0; i < 200; i++) {
        sx_model *model;
        sx_model_workspace *e;
        sx_rng rng = sx_rng_stream(1, "walk", i);
        sx_random_case(&rng, 0, c);
        sx_expect_ok(sx_model_new(&c->problem, &c->arch, &c->options, &model));
        sx_expect_ok(sx_model_workspace_new(model, &e));
        e->exact = true;
        sx_reason unlimited = sx_evaluate(e, &c->mapping, &cost).reason;
        double energy = cost.energy_pj;
        const uint32_t most = e->max_blocks;
        e->max_blocks = 2;
        sx_verdict verdict = sx_evaluate(e, &c->mapping, &cost);
        if (verdict.reason == SX_LIMIT_BLOCKS) {
            assert_int_equal(unlimited, SX_LEGAL);
            assert_true(verdict.have == 3 && verdict.limit == 2);
            char text[256];
            sx_verdict_text(&verdict, &c->problem, &c->arch, text, sizeof text);
            assert_non_null(strstr(text, "the limit is 2"));
            limited++;
        }
        e->max_blocks = most;
        assert_int_equal(sx_evaluate(e, &c->mapping, &cost).reason, unlimited);
        if (unlimited == SX_LEGAL) assert_true(cost.energy_pj == energy);
        sx_model_workspace_free(e);
        sx_model_free(model);
    }
    free(c);
    sx_expect_compared("mappings beyond the limit", limited, 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_factors_are_executed_as_the_oracle_does),
        cmocka_unit_test(remainders_of_real_size_keep_their_promises),
        cmocka_unit_test(idle_instances_are_not_walked),
        cmocka_unit_test(too_many_blocks_are_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
