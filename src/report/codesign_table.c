/* Answers of `sextant codesign` as text for a person. */
#include "report/codesign.h"

#include "report/early.h"
#include "report/evaluation.h"
#include "report/loops.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_WIDTH = 26 };

static const double MM2 = 1e6; /* um^2 */

void sx_codesign_settings(const sx_codesign_job *job, size_t design, sx_text *out) {
    const char *name;
    for (size_t i = 0; (name = sx_designs_choice(job->designs, i)); i++) {
        char text[64];
        sx_designs_setting(job->designs, design, i, text, sizeof text);
        sx_text_add(out, "%s%s %s", i ? ", " : "", name, text);
    }
}

/* An area in the unit that suits it. */
static sx_shown show_area(double um2) {
    sx_shown shown;
    snprintf(shown.text, sizeof shown.text, um2 < 1e4 ? "%.4g um^2" : "%.4g mm^2",
             um2 < 1e4 ? um2 : um2 / MM2);
    return shown;
}

/* Adds a row of two cells. */
static void add_row(sx_table *table, const char *name, const char *value) {
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", value);
}

/* Adds the best design and what it costs. */
static void print_best(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    const sx_design_result *best = &r->design[r->best];
    sx_table table;
    sx_text settings = {0};
    sx_codesign_settings(job, r->best, &settings);
    sx_table_begin(&table, "ll");
    sx_table_cell(&table, "design");
    sx_table_cell_text(&table, &settings);
    add_row(&table, "area", show_area(sx_designs_area(job->designs, r->best)).text);
    sx_table_cell(&table, "objective");
    sx_table_cell(&table, "%.6g (%s%s)", best->value, job->objective,
                  r->n_layers > 1 ? ", summed over the layers" : "");
    add_row(&table, "cycles", sx_show_count(best->total.cycles).text);
    add_row(&table, "energy", sx_show_energy(best->total.energy_pj).text);
    add_row(&table, "utilisation", sx_show_percent(best->total.utilization).text);
    sx_table_end(&table, 2, out);
}

/* Adds a table of the layers, identical ones in one row. */
static void print_layers(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    sx_table table;
    sx_table_begin(&table, "lrrrrrl");
    static const char *const heads[] = {"layer", "times", "cycles", "energy", "EDP", "util", ""};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < r->n_layers; i++) {
        const sx_codesign_layer *layer = &r->layer[i];
        uint64_t times = 0;
        if (layer->same_as != i) continue;
        for (size_t j = i; j < r->n_layers; j++)
            if (r->layer[j].same_as == i) times += job->network.layer[j].count;
        sx_table_cell(&table, "%s", sx_show_name(job->network.layer[i].name, NAME_WIDTH).text);
        sx_table_cell(&table, "%s", sx_show_count((double)times).text);
        sx_table_cell(&table, "%s", sx_show_count(layer->score.cycles).text);
        sx_table_cell(&table, "%s", sx_show_energy(layer->score.energy_pj).text);
        sx_table_cell(&table, "%.4g", layer->score.energy_pj * layer->score.cycles);
        sx_table_cell(&table, "%s", sx_show_percent(layer->score.utilization).text);
        sx_table_cell(&table, "%s", layer->poor ? "poor" : "");
    }
    sx_table_end(&table, 2, out);
}

/* Adds the front of area and objective. */
static void print_front(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    sx_table table;
    sx_table_begin(&table, "rrrRRl");
    static const char *const heads[] = {"area", "objective", "x best", "energy", "cycles", "design"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < r->n_front; i++) {
        const sx_design_result *d = &r->design[r->front[i]];
        sx_text settings = {0};
        sx_codesign_settings(job, r->front[i], &settings);
        sx_table_cell(&table, "%s", show_area(sx_designs_area(job->designs, r->front[i])).text);
        sx_table_cell(&table, "%.5g", d->value);
        sx_table_cell(&table, "%.3f", d->value / r->design[r->best].value);
        sx_table_cell(&table, "%s", sx_show_energy(d->total.energy_pj).text);
        sx_table_cell(&table, "%s", sx_show_count(d->total.cycles).text);
        sx_table_cell_text(&table, &settings);
    }
    sx_table_end(&table, 2, out);
}

