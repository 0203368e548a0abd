/* What random cases cost, or why they are illegal, and what is least of all their mappings, as hashes of every number, to nine
 * digits. Other tests hold the same numbers against an oracle; here all that has none shows as well: limits, words of
 * verdicts, latencies and least values. They are changed on purpose. */
#include "model/delivery.h"
#include "model/latency.h"
#include "model/model.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_law.h"
#include "support/random_sparse.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = 150, CHANGES = 3 };
enum part { COMPILED, VERDICTS, TOTALS, LEVELS, NETWORKS, SPARSE, BOUNDARIES, LEAST, PARTS };

typedef struct bench {
    uint64_t hash[PARTS];
} bench;

static void add_text(bench *b, enum part part, const char *text) {
    b->hash[part] = sx_hash_bytes(text, strlen(text), b->hash[part]);
}

static void add(bench *b, enum part part, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.9g ", number);
    add_text(b, part, text);
}

static void add_tensor(bench *b, const sx_cost_tensor *t, bool sparse, int n_tensors) {
    const double counts[] = {
        t->kept,          (double)t->tile,    (double)t->partition,           (double)t->reads,
        (double)t->fills, (double)t->updates, (double)t->temporal_reductions, t->address_generations,
        t->energy_pj};
    const double more[] = {t->instances, t->density, t->decompressions, t->compressions,
                           (double)t->metadata_bits};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) add(b, LEVELS, counts[i]);
    if (!sparse) return;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) add(b, SPARSE, more[i]);
    for (int k = 0; k < SX_N_ACTION_KINDS; k++)
        for (int i = 0; i < SX_N_ACCESSES; i++) add(b, SPARSE, t->actions[k][i]);
    for (int v = 0; v < n_tensors; v++) {
        add(b, SPARSE, (double)t->condition_words[v]);
        add(b, SPARSE, t->condition_empty[v]);
    }
}

static void add_network(bench *b, const sx_cost_net_tensor *t) {
    const double counts[] = {(double)t->fanout, (double)t->multicast,  t->ingresses,
                             t->link_transfers, t->spatial_reductions, t->hops,
                             t->energy_pj,      t->link_energy_pj};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) add(b, NETWORKS, counts[i]);
}

static void add_boundaries(bench *b, const sx_cost *cost) {
    for (int i = 0; i < cost->n_boundaries; i++) {
        const sx_cost_boundary *at = &cost->boundary[i];
        const double numbers[] = {at->level,  at->launches, at->load,  at->compute, at->store,
                                  at->period, at->start,    at->first, at->exposed, at->drain};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) add(b, BOUNDARIES, numbers[k]);
    }
}

static void add_cost(bench *b, const sx_cost *cost) {
    const double totals[] = {cost->perfect,
                             cost->sparse,
                             (double)cost->computes,
                             (double)cost->compute_instances,
                             (double)cost->compute_cycles,
                             (double)cost->cycles,
                             (double)cost->algorithmic_computes,
                             cost->gated_computes,
                             cost->skipped_computes,
                             cost->compute_energy_pj,
                             cost->energy_pj,
                             cost->edp,
                             cost->utilization,
                             cost->last_level_accesses,
                             cost->latency};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) add(b, TOTALS, totals[i]);
    for (int s = 0; s < cost->n_levels; s++) {
        const sx_cost_level *level = &cost->level[s];
        const double numbers[] = {(double)level->instances, (double)level->clusters, (double)level->cycles,
                                  level->slowdown,          level->leakage_pj,       level->energy_pj};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add(b, LEVELS, numbers[i]);
        add(b, NETWORKS, cost->network[s].energy_pj);
        for (int v = 0; v < cost->n_tensors; v++) {
            add_tensor(b, &level->tensor[v], cost->sparse, cost->n_tensors);
            add_network(b, &cost->network[s].tensor[v]);
        }
    }
    add_boundaries(b, cost);
}

/* Adds the metadata of all ranks. */
static void add_ranks(bench *b, const sx_arch *arch, const sx_cost *cost) {
    for (int i = 0; i < arch->sparse.n_ranks && cost->sparse; i++)
        for (int which = 0; which < 2; which++) {
            add(b, SPARSE, (double)cost->rank[i].capacity[which]);
            for (int k = 0; k < SX_N_ACTION_KINDS; k++)
                for (int a = 0; a < SX_N_ACCESSES; a++) add(b, SPARSE, cost->rank[i].words[k][a][which]);
        }
}

