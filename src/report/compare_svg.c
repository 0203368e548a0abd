/* The curves of a comparison. */
#include "report/compare.h"

#include "base/file.h"
#include "report/figure.h"
#include "session/statistics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joins the traces of a navigator on a problem. */
static sx_status join_runs(const sx_comparison *c, size_t problem, size_t navigator, bool by_time,
                           sx_convergence *out) {
    size_t n;
    const sx_compare_run *run = sx_comparison_runs(c, problem, navigator, &n);
    sx_run_trace_view *view = calloc(n + 1, sizeof *view);
    if (!view) return sx_error_memory();
    for (size_t i = 0; i < n; i++)
        view[i] = (sx_run_trace_view){run[i].trace, run[i].n_trace,
                                      by_time ? run[i].summary.seconds : (double)run[i].summary.evaluations};
    sx_status status = sx_convergence_of(view, n, by_time, out);
    free(view);
    return status;
}

/* Turns latencies into speedups over a baseline. */
static void speed_up(double baseline, sx_convergence *c) {
    for (size_t i = 0; i < c->n; i++) {
        double low = c->low[i];
        c->mid[i] = baseline / c->mid[i];
        c->low[i] = baseline / c->high[i];
        c->high[i] = baseline / low;
    }
}

/* Adds the figure of a problem. */
static sx_status add_figure(const sx_compare_report *r, size_t problem, bool by_time, sx_text *out) {
    const sx_comparison *c = r->comparison;
    sx_convergence *joined = calloc(c->n_navigators, sizeof *joined);
    sx_curve *curve = calloc(c->n_navigators, sizeof *curve);
    sx_status status = joined && curve ? SX_OK : sx_error_memory();
    bool positive = true, speedup = r->baseline && strcmp(c->objective, "delay") == 0;
    for (size_t m = 0; m < c->n_navigators && !status; m++) {
        status = join_runs(c, problem, m, by_time, &joined[m]);
        if (!status && speedup) speed_up(r->baseline[problem], &joined[m]);
        curve[m] =
            (sx_curve){c->label[m], joined[m].n, joined[m].x, joined[m].mid, joined[m].low, joined[m].high};
        for (size_t i = 0; i < joined[m].n; i++) positive &= joined[m].low[i] > 0;
    }
    if (!status) {
        char title[256];
        snprintf(title, sizeof title, "%s on %s", c->problem[problem].name,
                 r->chip     ? r->chip
                 : r->device ? r->device
                             : r->arch);
        sx_axes axes = {title, by_time ? "seconds" : "evaluations",
                        speedup ? "speedup over the compiler" : sx_figure_axis(c->objective), true,
                        positive && !speedup};
        sx_figure_curves(&axes, curve, c->n_navigators, out);
        status = out->failed ? sx_error_memory() : SX_OK;
    }
    for (size_t m = 0; joined && m < c->n_navigators; m++) sx_convergence_fini(&joined[m]);
    free(joined);
    free(curve);
    return status;
}

/* The name of a problem's file: the path with the problem's name before its ending. */
static sx_status file_of(const char *path, const char *problem, char **out) {
    sx_text text = {0};
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash) || dot == path) dot = path + strlen(path);
    sx_text_add(&text, "%.*s-", (int)(dot - path), path);
    for (; *problem; problem++)
        sx_text_add(&text, "%c",
                    isalnum((unsigned char)*problem) || strchr("-_.", *problem) ? *problem : '_');
    sx_text_add(&text, "%s", dot);
    return sx_text_take(&text, out);
}

sx_status sx_compare_svg(const sx_compare_report *r, bool by_time, const char *path) {
    const sx_comparison *c = r->comparison;
    sx_status status = SX_OK;
    for (size_t p = 0; p < c->n_problems && !status; p++) {
        sx_text svg = {0};
        char *file = NULL;
        status = add_figure(r, p, by_time, &svg);
        if (!status && c->n_problems > 1) status = file_of(path, c->problem[p].name, &file);
        if (!status) status = sx_file_write(file ? file : path, svg.data, svg.size);
        free(file);
        sx_text_free(&svg);
    }
    return status;
}
