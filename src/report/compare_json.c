/* A comparison for programs. */
#include "report/compare.h"

#include "report/json_parts.h"

#include <math.h>
#include <string.h>

static json_t *trace_json(const sx_compare_run *run) {
    json_t *list = json_array();
    for (size_t i = 0; i < run->n_trace; i++)
        json_array_append_new(list, json_pack("[I, f, o]", (json_int_t)run->trace[i].evaluations,
                                              run->trace[i].seconds, sx_json_real(run->trace[i].value)));
    return list;
}

static json_t *run_json(const sx_comparison *c, const sx_compare_run *run) {
    json_t *object = json_pack("{s:s, s:s, s:I, s:s, s:o, s:o, s:I, s:I, s:I, s:f, s:s, s:b}", "mapper",
                               c->mapper[run->mapper], "settings", c->settings[run->mapper], "seed",
                               (json_int_t)run->seed, "problem", c->problems.layer[run->problem].name, "best",
                               run->found ? sx_json_score(&run->score) : json_null(), "value",
                               sx_json_number(run->found ? run->value : NAN), "evaluations",
                               (json_int_t)run->summary.evaluations, "valid", (json_int_t)run->summary.valid,
                               "rejected", (json_int_t)run->summary.rejected, "seconds", run->summary.seconds,
                               "stop", sx_stop_name(run->summary.stop), "optimal", run->summary.optimal);
    if (run->summary.lower_bound > 0)
        json_object_set_new(object, "lower_bound", json_real(run->summary.lower_bound));
    json_object_set_new(object, "trace", trace_json(run));
    return object;
}

static json_t *summary_json(const sx_comparison *c, size_t problem, size_t mapper,
                            const sx_compare_summary *s) {
    json_t *object = json_pack("{s:s, s:s, s:I, s:I}", "mapper", c->mapper[mapper], "problem",
                               c->problems.layer[problem].name, "runs", (json_int_t)s->runs, "found",
                               (json_int_t)s->value.n);
    const struct {
        const char *key;
        double value;
    } row[] = {
        {"mean", s->value.mean},       {"deviation", s->value.deviation},
        {"geomean", s->value.geomean}, {"best", s->value.low},
        {"worst", s->value.high},      {"minimum", c->minimum[problem]},
        {"normalised", s->normalised}, {"evaluations", s->evaluations},
        {"seconds", s->seconds},       {"evaluations_per_second", s->per_second},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        json_object_set_new(object, row[i].key, sx_json_number(row[i].value));
    return object;
}

sx_status sx_compare_json(const sx_comparison *c, sx_text *out) {
    json_t *rows = json_array(), *summaries = json_array();
    sx_status status = SX_OK;
    for (size_t i = 0; i < c->n_runs; i++) json_array_append_new(rows, run_json(c, &c->run[i]));
    for (size_t p = 0; p < c->problems.n_layers && !status; p++)
        for (size_t m = 0; m < c->n_mappers && !status; m++) {
            sx_compare_summary summary;
            status = sx_compare_summarise(c, p, m, &summary);
            if (!status && summary.runs) json_array_append_new(summaries, summary_json(c, p, m, &summary));
        }
    json_t *object = json_pack("{s:s, s:s, s:o, s:b, s:o, s:o}", "arch", c->arch.name, "objective",
                               c->objective, "energy_source", sx_json_string(c->energies), "complete",
                               c->complete, "rows", rows, "summary", summaries);
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}

/* Adds a field of CSV, in quotes where it needs them, and what follows it. */
static void csv_text(const char *text, const char *after, sx_text *out) {
    if (strpbrk(text, ",\"\n") == NULL) {
        sx_text_add(out, "%s%s", text, after);
        return;
    }
    sx_text_add(out, "\"");
    for (; *text; text++) sx_text_add(out, *text == '"' ? "\"\"" : "%c", *text);
    sx_text_add(out, "\"%s", after);
}

/* Adds a field with a number, empty where there is none. */
static void csv_number(double value, sx_text *out) {
    if (isfinite(value)) sx_text_add(out, "%.17g", value);
    sx_text_add(out, ",");
}

void sx_compare_csv(const sx_comparison *c, sx_text *out) {
    sx_text_add(out, "problem,mapper,seed,objective,value,normalised,cycles,energy_pj,edp,evaluations,valid,"
                     "rejected,seconds,stop\n");
    for (size_t i = 0; i < c->n_runs; i++) {
        const sx_compare_run *run = &c->run[i];
        csv_text(c->problems.layer[run->problem].name, ",", out);
        csv_text(c->mapper[run->mapper], ",", out);
        sx_text_add(out, "%llu,", (unsigned long long)run->seed);
        csv_text(c->objective, ",", out);
        const sx_score *score = &run->score;
        const double figure[] = {run->value, run->value / c->minimum[run->problem], score->cycles,
                                 score->energy_pj, score->cycles * score->energy_pj};
        for (size_t f = 0; f < sizeof figure / sizeof figure[0]; f++)
            csv_number(run->found ? figure[f] : NAN, out);
        sx_text_add(out, "%llu,%llu,%llu,%.9g,%s\n", (unsigned long long)run->summary.evaluations,
                    (unsigned long long)run->summary.valid, (unsigned long long)run->summary.rejected,
                    run->summary.seconds, sx_stop_name(run->summary.stop));
    }
}