/* Adds how many mappings of the best design are poor, and what to do about it. */
static void print_poor(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    size_t n = 0, poor = 0;
    sx_text line = {0};
    for (size_t i = 0; i < r->n_layers; i++) {
        n += r->layer[i].same_as == i;
        poor += r->layer[i].same_as == i && r->layer[i].poor;
    }
    if (!poor) return;
    if (n == 1)
        sx_text_add(&line, "The mapping is poor");
    else
        sx_text_add(&line, "%zu of %zu mappings are poor", poor, n);
    sx_text_add(&line,
                ": a mapping that is %.0f %% better is known, or the lower bound is less than a half of the "
                "objective. Another design may be better; --method exact decides it.",
                (SX_POOR_GAIN - 1) * 100);
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds what tiles that leave remainders give on the best design. */
static void print_remainders(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    double value = 0;
    size_t n = 0, better = 0;
    sx_text line = {0};
    for (size_t i = 0; i < r->n_layers; i++) {
        const sx_codesign_layer *layer = &r->layer[i];
        value += (double)job->network.layer[i].count * (layer->any.found ? layer->any.value : layer->value);
        n += layer->same_as == i;
        better += layer->same_as == i && layer->any.found;
    }
    if (!better) return;
    sx_text_add(
        &line,
        "On this design tiles that leave remainders are better for %zu of %zu layers: objective %.6g, %.4g "
        "times better. Designs are compared by tiles that divide.",
        better, n, value, r->design[r->best].value / value);
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds how many designs were searched and how many were pruned. */
static void tell_designs(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_counts *n = &job->result.counts;
    const char *method = sx_codesign_method_name(job->options.method, NULL);
    sx_text_add(out, "%s design%s", sx_show_count((double)n->designs).text, n->designs == 1 ? "" : "s");
    if (sx_designs_combinations(job->designs) > n->designs)
        sx_text_add(out, " within the limits, of %s",
                    sx_show_count((double)sx_designs_combinations(job->designs)).text);
    sx_text_add(out, ", by %s: %s searched", method, sx_show_count((double)n->done).text);
    if (n->cut) sx_text_add(out, ", %s pruned", sx_show_count((double)n->cut).text);
    if (n->empty) sx_text_add(out, ", %s without a tile of their own", sx_show_count((double)n->empty).text);
    if (n->quick) sx_text_add(out, ", %s searched quickly only", sx_show_count((double)n->quick).text);
    if (n->none) sx_text_add(out, ", %s without a legal mapping", sx_show_count((double)n->none).text);
    if (n->unfound) sx_text_add(out, ", %s without a mapping found", sx_show_count((double)n->unfound).text);
    if (n->open) sx_text_add(out, ", %s not searched", sx_show_count((double)n->open).text);
}

/* Adds how many designs the search evaluated, and what it has proven. */
static void print_search(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    const sx_codesign_counts *n = &r->counts;
    sx_text line = {0};
    tell_designs(job, &line);
    for (int i = 0; i < n->n_memories; i++)
        sx_text_add(&line, "%s%s", i ? " and " : "; tiles visited, innermost memory first: ",
                    sx_show_count((double)n->tiles[i]).text);
    sx_text_add(&line, "; %s evaluation%s", sx_show_count((double)n->evaluations).text,
                n->evaluations == 1 ? "" : "s");
    if (job->clock) sx_text_add(&line, " in %.2f s", r->seconds);
    sx_text_add(&line, ".");
    if (r->optimal)
        sx_text_add(&line, " Proven optimal: no design and no mapping in these spaces is better.");
    else if (r->found && r->lower_bound > 0)
        sx_text_add(&line, " Lower bound %.6g, gap %s.", r->lower_bound,
                    sx_show_percent(r->design[r->best].value / r->lower_bound - 1).text);
    sx_add_early(sx_ended_early(&(sx_run_summary){.optimal = r->optimal, .stop = r->stop}), &line);
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds the outcome of every design. */
static void print_designs(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    sx_table table;
    bool ranked = false;
    for (size_t i = 0; i < r->n_designs; i++) ranked |= isfinite(r->design[i].tile_cost);
    sx_table_begin(&table, "rlrRl");
    const char *const heads[] = {"area", "outcome", "objective", ranked ? "tile cost" : "bound", "design"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) sx_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < r->n_designs; i++) {
        const sx_design_result *d = &r->design[i];
        sx_text settings = {0};
        sx_codesign_settings(job, i, &settings);
        sx_table_cell(&table, "%s", show_area(sx_designs_area(job->designs, i)).text);
        sx_table_cell(&table, "%s%s", sx_design_outcome_name(d->outcome), d->poor ? ", poor" : "");
        if (isfinite(d->value))
            sx_table_cell(&table, "%.5g", d->value);
        else
            sx_table_cell(&table, "-");
        const double least = ranked ? d->tile_cost : d->bound;
        if (isfinite(least))
            sx_table_cell(&table, "%.5g", least);
        else
            sx_table_cell(&table, "-");
        sx_table_cell_text(&table, &settings);
    }
    sx_table_end(&table, 2, out);
}

/* Adds the loops of the only layer. */
static void print_loops(const sx_codesign_job *job, sx_text *out) {
    sx_arch *arch = malloc(sizeof *arch);
    if (!arch) {
        out->failed = true;
        return;
    }
    sx_designs_arch(job->designs, job->result.best, arch);
    sx_loops_print(&job->result.layer[0].mapping, &job->network.layer[0].problem, arch, out);
    free(arch);
}

void sx_codesign_print(const sx_codesign_job *job, bool quiet, bool verbose, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    sx_text_add(out, "%s on %s\n\n",
                job->network.n_layers == 1 ? job->network.layer[0].name : job->network.name, job->base.name);
    print_best(job, out);
    if (quiet) return;
    sx_text_add(out, "\n");
    if (r->n_layers > 1)
        print_layers(job, out);
    else
        print_loops(job, out);
    print_poor(job, out);
    print_remainders(job, out);
    sx_text_add(out, "\nPareto front of area and %s%s\n\n", job->objective,
                r->counts.cut && !job->options.front ? ", of the designs that were not pruned" : "");
    print_front(job, out);
    if (verbose) {
        sx_text_add(out, "\nall designs\n\n");
        print_designs(job, out);
    }
    sx_text_add(out, "\n");
    print_search(job, out);
    sx_report_energies(job->energies, out);
    sx_report_semantics(&job->base, &job->options.model, out);
}