/* Changes one thing of a mapping, so that most become illegal. */
static void change_mapping(sx_rng *rng, sx_mapping *m) {
    sx_mapping_level *at = &m->level[sx_rng_below(rng, m->n_levels)];
    const int d = (int)sx_rng_below(rng, m->n_dims);
    switch (sx_rng_below(rng, 6)) {
    case 0:
        at->temporal[d] *= 2;
        break;
    case 1:
        at->spatial[d] *= 2;
        break;
    case 2:
        at->keep ^= (uint8_t)(1u << sx_rng_below(rng, m->n_tensors));
        break;
    case 3:
        at->temporal_order[d] = at->temporal_order[0];
        break;
    case 4:
        at->split = (uint8_t)sx_rng_below(rng, m->n_dims + 2u);
        break;
    default:
        sx_rng_shuffle(rng, at->temporal_order, m->n_dims);
        break;
    }
}

/* Adds what a mapping, and some like it, cost. */
static void add_mappings(bench *b, sx_rng *rng, const sx_case *c, sx_model_workspace *evaluator) {
    static sx_cost cost;
    sx_mapping m = c->mapping;
    for (int i = 0; i <= CHANGES; i++) {
        char text[400];
        const sx_verdict checked = sx_check(evaluator->model, &m);
        const sx_verdict verdict = sx_evaluate(evaluator, &m, &cost);
        sx_verdict_text(&verdict, &c->problem, &c->arch, text, sizeof text);
        add(b, VERDICTS, checked.reason);
        add_text(b, VERDICTS, text);
        add_text(b, VERDICTS, sx_reason_name(verdict.reason));
        if (verdict.reason == SX_LEGAL) {
            add_cost(b, &cost);
            add_ranks(b, &c->arch, &cost);
        }
        m = c->mapping;
        change_mapping(rng, &m);
    }
}

static void add_score(bench *b, const sx_score *score) {
    add(b, LEAST, score->energy_pj);
    add(b, LEAST, score->cycles);
    add(b, LEAST, score->utilization);
    add(b, LEAST, score->last_level_accesses);
    add(b, LEAST, score->latency);
}

/* Adds what is least of all mappings. */
static void add_least(bench *b, const sx_model *model, const sx_case *c) {
    const sx_score algorithmic = sx_model_algorithmic_minimum(model);
    add_score(b, &algorithmic);
    for (unsigned backed = 0; backed < 1u << c->problem.n_tensors; backed++) {
        const sx_score least = sx_model_minimum(model, (uint8_t)backed);
        add_score(b, &least);
        if (model->law) add(b, LEAST, sx_latency_minimum(model, backed));
    }
    for (int v = 0; v < c->problem.n_tensors; v++) {
        add(b, LEAST, sx_model_touched(model, v));
        add(b, LEAST, sx_model_cheapest_access(model, v));
        for (int inward = 0; inward < 2 && model->law; inward++)
            add(b, LEAST, sx_latency_of_move(model, v, 100, inward, 13));
    }
    for (int s = 0; s < c->arch.n_levels; s++) add(b, LEAST, sx_latency_slots(&c->arch, s));
}

static void add_case(bench *b, sx_rng *rng, const sx_case *c) {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_status status = sx_model_new(&c->problem, &c->arch, &c->options, &model);
    if (status) {
        add_text(b, COMPILED, sx_status_message(status));
        if (sx_status_hint(status)) add_text(b, COMPILED, sx_status_hint(status));
        sx_status_free(status);
        return;
    }
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    add_mappings(b, rng, c, evaluator);
    add_least(b, model, c);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
}

/* Gives an architecture a law at its outermost level, and now and then one inside. */
static void draw_laws(sx_rng *rng, const sx_problem *problem, sx_arch *arch) {
    arch->n_laws = arch->n_levels > 2 && sx_rng_below(rng, 3) == 0 ? 2 : 1;
    for (int i = 0; i < arch->n_laws; i++) {
        sx_random_law(rng, problem, sx_rng_below(rng, 2), &arch->law[i]);
        arch->level[arch->n_levels - 1 - i].law = (uint8_t)(i + 1);
    }
}

/* Kinds of cases. */
enum kind {
    PLAIN,
    WINDOWS,
    REMAINDERS,
    SPLITS,
    PASSING,
    ZEROS,
    ZEROS_TIMELOOP,
    LAWS,
    LAWS_REMAINDERS,
    KINDS
};

