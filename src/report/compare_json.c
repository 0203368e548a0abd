/* A comparison for programs. */
#include "base/decimal.h"
#include "report/compare.h"

#include "report/evaluation.h"
#include "report/json_parts.h"
#include "text/csv.h"

#include <math.h>
#include <string.h>

/* Whether the points are mappings. */
static bool has_mappings(const sx_comparison *c) {
    return strcmp(c->model, "map") == 0;
}

/* The metrics of a run's best point by their names; of a mapping, as `sextant map` gives them. */
static json_t *best_json(const sx_comparison *c, const sx_compare_run *run) {
    if (!run->found) return json_null();
    if (has_mappings(c)) {
        sx_score score = sx_metrics_score(&run->metrics);
        return sx_json_score(&score);
    }
    json_t *object = json_object();
    for (size_t i = 0; i < c->n_metrics; i++)
        sx_json_set(object, c->metric[i], sx_json_number(run->metrics.value[i]));
    return object;
}

static json_t *run_json(const sx_comparison *c, const sx_compare_run *run) {
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:s, s:o, s:o, s:I, s:I, s:I, s:f, s:s, s:b}", "mapper", c->label[run->navigator],
        "settings", c->settings[run->navigator], "seed", (json_int_t)run->seed, "problem",
        c->problem[run->problem].name, "best", best_json(c, run), "value",
        sx_json_number(run->found ? run->value : NAN), "evaluations", (json_int_t)run->summary.evaluations,
        "valid", (json_int_t)run->summary.valid, "rejected", (json_int_t)run->summary.rejected, "seconds",
        run->summary.seconds, "stop", sx_stop_name(run->summary.stop), "optimal", run->summary.optimal);
    if (run->summary.lower_bound > 0) sx_json_set(object, "lower_bound", json_real(run->summary.lower_bound));
    sx_json_set(object, "trace", sx_json_trace(run->trace, run->n_trace));
    return object;
}

static json_t *summary_json(const sx_comparison *c, size_t problem, size_t navigator,
                            const sx_compare_summary *s) {
    json_t *object =
        json_pack("{s:s, s:s, s:I, s:I}", "mapper", c->label[navigator], "problem", c->problem[problem].name,
                  "runs", (json_int_t)s->runs, "found", (json_int_t)s->found);
    const struct {
        const char *key;
        double value;
    } row[] = {
        {"mean", s->mean},
        {"deviation", s->deviation},
        {"median", s->median},
        {"geomean", s->geomean},
        {"best", s->best},
        {"worst", s->worst},
        {"minimum", sx_comparison_has_minima(c) ? c->problem[problem].minimum : NAN},
        {"normalised", s->normalised},
        {"evaluations", s->evaluations},
        {"seconds", s->seconds},
        {"evaluations_per_second", s->per_second},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        sx_json_set(object, row[i].key, sx_json_number(row[i].value));
    double bound = c->problem[problem].bound;
    if (!(bound > 0)) return object;
    sx_json_set(object, "lower_bound", sx_json_number(bound));
    sx_json_set(object, "optimal", json_boolean(c->problem[problem].optimal));
    sx_json_set(object, "over_bound", sx_json_number(s->geomean / bound));
    return object;
}

sx_status sx_compare_json(const sx_compare_report *r, sx_text *out) {
    const sx_comparison *c = r->comparison;
    json_t *object = json_object();
    sx_json_set(object,
                r->chip     ? "chip"
                : r->device ? "device"
                            : "arch",
                json_string(r->chip     ? r->chip
                            : r->device ? r->device
                                        : r->arch));
    sx_json_set(object, "objective", json_string(c->objective));
    if (r->arch) sx_json_set_energies(r->energies, r->machine, object);
    if (r->arch) sx_json_semantics(r->machine, &r->model, object);
    sx_json_set(object, "complete", json_boolean(c->complete));
    sx_json_set(object, "normalised_by", json_string(sx_comparison_has_minima(c) ? "minimum" : "best"));
    json_t *rows = sx_json_set(object, "rows", json_array());
    for (size_t i = 0; i < c->n_runs; i++) sx_json_append(rows, run_json(c, &c->run[i]));
    json_t *summaries = sx_json_set(object, "summary", json_array());
    sx_status status = SX_OK;
    for (size_t p = 0; p < c->n_problems && !status; p++)
        for (size_t n = 0; n < c->n_navigators && !status; n++) {
            sx_compare_summary summary;
            status = sx_comparison_summary(c, p, n, &summary);
            if (!status && summary.runs) sx_json_append(summaries, summary_json(c, p, n, &summary));
        }
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}

/* Adds a field with a number, empty where there is none. */
static void csv_number(double value, sx_text *out) {
    char text[SX_DECIMAL_SIZE] = "";
    if (isfinite(value)) sx_decimal_text(value, text);
    sx_text_add(out, "%s,", text);
}

/* Adds the figures of a run's best point: cycles, energy and their product, or the model's metrics. */
static void csv_best(const sx_comparison *c, const sx_compare_run *run, sx_text *out) {
    double figure[SX_MAX_METRICS];
    size_t n = c->n_metrics;
    memcpy(figure, run->metrics.value, sizeof figure);
    if (has_mappings(c)) {
        sx_score score = sx_metrics_score(&run->metrics);
        figure[0] = score.cycles;
        figure[1] = score.energy_pj;
        figure[2] = score.cycles * score.energy_pj;
        n = 3;
    }
    for (size_t i = 0; i < n; i++) csv_number(run->found ? figure[i] : NAN, out);
}

void sx_compare_csv(const sx_comparison *c, sx_text *out) {
    sx_text_add(out, "problem,mapper,seed,objective,value,normalised,");
    if (has_mappings(c)) sx_text_add(out, "cycles,energy_pj,edp,");
    for (size_t i = 0; i < c->n_metrics && !has_mappings(c); i++) sx_csv_add(out, c->metric[i], ",");
    sx_text_add(out, "evaluations,valid,rejected,seconds,stop\n");
    for (size_t i = 0; i < c->n_runs; i++) {
        const sx_compare_run *run = &c->run[i];
        sx_csv_add(out, c->problem[run->problem].name, ",");
        sx_csv_add(out, c->label[run->navigator], ",");
        sx_text_add(out, "%llu,", (unsigned long long)run->seed);
        sx_csv_add(out, c->objective, ",");
        csv_number(run->found ? run->value : NAN, out);
        csv_number(run->found ? run->value / sx_comparison_reference(c, run->problem) : NAN, out);
        csv_best(c, run, out);
        sx_text_add(out, "%llu,%llu,%llu,%.9g,%s\n", (unsigned long long)run->summary.evaluations,
                    (unsigned long long)run->summary.valid, (unsigned long long)run->summary.rejected,
                    run->summary.seconds, sx_stop_name(run->summary.stop));
    }
}
