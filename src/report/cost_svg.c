#include "report/cost_svg.h"

#include "base/status.h"
#include "report/figure.h"
#include "report/figures.h"
#include "report/runs.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is drawn: points below the roof and stacks of energies, with their names. */
typedef struct drawing {
    size_t n_points, n_bars, n_parts;
    const char **point, **bar, **part;
    double *x, *y;  /* MACs per byte and per cycle */
    double *energy; /* pJ, n_parts of each bar */
} drawing;

static sx_status drawing_init(size_t points, size_t bars, size_t parts, drawing *d) {
    *d = (drawing){.n_points = points,
                   .n_bars = bars,
                   .n_parts = parts,
                   .point = calloc(points + 1, sizeof *d->point),
                   .bar = calloc(bars + 1, sizeof *d->bar),
                   .part = calloc(parts + 1, sizeof *d->part),
                   .x = calloc(points + 1, sizeof *d->x),
                   .y = calloc(points + 1, sizeof *d->y),
                   .energy = calloc(bars * parts + 1, sizeof *d->energy)};
    return d->point && d->bar && d->part && d->x && d->y && d->energy ? SX_OK : sx_error_memory();
}

static void drawing_fini(drawing *d) {
    free(d->point);
    free(d->bar);
    free(d->part);
    free(d->x);
    free(d->y);
    free(d->energy);
}

sx_roof sx_roof_of(const sx_arch *arch) {
    const sx_storage *s = &arch->level[sx_dram_level(arch)];
    double words = fmin(s->read_bandwidth + s->write_bandwidth, s->shared_bandwidth);
    return (sx_roof){(double)arch->compute.instances, words * (double)s->instances * s->word_bits / 8};
}

/* Sets a point of the roofline. */
static void set_point(const sx_work *work, const char *name, size_t i, drawing *d) {
    d->point[i] = name;
    d->x[i] = work->dram_bytes > 0 ? work->macs / work->dram_bytes : NAN;
    d->y[i] = work->cycles > 0 ? work->macs / work->cycles : NAN;
}

static double networks_energy(const sx_cost *cost) {
    double energy = 0;
    for (int s = 0; s < cost->n_levels; s++) energy += cost->network[s].energy_pj;
    return energy;
}

/* Makes energies readable: divides them by a power of ten and says which unit they are in then. */
static const char *scale_energies(drawing *d) {
    static const char *const units[] = {"energy (pJ)", "energy (nJ)", "energy (\xc2\xb5J)", "energy (mJ)",
                                        "energy (J)"};
    double most = 0;
    size_t unit = 0;
    for (size_t i = 0; i < d->n_bars; i++) {
        double sum = 0;
        for (size_t k = 0; k < d->n_parts; k++) sum += d->energy[i * d->n_parts + k];
        most = fmax(most, sum);
    }
    double divisor = 1;
    for (; most / divisor >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++) divisor *= 1000;
    for (size_t i = 0; i < d->n_bars * d->n_parts; i++) d->energy[i] /= divisor;
    return units[unit];
}

/* Adds the roofline; with a clock in operations per second. */
static void draw_roofline(const sx_arch *arch, const drawing *d, const char *title, sx_text *out) {
    sx_roof top = sx_roof_of(arch);
    double rate = arch->cycle_seconds > 0 ? 2e-12 / arch->cycle_seconds : 1, *y = d->y;
    char peak[64], slope[96];
    snprintf(peak, sizeof peak, rate == 1 ? "peak %.4g MACs/cycle" : "peak %.4g TOPS", top.peak * rate);
    snprintf(slope, sizeof slope, rate == 1 ? "%.32s: %.4g B/cycle" : "%.32s: %.4g GB/s",
             arch->level[sx_dram_level(arch)].name, rate == 1 ? top.bandwidth : top.bandwidth * rate * 500);
    for (size_t i = 0; i < d->n_points; i++) y[i] *= rate;
    sx_axes axes = {title, "MACs per byte of DRAM traffic", rate == 1 ? "MACs per cycle" : "TOPS", true,
                    true};
    sx_roofline figure = {.peak = top.peak * rate,
                          .slope = top.bandwidth * rate,
                          .peak_name = peak,
                          .slope_name = slope,
                          .n = d->n_points,
                          .name = d->point,
                          .x = d->x,
                          .y = y};
    sx_figure_roofline(&axes, &figure, out);
}

