#include "calibrate/fit_operators.h"

#include "ir/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Groups from which on rows tell how tiles run; with fewer, those numbers stay as they are. */
enum { MANY_GROUPS = 32 };

/* What predictions of a kind work with. */
typedef struct kind_task {
    const sx_operator_rows *rows;
    const sx_arch *arch;
    sx_timing *timing;
    const size_t *index; /* of the kind's rows */
} kind_task;

/* The time of a row of a kind. */
static double time_row(const kind_task *t, size_t row) {
    const sx_operator_row *r = &t->rows->row[row];
    const sx_row_kind *kind = &t->rows->kind[r->kind];
    if (kind->form == SX_FORM_LINK)
        return sx_time_collective(t->timing, kind->collective, r->chips, r->op.bytes);
    return sx_time_operator(t->arch, t->timing, &r->op).seconds;
}

static sx_status predict_row(void *user, size_t row, double *out) {
    const kind_task *t = user;
    *out = time_row(t, t->index[row]);
    return SX_OK;
}

/* Adds a number to those that are fitted; where it has no usable value yet, it begins from `start`. */
static void free_number(sx_fit *fit, sx_fit_task *task, const char *name, double *value, double start,
                        double least, double most) {
    const size_t k = fit->n_free++;
    if (!(*value > 0 && isfinite(*value))) *value = start;
    snprintf(fit->key[k].name, sizeof fit->key[k].name, "%s", name);
    task->value[k] = value;
    task->least[k] = least;
    task->most[k] = most;
}

/* What the numbers of a kind are freed by. */
typedef struct freeing {
    const sx_operator_rows *rows;
    const sx_arch *arch;
    sx_timing *timing;
    const sx_kind_fit *of;
    const size_t *index; /* of its rows */
} freeing;

/* Whether some of the rows have channels that are no multiple of 8. */
static bool shows_unaligned(const freeing *f) {
    for (size_t i = 0; i < f->of->n; i++)
        if (f->rows->row[f->index[i]].op.unaligned) return true;
    return false;
}

/* Chooses what rows of a form can show: of how tiles run only where there are many groups. */
static void free_numbers(const freeing *f, sx_timing_kind *kind, sx_fit *fit, sx_fit_task *task) {
    const sx_arch *arch = f->arch;
    sx_timing *timing = f->timing;
    const sx_operator_form form = f->of->kind->form;
    const int outer = arch->n_levels - 1;
    if (form == SX_FORM_LINK) {
        free_number(fit, task, "link.latency", &timing->link_latency, 1e-5, 1e-9, 1);
        free_number(fit, task, "link.bandwidth", &timing->link_bandwidth, 1e11, 1, 1e18);
        return;
    }
    free_number(fit, task, "overhead", &kind->overhead, 5e-6, 1e-9, 1);
    free_number(fit, task, arch->level[outer].name, &kind->level[outer], 0.7, 0.01, 10);
    if (form == SX_FORM_ROWS) free_number(fit, task, "element", &kind->element, 1e-9, 1e-15, 1);
    if (form == SX_FORM_ROWS && kind->warp > 0) free_number(fit, task, "warp", &kind->warp, 1e-9, 1e-15, 1);
    if (form == SX_FORM_STREAM) free_number(fit, task, "fill", &kind->fill, 0.3, 0.01, 4);
    if (form == SX_FORM_STREAM || form == SX_FORM_ROWS) return;
    free_number(fit, task, "compute", &kind->compute, 0.7, 0.01, 10);
    if (shows_unaligned(f))
        free_number(fit, task, "unaligned", &kind->unaligned, sx_unaligned_share(arch, NULL), 1e-4, 1);
    if (f->of->n_groups < MANY_GROUPS) return;
    free_number(fit, task, "overlap", &kind->overlap, 3, 1, 100);
    if (form == SX_FORM_BLOCKS || !timing->units) return;
    free_number(fit, task, "wave", &kind->wave, 1e-6, 1e-9, 1);
    free_number(fit, task, "split", &kind->split, 2e-6, 1e-9, 1);
    free_number(fit, task, "fill", &kind->fill, 0.3, 0.01, 4);
    if (timing->shared != outer)
        free_number(fit, task, arch->level[timing->shared].name, &kind->level[timing->shared], 0.8, 0.01, 10);
}

