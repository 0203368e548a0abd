/* Answers of `sextant systolic` about a network, as text for a person. */
#include "report/early.h"
#include "report/systolic.h"
#include "report/table.h"
#include "systolic/space.h"

#include <string.h>

enum { NAME_WIDTH = 24 };

/* The layer's own array, that of the first equal layer. */
static const sx_systolic_answer *best_of(const sx_systolic_job *job, size_t i) {
    return &job->layer[job->layer[i].same_as].best;
}

sx_systolic_total sx_systolic_total_of(const sx_systolic_job *job) {
    sx_systolic_total total = {.whole = true, .optimal = true};
    double macs = 0;
    for (size_t i = 0; i < job->n_layers; i++) {
        const sx_systolic_answer *best = best_of(job, i);
        double count = (double)job->layer[i].count;
        total.whole &= best->found;
        total.optimal &= best->found && best->summary.optimal;
        total.cost.latency += count * best->cost.latency;
        total.cost.energy += count * best->cost.energy;
        total.cost.offchip_words += count * best->cost.offchip_words;
        macs += count * job->layer[i].kernel.macs;
    }
    double utilization = 0;
    if (total.cost.latency > 0)
        utilization =
            macs * job->element->dsp_per_mac / (total.cost.latency * sx_device_usable_dsp(&job->device));
    total.value = sx_systolic_value(&job->run.objective, &total.cost, utilization);
    return total;
}

/* How often the network runs the computation of layer i. */
static uint64_t times_of(const sx_systolic_job *job, size_t i) {
    uint64_t times = 0;
    for (size_t j = 0; j < job->n_layers; j++)
        if (job->layer[j].same_as == i) times += job->layer[j].count;
    return times;
}

/* Adds what the shared array takes for a layer; returns whether that is less than the layer's own. */
static bool add_shared(const sx_systolic_job *job, const sx_systolic_layer *layer, const sx_space *shared,
                       sx_table *table) {
    const sx_systolic_answer *best = &layer->best;
    sx_systolic_cost cost = {0};
    if (shared)
        (void)sx_systolic_evaluate(shared, &job->shared.point, (int)(layer->joined - job->joined), &cost);
    if (shared)
        sx_table_cell(table, "%s", sx_show_count(cost.latency).text);
    else
        sx_table_blank(table, 1);
    if (shared && best->found)
        sx_table_cell(table, "%.3f", cost.latency / best->cost.latency);
    else
        sx_table_blank(table, 1);
    return shared && best->found && cost.latency < best->cost.latency;
}

/* Adds the row of a layer: its own array, and what the shared one takes; returns whether that is less. */
static bool add_layer(const sx_systolic_job *job, size_t i, const sx_space *shared, sx_table *table) {
    const sx_systolic_layer *layer = &job->layer[i];
    const sx_systolic_answer *best = &layer->best;
    sx_table_cell(table, "%s", sx_show_name(layer->name, NAME_WIDTH).text);
    sx_table_cell(table, "%s", sx_show_count((double)times_of(job, i)).text);
    if (best->found) {
        sx_systolic_subject s = sx_systolic_subject_of(job, &layer->kernel, 1, best);
        sx_text tiles = {0}, array = {0};
        char name[16];
        sx_systolic_design_name(&s.design, name, sizeof name);
        sx_systolic_add_tiles(&s, &tiles);
        sx_systolic_add_array(&s, &array);
        sx_table_cell(table, "%s", name);
        sx_table_cell_text(table, &tiles);
        sx_table_cell_text(table, &array);
        sx_table_cell(table, "%s", sx_show_count(best->cost.latency).text);
        sx_table_cell(table, "%.1f", sx_systolic_figures_of(&s).throughput);
        sx_table_cell(table, "%s", best->summary.optimal ? "proven" : "");
    } else {
        sx_table_cell(table, "-");
        sx_table_cell(table, "%s", best->searched ? "none found" : "not searched");
        sx_table_blank(table, 4);
    }
    return add_shared(job, layer, shared, table);
}

