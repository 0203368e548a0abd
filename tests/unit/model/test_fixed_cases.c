/* What random cases cost, or why they are illegal, and what is least of all their mappings, as hashes of every number, to nine
 * digits. Other tests hold the same numbers against an oracle; here all that has none shows as well: limits, words of
 * verdicts, latencies and least values. They are changed on purpose. */
#include "model/core_model.h"
#include "model/core_score.h"
#include "model/delivery.h"
#include "model/latency.h"
#include "model/model.h"
#include "model/sparse/formats.h"
#include "support/core_hash.h"
#include "support/expect.h"
#include "support/random_case.h"
#include "support/random_law.h"
#include "support/random_sparse.h"
#include "support/sparse_case.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = 150, CHANGES = 3, MOST_WALKED = 20000 };
enum part { COMPILED, VERDICTS, TOTALS, LEVELS, NETWORKS, SPARSE, BOUNDARIES, LEAST, SCORES, PARTS };

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

static void add_score(bench *b, enum part part, const sx_score *score) {
    add(b, part, score->energy_pj);
    add(b, part, score->cycles);
    add(b, part, score->utilization);
    add(b, part, score->last_level_accesses);
    add(b, part, score->latency);
}

/* Adds what an evaluation before a bound says: one below the value of the mapping, that value, and one above it. */
static void add_bounded(bench *b, sx_model_workspace *evaluator, const sx_mapping *m, const sx_score *whole) {
    static const char *const objectives[] = {"edp", "energy", "delay", "latency", "e^2*d", "last-level"};
    static const double share[] = {0.3, 0.9, 1, 1.1};
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++) {
        sx_objective objective;
        sx_expect_ok(sx_objective_parse(objectives[i], &objective));
        const double value = sx_objective_value(&objective, whole);
        for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
            sx_score score = {0};
            add(b, SCORES, sx_evaluate_within(evaluator, m, &objective, share[k] * value, &score).reason);
            add_score(b, SCORES, &score);
        }
    }
}

/* A dense mapping opened by the core scores the same for the levels that keep its tensors, and adds what it scores for others. */
static void add_kept(bench *b, sx_model_workspace *evaluator, const sx_mapping *m, const sx_score *whole) {
    struct sx_core_scorer *core = evaluator->core;
    sx_score score = {0};
    uint64_t levels = 0;
    if (!core || evaluator->sparse || !sx_core_scorer_open(core, m)) return;
    for (int s = 0; s < m->n_levels; s++) levels += sx_kept_at(s, m->level[s].keep);
    const int reason = sx_core_scorer_keep(core, levels, NULL, 0, &score);
    if (reason == SX_LEGAL && !evaluator->model->law) assert_true(score.energy_pj == whole->energy_pj);
    add(b, SCORES, reason);
    levels |= sx_kept_at(m->n_levels - 1, (uint8_t)((1u << m->n_tensors) - 1));
    add(b, SCORES, sx_core_scorer_keep(core, levels, NULL, 0, &score));
    add_score(b, SCORES, &score);
}

/* Adds a mapping's totals, which are counted by faster ways than its whole cost; and those that a walk of all iterations, which
 * knows no exact factors, and a walk of windows find. */
static void add_scores(bench *b, sx_model_workspace *evaluator, const sx_mapping *m) {
    sx_score score = {0};
    sx_verdict verdict = sx_evaluate_score(evaluator, m, &score);
    add(b, SCORES, verdict.reason);
    add_score(b, SCORES, &score);
    if (verdict.reason == SX_LEGAL) add_bounded(b, evaluator, m, &score);
    if (verdict.reason == SX_LEGAL) add_kept(b, evaluator, m, &score);
    if (sx_problem_computes(sx_model_problem(evaluator->model)) > MOST_WALKED) return;
    evaluator->walks = true;
    add(b, SCORES, sx_evaluate_score(evaluator, m, &score).reason);
    add_score(b, SCORES, &score);
    evaluator->walks = false;
    evaluator->exact = true;
    add(b, SCORES, sx_evaluate_score(evaluator, m, &score).reason);
    add_score(b, SCORES, &score);
    evaluator->exact = false;
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
        add_scores(b, evaluator, &m);
        m = c->mapping;
        change_mapping(rng, &m);
    }
}

