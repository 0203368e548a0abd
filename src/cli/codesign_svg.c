/* The figure of area and objective. */
#include "cli/codesign.h"

#include "cli/search.h"
#include "report/figure.h"

#include <stdio.h>
#include <stdlib.h>

sx_status sx_codesign_svg(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    double *area = calloc(r->n_designs + 1, sizeof *area), *value = calloc(r->n_designs + 1, sizeof *value);
    size_t *place = calloc(r->n_designs + 1, sizeof *place), *front = calloc(r->n_front + 1, sizeof *front);
    sx_status status = area && value && place && front ? SX_OK : sx_error_memory();
    sx_text best = {0};
    if (!status) {
        char title[256];
        size_t n = 0;
        bool positive = true;
        for (size_t i = 0; i < r->n_designs; i++) {
            if (r->design[i].fate != SX_FATE_DONE) continue;
            place[i] = n;
            area[n] = sx_designs_area(job->designs, i) / 1e6;
            value[n] = r->design[i].value;
            positive &= value[n++] > 0;
        }
        for (size_t i = 0; i < r->n_front; i++) front[i] = place[r->front[i]];
        if (r->found) sx_codesign_settings(job, r->best, &best);
        snprintf(title, sizeof title, "%s on %s",
                 job->network.n_layers == 1 ? job->network.layer[0].name : job->network.name, job->base.name);
        sx_axes axes = {title, "area (mm\xc2\xb2)", sx_search_axis(job->objective), false, positive};
        sx_front figure = {
            "designs searched",           "front", best.data, n, area, value, r->n_front, front,
            r->found ? place[r->best] : n};
        sx_figure_front(&axes, &figure, out);
        status = out->failed || best.failed ? sx_error_memory() : SX_OK;
    }
    sx_text_free(&best);
    free(area);
    free(value);
    free(place);
    free(front);
    return status;
}
