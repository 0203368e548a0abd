/* The public face of the model. */
#include "model/core_score.h"
#include "model/latency.h"
#include "model/sparse/charge.h"
#include "model/sparse/density_range.h"
#include "model/sparse/formats.h"

#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

sx_status sx_model_workspace_new(const sx_model *model, sx_model_workspace **out) {
    sx_model_workspace *e = calloc(1, sizeof *e);
    if (!e) return sx_error_memory();
    e->model = model;
    e->max_blocks = SX_MAX_BLOCKS;
    e->slot = sx_fanout_scratch_new();
    if (model->sparse) e->sparse = sx_sparse_state_new(model, true);
    sx_status status = !e->slot || (model->sparse && !e->sparse) ? sx_error_memory() : SX_OK;
    if (!status && model->formats)
        status = sx_formats_evaluators(model, &e->at_formats);
    else if (!status && model->range)
        status = sx_range_evaluators(model, &e->at_density);
    else if (!status)
        status = sx_core_scorer_new(model, e->sparse, &e->core);
    if (status)
        sx_model_workspace_free(e);
    else
        *out = e;
    return status;
}

void sx_model_workspace_free(sx_model_workspace *workspace) {
    if (!workspace) return;
    free(workspace->records.data);
    sx_core_scorer_free(workspace->core);
    sx_fanout_scratch_free(workspace->slot);
    sx_walker_free(workspace->walker);
    sx_window_free(workspace->window);
    sx_sparse_state_free(workspace->sparse);
    sx_range_workspaces_free(workspace->model, workspace->at_density);
    sx_formats_workspaces_free(workspace->model, workspace->at_formats);
    free(workspace);
}

/* Whether a cost is at or above the compulsory minimum. */
__attribute__((unused)) static bool above_minimum(const sx_model *model, const sx_mapping *mapping,
                                                  const sx_score *score) {
    const double slack = 1 - 1e-9;
    sx_score least = sx_model_minimum(model, mapping->level[model->n_levels - 1].keep);
    return score->cycles >= least.cycles * slack && score->energy_pj >= least.energy_pj * slack &&
           score->last_level_accesses >= least.last_level_accesses * slack;
}

/* Keeps the words of a tensor at the levels that launch tiles. */
static void keep_words(sx_model_workspace *e, int tensor, const sx_counts *counts, bool totals) {
    const sx_latency_model *law = e->model->law;
    for (int i = 0; i < law->n; i++) {
        double reads = 0, updates = 0;
        for (unsigned left = law->boundary[i].ports; left; left &= left - 1) {
            const int s = __builtin_ctz(left);
            const double instances = totals ? (double)e->nest.above[s] : 1;
            reads += counts[s].reads / instances;
            updates += counts[s].updates / instances;
        }
        e->words.reads[i][tensor] = reads;
        e->words.updates[i][tensor] = updates;
    }
}

/* The cycles of the levels that count with Timeloop's. */
static double timed_cycles(const sx_cost_accumulator *costs, unsigned timed) {
    double cycles = 0;
    for (; timed; timed &= timed - 1)
        cycles = fmax(cycles, ceil(costs->compute_cycles / costs->slowdown[__builtin_ctz(timed)]));
    return cycles;
}

/* Sets the latency: the tile pipeline's, where the model has a law, otherwise the cycles. `out` may be NULL. */
static void set_latency(const sx_model_workspace *e, const sx_mapping *mapping,
                        const sx_cost_accumulator *costs, sx_score *score, sx_cost *out) {
    const sx_latency_model *law = e->model->law;
    score->latency = score->cycles;
    if (out) out->n_boundaries = 0;
    if (law)
        score->latency = sx_latency_of(e->model, mapping, &e->words, costs->compute_cycles,
                                       timed_cycles(costs, law->timed), out);
}

/* Scores a mapping of a sparse model on the core's state; false where that does not cover it. Sets e->opened. */
static bool score_sparse(sx_model_workspace *e, const sx_mapping *mapping, const sx_objective *objective,
                         double bound, sx_score *score, sx_verdict *verdict) {
    const sx_latency_model *law = e->model->law;
    const bool late = objective && objective->criterion[0].kind == SX_LATENCY;
    e->opened =
        e->sparse && e->core && !e->exact && e->nest.perfect && sx_core_scorer_count(e->core, mapping);
    if (!e->opened || (law && law->counted) ||
        !sx_core_scorer_sparse(e->core, late ? NULL : objective, bound, score, verdict))
        return false;
    if (verdict->reason != SX_LEGAL) return true;
    assert(above_minimum(e->model, mapping, score));
    score->latency = sx_latency_score(e->model, mapping, score->cycles);
    if (late && sx_criterion_value(&objective->criterion[0], score) > bound)
        verdict->reason = SX_BOUND_EXCEEDED;
    return true;
}