/* Adds the table of layers, equal ones in one row. */
static sx_status print_layers(const sx_systolic_job *job, sx_text *out) {
    static const char *const heads[] = {"layer", "times", "design", "tiles", "array", "cycles"};
    sx_space *shared = NULL;
    sx_table table;
    size_t design = job->shared.point.design;
    if (job->shared.found) SX_TRY(sx_systolic_job_space(job, job->joined, job->n_joined, &design, &shared));
    bool less = false;
    sx_table_begin(&table, "lRlLlrRlrr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    sx_table_cell(&table, "%s", sx_systolic_unit(job));
    sx_table_cell(&table, "%s", "");
    sx_table_cell(&table, "%s", shared ? "shared array" : "");
    sx_table_cell(&table, "%s", shared ? "ratio" : "");
    for (size_t i = 0; i < job->n_layers; i++)
        if (job->layer[i].same_as == i) less |= add_layer(job, i, shared, &table);
    sx_table_end(&table, 2, out);
    sx_space_free(shared);
    if (less)
        sx_text_add(out,
                    "\n  A ratio below 1: the shared array pads that layer further than the tiles of the "
                    "layer's own space go.\n");
    return SX_OK;
}

/* Whether the objective is the cycles, which have a column already. */
static bool is_delay(const sx_systolic_job *job) {
    return strcmp(job->objective, "delay") == 0;
}

/* Adds a row of sums. */
static void add_sums(const sx_systolic_job *job, const char *name, const sx_systolic_cost *sum, double value,
                     bool proven, sx_table *table) {
    double operations = sx_systolic_operations(job->joined, job->n_joined);
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", sx_show_count(sum->latency).text);
    sx_table_cell(table, "%.1f", operations / sum->latency * job->device.mhz / 1000);
    sx_table_cell(table, "%s", sx_show_count(sum->offchip_words).text);
    if (!is_delay(job)) sx_table_cell(table, "%.6g", value);
    sx_table_cell(table, "%s", proven ? "proven" : "");
}

/* Adds both totals and the price of sharing. */
static void print_totals(const sx_systolic_job *job, sx_text *out) {
    sx_systolic_total own = sx_systolic_total_of(job);
    sx_table table;
    sx_table_begin(&table, is_delay(job) ? "lrrrl" : "lrrrrl");
    sx_table_cell(&table, "sum over %zu layer%s%s", job->n_layers, job->n_layers == 1 ? "" : "s",
                  job->n_left_out ? " that arrays compute" : "");
    sx_table_cell(&table, "cycles");
    sx_table_cell(&table, "%s", sx_systolic_unit(job));
    sx_table_cell(&table, "words off chip");
    if (!is_delay(job)) sx_table_cell(&table, "%s", job->objective);
    sx_table_cell(&table, "%s", "");
    if (own.whole) add_sums(job, "one array per layer", &own.cost, own.value, own.optimal, &table);
    if (job->shared.found)
        add_sums(job, "one shared array", &job->shared.cost, job->shared.value, job->shared.summary.optimal,
                 &table);
    sx_table_end(&table, 2, out);
    if (own.whole && job->shared.found)
        sx_text_add(out, "\n  cost of sharing one array: %.3f x the cycles%s\n",
                    job->shared.cost.latency / own.cost.latency,
                    job->n_left_out ? ", of the layers that arrays compute" : "");
    if (job->n_left_out)
        sx_text_add(out, "  %zu of %zu layers are left out\n", job->n_left_out,
                    job->n_left_out + job->n_layers);
}

/* The searches of all layers and of the shared array as one. */
static void print_searches(const sx_systolic_job *job, sx_text *out) {
    sx_run_summary sum = {0};
    for (size_t i = 0; i <= job->n_layers; i++) {
        const sx_systolic_answer *answer = i < job->n_layers ? &job->layer[i].best : &job->shared;
        sum.evaluations += answer->summary.evaluations;
        sum.rejected += answer->summary.rejected;
        sum.seconds += answer->summary.seconds;
        if (answer->searched && sx_ended_early(&answer->summary)) sum.stop = answer->summary.stop;
    }
    sx_systolic_add_search(job, &sum, 0, out);
}

sx_status sx_systolic_print_network(const sx_systolic_job *job, bool quiet, bool verbose, sx_text *out) {
    sx_text_add(out, "%s on %s (%s), for %s\n\n", job->name, job->device.name, job->element->name,
                job->objective);
    bool sums = job->shared.found || sx_systolic_total_of(job).whole;
    if (!quiet || !sums) SX_TRY(print_layers(job, out));
    if (!quiet && sums) sx_text_add(out, "\n");
    if (sums) print_totals(job, out);
    if (job->shared.found) {
        sx_systolic_subject subject = sx_systolic_subject_of(job, job->joined, job->n_joined, &job->shared);
        sx_text_add(out, "\none shared array: ");
        SX_TRY(sx_systolic_explain(&subject, quiet, verbose, out));
    }
    if (quiet) return SX_OK;
    sx_text_add(out, "\n");
    print_searches(job, out);
    return SX_OK;
}
