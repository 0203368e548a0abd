#include "cli/calibrate_operators.h"

#include "base/file.h"
#include "calibrate/fit_operators.h"
#include "cli/search.h"
#include "frontend/timing_section.h"
#include "report/json_parts.h"
#include "report/table.h"
#include "sextant/figure.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FILTERS = 8, MOST_REASONS = 5 };

/* What the command works with. */
typedef struct calibration {
    sx_arch arch;
    sx_timing timing;
    sx_operator_rows rows;
    sx_kind_fit kind[SX_MAX_KINDS];
    double *predicted;
    unsigned folds_samples[2];
} calibration;

sx_status sx_calibrate_draw(const char *path, const char *title, size_t n, const double *measured,
                            const double *predicted) {
    const sx_axes axes = {title, "measured", "predicted", true, true};
    const sx_front front = {.all_name = "rows", .n = n, .x = measured, .y = predicted, .best = n};
    char *svg;
    SX_TRY(sx_draw_front(&axes, &front, &svg));
    sx_status status = sx_file_write(path, svg, strlen(svg));
    free(svg);
    return status;
}

/* Adds the error of a fit as two cells. */
static void add_errors(const sx_fit_quality *q, sx_table *table) {
    sx_table_cell(table, "%s", sx_show_percent(q->median).text);
    sx_table_cell(table, "%s", sx_show_percent(q->p90).text);
}

/* The errors by kind. */
static void print_errors(const calibration *c, sx_text *out) {
    static const char *const head[] = {"kind",  "rows", "groups",   "roofline", "before", "p90",
                                       "after", "p90",  "held out", "p90",      "worst"};
    sx_table table;
    sx_table_begin(&table, "lrrrrrrrrrr");
    for (int i = 0; i < 11; i++) sx_table_cell(&table, "%s", head[i]);
    for (uint32_t k = 0; k < c->rows.n_kinds; k++) {
        const sx_kind_fit *kind = &c->kind[k];
        if (kind->n == 0) continue;
        sx_table_cell(&table, "%s", kind->kind->form == SX_FORM_LINK ? "link" : kind->kind->name);
        sx_table_cell(&table, "%zu", kind->n);
        sx_table_cell(&table, "%zu", kind->n_groups);
        if (kind->roofline > 0)
            sx_table_cell(&table, "%s", sx_show_percent(kind->roofline).text);
        else
            sx_table_blank(&table, 1);
        add_errors(&kind->fit.prior, &table);
        add_errors(&kind->fit.fitted, &table);
        if (c->folds_samples[0] > 1)
            add_errors(&kind->fit.validated, &table);
        else
            sx_table_blank(&table, 2);
        sx_table_cell(&table, "%.2f",
                      c->folds_samples[0] > 1 ? kind->fit.validated.worst : kind->fit.fitted.worst);
    }
    sx_table_end(&table, 2, out);
}

/* The fitted numbers by kind. */
static void print_numbers(const calibration *c, sx_text *out) {
    static const char *const head[] = {"kind", "number", "before", "after", "16 %", "84 %"};
    sx_table table;
    sx_table_begin(&table, "llrrrr");
    for (int i = 0; i < 6; i++) sx_table_cell(&table, "%s", head[i]);
    for (uint32_t k = 0; k < c->rows.n_kinds; k++) {
        const sx_fit *fit = &c->kind[k].fit;
        for (size_t i = 0; i < fit->n_free; i++) {
            sx_table_cell(&table, "%s",
                          i                                       ? ""
                          : c->kind[k].kind->form == SX_FORM_LINK ? "link"
                                                                  : c->kind[k].kind->name);
            sx_table_cell(&table, "%s", fit->key[i].name);
            sx_table_cell(&table, "%.4g", fit->before[i]);
            sx_table_cell(&table, "%.4g", fit->after[i]);
            if (c->folds_samples[1] < 2) sx_table_blank(&table, 2);
            if (c->folds_samples[1] < 2) continue;
            sx_table_cell(&table, "%.4g", fit->low[i]);
            sx_table_cell(&table, "%.4g", fit->high[i]);
        }
    }
    sx_table_end(&table, 2, out);
}

static void print_result(const calibration *c, sx_text *out) {
    const sx_measurements *rejected = &c->rows.rejected;
    sx_text_add(out, "%zu operators on %s; errors are medians of the ratio either way, less 1\n\n", c->rows.n,
                c->arch.name);
    print_errors(c, out);
    sx_text_add(out, "\n");
    print_numbers(c, out);
    if (rejected->n_rejected) sx_text_add(out, "\n");
    for (size_t i = 0; i < rejected->n_rejected && i < MOST_REASONS; i++)
        sx_text_add(out, "  line %d is left out: %s\n", rejected->rejected[i].line,
                    rejected->rejected[i].reason);
    if (rejected->n_rejected > MOST_REASONS)
        sx_text_add(out, "  and %zu others; --json lists them\n", rejected->n_rejected - MOST_REASONS);
}

static json_t *quality_json(const sx_fit_quality *q) {
    return json_pack("{s:f, s:f, s:f, s:f}", "median", q->median, "p90", q->p90, "mean_error", q->mean_error,
                     "worst", q->worst);
}

