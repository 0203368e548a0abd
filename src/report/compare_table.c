/* The figures of a comparison, for a person. */
#include "report/compare.h"

#include "report/evaluation.h"
#include "report/table.h"
#include "session/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Adds a cell with a value, or with a hyphen where there is none. */
static void value_cell(sx_table *table, double value) {
    if (isfinite(value))
        sx_table_cell(table, "%.4g", value);
    else
        sx_table_cell(table, "-");
}

/* Whether a bound of some problem is known. */
static bool has_bounds(const sx_comparison *c) {
    for (size_t i = 0; i < c->n_problems; i++)
        if (c->problem[i].bound > 0) return true;
    return false;
}

/* A geometric mean over the bound of a problem; NAN where there is none. */
static double over_bound(const sx_comparison *c, size_t problem, const sx_compare_summary *s) {
    return c->problem[problem].bound > 0 ? s->geomean / c->problem[problem].bound : NAN;
}

/* Adds the row of a navigator on a problem. */
static void summary_row(const sx_comparison *c, size_t problem, const char *label,
                        const sx_compare_summary *s, sx_table *table) {
    sx_table_cell(table, "  %s", label);
    if (s->found < s->runs)
        sx_table_cell(table, "%zu of %zu", s->found, s->runs);
    else
        sx_table_cell(table, "%zu", s->runs);
    if (has_bounds(c)) value_cell(table, over_bound(c, problem, s));
    const double value[] = {s->normalised, s->geomean, s->mean, s->deviation, s->best, s->worst};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) value_cell(table, value[i]);
    sx_table_cell(table, "%s", sx_show_count(floor(s->evaluations)).text);
    if (!c->clock) return;
    sx_table_cell(table, "%.3g", s->seconds);
    sx_table_cell(table, "%s", isfinite(s->per_second) ? sx_show_count(floor(s->per_second)).text : "-");
}

/* Adds a problem's rows under a heading. */
static sx_status problem_rows(const sx_comparison *c, size_t problem, sx_table *table) {
    const char *name = c->problem[problem].name;
    double reference = sx_comparison_reference(c, problem), bound = c->problem[problem].bound;
    char text[64] = "", proven[64] = "";
    if (reference > 0)
        snprintf(text, sizeof text, ", %s %.4g", sx_comparison_has_minima(c) ? "minimum" : "best", reference);
    if (bound > 0)
        snprintf(proven, sizeof proven, ", %s %.4g", c->problem[problem].optimal ? "optimum" : "lower bound",
                 bound);
    sx_table_heading(table, "%s%s%s", name, text, proven);
    for (size_t m = 0; m < c->n_navigators; m++) {
        sx_compare_summary summary;
        SX_TRY(sx_comparison_summary(c, problem, m, &summary));
        if (summary.runs) summary_row(c, problem, c->label[m], &summary, table);
    }
    return SX_OK;
}

/* Adds the geometric means of a navigator over all problems, where it has an answer to each: over bounds, and
 * normalised. `value` has room for two numbers per problem. */
static sx_status overall_row(const sx_comparison *c, size_t navigator, double *value, sx_table *table) {
    size_t n = c->n_problems, used = 0, bounded = 0, runs = 0;
    for (size_t p = 0; p < n; p++) {
        sx_compare_summary summary;
        SX_TRY(sx_comparison_summary(c, p, navigator, &summary));
        double over = over_bound(c, p, &summary);
        runs += summary.runs;
        if (isfinite(summary.normalised)) value[used++] = summary.normalised;
        if (isfinite(over)) value[n + bounded++] = over;
    }
    sx_table_cell(table, "  %s", c->label[navigator]);
    sx_table_cell(table, "%zu", runs);
    if (has_bounds(c)) value_cell(table, bounded == n ? sx_statistics_of(value + n, n).geomean : NAN);
    value_cell(table, used == n ? sx_statistics_of(value, used).geomean : NAN);
    sx_table_blank(table, table->n_columns - (has_bounds(c) ? 4 : 3));
    return SX_OK;
}

/* Adds the means of all navigators over all problems. */
static sx_status overall_rows(const sx_comparison *c, sx_table *table) {
    double *value = malloc(2 * c->n_problems * sizeof *value);
    if (!value) return sx_error_memory();
    sx_status status = SX_OK;
    sx_table_heading(table, "all %zu problems, geometric mean", c->n_problems);
    for (size_t m = 0; m < c->n_navigators && !status; m++) status = overall_row(c, m, value, table);
    free(value);
    return status;
}

/* Adds the table of all navigators on all problems. */
static sx_status print_rows(const sx_comparison *c, sx_text *out) {
    const char *const heads[] = {sx_comparison_has_minima(c) ? "x minimum" : "x best",
                                 "geomean",
                                 "mean",
                                 "deviation",
                                 "best",
                                 "worst",
                                 "evals",
                                 "seconds",
                                 "evals / s"};
    const size_t n_heads = sizeof heads / sizeof heads[0] - (c->clock ? 0 : 2);
    bool bounds = has_bounds(c);
    char columns[16];
    snprintf(columns, sizeof columns, "lR%srrRRrRR%s", bounds ? "r" : "", c->clock ? "RR" : "");
    sx_table table;
    sx_status status = SX_OK;
    sx_table_begin(&table, columns);
    sx_table_cell(&table, "%s", "");
    sx_table_cell(&table, "runs");
    if (bounds) sx_table_cell(&table, "x optimum");
    for (size_t i = 0; i < n_heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t p = 0; p < c->n_problems && !status; p++) status = problem_rows(c, p, &table);
    if (!status && c->n_problems > 1) status = overall_rows(c, &table);
    sx_table_end(&table, 2, out);
    return status;
}

sx_status sx_compare_print(const sx_compare_report *r, sx_text *out) {
    const sx_comparison *c = r->comparison;
    sx_text_add(out, "%s compared on %s: %s over %zu seed%s", r->arch ? "Mappers" : "Methods",
                r->chip     ? r->chip
                : r->device ? r->device
                            : r->arch,
                c->objective, c->n_seeds, c->n_seeds == 1 ? "" : "s");
    if (c->evaluations) sx_text_add(out, ", %s evaluations each", sx_show_count((double)c->evaluations).text);
    if (c->seconds > 0) sx_text_add(out, ", %g seconds each", c->seconds);
    sx_text_add(out, "\n\n");
    SX_TRY(print_rows(c, out));
    sx_text_add(out, "\n");
    if (r->arch) sx_report_energies(r->energies, out);
    if (r->arch) sx_report_semantics(r->machine, &r->model, out);
    return SX_OK;
}
