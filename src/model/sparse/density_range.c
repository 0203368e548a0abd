/* One mapping at several densities.
 *
 * Source: Demystifying MSE, section 5.2 (sparsity-aware mapping). With energies E(i), cycles D(i) and weights
 * w(i), the objective is V = sum of w(i) E(i)^a D(i)^b. A score has one energy and one number of cycles: they
 * are chosen so that their product is V, and cycles are sum of w(i) D(i) for b = 1. So objectives, navigators
 * and bounds stay as they are.
 *
 * Bounds: let D(i) >= s(i) X, with s(i) the least share of the compute cycles at density i and X the same for
 * all of them. Then V >= X^b sum of w(i) s(i)^b E(i)^a >= X^b S (sum of m(i) E(i))^a, where S is the sum of
 * w(i) s(i)^b, m(i) = w(i) s(i)^b / S, and a >= 1 (Jensen) or a = 0. The sum of m(i) E(i) is linear in what
 * accesses cost: prices are multiplied by means of the shares that zeros leave. Words that take at least a
 * share u(i) of the dense ones through a port hold D(i) >= s(i) times the least of u/s times the dense cycles.
 * Latencies are left out. So the least value is that of E and D together: E is a mean whose weights are the D(i)^b, and a mapping
 * with less energy at a density may take more cycles at it. There is no bound of E alone, and a front is not pruned by these
 * bounds. */
#include "model/sparse/density_range.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

int sx_range_densest(const sx_density_range *range) {
    int best = 0;
    for (int i = 1; i < range->n; i++) {
        bool most = true;
        for (int t = 0; t < range->n_tensors; t++)
            most &= range->tensor[t].share[i] >= range->tensor[t].share[best];
        if (most) best = i;
    }
    return best;
}

/* Compiles the model of a density. */
static sx_status add_density(const sx_model *base, int index, struct sx_range_model *out) {
    sx_model_options options = base->options;
    sx_problem problem = *base->problem;
    SX_TRY(sx_density_range_apply(&base->options.densities, index, &problem));
    options.densities = (sx_density_range){0};
    options.formats.kinds = 0;
    SX_TRY(sx_model_new(&problem, base->arch, &options, &out->model[out->n]));
    out->index[out->n] = (uint8_t)index;
    out->weight[out->n++] = base->options.densities.weight[index];
    return SX_OK;
}

/* x^p, for b = 0 as for b = 1. */
static double raise_power(double x, double p) {
    return p == 1 || p == 0 ? x : pow(x, p);
}

void sx_range_set_least(sx_model *model) {
    struct sx_range_model *r = model->range;
    const double a = r->energy_power, b = r->delay_power;
    double share[SX_MAX_DENSITIES], sum = 0, least = INFINITY, leak = 0;
    for (int i = 0; i < r->n; i++) {
        double steps = r->model[i]->least_steps;
        least = fmin(least, steps);
        sum += share[i] = r->weight[i] * (b > 0 ? raise_power(steps, b) : 1);
    }
    bool some = sum > 0 && least > 0;
    double scale = b > 0 ? 1 : raise_power(sum, a > 0 ? 1 / a : 1);
    r->energy_scale = scale;
    model->least_steps = 0;
    for (int i = 0; i < r->n; i++) {
        r->share[i] = some ? share[i] / sum : 0;
        share[i] = r->share[i] * scale;
        leak += share[i] * r->model[i]->least_steps;
        model->least_steps += b > 0 ? 0 : r->weight[i] * r->model[i]->least_steps;
    }
    if (b > 0) model->least_steps = raise_power(sum, 1 / b);
    model->least_leak = model->least_steps > 0 ? leak / model->least_steps : 0;
    model->least_compute_energy = 0;
    for (int i = 0; i < r->n; i++)
        model->least_compute_energy += share[i] * r->model[i]->least_compute_energy;
    for (int s = 0; s < model->n_levels; s++)
        for (int v = 0; v < model->n_tensors; v++) {
            double mean = 0, use = INFINITY;
            for (int i = 0; i < r->n; i++) {
                mean += share[i] * r->model[i]->least[s][v];
                use = fmin(use, some ? r->model[i]->least_use[s][v] / r->model[i]->least_steps : 0);
            }
            model->least[s][v] = mean;
            model->least_use[s][v] = use * model->least_steps;
        }
}