/* Counts a tensor; `full`: with partitions and hops. */
static void count_tensor(sx_model_workspace *e, const sx_mapping *mapping, int v, bool full,
                         sx_counts *counts) {
    const bool walk = e->exact || !e->nest.perfect;
    if (e->opened && !full) {
        sx_core_scorer_counts(e->core, v, counts);
        return;
    }
    if (walk && !full && !e->exact && sx_fast_count_imperfect(e, mapping, v, counts)) return;
    if (walk)
        sx_walk_count(e, mapping, v, full);
    else
        sx_access_stats_count(e, mapping, v, full);
    if (!e->failed && !e->overflow) sx_collapse(e, mapping, v, full, counts);
}

/* The whole evaluation. out and objective may be NULL. */
static sx_verdict evaluate_whole(sx_model_workspace *e, const sx_mapping *mapping,
                                 const sx_objective *objective, double bound, sx_score *score, sx_cost *out) {
    const sx_model *model = e->model;
    sx_verdict verdict = sx_nest_build(model, mapping, &e->nest);
    if (verdict.reason != SX_LEGAL) return verdict;
    const sx_nest *nest = &e->nest;
    if (!out && score_sparse(e, mapping, objective, bound, score, &verdict)) return verdict;
    if (e->sparse) verdict = sx_sparse_prepare(e->sparse, mapping, nest, out != NULL);
    if (verdict.reason != SX_LEGAL) return verdict;
    bool walk = e->exact || !nest->perfect;
    e->failed = e->overflow = false;
    e->limit.reason = SX_LEGAL;
    sx_cost_accumulator costs;
    sx_cost_accumulator_begin(&costs, model, nest, walk);
    int last = model->n_levels - 1;
    while (mapping->level[last].keep == 0) last--;
    double energy = e->sparse ? 0 : costs.compute_energy;
    double cycles = e->sparse ? 0 : (double)nest->cycles + (double)model->latency;
    double last_level = 0;
    for (int v = 0; v < model->n_tensors; v++) {
        if (sx_is_beyond(objective, bound, energy, cycles)) {
            verdict.reason = SX_BOUND_EXCEEDED;
            return verdict;
        }
        sx_counts own[SX_MAX_LEVELS], *counts = e->sparse ? e->sparse->dense[v] : own;
        count_tensor(e, mapping, v, out != NULL, counts);
        if (e->failed || e->overflow) {
            verdict.reason = e->overflow ? SX_COUNT_OVERFLOW : SX_NO_MEMORY;
            return e->overflow || e->limit.reason == SX_LEGAL ? verdict : e->limit;
        }
        if (e->sparse) {
            energy += sx_cost_accumulator_add_networks(&costs, e, v, counts, out);
        } else {
            energy += sx_cost_accumulator_add_tensor(&costs, e, v, counts, out);
        }
        if (model->law) keep_words(e, v, counts, walk);
        double times = walk ? 1 : (double)nest->above[last];
        last_level += (counts[last].reads + counts[last].fills + counts[last].updates) * times;
    }
    if (e->sparse && !sx_sparse_charge(&costs, e->sparse, out)) {
        verdict.reason = SX_NO_MEMORY;
        return verdict;
    }
    sx_cost_accumulator_finish(&costs, score, out);
    score->last_level_accesses = e->sparse ? sx_sparse_accesses(e->sparse, last, walk) : last_level;
    assert(above_minimum(model, mapping, score));
    set_latency(e, mapping, &costs, score, out);
    if (objective && sx_objective_value(objective, score) > bound) verdict.reason = SX_BOUND_EXCEEDED;
    return verdict;
}

/* Sets what sparse tensors change of a cost's computes. */
static void set_computes(sx_sparse_state *state, sx_cost *out) {
    sx_cost_accumulator costs = {.model = state->model, .nest = state->nest};
    sx_sparse_begin(&costs, state);
    out->computes = (uint64_t)llround(state->computes[SX_RANDOM]);
    out->gated_computes = state->computes[SX_GATED];
    out->skipped_computes = state->computes[SX_SKIPPED];
    out->compute_cycles = (uint64_t)costs.compute_cycles;
    out->compute_energy_pj = costs.compute_energy;
}

/* That a mapping takes more cycles than a count holds, by the slowest level. */
static sx_verdict too_slow(const sx_model *model, const sx_cost *cost, double cycles) {
    sx_verdict verdict = {SX_LIMIT_CYCLES, 0, -1, -1, cycles, 0x1p64};
    for (int s = 0; s < model->n_levels; s++)
        if (cost->level[s].slowdown < cost->level[verdict.level].slowdown) verdict.level = (int8_t)s;
    return verdict;
}