/* The value of an attribute of a figure's first element. */
static double size_of(const sx_text *figure, const char *attribute) {
    const char *at = figure->data ? strstr(figure->data, attribute) : NULL;
    return at ? strtod(at + strlen(attribute), NULL) : 0;
}

/* Adds both figures, one above the other. */
static sx_status draw_figures(const sx_arch *arch, drawing *d, const char *title, const char *kind,
                              sx_text *out) {
    sx_text roofline = {0}, bars = {0};
    draw_roofline(arch, d, title, &roofline);
    sx_axes axes = {"Energy", kind, scale_energies(d), false, false};
    sx_bars stacks = {.n = d->n_bars,
                      .name = d->bar,
                      .value = d->energy,
                      .line = NAN,
                      .n_parts = d->n_parts,
                      .part_name = d->part};
    sx_figure_bars(&axes, &stacks, &bars);
    double upper = size_of(&roofline, " height=\""), lower = size_of(&bars, " height=\"");
    if (!roofline.failed && !bars.failed) {
        sx_svg_open(out, fmax(size_of(&roofline, " width=\""), size_of(&bars, " width=\"")), upper + lower,
                    title);
        sx_text_add(out, "%s<g transform=\"translate(0 %g)\">\n%s</g>\n", roofline.data, upper, bars.data);
        sx_svg_close(out);
    }
    bool whole = !roofline.failed && !bars.failed && !out->failed;
    sx_text_free(&roofline);
    sx_text_free(&bars);
    return whole ? SX_OK : sx_error_memory();
}

/* Sets the stacks of one mapping: components outermost first, by tensor, with leakage, computing and networks as
 * one more part. */
static void set_components(const sx_evaluation *e, drawing *d) {
    size_t tensors = e->problem.n_tensors, bar = 0;
    for (size_t v = 0; v < tensors; v++) d->part[v] = e->problem.tensor[v].name;
    d->part[tensors] = "computes, leakage, networks";
    for (int s = e->cost.n_levels - 1; s >= 0; s--) {
        const sx_cost_level *l = &e->cost.level[s];
        if (e->arch.level[s].transparent) continue;
        d->bar[bar] = e->arch.level[s].name;
        for (size_t v = 0; v < tensors; v++) d->energy[bar * d->n_parts + v] = l->tensor[v].energy_pj;
        d->energy[bar++ * d->n_parts + tensors] = l->leakage_pj;
    }
    d->bar[bar] = e->arch.compute.name;
    d->energy[bar++ * d->n_parts + tensors] = e->cost.compute_energy_pj;
    if (networks_energy(&e->cost) > 0) {
        d->bar[bar] = "networks";
        d->energy[bar++ * d->n_parts + tensors] = networks_energy(&e->cost);
    }
    d->n_bars = bar;
}

sx_status sx_evaluation_svg(const sx_evaluation *e, sx_text *out) {
    char title[2 * SX_NAME_SIZE + 8];
    drawing d;
    sx_work work;
    sx_status status = drawing_init(1, (size_t)e->cost.n_levels + 2, (size_t)e->problem.n_tensors + 1, &d);
    if (!status) {
        const char *name = e->problem.name[0] ? e->problem.name : "problem";
        sx_work_of(&e->problem, &e->arch, &e->cost, &work);
        set_point(&work, name, 0, &d);
        set_components(e, &d);
        snprintf(title, sizeof title, "%s on %s", name, e->arch.name);
        status = draw_figures(&e->arch, &d, title, "component", out);
    }
    drawing_fini(&d);
    return status;
}