sx_status sx_range_compile(sx_model *model) {
    const sx_density_range *range = &model->options.densities;
    struct sx_range_model *r = model->range = calloc(1, sizeof *r);
    if (!r) return sx_error_memory();
    bool product = range->energy_power == 0 && range->delay_power == 0;
    r->energy_power = product ? 1 : range->energy_power;
    r->delay_power = product ? 1 : range->delay_power;
    int densest = sx_range_densest(range);
    SX_TRY(add_density(model, densest, r));
    for (int i = 0; i < range->n; i++)
        if (i != densest) SX_TRY(add_density(model, i, r));
    sx_range_set_least(model);
    model->latency = 0;
    return SX_OK;
}

void sx_range_free(struct sx_range_model *range) {
    if (!range) return;
    for (int i = 0; i < range->n; i++) sx_model_free(range->model[i]);
    free(range);
}

const sx_model *sx_model_at_density(const sx_model *model, int index, double *weight) {
    for (int i = 0; model->range && i < model->range->n; i++) {
        if (model->range->index[i] != index) continue;
        *weight = model->range->weight[i];
        return model->range->model[i];
    }
    return NULL;
}

sx_status sx_range_evaluators(const sx_model *model, sx_model_workspace ***out) {
    const struct sx_range_model *r = model->range;
    sx_model_workspace **made = *out = calloc((size_t)r->n, sizeof *made);
    if (!made) return sx_error_memory();
    for (int i = 0; i < r->n; i++) SX_TRY(sx_model_workspace_new(r->model[i], &made[i]));
    return SX_OK;
}

void sx_range_workspaces_free(const sx_model *model, sx_model_workspace **workspaces) {
    for (int i = 0; workspaces && i < model->range->n; i++) sx_model_workspace_free(workspaces[i]);
    free(workspaces);
}

sx_verdict sx_range_check(const sx_model *model, const sx_mapping *mapping) {
    sx_verdict verdict = good;
    for (int i = 0; i < model->range->n && verdict.reason == SX_LEGAL; i++)
        verdict = sx_check(model->range->model[i], mapping);
    return verdict;
}

/* Sums over densities. */
typedef struct sums {
    double value, cycles, energy, weight, utilization, last_level;
} sums;

static void add_score(const struct sx_range_model *r, int i, const sx_score *score, sums *out) {
    double w = r->weight[i],
           energy = r->energy_power > 0 ? raise_power(score->energy_pj, r->energy_power) : 1,
           delay = r->delay_power > 0 ? raise_power(score->cycles, r->delay_power) : 1;
    out->value += w * energy * delay;
    out->cycles += w * (r->delay_power > 0 ? delay : score->cycles);
    out->energy += w * score->energy_pj;
    out->weight += w;
    out->utilization += w * score->utilization;
    out->last_level += w * score->last_level_accesses;
}

/* The score whose objective is the weighted sum. */
static sx_score join_sums(const struct sx_range_model *r, const sums *s) {
    const double a = r->energy_power, b = r->delay_power;
    sx_score score = {.cycles = b > 0 ? raise_power(s->cycles, 1 / b) : s->cycles,
                      .energy_pj = s->energy,
                      .utilization = s->utilization / s->weight,
                      .last_level_accesses = s->last_level};
    if (a > 0) score.energy_pj = raise_power(b > 0 ? s->value / s->cycles : s->value, 1 / a);
    score.latency = score.cycles;
    return score;
}

sx_verdict sx_range_evaluate(sx_model_workspace *e, const sx_mapping *mapping, double bound, sx_score *out) {
    const struct sx_range_model *r = e->model->range;
    sums all = {0};
    sx_verdict verdict = good;
    for (int i = 0; i < r->n; i++) {
        sx_score score;
        verdict = sx_evaluate_score(e->at_density[i], mapping, &score);
        if (verdict.reason != SX_LEGAL) return verdict;
        add_score(r, i, &score, &all);
        if (all.value > bound * (1 + 1e-12)) {
            verdict.reason = SX_BOUND_EXCEEDED;
            return verdict;
        }
    }
    *out = join_sums(r, &all);
    return verdict;
}

sx_score sx_range_minimum(const sx_model *model, uint8_t backed) {
    const struct sx_range_model *r = model->range;
    sums all = {0};
    for (int i = 0; i < r->n; i++) {
        sx_score least = sx_model_minimum(r->model[i], backed);
        add_score(r, i, &least, &all);
    }
    return join_sums(r, &all);
}
