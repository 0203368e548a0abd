/* The figure of `sextant systolic`: the throughput of every design, or of every layer. */
#include "base/status.h"
#include "report/figure.h"
#include "report/systolic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What is drawn. */
typedef struct drawing {
    size_t n;
    char (*text)[SX_NAME_SIZE]; /* of the names */
    const char **name;
    double *value, *tick;
    double peak;
} drawing;

static sx_status drawing_init(size_t n, drawing *d) {
    *d = (drawing){.text = calloc(n + 1, sizeof *d->text),
                   .name = calloc(n + 1, sizeof *d->name),
                   .value = calloc(n + 1, sizeof *d->value),
                   .tick = calloc(n + 1, sizeof *d->tick),
                   .peak = NAN};
    if (!d->text || !d->name || !d->value || !d->tick) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        d->name[i] = d->text[i];
        d->value[i] = d->tick[i] = NAN;
    }
    return SX_OK;
}

static void drawing_fini(drawing *d) {
    free(d->text);
    free(d->name);
    free(d->value);
    free(d->tick);
}

/* Adds a bar of an array's throughput; its tick is the roofline. */
static void take_answer(const sx_systolic_job *job, const sx_systolic_kernel *kernel,
                        const sx_systolic_answer *answer, drawing *d) {
    if (!answer->found) return;
    sx_systolic_subject s = sx_systolic_subject_of(job, kernel, 1, answer);
    sx_systolic_figures f = sx_systolic_figures_of(&s);
    d->value[d->n] = f.throughput;
    d->tick[d->n] = f.roof;
    d->peak = f.peak;
}

/* Adds the designs, by their numbers. */
static void take_designs(const sx_systolic_job *job, drawing *d) {
    for (size_t i = 0; i < job->n_designs; i++) {
        sx_systolic_design design;
        sx_systolic_design_at(&job->layer[0].kernel, job->design[i], &design);
        sx_systolic_design_name(&design, d->text[d->n], sizeof d->text[d->n]);
        take_answer(job, &job->layer[0].kernel, &job->answer[i], d);
        d->n++;
    }
}

/* Adds the layers that differ; their ticks are what the shared array does. */
static sx_status take_layers(const sx_systolic_job *job, drawing *d) {
    sx_space *shared = NULL;
    size_t design = job->shared.point.design;
    if (job->shared.found) SX_TRY(sx_systolic_job_space(job, job->joined, job->n_joined, &design, &shared));
    for (size_t i = 0; i < job->n_layers; i++) {
        const sx_systolic_layer *layer = &job->layer[i];
        sx_systolic_cost cost;
        if (layer->same_as != i) continue;
        snprintf(d->text[d->n], sizeof d->text[d->n], "%s", layer->name);
        take_answer(job, &layer->kernel, &layer->best, d);
        d->tick[d->n] = NAN;
        if (shared) {
            (void)sx_systolic_evaluate(shared, &job->shared.point, (int)(layer->joined - job->joined), &cost);
            d->tick[d->n] = 2 * layer->kernel.macs / cost.latency * job->device.mhz / 1000;
        }
        d->n++;
    }
    sx_space_free(shared);
    return SX_OK;
}

sx_status sx_systolic_svg(const sx_systolic_job *job, sx_text *out) {
    bool network = sx_systolic_is_network(job);
    char title[256];
    drawing d;
    sx_status status = drawing_init(network ? job->n_layers : job->n_designs, &d);
    if (!status && network) status = take_layers(job, &d);
    if (!status && !network) take_designs(job, &d);
    if (!status) {
        snprintf(title, sizeof title, "%s on %s (%s)", job->name, job->device.name, job->element->name);
        sx_axes axes = {title, network ? "layer" : "design", sx_systolic_unit(job), false, false};
        sx_bars bars = {.bar_name = network ? "an array of its own" : "best tiles",
                        .tick_name = network ? "one shared array" : "roofline of that array",
                        .line_name = "peak of the usable DSP blocks",
                        .n = d.n,
                        .name = d.name,
                        .value = d.value,
                        .tick = d.tick,
                        .line = d.peak};
        if (network && !job->shared.found) bars.tick_name = NULL;
        sx_figure_bars(&axes, &bars, out);
        if (out->failed) status = sx_error_memory();
    }
    drawing_fini(&d);
    return status;
}
