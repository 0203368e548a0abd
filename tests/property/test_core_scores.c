/* Scores by the core against whole costs: walks of small moves on one evaluator, which reads only what a move changes, and one
 * choice of kept tensors after another: test_core_scores [count [seed]]. */
#include "model/core_score.h"
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_legal.h"
#include "support/random_sparse.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOVES = 40, CASES = 50, CHOICES = 64 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A model with two evaluators: one walks, the other gives whole costs. */
typedef struct walk {
    sx_model *model;
    sx_model_workspace *evaluator, *whole;
    sx_rng rng;
    sx_mapping mapping;
    uint64_t moves, compared, legal, covered, scored, swept;
} walk;

/* The moves of a walk: fewer where few mappings are to be compared, so that these are of many cases. */
static uint64_t moves_of(const settings *set) {
    return set->count < CASES * MOVES ? set->count / CASES + 1 : MOVES;
}

static void exchange(sx_rng *rng, uint8_t *order, int n) {
    uint64_t a = sx_rng_below(rng, (uint64_t)n), b = sx_rng_below(rng, (uint64_t)n);
    uint8_t kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

static uint32_t *pick_factor(walk *w, uint64_t d) {
    sx_mapping_level *at = &w->mapping.level[sx_rng_below(&w->rng, w->mapping.n_levels)];
    return sx_rng_below(&w->rng, 3) ? &at->temporal[d] : &at->spatial[d];
}

/* Moves a prime factor of a dimension from one loop to another. */
static void move_factor(walk *w) {
    uint64_t d = sx_rng_below(&w->rng, w->mapping.n_dims);
    uint32_t *from = pick_factor(w, d), *to = pick_factor(w, d), p = 2;
    if (*from < 2) return;
    while (*from % p) p++;
    *from /= p;
    *to *= p;
}

/* Changes one thing of the mapping. */
static void move(walk *w) {
    sx_mapping *m = &w->mapping;
    sx_mapping_level *at = &m->level[sx_rng_below(&w->rng, m->n_levels)];
    uint8_t bit = (uint8_t)(1u << sx_rng_below(&w->rng, m->n_tensors));
    switch (sx_rng_below(&w->rng, 16)) {
    case 0:
        at->split = (uint8_t)sx_rng_below(&w->rng, m->n_dims + 1u);
        break;
    case 1:
        exchange(&w->rng, at->spatial_order, m->n_dims);
        break;
    case 2:
        at->no_link_transfer ^= bit;
        break;
    case 3:
        if (sx_rng_below(&w->rng, 4) == 0) at->no_multicast ^= bit;
        break;
    case 4:
        if (sx_rng_below(&w->rng, 8) == 0) at->temporal[sx_rng_below(&w->rng, m->n_dims)]++;
        break;
    case 5:
    case 6:
    case 7:
        at->keep ^= bit;
        break;
    case 8:
    case 9:
    case 10:
        exchange(&w->rng, at->temporal_order, m->n_dims);
        break;
    default:
        move_factor(w);
        break;
    }
}

/* Whether a score is within a bound, by the evaluator that walks. */
static bool is_within(walk *w, const sx_objective *objective, double bound) {
    sx_score score;
    return sx_evaluate_within(w->evaluator, &w->mapping, objective, bound, &score).reason == SX_LEGAL;
}

/* Whether scores end at a bound exactly where they are beyond it. */
static bool is_bounded(walk *w, const sx_score *full) {
    sx_objective objective;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    double value = sx_objective_value(&objective, full);
    return !(value > 0) || !isfinite(value) ||
           (is_within(w, &objective, value) && !is_within(w, &objective, value * (1 - 1e-9)));
}

/* Compares the walking evaluator's score with the whole cost. */
static bool agrees(walk *w, char *why, size_t size) {
    static sx_cost cost;
    sx_score score;
    sx_verdict found = sx_evaluate_score(w->evaluator, &w->mapping, &score);
    sx_verdict verdict = sx_evaluate(w->whole, &w->mapping, &cost);
    w->compared++;
    sx_verdict checked = sx_check(w->model, &w->mapping);
    sx_verdict tiles = sx_check_tiles(w->model, &w->mapping);
    if (checked.reason != SX_BAD_SHAPE && sx_verdicts_differ(&checked, &tiles, why, size)) return false;
    if (verdict.reason >= SX_NO_MEMORY) return true;
    if (sx_verdicts_differ(&verdict, &found, why, size)) return false;
    if (verdict.reason != SX_LEGAL) return true;
    w->legal++;
    sx_score full = sx_cost_score(&cost);
    snprintf(why, size, "energy %.17g and %.17g, cycles %.17g and %.17g", full.energy_pj, score.energy_pj,
             full.cycles, score.cycles);
    return memcmp(&score, &full, sizeof full) == 0 && is_bounded(w, &full);
}

/* Compares choices of kept tensors, on a scorer that has seen other mappings. */
static void compare_choices(walk *w, sx_core_scorer *core) {
    static sx_cost cost;
    const unsigned all = (1u << w->mapping.n_tensors) - 1;
    if (!core || w->model->sparse || !sx_core_scorer_open(core, &w->mapping)) return;
    for (int i = 0; i < CHOICES; i++) {
        sx_mapping mapping = w->mapping;
        uint64_t levels = 0;
        sx_score score;
        for (int s = 0; s < mapping.n_levels; s++) {
            bool outermost = s + 1 == mapping.n_levels;
            mapping.level[s].keep = (uint8_t)(outermost ? all : sx_rng_below(&w->rng, all + 1));
            levels |= sx_kept_at(s, mapping.level[s].keep);
        }
        if (sx_check(w->model, &mapping).reason != SX_LEGAL) continue;
        int reason = sx_core_scorer_keep(core, levels, NULL, 0, &score);
        if (reason < 0) return;
        assert_int_equal(sx_evaluate(w->whole, &mapping, &cost).reason, SX_LEGAL);
        sx_score full = sx_cost_score(&cost);
        score.latency = full.latency;
        assert_memory_equal(&full, &score, sizeof full);
        w->swept++;
    }
}

/* Walks from the mapping, and tries choices of kept tensors now and then. */
static void run(walk *w, const char *name, uint64_t index) {
    char why[512];
    sx_expect_ok(sx_model_workspace_new(w->model, &w->evaluator));
    sx_expect_ok(sx_model_workspace_new(w->model, &w->whole));
    sx_core_scorer *core = w->evaluator->core;
    for (uint64_t i = 0; i < w->moves; i++) {
        sx_mapping before = w->mapping;
        if (!agrees(w, why, sizeof why)) {
            print_error("%s %llu, move %llu: %s\n", name, (unsigned long long)index, (unsigned long long)i,
                        why);
            fail();
        }
        sx_score score;
        sx_verdict verdict;
        w->scored += core && w->model->sparse && sx_check(w->model, &w->mapping).reason == SX_LEGAL &&
                     sx_core_scorer_count(core, &w->mapping) &&
                     sx_core_scorer_sparse(core, NULL, 0, &score, &verdict);
        if (i % 8 == 0) compare_choices(w, core);
        for (uint64_t n = sx_rng_below(&w->rng, 4); n > 0; n--) move(w);
        if (sx_check(w->model, &w->mapping).reason != SX_LEGAL && sx_rng_below(&w->rng, 3))
            w->mapping = before;
    }
    w->covered += core != NULL;
    sx_model_workspace_free(w->evaluator);
    sx_model_workspace_free(w->whole);
}

/* Small problems and architectures of all kinds. */
static void small(void **state) {
    const settings *set = *state;
    walk w = {.moves = moves_of(set)};
    static sx_case c;
    uint64_t cases = 0;
    for (; w.compared < set->count; cases++) {
        w.rng = sx_rng_stream(set->seed, "small", cases);
        sx_random_case(&w.rng, cases % 4 ? 0 : SX_CASE_PLAIN, &c);
        for (int s = 0; s < c.arch.n_levels && cases % 8; s++)
            c.arch.level[s].energy_per_hop = c.arch.level[s].router_energy = 0;
        sx_expect_ok(sx_model_new(&c.problem, &c.arch, &c.options, &w.model));
        w.mapping = c.mapping;
        run(&w, "case", cases);
        sx_model_free(w.model);
    }
    sx_expect_compared("legal mappings of small cases", w.legal, set->count / 4);
    sx_expect_compared("small cases that the core covers", w.covered, cases / 3);
    sx_expect_compared("choices of small cases", w.swept, cases);
}

/* Lets each operand's accesses at some level depend on all other operands, and nothing else. */
static void add_actions(sx_rng *rng, const sx_problem *problem, sx_sparse *sparse) {
    uint8_t name[SX_MAX_TENSORS];
    sparse->n_formats = sparse->n_actions = 0;
    for (int v = 0; v < problem->n_tensors; v++) {
        for (name[v] = 0; name[v] < sparse->n_names; name[v]++)
            if (strcmp(sparse->name[name[v]], problem->tensor[v].name) == 0) break;
        if (name[v] == sparse->n_names) strcpy(sparse->name[sparse->n_names++], problem->tensor[v].name);
    }
    for (int v = 0; v < problem->n_tensors; v++) {
        if (problem->tensor[v].output) continue;
        sx_sparse_action *action = &sparse->action[sparse->n_actions++];
        *action = (sx_sparse_action){
            .level = (uint8_t)sx_rng_below(rng, 2), .skips = sx_rng_below(rng, 2), .n_options = 1};
        action->option[0].target = name[v];
        for (int on = 0; on < problem->n_tensors; on++)
            if (on != v && !problem->tensor[on].output) action->option[0].on |= 1u << name[on];
        if (!action->option[0].on) sparse->n_actions--;
    }
}

/* Small problems with sparse tensors, in both semantics: densities by chance and bands, formats, actions. */
static void sparse(void **state) {
    const settings *set = *state;
    walk w = {.moves = moves_of(set)};
    static sx_case c;
    uint64_t cases = 0, operands = 0, bands = 0, remainders = 0;
    for (; w.compared < set->count; cases++) {
        w.rng = sx_rng_stream(set->seed, "sparse", cases);
        sx_random_case(&w.rng, cases % 8 == 0 ? SX_CASE_REMAINDER : cases % 4 == 2 ? SX_CASE_PLAIN : 0, &c);
        for (int s = 0; s < c.arch.n_levels; s++)
            c.arch.level[s].energy_per_hop = c.arch.level[s].router_energy = 0;
        sx_random_sparse(&w.rng, &c.problem, &c.arch);
        if (cases % 4 == 3 && c.arch.n_levels > 1) add_actions(&w.rng, &c.problem, &c.arch.sparse);
        c.options.sparse_timeloop = cases % 4 == 1;
        for (int v = 0; v < c.problem.n_tensors && cases % 4 == 2; v++) {
            sx_status none = sx_problem_set_band(&c.problem, v, (uint32_t)sx_rng_below(&w.rng, 3));
            bands += none == SX_OK;
            sx_status_free(none);
        }
        sx_expect_ok(sx_model_new(&c.problem, &c.arch, &c.options, &w.model));
        w.mapping = c.mapping;
        run(&w, "sparse case", cases);
        operands += c.problem.n_tensors > 3 && w.model->sparse != NULL;
        remainders += !sx_mapping_perfect(&c.mapping, &c.problem);
        sx_model_free(w.model);
    }
    sx_expect_compared("legal mappings of sparse cases", w.legal, set->count / 4);
    sx_expect_compared("sparse cases that the core covers", w.covered, cases / 3);
    sx_expect_compared("mappings of sparse cases scored by the core", w.scored, set->count / 40);
    sx_expect_compared("sparse cases of three operands", operands, cases / 20);
    sx_expect_compared("banded tensors", bands, cases / 20);
    sx_expect_compared("sparse cases with remainders", remainders, cases / 20);
}

/* Sparse convolutions on machines that know zeros: a tile may stay while its window moves to places that lie apart. */
static void convolutions(void **state) {
    static const char *const name[] = {"accel-b-sparse", "eyeriss-v2", "scnn", "extensor"};
    const settings *set = *state;
    walk w = {.moves = moves_of(set)};
    static sx_arch arch;
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse("Outputs[N,K,P,Q] += Weights[K,C,R,S]*Inputs[N,C,P+R,Q+S] "
                                 "{N:1,K:4,C:4,P:12,Q:12,R:3,S:3} "
                                 "{Weights:hypergeometric:0.3,Inputs:hypergeometric:0.02}",
                                 &problem));
    for (uint64_t i = 0; w.compared < set->count / 2; i++) {
        w.rng = sx_rng_stream(set->seed, "convolutions", i);
        sx_expect_ok(sx_catalog_arch(name[i % 4], &arch));
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &w.model));
        if (sx_random_legal(&w.rng, w.model, 0, &w.mapping)) run(&w, "convolution", i);
        sx_model_free(w.model);
    }
    sx_expect_compared("legal mappings of sparse convolutions", w.legal, set->count / 8);
    sx_expect_compared("mappings of sparse convolutions scored by the core", w.scored, set->count / 8);
}

/* The catalog's problems on its architectures. */
static void catalog(void **state) {
    const settings *set = *state;
    walk w = {.moves = moves_of(set)};
    uint64_t index = 0;
    const char *problem, *arch;
    while (w.compared < set->count)
        for (size_t p = 0; w.compared < set->count && (problem = sx_catalog_problem_name(p, NULL)); p++)
            for (size_t a = 0; w.compared < set->count && (arch = sx_catalog_arch_name(a, NULL)); a++) {
                sx_model_workspace *unused;
                w.rng = sx_rng_stream(set->seed, "catalog", index++);
                sx_catalog_model(problem, arch, &w.model, &unused);
                if (sx_random_legal(&w.rng, w.model, 0, &w.mapping)) run(&w, "pair", index - 1);
                sx_model_workspace_free(unused);
                sx_model_free(w.model);
            }
    sx_expect_compared("legal mappings of the catalog", w.legal, set->count / 4);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(small, &set),
        cmocka_unit_test_prestate(sparse, &set),
        cmocka_unit_test_prestate(convolutions, &set),
        cmocka_unit_test_prestate(catalog, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
