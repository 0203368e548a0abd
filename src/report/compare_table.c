/* The figures of a comparison, for a person. */
#include "report/compare.h"

#include "report/evaluation.h"
#include "report/table.h"
#include "session/statistics.h"

#include <math.h>
#include <stdlib.h>

/* Adds a cell with a value, or with a hyphen where there is none. */
static void value_cell(sx_table *table, double value) {
    if (isfinite(value))
        sx_table_cell(table, "%.4g", value);
    else
        sx_table_cell(table, "-");
}

/* Adds the row of a navigator on a problem. */
static void summary_row(const sx_comparison *c, const char *label, const sx_compare_summary *s,
                        sx_table *table) {
    sx_table_cell(table, "  %s", label);
    if (s->found < s->runs)
        sx_table_cell(table, "%zu of %zu", s->found, s->runs);
    else
        sx_table_cell(table, "%zu", s->runs);
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
    double reference = sx_comparison_reference(c, problem);
    if (reference > 0)
        sx_table_heading(table, "%s, %s %.4g", name, sx_comparison_has_minima(c) ? "minimum" : "best",
                         reference);
    else
        sx_table_heading(table, "%s", name);
    for (size_t m = 0; m < c->n_navigators; m++) {
        sx_compare_summary summary;
        SX_TRY(sx_comparison_summary(c, problem, m, &summary));
        if (summary.runs) summary_row(c, c->label[m], &summary, table);
    }
    return SX_OK;
}

/* Adds, for each navigator, the geometric mean of its normalised values over all problems. */
static sx_status overall_rows(const sx_comparison *c, sx_table *table) {
    size_t n = c->n_problems;
    double *value = malloc(n * sizeof *value);
    if (!value) return sx_error_memory();
    sx_status status = SX_OK;
    sx_table_heading(table, "all %zu problems, geometric mean", n);
    for (size_t m = 0; m < c->n_navigators && !status; m++) {
        size_t used = 0, runs = 0;
        for (size_t p = 0; p < n && !status; p++) {
            sx_compare_summary summary;
            status = sx_comparison_summary(c, p, m, &summary);
            if (status) break;
            runs += summary.runs;
            if (isfinite(summary.normalised)) value[used++] = summary.normalised;
        }
        sx_table_cell(table, "  %s", c->label[m]);
        sx_table_cell(table, "%zu", runs);
        value_cell(table, used == n ? sx_statistics_of(value, used).geomean : NAN);
        sx_table_blank(table, table->n_columns - 3);
    }
    free(value);
    return status;
}

/* Adds the table of all navigators on all problems. */
static sx_status print_rows(const sx_comparison *c, sx_text *out) {
    const char *const heads[] = {"",        "runs",     sx_comparison_has_minima(c) ? "x minimum" : "x best",
                                 "geomean", "mean",     "deviation",
                                 "best",    "worst",    "evals",
                                 "seconds", "evals / s"};
    const size_t n_heads = sizeof heads / sizeof heads[0] - (c->clock ? 0 : 2);
    sx_table table;
    sx_status status = SX_OK;
    sx_table_begin(&table, c->clock ? "lRrrRRrRRRR" : "lRrrRRrRR");
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
    return SX_OK;
}