sx_verdict sx_evaluate(sx_model_workspace *workspace, const sx_mapping *mapping, sx_cost *out) {
    const sx_model *model = workspace->model;
    const sx_nest *nest = &workspace->nest;
    sx_score score;
    if (workspace->at_formats) {
        int set;
        sx_verdict best = sx_formats_evaluate(workspace, mapping, NULL, 0, &score, &set);
        return set < 0 ? best : sx_evaluate(workspace->at_formats[set], mapping, out);
    }
    if (workspace->at_density) return sx_evaluate(workspace->at_density[0], mapping, out); /* the largest */
    sx_verdict verdict = evaluate_whole(workspace, mapping, NULL, 0, &score, out);
    if (verdict.reason != SX_LEGAL) return verdict;
    if (!(score.cycles < 0x1p64)) return too_slow(model, out, score.cycles);
    out->n_levels = model->n_levels;
    out->n_tensors = model->n_tensors;
    out->perfect = nest->perfect;
    out->computes = out->algorithmic_computes = model->computes;
    out->gated_computes = out->skipped_computes = 0;
    out->sparse = workspace->sparse != NULL;
    out->compute_instances = nest->used_x * nest->used_y;
    out->compute_cycles = nest->cycles;
    out->cycles = (uint64_t)score.cycles;
    out->compute_energy_pj = (double)model->computes * model->compute_energy;
    if (out->sparse) set_computes(workspace->sparse, out);
    out->energy_pj = score.energy_pj;
    out->edp = score.energy_pj * score.cycles;
    out->utilization = score.utilization;
    out->last_level_accesses = score.last_level_accesses;
    out->latency = score.latency;
    return verdict;
}

/* The totals, over all densities of a range and of the best formats. */
static sx_verdict evaluate_score(sx_model_workspace *e, const sx_mapping *mapping,
                                 const sx_objective *objective, double bound, sx_score *out) {
    int set;
    if (e->at_formats) return sx_formats_evaluate(e, mapping, objective, bound, out, &set);
    if (e->at_density) return sx_range_evaluate(e, mapping, objective ? bound : INFINITY, out);
    const bool late = objective && objective->criterion[0].kind == SX_LATENCY;
    int reason = -1;
    if (e->core && !e->sparse && !e->exact && !(e->model->law && e->model->law->counted))
        reason = sx_core_scorer_score(e->core, mapping, late ? NULL : objective, bound, out);
    if (reason < 0) return evaluate_whole(e, mapping, objective, bound, out, NULL);
    sx_verdict verdict = {(sx_reason)reason, -1, -1, -1, 0, 0};
    if (reason != SX_LEGAL) return verdict;
    assert(above_minimum(e->model, mapping, out));
    out->latency = sx_latency_score(e->model, mapping, out->cycles);
    if (late && sx_criterion_value(&objective->criterion[0], out) > bound) verdict.reason = SX_BOUND_EXCEEDED;
    return verdict;
}

sx_verdict sx_evaluate_score(sx_model_workspace *workspace, const sx_mapping *mapping, sx_score *out) {
    sx_score score;
    sx_verdict verdict = evaluate_score(workspace, mapping, NULL, 0, &score);
    if (verdict.reason == SX_LEGAL) *out = score;
    return verdict;
}

sx_verdict sx_evaluate_within(sx_model_workspace *workspace, const sx_mapping *mapping,
                              const sx_objective *objective, double bound, sx_score *out) {
    sx_score score;
    sx_verdict verdict = evaluate_score(workspace, mapping, objective, bound, &score);
    if (verdict.reason == SX_LEGAL) *out = score;
    return verdict;
}

/* Asks for the part of a mapping that an evaluation reads. */
static void prefetch_mapping(const sx_model *model, const char *mapping) {
    const char *end = mapping + offsetof(sx_mapping, level) + model->n_levels * sizeof(sx_mapping_level);
    for (; mapping < end; mapping += 64) __builtin_prefetch(mapping);
}

void sx_evaluate_span(sx_model_workspace *workspace, const char *mappings, size_t stride, size_t n,
                      sx_score *scores, sx_verdict *verdicts) {
    for (size_t i = 0; i < n; i++) {
        const sx_mapping *mapping = (const sx_mapping *)(const void *)(mappings + i * stride);
        if (i + 2 < n) prefetch_mapping(workspace->model, mappings + (i + 2) * stride);
        verdicts[i] = evaluate_score(workspace, mapping, NULL, 0, &scores[i]);
        if (verdicts[i].reason != SX_LEGAL) scores[i] = (sx_score){INFINITY, INFINITY, 0, INFINITY, INFINITY};
    }
}

void sx_evaluate_batch(sx_model_workspace *workspace, const sx_mapping *mappings, size_t n, sx_score *scores,
                       sx_verdict *verdicts) {
    sx_evaluate_span(workspace, (const char *)mappings, sizeof *mappings, n, scores, verdicts);
}
