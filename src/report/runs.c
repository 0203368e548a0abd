#include "report/runs.h"

#include "report/operators.h"

#include <string.h>

/* One run: its graph, and its layers among those of the result. */
typedef struct run_part {
    const sx_graph *graph;
    size_t first, n;
    sx_score total; /* cycles and energy of its layers */
} run_part;

/* The cycles and the energy of layers, each as often as it is there. */
static sx_score sum_layers(const sx_result *r, size_t first, size_t n) {
    sx_score sum = {0};
    for (size_t i = first; i < first + n && i < r->session.n_layers; i++) {
        const sx_layer_result *layer = &r->session.layer[r->session.layer[i].same_as];
        const double count = (double)r->network.layer[i].count;
        if (!layer->found) continue;
        sum.cycles += count * layer->best.score.cycles;
        sum.energy_pj += count * layer->best.score.energy_pj;
    }
    return sum;
}

/* Finds the runs of a result, two at most; returns how many. */
static size_t find_runs(const sx_result *r, run_part out[SX_MOST_RUNS]) {
    const char *prefill = "prefill/";
    size_t n = 0;
    if (!r->graph) return 0;
    out[0] = (run_part){r->graph, 0, r->network.n_layers, r->session.total};
    if (!r->then) return 1;
    while (n < r->network.n_layers && strncmp(r->network.layer[n].name, prefill, strlen(prefill)) == 0) n++;
    out[0] = (run_part){r->graph, 0, n, sum_layers(r, 0, n)};
    out[1] = (run_part){r->then, n, r->network.n_layers - n, sum_layers(r, n, r->network.n_layers - n)};
    return 2;
}

/* Whether a run is timed: the architecture has a clock, and the graph is a run of a network. */
static bool is_timed(const sx_result *r, const run_part *run) {
    return r->arch.cycle_seconds > 0 && run->graph->run.phase[0];
}

sx_status sx_runs_serve(const sx_result *r, sx_serving out[SX_MOST_RUNS], size_t *n) {
    run_part run[SX_MOST_RUNS];
    const size_t runs = find_runs(r, run);
    *n = 0;
    for (size_t i = 0; i < runs && is_timed(r, &run[i]); i++) {
        *n = i + 1;
        SX_TRY(sx_serving_of(run[i].graph, r, run[i].first, run[i].n, &out[i]));
    }
    return SX_OK;
}

/* Adds one run to an object. */
static sx_status put_run(json_t *object, const sx_result *r, const run_part *run) {
    sx_operators operators;
    sx_serving serving = {0};
    SX_TRY(sx_graph_operators(run->graph, &operators));
    sx_json_set(object, "totals", sx_operators_totals_json(run->graph, &operators));
    sx_json_set(object, "vector", sx_operators_vector_json(&r->arch, run->graph, &operators, &run->total));
    sx_operators_fini(&operators);
    if (!is_timed(r, run)) return SX_OK;
    sx_status status = sx_serving_of(run->graph, r, run->first, run->n, &serving);
    if (!status) sx_json_set(object, "serving", sx_serving_json(&serving, &r->arch));
    sx_serving_fini(&serving);
    return status;
}

sx_status sx_runs_put(json_t *object, const sx_result *r) {
    run_part run[SX_MOST_RUNS];
    const size_t n = find_runs(r, run);
    if (n == 1) return put_run(object, r, &run[0]);
    json_t *list = json_array();
    sx_status status = SX_OK;
    for (size_t i = 0; i < n && !status; i++) {
        json_t *item = json_object();
        status = put_run(item, r, &run[i]);
        sx_json_append(list, item);
    }
    sx_json_set(object, "runs", list);
    return status;
}

/* Adds one run. */
static sx_status report_run(const sx_result *r, const run_part *run, bool quiet, bool verbose, sx_text *out) {
    sx_operators operators;
    sx_serving serving = {0};
    SX_TRY(sx_graph_operators(run->graph, &operators));
    if (r->arch.vector.lanes > 0 && verbose && !quiet)
        sx_operators_add_costs(&r->arch, run->graph, &operators, out);
    sx_text_add(out, "\n");
    if (run->graph->run.phase[0]) sx_operators_add_totals(run->graph, &operators, out);
    sx_operators_add_cost(&r->arch, run->graph, &operators, &run->total, is_timed(r, run), out);
    sx_operators_fini(&operators);
    if (!is_timed(r, run)) {
        if (run->graph->run.phase[0])
            sx_text_add(out, "the architecture has no clock: --clock, such as --clock 1GHz, gives times\n");
        return SX_OK;
    }
    sx_status status = sx_serving_of(run->graph, r, run->first, run->n, &serving);
    if (!status && r->timing)
        sx_text_add(out, "\nOn a real machine, with overheads and efficiencies (docs/timing.md):\n");
    if (!status) {
        sx_text_add(out, "\n");
        sx_serving_report(&serving, &r->arch, !quiet && (verbose || r->timing), out);
    }
    sx_serving_fini(&serving);
    return status;
}

sx_status sx_runs_report(const sx_result *r, bool quiet, bool verbose, sx_text *out) {
    run_part run[SX_MOST_RUNS];
    const size_t n = find_runs(r, run);
    for (size_t i = 0; i < n; i++) SX_TRY(report_run(r, &run[i], quiet, verbose, out));
    return SX_OK;
}
