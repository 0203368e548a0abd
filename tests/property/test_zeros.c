/* The exact semantics of sparse tensors against tensors that are drawn: test_zeros [count [seed [draws]]]. The oracle
 * draws non-zeros and counts real words; the model's figures are the means of what it counts. A figure that is further
 * away than 4 standard errors is looked at again, with more and other draws; and over all cases figures must be above
 * as often as below. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/sparse_case.h"
#include "support/zeros_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = SX_SPARSE_LEVELS, MAX_FIGURES = LEVELS * SX_MAX_TENSORS * 13 + 3 };

typedef struct settings {
    uint64_t count, seed, draws;
} settings;

/* One number that model and oracle both tell. */
typedef struct figure {
    char name[32];
    double model, slack, sum, squares;
    bool approximate; /* the model does not claim more than that it is near */
} figure;

typedef struct trial {
    sx_sparse_case c;
    sx_zeros drawn;
    sx_cost dense, cost;
    figure figure[MAX_FIGURES];
    int n;
} trial;

/* Adds a figure, or a draw of it; figures come in the same order every time. */
static void tell(trial *t, bool first, double value, double slack, const char *format, ...) SX_PRINTF(5, 6);
static void tell(trial *t, bool first, double value, double slack, const char *format, ...) {
    figure *f = &t->figure[t->n++];
    if (!first) {
        f->sum += value;
        f->squares += value * value;
        return;
    }
    va_list list;
    va_start(list, format);
    *f = (figure){.model = value, .slack = slack};
    vsnprintf(f->name, sizeof f->name, format, list);
    va_end(list);
}

/* The share of a tensor's dense accesses at a level that has a kind, by the model. */
static double model_share(const trial *t, int s, int v, int kind, bool fills) {
    const sx_cost_tensor *dense = &t->dense.level[s].tensor[v], *sparse = &t->cost.level[s].tensor[v];
    int a = fills ? SX_FILL : dense->reads > 0 ? SX_READ : SX_UPDATE;
    const uint64_t count[SX_N_ACCESSES] = {dense->reads, dense->fills, dense->updates};
    double all = (double)count[a] / (double)t->dense.level[s].instances;
    return all > 0 ? sparse->actions[kind][a] / all : -1;
}

/* Words of metadata (part 0) or payload (part 1) that accesses of a kind take per dense one, by the model. */
static double model_metadata(const trial *t, int s, int v, int kind, bool fills, int part) {
    const sx_cost_tensor *dense = &t->dense.level[s].tensor[v];
    const sx_sparse *sparse = &t->c.arch.sparse;
    int a = fills ? SX_FILL : dense->reads > 0 ? SX_READ : SX_UPDATE;
    const uint64_t count[SX_N_ACCESSES] = {dense->reads, dense->fills, dense->updates};
    double all = (double)count[a] / (double)t->dense.level[s].instances, words = 0;
    for (int i = 0; i < sparse->n_formats; i++) {
        const sx_tensor_format *f = &sparse->format[i];
        if (f->level != s || strcmp(sparse->name[f->tensor], t->c.problem.tensor[v].name) != 0) continue;
        for (int r = 0; r < f->n_ranks; r++) words += t->cost.rank[f->first + r].words[kind][a][part];
    }
    return all > 0 ? words / all : -1;
}

/* Whether the oracle counts a tensor's metadata, and the model derives them from what is known: of an output whose
 * density is derived only that is known. */
static bool tells_metadata(const trial *t, int s, int v) {
    return t->drawn.counts_metadata[s][v] && t->c.problem.tensor[v].density_model != SX_DENSITY_NONE;
}

/* The figures of metadata, of the model or of a draw. */
static void tell_metadata(trial *t, const sx_zeros *draw, int s, int v) {
    const char *const parts[] = {"metadata", "payload"}, *name = t->c.problem.tensor[v].name;
    for (int part = 0; part < 2 && tells_metadata(t, s, v); part++) {
        for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++) {
            double model = model_metadata(t, s, v, kind, false, part);
            if (model >= 0)
                tell(t, !draw, draw ? draw->metadata[s][v][kind][part] : model, 0, "L%d %s %s kind %d", s,
                     name, parts[part], kind);
        }
        double model = model_metadata(t, s, v, SX_RANDOM, true, part);
        if (model >= 0)
            tell(t, !draw, draw ? draw->fill_metadata[s][v][part] : model, 0, "L%d %s %s fills", s, name,
                 parts[part]);
    }
}