static void draw_case(sx_rng *rng, enum kind kind, sx_case *c) {
    static const unsigned flags[KINDS] = {[PLAIN] = SX_CASE_PLAIN,
                                          [REMAINDERS] = SX_CASE_REMAINDER,
                                          [SPLITS] = SX_CASE_SPLIT | SX_CASE_REMAINDER,
                                          [PASSING] = SX_CASE_PASSING,
                                          [LAWS_REMAINDERS] = SX_CASE_REMAINDER};
    sx_random_case(rng, flags[kind], c);
    if (kind == ZEROS || kind == ZEROS_TIMELOOP) {
        sx_random_sparse(rng, &c->problem, &c->arch);
        c->options.sparse_timeloop = kind == ZEROS_TIMELOOP;
    }
    if (kind == LAWS || kind == LAWS_REMAINDERS) {
        draw_laws(rng, &c->problem, &c->arch);
        c->options.latency_tile = true;
    }
}

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void random_cases(void **state) {
    (void)state;
    static const row expected[KINDS] = {
        {"plain",
         {0x0000000000000000u, 0x8e38e12b639e71beu, 0x50cd34b94d18e64du, 0x7b5e3a7249153399u,
          0x3f2944ee6e98aa3eu, 0x0000000000000000u, 0x0000000000000000u, 0x4eef4aea7b473a5cu}},
        {"windows",
         {0x0000000000000000u, 0x35a8592a9027a66eu, 0xe242788967551f9cu, 0x865ec206cee7a90du,
          0xe5e471f967c53d66u, 0x0000000000000000u, 0x0000000000000000u, 0x76904d18c153c684u}},
        {"remainders",
         {0x0000000000000000u, 0x8a4edd88f9560058u, 0x9e72d69605211507u, 0x0fed8ebc9be82194u,
          0xbcf134b152e517bcu, 0x0000000000000000u, 0x0000000000000000u, 0xef7991d327363233u}},
        {"splits",
         {0x0000000000000000u, 0xb9d1eca42d069702u, 0xe5de663a12b2c755u, 0x4fa98931ace339f4u,
          0xe0d8cec5ea2aae4fu, 0x0000000000000000u, 0x0000000000000000u, 0x7b7da78120699e87u}},
        {"passing",
         {0x0000000000000000u, 0x01c513b84d090275u, 0x9671cef2575e3ff0u, 0xca3002a69d256231u,
          0xe6afb6f2870848d8u, 0x0000000000000000u, 0x0000000000000000u, 0xfdea17075f753756u}},
        {"sparse",
         {0x0000000000000000u, 0xe50e80cc0b6c3f54u, 0x3266bf5dd7397a5du, 0xaa14a41664bbcd5au,
          0xa49ff85985bd8d47u, 0x1a69e98a9181e252u, 0x0000000000000000u, 0x0da1bf1d106eb7a3u}},
        {"sparse, Timeloop's rules",
         {0x0000000000000000u, 0x26dfc0df88a1be76u, 0xf8c1a807f0265638u, 0xd00f7facc8905c60u,
          0xbf4310045a752695u, 0x7b77c36c513e5e56u, 0x0000000000000000u, 0x2d504be737eba437u}},
        {"laws",
         {0xf6b7f3d8f3694ef2u, 0x587f47c6443ac15eu, 0x018e54a48a5142d9u, 0x8dd07767215fee69u,
          0x16b2236b0a751b97u, 0x0000000000000000u, 0xb91416b66f981f86u, 0xbaaaccff7ed1eacau}},
        {"laws, remainders",
         {0x31d22012c3fb0df8u, 0x36c02b22248bd34eu, 0x9a1e8844b1395586u, 0xc7922fb3f35864beu,
          0xd7ef70cf272d7f5fu, 0x0000000000000000u, 0xf1f9ea0d496de8c1u, 0xb9aadb505e4b12a1u}}};
    bool good = true;
    for (int kind = 0; kind < KINDS; kind++) {
        bench b = {{0}};
        for (uint64_t i = 0; i < CASES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "fixed cases", i);
            static sx_case c;
            draw_case(&rng, (enum kind)kind, &c);
            add_case(&b, &rng, &c);
        }
        if (memcmp(b.hash, expected[kind].hash, sizeof b.hash) == 0) continue;
        print_error("{\"%s\",\n {", expected[kind].name);
        for (int i = 0; i < PARTS; i++)
            print_error("0x%016llxu%s", (unsigned long long)b.hash[i], i + 1 < PARTS ? ", " : "}},\n");
        good = false;
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