/* Adds what is least of mappings that keep their tensors at random levels, and that share operands among units. */
static void add_homes(bench *b, sx_rng *rng, const sx_model *model, const sx_case *c) {
    sx_model_home home = {.found = (uint8_t)sx_rng_below(rng, 1u << c->problem.n_tensors)};
    double access[SX_MAX_TENSORS], spread[SX_MAX_DIMS];
    for (int v = 0; v < c->problem.n_tensors; v++) {
        home.level[v] = (int8_t)((int)sx_rng_below(rng, c->arch.n_levels + 1u) - 1);
        access[v] = sx_model_cheapest_access(model, v) + 0.25;
    }
    for (int d = 0; d < c->problem.n_dims; d++) spread[d] = (double)sx_rng_range(rng, 1, c->problem.size[d]);
    const sx_score least = sx_model_minimum_at(model, &home);
    add_score(b, LEAST, &least);
    add(b, LEAST, sx_model_delivery(model, access, spread));
}

/* Adds the least latencies of tiles that divide the sizes. */
static void add_least_latencies(bench *b, sx_rng *rng, const sx_model *model, const sx_case *c) {
    uint32_t tile[SX_MAX_DIMS];
    for (int i = 0; i < 4; i++) {
        for (int d = 0; d < c->problem.n_dims; d++) {
            tile[d] = (uint32_t)sx_rng_range(rng, 1, c->problem.size[d]);
            while (c->problem.size[d] % tile[d]) tile[d]--;
        }
        const unsigned kept = (unsigned)sx_rng_below(rng, 1u << c->problem.n_tensors);
        add(b, LEAST, sx_latency_least(model, tile, kept, i % 2));
    }
    add(b, LEAST, sx_latency_sees_orders(model));
}

/* Adds what the core takes of a model. */
static void add_core(bench *b, const sx_model *model) {
    static sx_core_model core;
    const char *why = sx_core_model_make(model, &core);
    if (why)
        add_text(b, LEAST, why);
    else
        b->hash[LEAST] = sx_core_model_hash(&core, b->hash[LEAST]);
}

/* Adds what zeros leave at the least. */
static void add_zeros(bench *b, const sx_model *model, const sx_case *c) {
    for (int s = 0; s < c->arch.n_levels; s++)
        for (int v = 0; v < c->problem.n_tensors; v++) {
            add(b, LEAST, model->least[s][v]);
            add(b, LEAST, model->least_use[s][v]);
        }
    add(b, LEAST, model->least_steps);
    add(b, LEAST, model->least_compute_energy);
    add(b, LEAST, model->least_leak);
}

