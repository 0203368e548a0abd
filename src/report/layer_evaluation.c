/* The cost of a layer of a result, in full. */
#include "base/status.h"
#include "model/sparse/density_range.h"
#include "report/figures.h"
#include "report/formats.h"
#include "timing/layer.h"

#include <stdlib.h>

sx_status sx_layer_evaluate(const sx_result *r, size_t layer, sx_evaluation *e) {
    sx_model *model = NULL;
    sx_model_workspace *workspace = NULL;
    e->problem = r->network.layer[layer].problem;
    e->arch = r->arch;
    e->mapping = r->session.layer[layer].best.mapping;
    e->options = r->options.model;
    e->energies = r->energies;
    e->given = e->options.formats.kinds ? &r->arch : NULL;
    sx_density_range *range = &e->options.densities;
    sx_status status = range->n ? sx_density_range_apply(range, sx_range_densest(range), &e->problem) : SX_OK;
    if (!status)
        status = sx_formats_settle(&r->network.layer[layer].problem, &e->mapping, &e->options, &e->arch);
    range->n = 0;
    if (!status) status = sx_model_new(&e->problem, &e->arch, &e->options, &model);
    if (!status) status = sx_model_workspace_new(model, &workspace);
    if (!status) {
        e->minimum = sx_model_minimum(model, e->mapping.level[e->mapping.n_levels - 1].keep);
        e->verdict = sx_evaluate(workspace, &e->mapping, &e->cost);
        status = sx_verdict_status(&e->verdict, &e->problem, &e->arch);
    }
    sx_model_workspace_free(workspace);
    sx_model_free(model);
    return status;
}

/* The work of a layer's answer; none where it cannot be evaluated again. */
static sx_status layer_work(const sx_result *r, size_t layer, sx_evaluation *e, sx_work *out) {
    sx_status status = sx_layer_evaluate(r, layer, e);
    if (!status && e->verdict.reason == SX_LEGAL) {
        sx_work_of(&e->problem, &e->arch, &e->cost, out);
        if (r->timing)
            out->time = sx_time_layer(&e->arch, r->timing, &e->problem, &e->cost, 1, out->dram_bytes);
    }
    if (!status || status->code == SX_ERR_MEMORY) return status;
    sx_status_free(status);
    return SX_OK;
}

uint64_t *sx_result_times(const sx_result *r) {
    uint64_t *times = calloc(r->session.n_layers + 1, sizeof *times);
    for (size_t i = 0; i < r->session.n_layers && times; i++)
        times[r->session.layer[i].same_as] += r->network.layer[i].count;
    return times;
}

sx_status sx_result_works(const sx_result *r, sx_work **out) {
    size_t n = r->session.n_layers;
    sx_work *work = calloc(n + 1, sizeof *work);
    sx_evaluation *e = calloc(1, sizeof *e);
    sx_status status = work && e ? SX_OK : sx_error_memory();
    bool whole = true;
    for (size_t i = 0; i < n && !status; i++) {
        size_t same = r->session.layer[i].same_as;
        if (!r->session.layer[i].found) continue;
        if (same == i)
            status = layer_work(r, i, e, &work[i]);
        else
            work[i] = work[same];
        whole &= work[i].macs > 0;
        sx_work_add(&work[i], (double)r->network.layer[i].count, &work[n]);
    }
    if (!status && !whole) work[n] = (sx_work){0};
    free(e);
    if (status)
        free(work);
    else
        *out = work;
    return status;
}
