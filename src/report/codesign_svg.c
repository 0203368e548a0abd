/* The figure of area and objective. */
#include "report/codesign.h"

#include "report/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is drawn: the designs that were searched, with areas in mm^2 and values in a unit that suits them. */
typedef struct drawing {
    size_t n;
    double *area, *value;
    size_t *place; /* per design: the number of its point */
    size_t *front; /* numbers of points */
    int exponent;  /* values are divided by ten to this power */
    bool log;      /* they differ by more than a factor of ten */
} drawing;

static void drawing_fini(drawing *d) {
    free(d->area);
    free(d->value);
    free(d->place);
    free(d->front);
}

/* The power of ten of a number. */
static int exponent_of(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.15e", value);
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

static sx_status make_drawing(const sx_codesign_job *job, drawing *d) {
    const sx_codesign_result *r = &job->result;
    double least = INFINITY, most = -INFINITY;
    d->area = calloc(r->n_designs + 1, sizeof *d->area);
    d->value = calloc(r->n_designs + 1, sizeof *d->value);
    d->place = calloc(r->n_designs + 1, sizeof *d->place);
    d->front = calloc(r->n_front + 1, sizeof *d->front);
    if (!d->area || !d->value || !d->place || !d->front) return sx_error_memory();
    for (size_t i = 0; i < r->n_designs; i++) {
        if (r->design[i].outcome != SX_OUTCOME_DONE && r->design[i].outcome != SX_OUTCOME_QUICK) continue;
        d->place[i] = d->n;
        d->area[d->n] = sx_designs_area(job->designs, i) / 1e6;
        d->value[d->n++] = r->design[i].value;
        least = fmin(least, r->design[i].value);
        most = fmax(most, r->design[i].value);
    }
    for (size_t i = 0; i < r->n_front; i++) d->front[i] = d->place[r->front[i]];
    if (least > 0 && least < INFINITY) d->exponent = exponent_of(least);
    if (abs(d->exponent) < 4) d->exponent = 0;
    for (size_t i = 0; i < d->n; i++) d->value[i] /= pow(10, d->exponent);
    d->log = least > 0 && most > 10 * least;
    return SX_OK;
}

/* Adds the figure of a drawing. */
static void draw_figure(const sx_codesign_job *job, const drawing *d, const char *best, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    char title[256], label[300];
    snprintf(title, sizeof title, "%s on %s",
             job->network.n_layers == 1 ? job->network.layer[0].name : job->network.name, job->base.name);
    snprintf(label, sizeof label, d->exponent ? "%s / 1e%d" : "%s", sx_figure_axis(job->objective),
             d->exponent);
    sx_axes axes = {title, "area (mm\xc2\xb2)", label, false, d->log};
    sx_front figure = {"designs searched",
                       "front",
                       best,
                       d->n,
                       d->area,
                       d->value,
                       r->n_front,
                       d->front,
                       r->found ? d->place[r->best] : d->n};
    sx_figure_front(&axes, &figure, out);
}

sx_status sx_codesign_svg(const sx_codesign_job *job, sx_text *out) {
    drawing d = {0};
    sx_text best = {0};
    sx_status status = make_drawing(job, &d);
    if (!status) {
        if (job->result.found) sx_codesign_settings(job, job->result.best, &best);
        if (job->result.found && job->result.design[job->result.best].poor)
            sx_text_add(&best, " (poor mapping)");
        draw_figure(job, &d, best.data, out);
        if (out->failed || best.failed) status = sx_error_memory();
    }
    sx_text_free(&best);
    drawing_fini(&d);
    return status;
}
