/* Figures derived from the cost of a systolic array. */
#include "report/systolic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GIGA = 1e9, MEGA = 1e6;

sx_systolic_subject sx_systolic_subject_of(const sx_systolic_job *job, const sx_systolic_kernel *kernels,
                                           size_t n, const sx_systolic_answer *answer) {
    sx_systolic_subject subject = {.job = job, .kernel = kernels, .n = n, .answer = answer};
    sx_systolic_design_at(kernels, answer->point.design, &subject.design);
    return subject;
}

double sx_systolic_operations(const sx_systolic_kernel *kernels, size_t n) {
    double macs = 0;
    for (size_t i = 0; i < n; i++) macs += kernels[i].macs * (double)kernels[i].count;
    return 2 * macs;
}

const char *sx_systolic_unit(const sx_systolic_job *job) {
    static const char *const real[] = {"fp", "bf", "tf", "float", "half", "double"};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (strncmp(job->element->name, real[i], strlen(real[i])) == 0) return "GFLOP/s";
    return "GOP/s";
}

/* The streams of a design from and to memory: partial sums come back unless the result is stationary. */
static int streams_of(const sx_systolic_design *design) {
    return design->stationary == SX_RESULT ? 3 : 4;
}

sx_systolic_figures sx_systolic_figures_of(const sx_systolic_subject *s) {
    const sx_device *device = &s->job->device;
    const sx_element *element = s->job->element;
    const sx_systolic_cost *cost = &s->answer->cost;
    double clock = device->mhz * MEGA / GIGA, operations = sx_systolic_operations(s->kernel, s->n);
    double bytes = cost->offchip_words * element->bits / 8;
    double usable = sx_device_usable_dsp(device);
    sx_systolic_figures f = {.throughput = operations / cost->latency * clock,
                             .peak = 2 * floor(usable / element->dsp_per_mac + 1e-9) * clock,
                             .intensity = operations / bytes,
                             .bandwidth = bytes / cost->latency * clock,
                             .ports = streams_of(&s->design),
                             .dsp_share = cost->dsp / usable,
                             .bram_share = cost->bram18k / sx_device_usable_bram(device)};
    f.port = f.ports * (device->port_bits / 8.0) * clock;
    f.roof = fmin(2 * cost->dsp / element->dsp_per_mac * clock, f.intensity * f.port);
    f.efficiency = operations / (2 * cost->dsp / element->dsp_per_mac) / cost->latency;
    return f;
}

double sx_systolic_term_cycles(const sx_systolic_term *term, sx_systolic_phase phase) {
    if (phase == SX_PHASE_PROLOGUE) return term->prologue;
    return phase == SX_PHASE_STEADY ? term->steady : term->epilogue;
}

/* How often the array passes over tiles. */
static double passes_of(const sx_systolic_kernel *kernel, const sx_systolic_point *point) {
    double passes = 1;
    for (int d = 0; d < kernel->n_loops; d++)
        passes *= ceil((double)kernel->loop[d].size / (double)point->t1[d]);
    return passes;
}

const sx_systolic_term *sx_systolic_limit(const sx_systolic_kernel *kernel, const sx_systolic_point *point,
                                          const sx_systolic_items *items, sx_systolic_phase phase) {
    const sx_systolic_term *most = &items->term[0], *computing = NULL;
    for (size_t i = 0; i < items->n_terms; i++) {
        const sx_systolic_term *term = &items->term[i];
        if (sx_systolic_term_cycles(term, phase) > sx_systolic_term_cycles(most, phase)) most = term;
        if (term->role == SX_SYSTOLIC_COMPUTES) computing = term;
    }
    bool waits =
        phase == SX_PHASE_STEADY && computing && most->steady - computing->steady <= passes_of(kernel, point);
    return waits ? computing : most;
}

sx_status sx_systolic_items_of(const sx_systolic_subject *s, sx_systolic_items *out) {
    double most = -1;
    for (size_t i = 0; i < s->n; i++) {
        sx_systolic_items items;
        double bram = 0;
        SX_TRY(
            sx_systolic_itemize(&s->kernel[i], &s->job->device, &s->job->options, &s->answer->point, &items));
        for (size_t b = 0; b < items.n_buffers; b++) bram += items.buffer[b].bram18k;
        if (bram > most) *out = items;
        if (bram > most) most = bram;
    }
    return SX_OK;
}

uint64_t sx_systolic_padded(const sx_systolic_loop *loop, uint32_t t1) {
    return ((uint64_t)loop->size + t1 - 1) / t1 * t1;
}

void sx_systolic_add_tiles(const sx_systolic_subject *s, sx_text *out) {
    const sx_systolic_point *p = &s->answer->point;
    for (int d = 0; d < s->kernel->n_loops; d++)
        sx_text_add(out, "%s%u/%u", d ? " " : "", p->t1[d], p->t2[d]);
}

void sx_systolic_add_array(const sx_systolic_subject *s, sx_text *out) {
    const sx_systolic_point *p = &s->answer->point;
    for (int i = 0; i < s->design.n_space; i++) {
        int d = s->design.space[i];
        sx_text_add(out, "%ux", p->t1[d] / p->t2[d]);
    }
    sx_text_add(out, "%u", p->t2[s->kernel->simd]);
}

sx_status sx_systolic_autosa_text(const sx_systolic_subject *s, char **out) {
    sx_space *space = NULL;
    *out = NULL;
    size_t design = s->answer->point.design;
    sx_status status = sx_systolic_job_space(s->job, s->kernel, s->n, &design, &space);
    if (!status) status = sx_systolic_autosa(space, &s->answer->point, out);
    sx_space_free(space);
    if (!status || status->code == SX_ERR_MEMORY) return status;
    sx_status_free(status);
    return SX_OK;
}
