/* The exact semantics of sparse tensors against tensors that are drawn: test_zeros [count [seed [draws]]]. The oracle
 * draws non-zeros and counts real words; the model's figures are the means of what it counts. A figure that is further
 * away than 4 standard errors is looked at again, with more and other draws; and over all cases figures must be above
 * as often as below. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/sparse_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = SX_SPARSE_LEVELS, MAX_FIGURES = LEVELS * SX_MAX_TENSORS * 5 + 3 };

typedef struct settings {
    uint64_t count, seed, draws;
} settings;

/* One number that model and oracle both tell. */
typedef struct figure {
    char name[32];
    double model, slack, sum, squares;
} figure;

typedef struct trial {
    sx_sparse_case c;
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

/* All figures, of the model or of a draw. */
static void tell_all(trial *t, const sx_zeros *draw) {
    bool first = draw == NULL;
    t->n = 0;
    for (int v = 0; v < t->c.problem.n_tensors; v++)
        for (int s = 0; s < LEVELS; s++) {
            for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++) {
                double model = model_share(t, s, v, kind, false);
                if (model >= 0)
                    tell(t, first, draw ? draw->accesses[s][v][kind] : model, 0, "L%d %s kind %d", s,
                         t->c.problem.tensor[v].name, kind);
            }
            double model = model_share(t, s, v, SX_RANDOM, true);
            if (model >= 0)
                tell(t, first, draw ? draw->fills[s][v] : model, 0, "L%d %s fills", s,
                     t->c.problem.tensor[v].name);
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

/* Draws the tensors so many times; false where the oracle does not simulate the case. */
static bool draw_often(trial *t, uint64_t seed, uint64_t number, uint64_t draws) {
    sx_rng rng = sx_rng_stream(seed, "zeros.draw", number);
    sx_zeros drawn;
    for (int i = 0; i < t->n; i++) t->figure[i].sum = t->figure[i].squares = 0;
    for (uint64_t i = 0; i < draws; i++) {
        sx_status status = sx_simulate_zeros(&t->c.problem, &t->c.arch, &t->c.mapping, 1 << 20, &rng, &drawn);
        if (status) {
            sx_status_free(status);
            return false;
        }
        tell_all(t, &drawn);
    }
    return true;
}

/* How many standard errors the mean of the draws is above the model's figure. What never varied is either exact, or
 * so rare that the error is that of a rare event. */
static double errors_off(const figure *f, uint64_t draws) {
    double n = (double)draws, mean = f->sum / n, off = mean - f->model;
    double variance = fmax(0, f->squares / n - mean * mean) * n / (n - 1);
    if (fabs(off) <= f->slack + 1e-9) return 0;
    if (variance < 1e-15) variance = f->model * fmax(0, 1 - f->model);
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

/* What is known over all cases. */
typedef struct tally {
    uint64_t compared, again, above, below;
} tally;

static void complain(const trial *t, const figure *f, uint64_t draws, double off) {
    char *text = NULL;
    sx_expect_ok(sx_mapping_write(&t->c.mapping, &t->c.problem, &t->c.arch, SX_YAML, &text));
    print_error("%s is %.9g by the model, %.9g on average: %.1f standard errors\n%s\n", f->name, f->model,
                f->sum / (double)draws, off, text);
    free(text);
    sx_expect_ok(sx_arch_write(&t->c.arch, SX_YAML, &text));
    print_error("%s\n", text);
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
    tell_all(t, NULL);
    if (!draw_often(t, set->seed, number, set->draws)) return;
    double worst = 0, total = 0;
    for (int i = 0; i < t->n; i++) {
        double off = errors_off(&t->figure[i], set->draws);
        worst = fmax(worst, fabs(off));
        total += off;
    }
    sum->compared++;
    sum->above += total > 0;
    sum->below += total < 0;
    if (worst <= 4) return;
    uint64_t more = 16 * set->draws;
    sum->again++;
    assert_true(draw_often(t, set->seed + 1000, number, more));
    for (int i = 0; i < t->n; i++) {
        double off = errors_off(&t->figure[i], more);
        if (fabs(off) > 4.5) complain(t, &t->figure[i], more, off);
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
        compare(t, set, i, &sum);
    }
    free(t);
    print_message("%llu cases, %llu looked at again, %llu above, %llu below\n",
                  (unsigned long long)sum.compared, (unsigned long long)sum.again,
                  (unsigned long long)sum.above, (unsigned long long)sum.below);
    double n = (double)(sum.above + sum.below), sign = fabs((double)sum.above - (double)sum.below) / sqrt(n);
    sx_expect_compared("cases with drawn tensors", sum.compared, set->count);
    assert_true(sign < 4);
}

/* Cases: few as a rule, and 2,000 where all tests have very many. */
int main(int argc, char **argv) {
    settings set = {60, 1, 100};
    if (argc > 1 && strtoull(argv[1], NULL, 10) >= 2000) set.count = 2000;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    if (argc > 3) set.draws = strtoull(argv[3], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(means_agree, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