/* Whether a tensor's density is derived, its accesses at a level are those of non-zeros alone, and an action there or
 * outside (`beyond`: outside alone) makes them depend on operands: the model takes its non-zeros as independent of
 * those of its operands. */
static bool is_approximate(const trial *t, int v, int s, bool beyond) {
    const sx_sparse *sparse = &t->c.arch.sparse;
    const sx_tensor *tensor = &t->c.problem.tensor[v];
    if (!t->c.formatted[v] || tensor->density_model != SX_DENSITY_NONE) return false;
    for (int i = 0; i < sparse->n_actions; i++)
        if (sparse->action[i].level >= s + beyond &&
            strcmp(sparse->name[sparse->action[i].option[0].target], tensor->name) == 0)
            return true;
    return false;
}

/* All figures, of the model or of a draw. */
static void tell_all(trial *t, const sx_zeros *draw) {
    bool first = draw == NULL;
    t->n = 0;
    for (int v = 0; v < t->c.problem.n_tensors; v++)
        for (int s = 0; s < LEVELS; s++) {
            tell_metadata(t, draw, s, v);
            for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++) {
                double model = model_share(t, s, v, kind, false);
                if (model < 0) continue;
                tell(t, first, draw ? draw->accesses[s][v][kind] : model, 0, "L%d %s kind %d", s,
                     t->c.problem.tensor[v].name, kind);
                t->figure[t->n - 1].approximate = is_approximate(t, v, s, false);
            }
            double model = model_share(t, s, v, SX_RANDOM, true);
            if (model >= 0) {
                tell(t, first, draw ? draw->fills[s][v] : model, 0, "L%d %s fills", s,
                     t->c.problem.tensor[v].name);
                t->figure[t->n - 1].approximate = is_approximate(t, v, s, true);
            }
            if (t->c.formatted[v])
                tell(t, first, draw ? draw->stored[s][v] : t->cost.level[s].tensor[v].density, 0,
                     "L%d %s stored", s, t->c.problem.tensor[v].name);
        }
    double all = (double)t->dense.computes;
    const double computes[SX_N_ACTION_KINDS] = {(double)t->cost.computes, t->cost.gated_computes,
                                                t->cost.skipped_computes};
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        tell(t, first, (draw ? draw->computes[kind] : computes[kind]) / all,
             kind == SX_RANDOM ? 0.5 / all : 0, "computes kind %d", kind);
}

/* Draws the tensors a given number of times; false where the oracle does not simulate the case. */
static bool draw_often(trial *t, uint64_t seed, uint64_t number, uint64_t draws) {
    sx_rng rng = sx_rng_stream(seed, "zeros.draw", number);
    for (int i = 0; i < t->n; i++) t->figure[i].sum = t->figure[i].squares = 0;
    for (uint64_t i = 0; i < draws; i++) {
        sx_status status =
            sx_simulate_zeros(&t->c.problem, &t->c.arch, &t->c.mapping, 1 << 20, &rng, &t->drawn);
        if (status) {
            sx_status_free(status);
            return false;
        }
        tell_all(t, &t->drawn);
    }
    return true;
}

/* How many standard errors the mean of the draws is above the model's figure. What never varied is either exact, or
 * so rare that the error is that of a rare event. */
static double errors_off(const figure *f, uint64_t draws) {
    double n = (double)draws, mean = f->sum / n, off = mean - f->model;
    double variance = fmax(0, f->squares / n - mean * mean) * n / (n - 1);
    if (fabs(off) <= f->slack + 1e-9) return 0;
    if (variance < 1e-12 * fmax(1, mean * mean))
        variance = fabs(off) * fmax(1, f->model); /* an event that is as rare */
    off -= off > 0 ? f->slack : -f->slack;
    return variance > 0 ? off / sqrt(variance / n) : off > 0 ? INFINITY : -INFINITY;
}