/* One kind as JSON. */
static json_t *kind_json(const calibration *c, const sx_kind_fit *kind) {
    json_t *numbers = json_array();
    for (size_t i = 0; i < kind->fit.n_free; i++) {
        json_t *number = json_pack("{s:s, s:f, s:f}", "key", kind->fit.key[i].name, "before",
                                   kind->fit.before[i], "after", kind->fit.after[i]);
        if (c->folds_samples[1] > 1) {
            sx_json_set(number, "low", sx_json_real(kind->fit.low[i]));
            sx_json_set(number, "high", sx_json_real(kind->fit.high[i]));
        }
        sx_json_append(numbers, number);
    }
    json_t *object = json_pack("{s:s, s:i, s:i, s:o, s:o, s:o}", "kind",
                               kind->kind->form == SX_FORM_LINK ? "link" : kind->kind->name, "rows",
                               (int)kind->n, "groups", (int)kind->n_groups, "keys", numbers, "before",
                               quality_json(&kind->fit.prior), "after", quality_json(&kind->fit.fitted));
    if (kind->roofline > 0) sx_json_set(object, "roofline_median", sx_json_real(kind->roofline));
    if (c->folds_samples[0] > 1) sx_json_set(object, "cross_validated", quality_json(&kind->fit.validated));
    return object;
}

static sx_status print_json(const calibration *c, sx_text *out) {
    json_t *kinds = json_array(), *rejected = json_array();
    for (uint32_t k = 0; k < c->rows.n_kinds; k++)
        if (c->kind[k].n) sx_json_append(kinds, kind_json(c, &c->kind[k]));
    for (size_t i = 0; i < c->rows.rejected.n_rejected; i++)
        sx_json_append(rejected, json_pack("{s:i, s:s}", "row", c->rows.rejected.rejected[i].line, "reason",
                                           c->rows.rejected.rejected[i].reason));
    return sx_json_finish(json_pack("{s:s, s:i, s:i, s:o, s:o}", "arch", c->arch.name, "rows",
                                    (int)(c->rows.n + c->rows.rejected.n_rejected), "used", (int)c->rows.n,
                                    "kinds", kinds, "rejected", rejected),
                          out);
}

/* Reads the rows that the options ask for. */
static sx_status read_rows(const sx_args *args, calibration *c) {
    const char *where[MOST_FILTERS], *value;
    sx_row_filter filter = {0, where, sx_args_text(args, "time-column", 0)};
    while ((value = sx_args_text(args, "where", filter.n))) {
        if (filter.n == MOST_FILTERS)
            return sx_error_new(SX_ERR_USAGE, "--where is given more than %d times", MOST_FILTERS);
        where[filter.n++] = value;
    }
    SX_TRY(sx_operator_rows_read(args->operand[0], &filter, &c->rows));
    if (c->rows.n) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "%s: no row can be used", args->operand[0]), "%s",
                         c->rows.rejected.n_rejected ? c->rows.rejected.rejected[0].reason
                                                     : "no row has the values of --where");
}

/* Writes the architecture with its timing. */
static sx_status write_fitted(const calibration *c, const char *path, sx_output *result) {
    char *text;
    SX_TRY(sx_timing_write(&c->arch, &c->timing, &text));
    sx_status status = sx_output_write(result, path, text);
    free(text);
    return status;
}

/* Draws the rows' seconds. */
static sx_status draw_rows(const calibration *c, const char *path) {
    double *measured = malloc(c->rows.n * sizeof *measured + 1);
    if (!measured) return sx_error_memory();
    for (size_t i = 0; i < c->rows.n; i++) measured[i] = c->rows.row[i].seconds;
    sx_status status =
        sx_calibrate_draw(path, "Measured and predicted seconds", c->rows.n, measured, c->predicted);
    free(measured);
    return status;
}

/* Reads, fits and outputs the result. */
static sx_status calibrate_operators(const sx_args *args, sx_sources *sources, calibration *c,
                                     sx_output *result) {
    const char *output = sx_args_text(args, "output", 0), *svg = sx_args_text(args, "svg", 0);
    if (sx_args_flag(args, "free"))
        return sx_error_new(SX_ERR_USAGE,
                            "--free is for rows of mappings; those of operators fit what they show");
    SX_TRY(sx_sources_arch(sources, &c->arch));
    SX_TRY(sx_search_notes(args, sources, false, result));
    SX_TRY(sx_sources_timing(sources, &c->arch, &c->timing));
    if (c->arch.cycle_seconds == 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the architecture '%s' has no clock", c->arch.name),
                             "times of operators need its global_cycle_seconds");
    SX_TRY(read_rows(args, c));
    c->predicted = malloc(c->rows.n * sizeof *c->predicted);
    if (!c->predicted) return sx_error_memory();
    SX_TRY(sx_fit_operators(&c->rows, &c->arch, &c->timing, c->folds_samples, sx_args_count(args, "seed", 0),
                            c->kind, c->predicted));
    if (output) SX_TRY(write_fitted(c, output, result));
    if (svg) SX_TRY(draw_rows(c, svg));
    if (sx_args_flag(args, "json")) return print_json(c, &result->out);
    print_result(c, &result->out);
    return SX_OK;
}

sx_status sx_calibrate_operators(const sx_args *args, sx_sources *sources, sx_output *result) {
    calibration *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    c->folds_samples[0] = (unsigned)sx_args_count(args, "folds", 5);
    c->folds_samples[1] = (unsigned)sx_args_count(args, "samples", 0);
    sx_status status = calibrate_operators(args, sources, c, result);
    for (uint32_t k = 0; k < c->rows.n_kinds; k++) sx_fit_fini(&c->kind[k].fit);
    sx_operator_rows_free(&c->rows);
    free(c->predicted);
    free(c);
    return status;
}