/* Adds what is least of all mappings. */
static void add_least(bench *b, const sx_model *model, const sx_case *c) {
    const sx_score algorithmic = sx_model_algorithmic_minimum(model);
    add_score(b, LEAST, &algorithmic);
    for (unsigned backed = 0; backed < 1u << c->problem.n_tensors; backed++) {
        const sx_score least = sx_model_minimum(model, (uint8_t)backed);
        add_score(b, LEAST, &least);
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

/* Adds the formats that suit a mapping best. */
static void add_settled(bench *b, const sx_model *model, const sx_case *c) {
    static sx_arch arch;
    sx_expect_ok(sx_model_settle_formats(model, &c->mapping, &arch));
    for (int i = 0; i < arch.sparse.n_formats; i++) {
        const sx_tensor_format *f = &arch.sparse.format[i];
        add(b, COMPILED, f->level);
        add(b, COMPILED, f->tensor);
        for (int r = 0; r < f->n_ranks; r++) {
            add(b, COMPILED, arch.sparse.rank[f->first + r].kind);
            add(b, COMPILED, arch.sparse.rank[f->first + r].metadata_bits);
        }
    }
    for (int s = 0; s < c->arch.n_levels && model->sparse; s++)
        for (int v = 0; v < c->problem.n_tensors; v++) add(b, COMPILED, sx_formats_optional(model, s, v));
}

/* Adds the models of all densities. */
static void add_densities(bench *b, const sx_model *model) {
    double weight;
    for (int i = 0; i <= SX_MAX_DENSITIES; i++) {
        const sx_model *of = sx_model_at_density(model, i, &weight);
        if (!of) continue;
        add(b, COMPILED, i);
        add(b, COMPILED, weight);
        add(b, COMPILED, sx_model_problem(of)->tensor[0].density);
    }
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
    add_homes(b, rng, model, c);
    if (model->law) add_least_latencies(b, rng, model, c);
    add_zeros(b, model, c);
    add_core(b, model);
    if (c->options.formats.kinds) add_settled(b, model, c);
    add_densities(b, model);
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
    QUIET,
    QUIET_WINDOWS,
    QUIET_ZEROS,
    QUIET_LAWS,
    MIXED,
    MIXED_TIMELOOP,
    DENSITIES,
    FORMATS,
    LARGE,
    LARGE_REMAINDERS,
    NESTS,
    FORMATS_DENSITIES,
    KINDS
};

/* Makes networks cost nothing and directives few: what the core counts. */
static void silence(sx_case *c) {
    for (int s = 0; s < c->arch.n_levels; s++) {
        sx_mapping_level *at = &c->mapping.level[s];
        c->arch.level[s].energy_per_hop = c->arch.level[s].router_energy = 0;
        at->no_temporal_reuse = at->no_multicast = at->rmw_first_update = 0;
    }
}

/* Mixes kinds and widths of ranks, makes conversions cost energy, and lays the non-zeros of matrices in bands. */
static void mix_sparse(sx_rng *rng, sx_problem *problem, sx_arch *arch) {
    for (int i = 0; i < arch->sparse.n_ranks; i++) {
        sx_rank_format *rank = &arch->sparse.rank[i];
        if (sx_rng_below(rng, 3) == 0) rank->kind = (uint8_t)sx_rng_below(rng, SX_RANK_UB + 1u);
        if (sx_rng_below(rng, 3) == 0) rank->metadata_bits = (uint32_t)sx_rng_below(rng, 9);
        if (sx_rng_below(rng, 3) == 0) rank->payload_bits = (uint32_t)sx_rng_below(rng, 9);
    }
    for (int s = 0; s < arch->n_levels; s++) {
        sx_metadata_store *m = &arch->level[s].metadata;
        m->decompression_energy = 0.25 * (double)sx_rng_below(rng, 4);
        m->compression_energy = 0.5 * (double)sx_rng_below(rng, 4);
        if (sx_rng_below(rng, 4) == 0) m->depth = 1 + sx_rng_below(rng, 9);
        if (sx_rng_below(rng, 3) == 0) m->width = 1 + (uint32_t)sx_rng_below(rng, 40);
    }
    for (int v = 0; v < problem->n_tensors; v++)
        if (sx_rng_below(rng, 3) == 0)
            sx_status_free(sx_problem_set_band(problem, v, (uint32_t)sx_rng_below(rng, 4)));
}

/* Asks for one score of several densities of the inputs. */
static void draw_densities(sx_rng *rng, const sx_problem *problem, sx_density_range *range) {
    static const double share[] = {1, 0.6, 0.3, 0.05};
    *range = (sx_density_range){.n = (uint8_t)sx_rng_range(rng, 1, 4),
                                .energy_power = (double)sx_rng_below(rng, 3),
                                .delay_power = (double)sx_rng_below(rng, 3)};
    for (int v = 0; v < problem->n_tensors && range->n_tensors < 2; v++) {
        if (problem->tensor[v].output) continue;
        struct sx_range_tensor *t = &range->tensor[range->n_tensors++];
        memcpy(t->name, problem->tensor[v].name, SX_NAME_SIZE);
        t->model = (uint8_t)(1 + sx_rng_below(rng, 2));
        for (int i = 0; i < range->n; i++) t->share[i] = share[i];
    }
    for (int i = 0; i < range->n; i++) range->weight[i] = 0.25 * (double)sx_rng_range(rng, 1, 8);
}

/* Asks for the formats that are best by some product of energy and delay. */
static void draw_formats(sx_rng *rng, sx_format_search *formats) {
    formats->kinds = (uint8_t)sx_rng_range(rng, 1, 15);
    formats->energy_power = (double)sx_rng_below(rng, 3);
    formats->delay_power = (double)sx_rng_below(rng, 3);
}

/* Makes a dimension many times as large, by steps or by units, so that counts come near their limits or beyond them. */
static void enlarge(sx_rng *rng, unsigned most, sx_case *c) {
    for (uint64_t n = sx_rng_below(rng, 5); n > 0; n--) {
        const int d = (int)sx_rng_below(rng, c->problem.n_dims);
        const unsigned bits = (unsigned)sx_rng_range(rng, 1, most);
        if ((uint64_t)c->problem.size[d] << bits > SX_MAX_DIM_SIZE) continue;
        sx_mapping_level *at = &c->mapping.level[sx_rng_below(rng, c->mapping.n_levels)];
        c->problem.size[d] <<= bits;
        at->temporal[d] <<= bits;
    }
    for (int s = 0; s < c->arch.n_levels; s++) {
        if (sx_rng_below(rng, 3)) c->arch.level[s].entries = SX_UNLIMITED;
        if (sx_rng_below(rng, 4) == 0) c->arch.level[s].read_bandwidth = 1e-9 * (1 + sx_rng_double(rng));
    }
}

/* A nest on three levels that all keep every tensor; accesses to several operands may depend on one. */
static void draw_nest(sx_rng *rng, sx_case *c) {
    static sx_sparse_case nest;
    sx_random_sparse_nest(rng, 6, &nest);
    sx_random_sparse_hardware(rng, &nest);
    sx_random_sparse_shared(rng, &nest);
    *c = (sx_case){.problem = nest.problem, .arch = nest.arch, .mapping = nest.mapping};
}

static void draw_case(sx_rng *rng, enum kind kind, sx_case *c) {
    static const unsigned flags[KINDS] = {[PLAIN] = SX_CASE_PLAIN,
                                          [REMAINDERS] = SX_CASE_REMAINDER,
                                          [SPLITS] = SX_CASE_SPLIT | SX_CASE_REMAINDER,
                                          [PASSING] = SX_CASE_PASSING,
                                          [LAWS_REMAINDERS] = SX_CASE_REMAINDER,
                                          [QUIET] = SX_CASE_PLAIN,
                                          [LARGE_REMAINDERS] = SX_CASE_REMAINDER};
    if (kind == NESTS) {
        draw_nest(rng, c);
        return;
    }
    sx_random_case(rng, flags[kind], c);
    if ((kind >= QUIET && kind <= QUIET_LAWS) || (kind > QUIET_LAWS && sx_rng_below(rng, 2))) silence(c);
    if (kind == ZEROS || kind == ZEROS_TIMELOOP || kind == QUIET_ZEROS ||
        (kind >= MIXED && kind <= FORMATS)) {
        sx_random_sparse(rng, &c->problem, &c->arch);
        c->options.sparse_timeloop = kind == ZEROS_TIMELOOP || kind == MIXED_TIMELOOP;
    }
    if (kind == MIXED || kind == MIXED_TIMELOOP) mix_sparse(rng, &c->problem, &c->arch);
    if (kind == DENSITIES || kind == FORMATS_DENSITIES)
        draw_densities(rng, &c->problem, &c->options.densities);
    if (kind == FORMATS || kind == FORMATS_DENSITIES) draw_formats(rng, &c->options.formats);
    if (kind == LARGE) enlarge(rng, 30, c);
    if (kind == LARGE_REMAINDERS) enlarge(rng, 4, c);
    if (kind == LAWS || kind == LAWS_REMAINDERS || kind == QUIET_LAWS) {
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
          0x3f2944ee6e98aa3eu, 0x0000000000000000u, 0x0000000000000000u, 0x9fb625e90974766bu,
          0x62988965960c0f7eu}},
        {"windows",
         {0x0000000000000000u, 0x35a8592a9027a66eu, 0xe242788967551f9cu, 0x865ec206cee7a90du,
          0xe5e471f967c53d66u, 0x0000000000000000u, 0x0000000000000000u, 0x79d92797807ffb3fu,
          0x1d14e1c2afdbe77bu}},
        {"remainders",
         {0x0000000000000000u, 0x8a4edd88f9560058u, 0x9e72d69605211507u, 0x0fed8ebc9be82194u,
          0xbcf134b152e517bcu, 0x0000000000000000u, 0x0000000000000000u, 0x5baec27aff89f952u,
          0xd14afeda99dd7c56u}},
        {"splits",
         {0x0000000000000000u, 0xb9d1eca42d069702u, 0xe5de663a12b2c755u, 0x4fa98931ace339f4u,
          0xe0d8cec5ea2aae4fu, 0x0000000000000000u, 0x0000000000000000u, 0xd302819143366c96u,
          0x1fe8fef4e09b94f7u}},
        {"passing",
         {0x0000000000000000u, 0x01c513b84d090275u, 0x9671cef2575e3ff0u, 0xca3002a69d256231u,
          0xe6afb6f2870848d8u, 0x0000000000000000u, 0x0000000000000000u, 0xbbb1b160bcdc50aeu,
          0xaf414f42f3ed7733u}},
        {"sparse",
         {0x0000000000000000u, 0xe50e80cc0b6c3f54u, 0x3266bf5dd7397a5du, 0xaa14a41664bbcd5au,
          0xa49ff85985bd8d47u, 0x1a69e98a9181e252u, 0x0000000000000000u, 0xfaea462118fce6aeu,
          0xf8474cde9ac0d108u}},
        {"sparse, Timeloop's rules",
         {0x0000000000000000u, 0x26dfc0df88a1be76u, 0xf8c1a807f0265638u, 0xd00f7facc8905c60u,
          0xbf4310045a752695u, 0x7b77c36c513e5e56u, 0x0000000000000000u, 0xa846f00895458d1eu,
          0xb2e7e57fbe4e2f63u}},
        {"laws",
         {0xf6b7f3d8f3694ef2u, 0x587f47c6443ac15eu, 0x018e54a48a5142d9u, 0x8dd07767215fee69u,
          0x16b2236b0a751b97u, 0x0000000000000000u, 0xb91416b66f981f86u, 0x2e02cd9011a8526eu,
          0x4655c1c72f3c0c90u}},
        {"laws, remainders",
         {0x31d22012c3fb0df8u, 0x36c02b22248bd34eu, 0x9a1e8844b1395586u, 0xc7922fb3f35864beu,
          0xd7ef70cf272d7f5fu, 0x0000000000000000u, 0xf1f9ea0d496de8c1u, 0xaa1bde74a96146a9u,
          0xb58d2f258e4744d6u}},
        {"quiet",
         {0x0000000000000000u, 0x231a00c840b51885u, 0x0f5da82f54019b4bu, 0xbfeb038f5ca8a455u,
          0x5ed118a4de04d85au, 0x0000000000000000u, 0x0000000000000000u, 0x7d79f41be946f0c0u,
          0x2d60cb388357d80du}},
        {"quiet, windows",
         {0x0000000000000000u, 0xaedb198403d8d6ddu, 0xfac3e8effee385e0u, 0xe787b09a7aaf679eu,
          0x0ee957069fe52014u, 0x0000000000000000u, 0x0000000000000000u, 0x529ef273138bc657u,
          0x1f3c0bf98d46e726u}},
        {"quiet, sparse",
         {0x0000000000000000u, 0xf63f6668e3d21f56u, 0xe7940b953237ab06u, 0xc081b0b6142d9f59u,
          0x93af95b74f127b65u, 0x7243189005966d9bu, 0x0000000000000000u, 0x9a7c66e01e192329u,
          0x39c53bd3a4cd5519u}},
        {"quiet, laws",
         {0x1c3317e9afb6eed1u, 0xf8e58ed8ea90e8abu, 0xbae81216942e1e5du, 0xca2a32f641eb4605u,
          0x9eb7289eb519bbb0u, 0x0000000000000000u, 0x25fbd61ae56501cdu, 0xec3476a564931a45u,
          0x22b3d78963a55743u}},
        {"mixed formats",
         {0xd534b25680024184u, 0xdee29c3a47adaf46u, 0xe1b77f70767f5794u, 0x590579b0210b66c6u,
          0xc5c95375a4163102u, 0x9034a7ecf689ff66u, 0x0000000000000000u, 0x8c32984274e1fb19u,
          0x8590c8c9ce1e4055u}},
        {"mixed formats, Timeloop's rules",
         {0x810c27728bfdb94fu, 0x14e3ea8663b52b3fu, 0xad5c18c5e6b28278u, 0xf970302a1856268au,
          0xafb61e7a06ddbc54u, 0x489f6632781a4d1bu, 0x0000000000000000u, 0x6c5461deed1199e9u,
          0xe0b828da5b93a76bu}},
        {"densities",
         {0x47bfb187978dcbf5u, 0xcff72effda433f7au, 0x6cdf02665c9a6d97u, 0x18342eea125ca8c3u,
          0x8851e92845535414u, 0xfa7c000532a8e102u, 0x0000000000000000u, 0xc0ac896f057e57bau,
          0xfd36ca487bcf1347u}},
        {"searched formats",
         {0xe0818394a66a3384u, 0x9fb7d30c15eb6b0bu, 0xd5cf99a533953b5eu, 0xabd86f99de113cd9u,
          0x74e2bc1c62b0e037u, 0x23b456806131956au, 0x0000000000000000u, 0xd192e16ab2703c23u,
          0x9f0f626e80a5489bu}},
        {"large",
         {0x81ea9d4d758fefcbu, 0x5823cc1357ce3bf4u, 0xfd08de2c162dfc61u, 0x79b7b315cb6cebf8u,
          0xfae15818aca56a1eu, 0x0000000000000000u, 0x0000000000000000u, 0x188143e06a7a99bbu,
          0xa45429a60e59d449u}},
        {"large, remainders",
         {0x0000000000000000u, 0x87a8a46cc26033d9u, 0x7bde737edbe98043u, 0x0bc455850e6efa2cu,
          0xb4069620797931cdu, 0x0000000000000000u, 0x0000000000000000u, 0x7e4e1cfce1db41b5u,
          0xcaeb80bb171d1ad9u}},
        {"nests",
         {0x0000000000000000u, 0xec97890a54a28927u, 0xe0a25725729f0548u, 0x72406229ed61fa5cu,
          0xb2f0efb3e50a79d6u, 0x70505177d58734e4u, 0x0000000000000000u, 0x66b7be267ba05ce2u,
          0xe4fc00f713894079u}},
        {"searched formats, densities",
         {0x989f8368a6c3f8beu, 0x55295b69e156216eu, 0xccd61a95760c7eb8u, 0xd6ea74d08eb68b81u,
          0x6b2574e51076e499u, 0x0000000000000000u, 0x0000000000000000u, 0x6183bae8e7570588u,
          0xfbee2481d5f462e9u}},
    };
    bool good = true;
    for (int kind = 0; kind < KINDS; kind++) {
        bench b = {{0}};
        for (uint64_t i = 0; i < (kind == FORMATS || kind == FORMATS_DENSITIES ? CASES / 4 : CASES); i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "fixed cases", i);
            static sx_case c;
            draw_case(&rng, (enum kind)kind, &c);
            add_case(&b, &rng, &c);
        }
        good &= sx_is_recorded(expected[kind].name, b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
