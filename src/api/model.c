/* The cost model as callers see it: many mappings' totals, and one mapping's cost level by level. */
#include "api/mappings.h"
#include "api/options.h"
#include "base/json.h"
#include "base/status.h"
#include "model/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sx_cost_report {
    const sx_model *model;
    sx_model_workspace *workspace;
    bool legal;
    char reason[512];
    sx_cost cost;
    json_t *figures; /* of the cost, made when one is asked for; NULL: not yet */
};

sx_status sx_cost_model_new(const sx_problem *problem, const sx_arch *arch, const sx_options *options,
                            sx_model **out) {
    sx_model_options model = sx_options_model(options, problem, arch);
    SX_TRY(sx_latency_check(model.latency_tile, arch, NULL));
    return sx_model_new(problem, arch, &model, out);
}

double sx_score_total(const sx_score *score, sx_total total) {
    switch (total) {
    case SX_TOTAL_ENERGY_PJ:
        return score->energy_pj;
    case SX_TOTAL_CYCLES:
        return score->cycles;
    case SX_TOTAL_UTILIZATION:
        return score->utilization;
    case SX_TOTAL_LAST_LEVEL:
        return score->last_level_accesses;
    case SX_TOTAL_LATENCY:
        return score->latency;
    }
    return NAN;
}

/* Refuses mappings that are not of a model's problem and architecture. */
static sx_status check_shape(const sx_model *model, const sx_mapping *shape) {
    const sx_problem *problem = sx_model_problem(model);
    const sx_arch *arch = sx_model_arch(model);
    if (shape->n_levels == arch->n_levels && shape->n_dims == problem->n_dims &&
        shape->n_tensors == problem->n_tensors)
        return SX_OK;
    return sx_error_new(SX_ERR_USAGE,
                        "a mapping has %d levels, %d dimensions and %d tensors; the model has %d, %d and %d",
                        shape->n_levels, shape->n_dims, shape->n_tensors, arch->n_levels, problem->n_dims,
                        problem->n_tensors);
}

sx_status sx_model_score(const sx_model *model, const sx_mappings *mappings, unsigned threads,
                         size_t n_totals, double *totals) {
    if (n_totals > SX_N_TOTALS)
        return sx_error_new(SX_ERR_USAGE, "a mapping has %d totals, not %zu", SX_N_TOTALS, n_totals);
    SX_TRY(check_shape(model, &mappings->shape));
    sx_score *scores = calloc(mappings->n + 1, sizeof *scores);
    sx_verdict *verdicts = calloc(mappings->n + 1, sizeof *verdicts);
    sx_status status = scores && verdicts ? SX_OK : sx_error_memory();
    if (!status)
        status = sx_evaluate_array(model, mappings->data, mappings->stride, mappings->n, threads, scores,
                                   verdicts);
    for (size_t i = 0; !status && i < mappings->n; i++)
        for (size_t k = 0; k < n_totals; k++)
            totals[i * n_totals + k] = sx_score_total(&scores[i], (sx_total)k);
    free(scores);
    free(verdicts);
    return status;
}

sx_status sx_cost_report_new(const sx_model *model, sx_cost_report **out) {
    sx_cost_report *report = calloc(1, sizeof *report);
    if (!report) return sx_error_memory();
    report->model = model;
    strcpy(report->reason, "no mapping was evaluated");
    sx_status status = sx_model_workspace_new(model, &report->workspace);
    if (status)
        free(report);
    else
        *out = report;
    return status;
}

void sx_cost_report_free(sx_cost_report *report) {
    if (!report) return;
    sx_model_workspace_free(report->workspace);
    json_decref(report->figures);
    free(report);
}

sx_status sx_cost_report_fill(sx_cost_report *report, const sx_mapping *mapping) {
    const sx_problem *problem = sx_model_problem(report->model);
    const sx_arch *arch = sx_model_arch(report->model);
    SX_TRY(check_shape(report->model, mapping));
    json_decref(report->figures);
    report->figures = NULL;
    report->legal = false;
    sx_verdict verdict = sx_evaluate(report->workspace, mapping, &report->cost);
    sx_verdict_text(&verdict, problem, arch, report->reason, sizeof report->reason);
    SX_TRY(sx_verdict_status(&verdict, problem, arch));
    report->legal = verdict.reason == SX_LEGAL;
    return SX_OK;
}

bool sx_cost_report_legal(const sx_cost_report *report) {
    return report->legal;
}

const char *sx_cost_report_reason(const sx_cost_report *report) {
    return report->legal ? NULL : report->reason;
}

double sx_cost_report_total(const sx_cost_report *report, sx_total total) {
    if (!report->legal) return INFINITY;
    sx_score score = sx_cost_score(&report->cost);
    return sx_score_total(&score, total);
}

sx_status sx_cost_report_write(const sx_cost_report *report, char **out) {
    if (!report->legal) return sx_error_new(SX_ERR_USAGE, "the mapping has no cost: %s", report->reason);
    return sx_cost_write(&report->cost, sx_model_problem(report->model), sx_model_arch(report->model), out);
}

/* Makes the figures of a report, once. */
static sx_status make_figures(sx_cost_report *report) {
    char *text;
    if (report->figures) return SX_OK;
    SX_TRY(sx_cost_report_write(report, &text));
    report->figures = sx_json_read(text);
    free(text);
    return report->figures ? SX_OK : sx_error_memory();
}

sx_status sx_cost_report_figure(const sx_cost_report *report, const char *key, int level, int tensor,
                                double *out) {
    SX_TRY(make_figures((sx_cost_report *)report));
    const json_t *at = report->figures;
    if (level >= 0) at = json_array_get(json_object_get(at, "levels"), (size_t)level);
    if (level >= 0 && tensor >= 0) at = json_array_get(json_object_get(at, "tensors"), (size_t)tensor);
    const json_t *value = json_object_get(at, key);
    if (json_is_number(value))
        *out = json_number_value(value);
    else if (json_is_boolean(value))
        *out = json_is_true(value);
    else
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "there is no figure '%s' of level %d and tensor %d",
                                          key, level, tensor),
                             "docs/eval.md lists the figures of the whole, of levels and of tensors");
    return SX_OK;
}
