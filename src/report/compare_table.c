/* The figures of a comparison, for a person. */
#include "report/compare.h"

#include "report/evaluation.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>

const sx_compare_run *sx_compare_runs(const sx_comparison *c, size_t problem, size_t mapper, size_t *n) {
    size_t first = 0;
    while (first < c->n_runs && (c->run[first].problem != problem || c->run[first].mapper != mapper)) first++;
    *n = 0;
    while (first + *n < c->n_runs && c->run[first + *n].problem == problem &&
           c->run[first + *n].mapper == mapper && c->run[first + *n].summary.stop != SX_STOP_SIGNAL)
        ++*n;
    return c->run + first;
}

sx_status sx_compare_summarise(const sx_comparison *c, size_t problem, size_t mapper,
                               sx_compare_summary *out) {
    sx_compare_summary s = {0};
    const sx_compare_run *run = sx_compare_runs(c, problem, mapper, &s.runs);
    double *value = malloc((s.runs + 1) * sizeof *value), evaluations = 0, seconds = 0;
    size_t found = 0;
    if (!value) return sx_error_memory();
    for (size_t i = 0; i < s.runs; i++) {
        if (run[i].found) value[found++] = run[i].value;
        evaluations += (double)run[i].summary.evaluations;
        seconds += run[i].summary.seconds;
    }
    s.value = sx_statistics_of(value, found);
    free(value);
    double middle = isnan(s.value.geomean) ? s.value.mean : s.value.geomean;
    s.normalised = c->minimum[problem] != 0 ? middle / c->minimum[problem] : NAN;
    s.evaluations = evaluations / (double)s.runs;
    s.seconds = seconds / (double)s.runs;
    s.per_second = seconds > 0 ? evaluations / seconds : NAN;
    *out = s;
    return SX_OK;
}

/* Adds a cell with a value, or with a hyphen where there is none. */
static void value_cell(sx_table *table, double value) {
    if (isfinite(value))
        sx_table_cell(table, "%.4g", value);
    else
        sx_table_cell(table, "-");
}

/* Adds the row of a mapper on a problem. */
static void summary_row(const sx_comparison *c, const char *mapper, const sx_compare_summary *s,
                        sx_table *table) {
    sx_table_cell(table, "  %s", mapper);
    if (s->value.n < s->runs)
        sx_table_cell(table, "%zu of %zu", s->value.n, s->runs);
    else
        sx_table_cell(table, "%zu", s->runs);
    const double value[] = {s->normalised,      s->value.geomean, s->value.mean,
                            s->value.deviation, s->value.low,     s->value.high};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) value_cell(table, value[i]);
    sx_table_cell(table, "%s", sx_show_count(floor(s->evaluations)).text);
    if (!c->clock) return;
    sx_table_cell(table, "%.3g", s->seconds);
    sx_table_cell(table, "%s", isfinite(s->per_second) ? sx_show_count(floor(s->per_second)).text : "-");
}

/* Adds a problem's rows under a line of their own. */
static sx_status problem_rows(const sx_comparison *c, size_t problem, sx_table *table) {
    const char *name = c->problems.layer[problem].name;
    if (c->minimum[problem] > 0)
        sx_table_heading(table, "%s, minimum %.4g", name, c->minimum[problem]);
    else
        sx_table_heading(table, "%s", name);
    for (size_t m = 0; m < c->n_mappers; m++) {
        sx_compare_summary summary;
        SX_TRY(sx_compare_summarise(c, problem, m, &summary));
        if (summary.runs) summary_row(c, c->mapper[m], &summary, table);
    }
    return SX_OK;
}

/* Adds, for each mapper, the geometric mean over all problems of its distance from the minimum. */
static sx_status overall_rows(const sx_comparison *c, sx_table *table) {
    size_t n = c->problems.n_layers;
    double *value = malloc(n * sizeof *value);
    if (!value) return sx_error_memory();
    sx_status status = SX_OK;
    sx_table_heading(table, "all %zu problems, geometric mean", n);
    for (size_t m = 0; m < c->n_mappers && !status; m++) {
        size_t used = 0, runs = 0;
        for (size_t p = 0; p < n && !status; p++) {
            sx_compare_summary summary;
            status = sx_compare_summarise(c, p, m, &summary);
            if (status) break;
            runs += summary.runs;
            if (isfinite(summary.normalised)) value[used++] = summary.normalised;
        }
        sx_table_cell(table, "  %s", c->mapper[m]);
        sx_table_cell(table, "%zu", runs);
        value_cell(table, used == n ? sx_statistics_of(value, used).geomean : NAN);
        sx_table_blank(table, table->n_columns - 3);
    }
    free(value);
    return status;
}

/* Adds the table of all mappers on all problems. */
static sx_status print_rows(const sx_comparison *c, sx_text *out) {
    static const char *const heads[] = {"",     "runs",  "x minimum", "geomean", "mean",     "deviation",
                                        "best", "worst", "evals",     "seconds", "evals / s"};
    const size_t n_heads = sizeof heads / sizeof heads[0] - (c->clock ? 0 : 2);
    sx_table table;
    sx_status status = SX_OK;
    sx_table_begin(&table, c->clock ? "lRrrRRrRRRR" : "lRrrRRrRR");
    for (size_t i = 0; i < n_heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t p = 0; p < c->problems.n_layers && !status; p++) status = problem_rows(c, p, &table);
    if (!status && c->problems.n_layers > 1) status = overall_rows(c, &table);
    sx_table_end(&table, 2, out);
    return status;
}

sx_status sx_compare_print(const sx_comparison *c, sx_text *out) {
    sx_text_add(out, "Mappers compared on %s: %s over %zu seed%s", c->arch.name, c->objective, c->n_seeds,
                c->n_seeds == 1 ? "" : "s");
    if (c->options.evaluations)
        sx_text_add(out, ", %s evaluations each", sx_show_count((double)c->options.evaluations).text);
    if (c->options.seconds > 0) sx_text_add(out, ", %g seconds each", c->options.seconds);
    sx_text_add(out, "\n\n");
    SX_TRY(print_rows(c, out));
    sx_text_add(out, "\n");
    sx_report_energies(c->energies, out);
    return SX_OK;
}