/* Whether words of a tensor of which every run has its share are only asked for in runs. */
static bool has_runs(const trial *t) {
    const sx_sparse *sparse = &t->c.arch.sparse;
    for (int v = 0; v < t->c.problem.n_tensors; v++) {
        const sx_tensor *tensor = &t->c.problem.tensor[v];
        if (tensor->density_model != SX_DENSITY_FIXED_STRUCTURED || tensor->density == 1) continue;
        if (tensor->n_ranks > 0 && t->c.problem.dim_name[0][0] == 'p' && v == 1) return false;
        for (int i = 0; i < sparse->n_actions; i++)
            for (int k = 0; k < sparse->n_names; k++)
                if (sparse->action[i].option[0].on >> k & 1 && strcmp(sparse->name[k], tensor->name) == 0)
                    return false;
    }
    return true;
}

/* Draws the kind of a rank; outside an uncompressed one there are no others. */
static uint8_t draw_kind(sx_rng *rng, int rank, bool plain) {
    return (uint8_t)(plain       ? SX_RANK_UOP + sx_rng_below(rng, 2)
                     : rank == 0 ? SX_RANK_CP + sx_rng_below(rng, 3)
                                 : SX_RANK_CP + sx_rng_below(rng, 5));
}

/* Gives a tensor formats at all levels, with ranks of all kinds: one per level that takes all loops, or some that take
 * one each or those over some dimensions. */
static void draw_formats(sx_rng *rng, sx_sparse_case *c, uint8_t tensor) {
    sx_sparse *sparse = &c->arch.sparse;
    sx_rank_format rank[4 * LEVELS] = {0};
    uint32_t all = (1u << c->problem.n_dims) - 1; /* names of dimensions come first */
    bool flat = sx_rng_below(rng, 2), plain = false;
    int per = flat ? 1 : 4;
    for (int r = 0; r < per * LEVELS; r++) {
        rank[r] = (sx_rank_format){.kind = draw_kind(rng, r, plain),
                                   .metadata_bits = SX_BITS_DEFAULT,
                                   .payload_bits = SX_BITS_DEFAULT};
        plain |= !sx_rank_compressed((sx_rank_kind)rank[r].kind);
        rank[r].n_flattened = flat || !sx_rng_below(rng, 4);
        if (rank[r].n_flattened) rank[r].flattened[0] = flat ? all : 1 + (uint32_t)sx_rng_below(rng, all);
    }
    for (int s = 0; s < LEVELS; s++) {
        sparse->format[sparse->n_formats++] = (sx_tensor_format){.level = (uint8_t)s,
                                                                 .tensor = tensor,
                                                                 .n_ranks = (uint8_t)(per * (s + 1)),
                                                                 .inner_to_outer = sx_rng_below(rng, 2),
                                                                 .first = sparse->n_ranks};
        for (int r = 0; r < per * (s + 1); r++) sparse->rank[sparse->n_ranks++] = rank[r];
    }
}

/* Gives formatted tensors other formats, and lets the density of an output follow from its operands where these have
 * their non-zeros anywhere. */
static void vary(sx_rng *rng, sx_sparse_case *c) {
    sx_sparse *sparse = &c->arch.sparse;
    bool anywhere = true;
    sparse->n_formats = 0;
    sparse->n_ranks = 0;
    for (int v = 0; v < c->problem.n_tensors; v++) {
        const sx_tensor *tensor = &c->problem.tensor[v];
        anywhere &=
            tensor->output || tensor->density == 1 || tensor->density_model == SX_DENSITY_HYPERGEOMETRIC;
        for (uint8_t i = 0; c->formatted[v] && i < sparse->n_names; i++)
            if (strcmp(sparse->name[i], tensor->name) == 0) draw_formats(rng, c, i);
    }
    sx_tensor *output = &c->problem.tensor[sx_problem_output(&c->problem)];
    if (!anywhere || sx_rng_below(rng, 3) == 0) return;
    output->density_model = SX_DENSITY_NONE;
    output->density = 0;
}

/* What is known over all cases. */
typedef struct tally {
    uint64_t compared, again, above, below, metadata, derived, approximate;
    double away; /* of approximate figures, in all */
} tally;

