#include "report/evaluation.h"
#include "report/formats.h"

#include "ir/arch.h"
#include "report/figures.h"
#include "report/loops.h"
#include "report/savings.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 18, BAR_WIDTH = 20 };

int sx_limiting_level(const sx_cost *cost) {
    int worst = -1;
    uint64_t cycles = cost->compute_cycles;
    for (int s = 0; s < cost->n_levels; s++)
        if (cost->level[s].cycles > cycles) {
            cycles = cost->level[s].cycles;
            worst = s;
        }
    return worst;
}

uint64_t sx_network_latency(const sx_arch *arch) {
    uint64_t cycles = 0;
    for (int s = 0; s < arch->n_levels; s++)
        cycles += arch->level[s].fill_latency + arch->level[s].drain_latency;
    return cycles;
}

const char *sx_level_name(const sx_arch *arch, int level) {
    return level >= 0 && level < arch->n_levels ? arch->level[level].name : arch->compute.name;
}

/* Adds a row of the totals with how it compares with the compulsory minimum; without a text of that, with Timeloop's
 * cycles. */
static void total_row(sx_table *table, const char *name, const char *value, double have, double minimum,
                      const char *minimum_text) {
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", value);
    if (minimum > 0 && !minimum_text)
        sx_table_cell(table, "%s x Timeloop's cycles", sx_show_count(have / minimum).text);
    else if (minimum > 0)
        sx_table_cell(table, "%s x the compulsory minimum of %s", sx_show_count(have / minimum).text,
                      minimum_text);
    else
        sx_table_blank(table, 1);
}

static void print_objective(const sx_evaluation *e, sx_table *table) {
    char name[256];
    sx_score score = sx_cost_score(&e->cost);
    sx_objective_text(&e->objective, name, sizeof name);
    sx_table_cell(table, "objective");
    sx_table_cell(table, "%.6g", sx_objective_value(&e->objective, &score));
    sx_table_cell(table, "%s", name);
}