/* Sets the stack of a layer: computing, levels innermost first, networks. */
static void set_layer(const sx_cost *cost, size_t bar, drawing *d) {
    double *energy = &d->energy[bar * d->n_parts];
    energy[0] = cost->compute_energy_pj;
    for (int s = 0; s < cost->n_levels; s++) energy[s + 1] = cost->level[s].energy_pj;
    energy[cost->n_levels + 1] = networks_energy(cost);
}

/* Sets the points and stacks of all layers that differ and have an answer. */
static sx_status set_layers(const sx_result *r, sx_evaluation *e, drawing *d) {
    size_t n = 0;
    d->part[0] = r->arch.compute.name;
    for (int s = 0; s < r->arch.n_levels; s++) d->part[s + 1] = r->arch.level[s].name;
    d->part[r->arch.n_levels + 1] = "networks";
    for (size_t i = 0; i < r->session.n_layers; i++) {
        sx_work work;
        if (!r->session.layer[i].found || r->session.layer[i].same_as != i) continue;
        SX_TRY(sx_layer_evaluate(r, i, e));
        if (e->verdict.reason != SX_LEGAL) continue;
        sx_work_of(&e->problem, &e->arch, &e->cost, &work);
        set_point(&work, r->network.layer[i].name, n, d);
        d->bar[n] = r->network.layer[i].name;
        set_layer(&e->cost, n++, d);
    }
    d->n_points = d->n_bars = n;
    return SX_OK;
}

/* Sets the points of the operators of runs, by their times. */
static void set_operators(sx_serving *serving, size_t n, double cycle_seconds, drawing *d) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < serving[i].n; k++) {
            sx_serving_part *p = &serving[i].part[k];
            char name[SX_NAME_SIZE];
            if (!(p->macs > 0) || !(p->one.seconds > 0)) continue;
            memcpy(name, p->name, sizeof name);
            if (n > 1) snprintf(p->name, sizeof p->name, "%.8s/%.50s", serving[i].run.phase, name);
            const sx_work work = {
                .macs = p->macs, .dram_bytes = p->bytes, .cycles = p->one.seconds / cycle_seconds};
            set_point(&work, p->name, at++, d);
        }
    d->n_points = at;
}

/* Draws a network: of runs that are timed the operators, else the layers. */
static sx_status draw_network(const sx_result *r, sx_evaluation *e, sx_text *out) {
    char title[2 * SX_NAME_SIZE + 8];
    sx_serving serving[SX_MOST_RUNS] = {0};
    drawing d = {0};
    size_t runs, points = r->session.n_layers;
    sx_status status = sx_runs_serve(r, serving, &runs);
    for (size_t i = 0; i < runs; i++) points += serving[i].n;
    if (!status) status = drawing_init(points, r->session.n_layers, (size_t)r->arch.n_levels + 2, &d);
    if (!status) status = set_layers(r, e, &d);
    if (!status && runs) set_operators(serving, runs, r->arch.cycle_seconds, &d);
    if (!status) {
        snprintf(title, sizeof title, "%s on %s", r->network.name, r->arch.name);
        status = draw_figures(&r->arch, &d, title, "layer, once each", out);
    }
    for (size_t i = 0; i < runs; i++) sx_serving_fini(&serving[i]);
    drawing_fini(&d);
    return status;
}

sx_status sx_result_svg(const sx_result *r, sx_text *out) {
    sx_evaluation *e = calloc(1, sizeof *e);
    sx_status status = e ? SX_OK : sx_error_memory();
    if (!status && r->session.n_layers > 1)
        status = draw_network(r, e, out);
    else if (!status) {
        status = sx_layer_evaluate(r, 0, e);
        if (!status) status = sx_evaluation_svg(e, out);
    }
    free(e);
    return status;
}