static void complain(const trial *t, const figure *f, uint64_t draws, double off) {
    char *text = NULL;
    sx_expect_ok(sx_mapping_write(&t->c.mapping, &t->c.problem, &t->c.arch, SX_YAML, &text));
    print_error("%s is %.9g by the model, %.9g on average: %.1f standard errors\n%s\n", f->name, f->model,
                f->sum / (double)draws, off, text);
    free(text);
    sx_expect_ok(sx_arch_write(&t->c.arch, SX_YAML, &text));
    fputs(text, stderr); /* longer than what cmocka prints */
    free(text);
    sx_expect_ok(sx_problem_write(&t->c.problem, SX_YAML, &text));
    print_error("%s\n", text);
    free(text);
    fail();
}

static void compare(trial *t, const settings *set, uint64_t number, tally *sum) {
    if (!sx_sparse_active(&t->c.arch.sparse) || !has_runs(t)) return;
    if (sx_sparse_case_evaluate(&t->c, false, &t->dense).reason != SX_LEGAL) return;
    if (sx_sparse_case_evaluate(&t->c, true, &t->cost).reason != SX_LEGAL) return;
    if (!draw_often(t, set->seed, number, 1)) return; /* says what the oracle counts */
    tell_all(t, NULL);
    assert_true(draw_often(t, set->seed, number, set->draws));
    double worst = 0, total = 0;
    for (int i = 0; i < t->n; i++) {
        double off = errors_off(&t->figure[i], set->draws);
        if (t->figure[i].approximate) {
            sum->approximate++;
            sum->away += fabs(t->figure[i].sum / (double)set->draws - t->figure[i].model);
            continue;
        }
        worst = fmax(worst, fabs(off));
        total += off;
    }
    sum->compared++;
    bool metadata = false, derived = false;
    for (int v = 0; v < t->c.problem.n_tensors; v++) {
        metadata |= tells_metadata(t, 0, v);
        derived |= t->c.formatted[v] && t->c.problem.tensor[v].density_model == SX_DENSITY_NONE;
    }
    sum->metadata += metadata;
    sum->derived += derived;
    sum->above += total > 0;
    sum->below += total < 0;
    if (worst <= 4) return;
    uint64_t more = 16 * set->draws;
    sum->again++;
    assert_true(draw_often(t, set->seed + 1000, number, more));
    for (int i = 0; i < t->n; i++) {
        double off = errors_off(&t->figure[i], more);
        if (fabs(off) > 4.5 && !t->figure[i].approximate) complain(t, &t->figure[i], more, off);
    }
}

static void means_agree(void **state) {
    const settings *set = *state;
    tally sum = {0};
    trial *t = calloc(1, sizeof *t);
    for (uint64_t i = 0; sum.compared < set->count && i < 20 * set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "zeros", i);
        sx_random_sparse_nest(&rng, 6, &t->c);
        sx_random_sparse_hardware(&rng, &t->c);
        sx_random_sparse_shared(&rng, &t->c);
        vary(&rng, &t->c);
        compare(t, set, i, &sum);
    }
    free(t);
    print_message("%llu cases, %llu looked at again, %llu above, %llu below\n",
                  (unsigned long long)sum.compared, (unsigned long long)sum.again,
                  (unsigned long long)sum.above, (unsigned long long)sum.below);
    sx_expect_compared("cases with metadata", sum.metadata, set->count / 4);
    sx_expect_compared("cases with a derived density", sum.derived, set->count / 20);
    print_message("%llu approximate figures, %.4f of the dense accesses away on average\n",
                  (unsigned long long)sum.approximate, sum.away / (double)sum.approximate);
    assert_true(sum.approximate > set->count / 10 && sum.away < 0.03 * (double)sum.approximate);
    double n = (double)(sum.above + sum.below), sign = fabs((double)sum.above - (double)sum.below) / sqrt(n);
    sx_expect_compared("cases with drawn tensors", sum.compared, set->count);
    assert_true(sign < 4);
}

/* Cases: few as a rule, and 2,000 where all tests have very many. */
int main(int argc, char **argv) {
    settings set = {SX_SANITIZED ? 30 : 60, 1, 100};
    if (argc > 1 && strtoull(argv[1], NULL, 10) >= 2000) set.count = 2000;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    if (argc > 3) set.draws = strtoull(argv[3], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(means_agree, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