/* The rows that are fitted together: of one kind, or all collective operations. */
static bool goes_with(const sx_operator_rows *rows, size_t row, uint32_t kind) {
    const sx_row_kind *own = &rows->kind[rows->row[row].kind];
    return rows->row[row].kind == kind ||
           (own->form == SX_FORM_LINK && rows->kind[kind].form == SX_FORM_LINK);
}

/* Numbers the groups of some rows from 0 on. */
static sx_status number_groups(const sx_operator_rows *rows, const size_t *index, size_t n, uint32_t *group,
                               uint32_t *n_groups) {
    uint32_t *number = calloc(rows->n_groups + 1, sizeof *number);
    if (!number) return sx_error_memory();
    *n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t *of = &number[rows->row[index[i]].group];
        if (!*of) *of = ++*n_groups;
        group[i] = *of - 1;
    }
    free(number);
    return SX_OK;
}

static int compare_errors(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median error of the architecture's peaks alone. */
static sx_status measure_roofline(const kind_task *t, size_t n, double *out) {
    double *off = malloc(n * sizeof *off + 1);
    sx_timing *plain = calloc(1, sizeof *plain);
    sx_status status = off && plain ? SX_OK : sx_error_memory();
    size_t first;
    if (!status) status = sx_timing_own(plain, "", &first);
    for (size_t i = 0; i < n && !status; i++) {
        sx_timed_operator op = t->rows->row[t->index[i]].op;
        op.blocks = 0;
        op.columns = 0;
        double ratio = sx_time_operator(t->arch, plain, &op).seconds / t->rows->row[t->index[i]].seconds;
        off[i] = fmax(ratio, 1 / ratio) - 1;
    }
    if (!status) qsort(off, n, sizeof *off, compare_errors);
    if (!status) *out = off[n / 2];
    free(plain);
    free(off);
    return status;
}

/* Fits the rows of a kind, whose indices and groups are known. */
static sx_status fit_kind(kind_task *user, uint32_t kind, const uint32_t *group,
                          const unsigned folds_samples[2], uint64_t seed, sx_kind_fit *out) {
    const sx_row_kind *k = &user->rows->kind[kind];
    size_t own;
    double *measured = malloc(out->n * sizeof *measured + 1);
    if (!measured) return sx_error_memory();
    sx_fit_task task = {.n = out->n,
                        .n_groups = (uint32_t)out->n_groups,
                        .measured = measured,
                        .group = group,
                        .predict = predict_row,
                        .user = user};
    for (size_t i = 0; i < out->n; i++) measured[i] = user->rows->row[user->index[i]].seconds;
    sx_status status = sx_timing_own(
        user->timing, k->form == SX_FORM_LINK || strcmp(k->name, "gemm") == 0 ? "" : k->name, &own);
    if (!status && k->form != SX_FORM_LINK) status = measure_roofline(user, out->n, &out->roofline);
    if (!status) {
        const freeing f = {user->rows, user->arch, user->timing, out, user->index};
        free_numbers(&f, &user->timing->kind[own], &out->fit, &task);
        status = sx_fit_rows(&out->fit, &task, folds_samples[0], folds_samples[1], seed);
    }
    free(measured);
    return status;
}

sx_status sx_fit_operators(const sx_operator_rows *rows, const sx_arch *arch, sx_timing *timing,
                           const unsigned folds_samples[2], uint64_t seed, sx_kind_fit *out,
                           double *predicted) {
    size_t *index = malloc(rows->n * sizeof *index + 1);
    uint32_t *group = malloc(rows->n * sizeof *group + 1);
    sx_status status = index && group ? SX_OK : sx_error_memory();
    kind_task user = {rows, arch, timing, index};
    bool linked = false;
    for (uint32_t kind = 0; kind < rows->n_kinds && !status; kind++) {
        uint32_t n_groups = 0;
        out[kind] = (sx_kind_fit){.kind = &rows->kind[kind]};
        if (rows->kind[kind].form == SX_FORM_LINK && linked) continue;
        linked |= rows->kind[kind].form == SX_FORM_LINK;
        for (size_t i = 0; i < rows->n; i++)
            if (goes_with(rows, i, kind)) index[out[kind].n++] = i;
        status = number_groups(rows, index, out[kind].n, group, &n_groups);
        out[kind].n_groups = n_groups;
        if (!status) status = fit_kind(&user, kind, group, folds_samples, seed, &out[kind]);
    }
    for (size_t i = 0; i < rows->n && predicted && !status; i++) predicted[i] = time_row(&user, i);
    free(index);
    free(group);
    return status;
}