/* Adds what limits the run time. */
static void print_limit(const sx_evaluation *e, sx_text *out) {
    const sx_cost *cost = &e->cost;
    int level = sx_limiting_level(cost);
    uint64_t latency = sx_network_latency(&e->arch);
    sx_text line = {0};
    if (level < 0)
        sx_text_add(&line, "Compute bound: no level's bandwidth limits the speed.");
    else
        sx_text_add(&line,
                    "Bandwidth bound at %s: it runs at %s of the compute units' speed, which alone would "
                    "take %s cycles.",
                    sx_level_name(&e->arch, level), sx_show_percent(cost->level[level].slowdown).text,
                    sx_show_count((double)cost->compute_cycles).text);
    if (latency)
        sx_text_add(&line, " Filling and draining the networks adds %s cycles.",
                    sx_show_count((double)latency).text);
    if (e->simulated) sx_text_add(&line, " Counted by simulating every iteration, not by the model.");
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

void sx_report_energies(const char *energies, sx_text *out) {
    sx_text line = {0};
    if (!energies) return;
    sx_text_add(&line, "Energies: %s.", energies);
    if (strstr(energies, "formula"))
        sx_text_add(&line,
                    " Formulas know no process node and can be off by a factor of ten: state one, such as "
                    "technology: 45nm, or add an ERT with --arch FILE.");
    if (strstr(energies, "estimate ("))
        sx_text_add(&line, " `sextant estimate` has the rules and error bands.");
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

void sx_report_semantics(const sx_arch *arch, const sx_model_options *options, sx_text *out) {
    sx_text line = {0};
    if (options->like_timeloop) sx_text_add(&line, "Files read as by Timeloop (--like timeloop). ");
    if (sx_sparse_active(&arch->sparse))
        sx_text_add(&line, "Zeros are counted %s",
                    options->sparse_timeloop
                        ? "as by Timeloop, its errors included (--sparse-semantics exact: exactly)."
                        : "exactly.");
    if (!line.size && !line.failed) return;
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

bool sx_bounds_weak(const sx_arch *arch, const sx_model_options *options, const sx_run_summary *summary) {
    bool weak = options->sparse_timeloop && sx_sparse_active(&arch->sparse);
    return weak && !summary->optimal && summary->lower_bound > 0;
}

void sx_json_semantics(const sx_arch *arch, const sx_model_options *options, json_t *object) {
    if (sx_sparse_active(&arch->sparse))
        sx_json_set(object, "sparse_semantics", json_string(options->sparse_timeloop ? "timeloop" : "exact"));
    if (options->like_timeloop) sx_json_set(object, "like", json_string("timeloop"));
}

/* A product of large numbers, where four digits are enough. */
static sx_shown show_product(double value, const char *unit) {
    sx_shown shown;
    if (value < 1e7)
        snprintf(shown.text, sizeof shown.text, "%.16s%s", sx_show_count(value).text, unit);
    else
        snprintf(shown.text, sizeof shown.text, "%.4g%s", value, unit);
    return shown;
}

static void print_totals(const sx_evaluation *e, sx_text *out) {
    const sx_cost *cost = &e->cost;
    sx_score least = e->minimum;
    double least_edp = least.energy_pj * least.cycles;
    sx_table table;
    sx_table_begin(&table, "lll");
    total_row(&table, "cycles", sx_show_count((double)cost->cycles).text, (double)cost->cycles, least.cycles,
              sx_show_count(least.cycles).text);
    if (cost->n_boundaries > 0)
        total_row(&table, "latency", sx_show_count(round(cost->latency)).text, cost->latency,
                  (double)cost->cycles, NULL);
    total_row(&table, "energy", sx_show_energy(cost->energy_pj).text, cost->energy_pj, least.energy_pj,
              sx_show_energy(least.energy_pj).text);
    total_row(&table, "EDP", show_product(cost->edp, " pJ*cycles").text, cost->edp, least_edp,
              show_product(least_edp, "").text);
    sx_table_cell(&table, "utilisation");
    sx_table_cell(&table, "%s", sx_show_percent(cost->utilization).text);
    sx_table_cell(&table, "%s of %s %s in use", sx_show_count((double)cost->compute_instances).text,
                  sx_show_count((double)e->arch.compute.instances).text,
                  sx_show_name(e->arch.compute.name, 26).text);
    sx_table_cell(&table, "computes");
    double computes = (double)cost->computes;
    sx_table_cell(&table, "%s",
                  (computes < 1e10 ? sx_show_count(computes) : sx_show_computes(computes)).text);
    sx_table_blank(&table, 1);
    sx_work work;
    sx_work_of(&e->problem, &e->arch, cost, &work);
    sx_figures_rows(&e->problem, &e->arch, &work, &table);
    if (e->has_objective) print_objective(e, &table);
    sx_text_add(out, "%s on %s\n\n", e->problem.name[0] ? e->problem.name : "problem",
                e->arch.name[0] ? e->arch.name : "architecture");
    sx_table_end(&table, 2, out);
    sx_text_add(out, "\n");
    print_limit(e, out);
    sx_report_energies(e->energies, out);
    sx_report_semantics(&e->arch, &e->options, out);
    if (e->given) sx_formats_print(e->given, &e->arch, &e->problem, &e->mapping, out);
}

/* Adds the cells for an energy: its value, its share of the total, a bar. */
static void energy_cells(sx_table *table, double energy, double total) {
    double share = total > 0 ? energy / total : 0;
    int bar = (int)lround(share * BAR_WIDTH);
    sx_table_cell(table, "%s", sx_show_energy(energy).text);
    sx_table_cell(table, "%s", energy > 0 ? sx_show_percent(share).text : "");
    sx_table_cell(table, "%.*s", bar < BAR_WIDTH ? bar : BAR_WIDTH, "####################");
}

/* The words that a tensor's tile takes of a level. */
static double tile_words(const sx_evaluation *e, int level, int tensor) {
    double tile = (double)e->cost.level[level].tensor[tensor].tile;
    return sx_element_words(&e->arch.level[level], &e->problem.tensor[tensor], tile);
}

static void tensor_row(const sx_evaluation *e, int level, int tensor, sx_table *table) {
    const sx_cost_level *l = &e->cost.level[level];
    const sx_cost_tensor *t = &l->tensor[tensor];
    double instances = l->instances ? (double)l->instances : 1;
    double room = sx_usable_words(&e->arch.level[level]);
    sx_table_cell(table, "  %s", sx_show_name(e->problem.tensor[tensor].name, NAME_WIDTH).text);
    if (!t->kept) {
        sx_table_cell(table, "bypassed");
        sx_table_blank(table, 7);
        return;
    }
    sx_table_cell(table, "%s", sx_show_count((double)t->tile).text);
    if (isinf(room))
        sx_table_blank(table, 1);
    else
        sx_table_cell(table, "%s", sx_show_percent(tile_words(e, level, tensor) / room).text);
    sx_table_cell(table, "%s", sx_show_count((double)t->reads / instances).text);
    sx_table_cell(table, "%s", sx_show_count((double)t->fills / instances).text);
    sx_table_cell(table, "%s", sx_show_count((double)t->updates / instances).text);
    energy_cells(table, t->energy_pj, e->cost.energy_pj);
}

/* A row that has an energy only. */
static void energy_row(const sx_evaluation *e, const char *name, double energy, sx_table *table) {
    sx_table_cell(table, "  %s", name);
    sx_table_blank(table, 5);
    energy_cells(table, energy, e->cost.energy_pj);
}

static void level_heading(const sx_evaluation *e, int level, sx_table *table) {
    const sx_storage *storage = &e->arch.level[level];
    const sx_cost_level *l = &e->cost.level[level];
    double used = 0, room = sx_usable_words(storage);
    for (int v = 0; v < e->cost.n_tensors; v++) used += tile_words(e, level, v);
    char words[128] = "", slow[64] = "";
    if (storage->transparent)
        snprintf(words, sizeof words, "; a fan-out only");
    else if (!isinf(room))
        snprintf(words, sizeof words, "; %s of %s words (%s)", sx_show_count(used).text,
                 sx_show_count(room).text, sx_show_percent(used / room).text);
    if (l->slowdown < 1)
        snprintf(slow, sizeof slow, "; limits the speed to %s", sx_show_percent(l->slowdown).text);
    sx_table_heading(table, "%s: %s of %s instance%s%s%s", sx_show_name(storage->name, 26).text,
                     sx_show_count((double)l->instances).text, sx_show_count((double)storage->instances).text,
                     storage->instances == 1 ? "" : "s", words, slow);
}

static void print_levels(const sx_evaluation *e, sx_detail detail, sx_text *out) {
    static const char *const titles[] = {"",        "tile",   "used",  "reads", "fills",
                                         "updates", "energy", "share", ""};
    const sx_cost *cost = &e->cost;
    sx_table table;
    sx_table_begin(&table, "lrRrrrrRo");
    for (int i = 0; i < 9; i++) sx_table_cell(&table, "%s", titles[i]);
    for (int s = cost->n_levels - 1; s >= 0; s--) {
        level_heading(e, s, &table);
        bool any = detail == SX_DETAIL_ALL;
        for (int v = 0; v < cost->n_tensors; v++) any |= cost->level[s].tensor[v].kept;

        for (int v = 0; any && v < cost->n_tensors; v++) tensor_row(e, s, v, &table);
        if (cost->level[s].leakage_pj > 0 || detail == SX_DETAIL_ALL)
            energy_row(e, "leakage", cost->level[s].leakage_pj, &table);
    }
    sx_table_heading(&table, "%s: %s of %s instance%s", sx_show_name(e->arch.compute.name, 26).text,
                     sx_show_count((double)cost->compute_instances).text,
                     sx_show_count((double)e->arch.compute.instances).text,
                     e->arch.compute.instances == 1 ? "" : "s");
    energy_row(e, "computes", cost->compute_energy_pj, &table);
    double networks = 0;
    for (int s = 0; s < cost->n_levels; s++) networks += cost->network[s].energy_pj;
    if (networks > 0 || detail == SX_DETAIL_ALL) {
        sx_table_heading(&table, "networks");
        energy_row(e, "all networks", networks, &table);
    }
    bool sized = false;
    for (int v = 0; v < e->problem.n_tensors; v++) sized |= e->problem.tensor[v].bits != 0;
    sx_text head = {0};
    sx_text_add(&head,
                "Levels, outermost first. Tiles, reads, fills and updates are in %s per instance, "
                "energies are for all instances.",
                sized ? "elements" : "words");
    sx_text_add(out, "\n");
    sx_wrap_free(&head, 0, 0, out);
    sx_text_add(out, "\n");
    sx_table_end(&table, 2, out);
}

/* Whether a tensor's use of a network is shown. */
static bool network_matters(const sx_cost_net_tensor *t, sx_detail detail) {
    if (detail == SX_DETAIL_ALL) return true;
    return t->ingresses > 0 &&
           (t->fanout > 1 || t->link_transfers > 0 || t->energy_pj + t->link_energy_pj > 0);
}

static void network_row(const sx_evaluation *e, int level, int tensor, sx_table *table) {
    const sx_cost_net_tensor *t = &e->cost.network[level].tensor[tensor];
    sx_table_cell(table, "  %s", sx_show_name(e->problem.tensor[tensor].name, NAME_WIDTH).text);
    sx_table_cell(table, "%s", sx_show_count((double)t->fanout).text);
    sx_table_cell(table, "%s", sx_show_count((double)t->multicast).text);
    sx_table_cell(table, "%s", sx_show_count(t->ingresses).text);
    sx_table_cell(table, "%s", sx_show_count(t->link_transfers).text);
    sx_table_cell(table, "%s", sx_show_count(t->spatial_reductions).text);
    sx_table_cell(table, "%.2f", t->hops);
    sx_table_cell(table, "%s", sx_show_energy(t->energy_pj + t->link_energy_pj).text);
}

static void print_networks(const sx_evaluation *e, sx_detail detail, sx_text *out) {
    static const char *const titles[] = {"",           "fan-out",    "multicast", "ingresses",
                                         "neighbours", "reductions", "hops",      "energy"};
    sx_table table;
    bool any = false;
    sx_table_begin(&table, "lRrrRRRr");
    for (int i = 0; i < 8; i++) sx_table_cell(&table, "%s", titles[i]);
    for (int s = e->cost.n_levels - 1; s >= 0; s--) {
        bool headed = false;
        for (int v = 0; v < e->cost.n_tensors; v++) {
            if (!network_matters(&e->cost.network[s].tensor[v], detail)) continue;
            if (!headed)
                sx_table_heading(&table, "%s <=> %s", sx_show_name(e->arch.level[s].name, 26).text,
                                 sx_show_name(sx_level_name(&e->arch, s - 1), 26).text);
            headed = any = true;
            network_row(e, s, v, &table);
        }
    }
    sx_text rows = {.width = out->width};
    sx_table_end(&table, 2, &rows);
    out->failed |= rows.failed;
    if (any && !rows.failed)
        sx_text_add(
            out,
            "\nNetworks. Words are per instance of the outer level, energies are for all instances.\n\n%s",
            rows.data);
    sx_text_free(&rows);
}

void sx_report(const sx_evaluation *e, sx_detail detail, sx_text *out) {
    print_totals(e, out);
    if (detail == SX_DETAIL_TOTALS) return;
    sx_text_add(out, "\nLoops, outermost first.\n\n");
    sx_loops_print(&e->mapping, &e->problem, &e->arch, out);
    print_levels(e, detail, out);
    print_networks(e, detail, out);
    sx_report_sparse(e, out);
}
