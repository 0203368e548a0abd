#include "report/densities.h"

#include "base/status.h"
#include "report/formats.h"
#include "report/json_parts.h"
#include "report/table.h"

#include <stdlib.h>

/* Evaluates a mapping at every density of a range. */
static sx_status evaluate_densities(const sx_model *model, const sx_mapping *mapping, sx_score *out) {
    const sx_model *at;
    double weight;
    for (int i = 0; (at = sx_model_at_density(model, i, &weight)); i++) {
        sx_model_workspace *workspace;
        SX_TRY(sx_model_workspace_new(at, &workspace));
        sx_verdict verdict = sx_evaluate_score(workspace, mapping, &out[i]);
        sx_model_workspace_free(workspace);
        SX_TRY(sx_verdict_status(&verdict, sx_model_problem(at), sx_model_arch(at)));
    }
    return SX_OK;
}

/* The scores of a layer's best mapping. */
static sx_status score_layer(const sx_result *r, size_t layer, sx_score *out) {
    const sx_problem *problem = &r->network.layer[layer].problem;
    const sx_mapping *mapping = &r->session.layer[layer].best.mapping;
    sx_model_options options = r->options.model;
    sx_model *model = NULL;
    sx_arch *arch = malloc(sizeof *arch);
    if (!arch) return sx_error_memory();
    *arch = r->arch;
    sx_status status = sx_formats_settle(problem, mapping, &options, arch);
    if (!status) status = sx_model_new(problem, arch, &options, &model);
    if (!status) status = evaluate_densities(model, mapping, out);
    sx_model_free(model);
    free(arch);
    return status;
}

sx_status sx_densities_print(const sx_result *r, size_t layer, sx_text *out) {
    const sx_density_range *range = &r->options.model.densities;
    sx_score score[SX_MAX_DENSITIES];
    sx_table table;
    char align[] = "llllrrrrr";
    if (range->n == 0) return SX_OK;
    SX_TRY(score_layer(r, layer, score));
    sx_text_add(out, "\nThe mapping at each density; the objective is the sum of %s times weight: %.6g.\n\n",
                r->objective, r->session.layer[layer].best.value);
    sx_table_begin(&table, align + SX_MAX_RANGE_TENSORS - range->n_tensors);
    for (int t = 0; t < range->n_tensors; t++) sx_table_cell(&table, "%s", range->tensor[t].name);
    sx_table_cell(&table, "weight");
    sx_table_cell(&table, "cycles");
    sx_table_cell(&table, "energy");
    sx_table_cell(&table, "EDP");
    sx_table_cell(&table, "times weight");
    for (int i = 0; i < range->n; i++) {
        double value = sx_objective_value(&r->options.run.objective, &score[i]);
        for (int t = 0; t < range->n_tensors; t++) sx_table_cell(&table, "%g", range->tensor[t].share[i]);
        sx_table_cell(&table, "%g", range->weight[i]);
        sx_table_cell(&table, "%s", sx_show_count(score[i].cycles).text);
        sx_table_cell(&table, "%s", sx_show_energy(score[i].energy_pj).text);
        sx_table_cell(&table, "%.4g", score[i].energy_pj * score[i].cycles);
        sx_table_cell(&table, "%.4g", value * range->weight[i]);
    }
    sx_table_end(&table, 2, out);
    return SX_OK;
}

sx_status sx_densities_json(const sx_result *r, size_t layer, json_t **out) {
    const sx_density_range *range = &r->options.model.densities;
    sx_score score[SX_MAX_DENSITIES];
    *out = NULL;
    if (range->n == 0 || !r->session.layer[layer].found) return SX_OK;
    SX_TRY(score_layer(r, layer, score));
    json_t *list = json_array();
    for (int i = 0; i < range->n; i++) {
        json_t *row = sx_json_score(&score[i]), *shares = json_object();
        for (int t = 0; t < range->n_tensors; t++)
            sx_json_set(shares, range->tensor[t].name, json_real(range->tensor[t].share[i]));
        double value = sx_objective_value(&r->options.run.objective, &score[i]);
        sx_json_set(row, "density", shares);
        sx_json_set(row, "weight", json_real(range->weight[i]));
        sx_json_set(row, "objective", sx_json_real(value));
        sx_json_append(list, row);
    }
    *out = list;
    return list ? SX_OK : sx_error_memory();
}
