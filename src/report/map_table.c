#include "report/map_table.h"

#include "report/densities.h"
#include "report/early.h"
#include "report/evaluation.h"
#include "report/figures.h"
#include "report/loops.h"
#include "report/table.h"
#include "report/time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 26, BAR_WIDTH = 16 };

static const double LARGE_GAIN = 1.1; /* from which on a gain is shown as a ratio */

/* Whether a search that proves ended without a proof. */
static bool is_left_open(const sx_layer_result *layer) {
    const sx_run_summary *s = &layer->summary;
    return layer->found && s->stop == SX_STOP_DONE && !s->optimal && s->lower_bound > 0;
}

/* Whether it ended because its preset effort was spent, not because the gap that its settings ask for was reached. */
static bool ended_by_preset(const sx_layer_result *layer, const char *asked) {
    const char *gap = strstr(asked, "gap=");
    const double limit = layer->summary.lower_bound * (1 + (gap ? strtod(gap + strlen("gap="), NULL) : 0));
    return is_left_open(layer) && !(gap && layer->best.value <= limit * (1 + 1e-9));
}

/* Why a search ended. */
static const char *search_ending(const sx_layer_result *layer, const char *asked) {
    switch (layer->summary.stop) {
    case SX_STOP_DONE:
        return layer->summary.drawn ? "no mapping that it makes is legal, and this one is a random draw"
               : ended_by_preset(layer, asked) ? "stopped by its preset effort"
               : is_left_open(layer)           ? "the gap asked for is reached"
                                               : "search complete";
    case SX_STOP_EVALUATIONS:
        return "evaluation budget used up";
    case SX_STOP_TIME:
        return "time limit reached";
    case SX_STOP_TARGET:
        return "target reached";
    case SX_STOP_PATIENCE:
        return "no improvement within the patience limit";
    case SX_STOP_SIGNAL:
        return "interrupted";
    case SX_STOP_FAILED:
        break;
    }
    return "stopped by an error";
}

/* Adds that a layer has no mapping: "no legal mapping found" only where that is proven. */
static void add_none(const sx_layer_result *layer, sx_text *out) {
    const sx_run_summary *s = &layer->summary;
    const char *limit = s->stop == SX_STOP_TIME          ? "time limit"
                        : s->stop == SX_STOP_EVALUATIONS ? "limit of evaluations"
                        : s->stop == SX_STOP_PATIENCE    ? "limit of patience"
                                                         : NULL;
    if (s->none)
        sx_text_add(out, "no legal mapping found: the whole space was searched\n");
    else if (s->stop == SX_STOP_SIGNAL)
        sx_text_add(out, "interrupted before a legal mapping was found; the space may contain one\n");
    else if (limit)
        sx_text_add(out, "no legal mapping found within the %s; the space may contain one\n", limit);
    else
        sx_text_add(out, "no legal mapping found by this mapper, which does not search the whole space; "
                         "--mapper optimal does\n");
}

/* Whether something is proven of a layer. */
static bool is_bounded(const sx_layer_result *layer) {
    return layer->summary.optimal || layer->summary.lower_bound > 0;
}

/* Adds what is proven of a layer, and in which space. */
static void add_proof(const sx_result *r, const sx_layer_result *layer, sx_text *line) {
    const sx_run_summary *s = &layer->summary;
    const bool beside = layer->widened && !layer->remainders, divides = sx_proves_dividing(r, layer);
    if (!layer->found) return;
    if (s->optimal && divides)
        sx_text_add(line, " Proven optimal among tiles that divide");
    else if (s->optimal)
        sx_text_add(line, " Proven optimal: no mapping in the space is better%s",
                    layer->widened ? ", with remainders or without" : "");
    else if (s->lower_bound > 0)
        sx_text_add(line, " Lower bound %.6g, gap %s%s", s->lower_bound,
                    sx_show_percent(layer->best.value / s->lower_bound - 1).text,
                    divides ? ", among tiles that divide" : "");
    if (beside && !layer->any_optimal && layer->any_bound > 0)
        sx_text_add(line, "%s with remainders at most %s better", is_bounded(layer) ? ";" : "",
                    sx_show_percent(layer->best.value / layer->any_bound - 1).text);
    if (is_bounded(layer) || (beside && layer->any_bound > 0)) sx_text_add(line, ".");
}

/* A ratio of values, such as "3.1%" or "2.73 times". */
static sx_shown show_gain(double ratio) {
    sx_shown out = sx_show_percent(ratio - 1);
    if (ratio >= LARGE_GAIN) snprintf(out.text, sizeof out.text, "%.3g times", ratio);
    return out;
}

/* Adds what tiles that leave remainders gave, or could give. */
static void add_remainders(const sx_result *r, const sx_layer_result *layer, sx_text *line) {
    const sx_dividing *d = &layer->dividing;
    const char *dividing = d->optimal ? "the optimal" : "the best";
    if (layer->remainders && d->value > layer->best.value)
        sx_text_add(line, " Its tiles leave remainders: %s better than %s mapping whose tiles divide.",
                    show_gain(d->value / layer->best.value).text, dividing);
    else if (layer->remainders && d->value > 0)
        sx_text_add(
            line,
            " Its tiles leave remainders: better by a later criterion than %s mapping whose tiles divide.",
            dividing);
    else if (layer->remainders)
        sx_text_add(line, " Its tiles leave remainders; no mapping whose tiles divide was found.");
    else if (layer->widened && !layer->any_optimal)
        sx_text_add(line, " Tiles that leave remainders gave nothing better.");
    else if (layer->found && layer->share > 0 && layer->share < SX_IDLE_SHARE && !r->options.space.remainders)
        sx_text_add(line,
                    " Tiles that divide can use at most %s of the compute units; --remainders allows others.",
                    sx_show_percent(layer->share).text);
}

/* True if a time limit or a signal ended the search of the layer, or of its remainders, before anything was proven of them. */
static bool ended_early(const sx_layer_result *layer) {
    sx_run_summary s = layer->summary;
    s.optimal = layer->widened ? layer->any_optimal : s.optimal;
    return sx_ended_early(&s);
}

/* Adds what more time is likely to buy: about what the second half of the evaluations did. */
static void add_outlook(const sx_layer_result *layer, sx_text *line) {
    double before = 0;
    for (size_t i = 0; i < layer->n_trace && layer->trace[i].evaluations <= layer->summary.evaluations / 2;
         i++)
        before = layer->trace[i].value;
    if (before > layer->best.value * (1 + 1e-9))
        sx_text_add(line, " The second half of the evaluations made it %s better",
                    show_gain(before / layer->best.value).text);
    else if (before > 0)
        sx_text_add(line, " The second half of the evaluations gave nothing better");
    else
        sx_text_add(line, " It was found late");
    sx_text_add(line, "; --time SECONDS goes on.");
}

/* Adds what a database knows of an answer that was not searched again. */
static void add_proven_before(const sx_result *r, const sx_layer_result *layer, const char *db,
                              sx_text *line) {
    sx_text_add(line, "Proven before, from %s: this is the optimum %s", db,
                layer->any_optimal             ? "of the space, with remainders or without"
                : layer->widened               ? "among tiles that divide, and remainders gave nothing better"
                : sx_proves_dividing(r, layer) ? "among tiles that divide"
                                               : "of the space");
    if (layer->widened && !layer->any_optimal && layer->any_bound > 0)
        sx_text_add(line, ", which could be at most %s better",
                    sx_show_percent(layer->best.value / layer->any_bound - 1).text);
    sx_text_add(line, ". Nothing was searched; --again searches.");
}

/* Adds a summary of the search. */
static void print_search(const sx_result *r, const sx_mapping_view *view, const sx_layer_result *layer,
                         sx_text *out) {
    const sx_run_summary *s = &layer->summary;
    sx_text line = {0};
    if (layer->proven_before) {
        add_proven_before(r, layer, view->db, &line);
        sx_text_add(out, "  ");
        sx_wrap_free(&line, 2, 2, out);
        return;
    }
    sx_text_add(&line, "%s evaluations", sx_show_count((double)s->evaluations).text);
    if (s->seconds > 0)
        sx_text_add(&line, " in %.2f s (%s/s)", s->seconds,
                    sx_show_count(floor((double)s->evaluations / s->seconds)).text);
    sx_text_add(&line, " by %s, seed %llu; %s", view->asked, (unsigned long long)r->options.run.seed,
                search_ending(layer, view->asked));
    if (layer->found)
        sx_text_add(&line, ", best found at number %s.", sx_show_count((double)layer->best.evaluation).text);
    else
        sx_text_add(&line, ".");
    if (r->evaluator && layer->found)
        sx_text_add(&line, " The evaluator scores it %.6g; the figures above are Sextant's model.",
                    layer->best.value);
    add_proof(r, layer, &line);
    if (layer->found && sx_bounds_weak(&r->arch, &r->options.model, s))
        sx_text_add(
            &line,
            " Bounds of Timeloop's sparse semantics are weak: --sparse-semantics exact may prove more.");
    add_remainders(r, layer, &line);
    if (layer->warm_from != -1)
        sx_text_add(&line, " Started from the scaled mapping of %s.",
                    layer->warm_name[0] ? layer->warm_name : "a problem");
    if (layer->warm_value > 0) {
        line.size--;
        sx_text_add(&line, ", at %.4g.", layer->warm_value);
    }
    sx_add_early(ended_early(layer), &line);
    if (ended_by_preset(layer, view->asked)) add_outlook(layer, &line);
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds what of the network is not mapped. */
static void add_unmapped(const sx_unmapped *u, sx_text *out) {
    sx_text line = {0};
    if (!u->operators) return;
    sx_text_add(&line, "Not mapped: %" PRIu64 " of %" PRIu64 " operators", u->operators, u->of);
    if (u->unknown < u->operators)
        sx_text_add(&line, ", %s of the operations%s", sx_show_percent(u->share).text,
                    u->unknown ? " of those whose work is known" : "");
    if (u->unknown) sx_text_add(&line, "; the work of %" PRIu64 " is not known", u->unknown);
    sx_text_add(&line, ".");
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds the other best ones, or the front. */
static void print_answers(const char *title, const sx_answer *answer, size_t n, sx_text *out) {
    sx_table table;
    if (n == 0) return;
    sx_text_add(out, "\n%s\n\n", title);
    sx_table_begin(&table, "rrrrRR");
    sx_table_cell(&table, "#");
    sx_table_cell(&table, "cycles");
    sx_table_cell(&table, "energy");
    sx_table_cell(&table, "EDP");
    sx_table_cell(&table, "utilisation");
    sx_table_cell(&table, "found at");
    for (size_t i = 0; i < n; i++) {
        sx_table_cell(&table, "%zu", i + 1);
        sx_table_cell(&table, "%s", sx_show_count(answer[i].score.cycles).text);
        sx_table_cell(&table, "%s", sx_show_energy(answer[i].score.energy_pj).text);
        sx_table_cell(&table, "%.4g", answer[i].score.energy_pj * answer[i].score.cycles);
        sx_table_cell(&table, "%s", sx_show_percent(answer[i].score.utilization).text);
        sx_table_cell(&table, "%s", sx_show_count((double)answer[i].evaluation).text);
    }
    sx_table_end(&table, 2, out);
}

sx_status sx_mapping_report_layer(const sx_result *r, const sx_mapping_view *view, sx_text *out) {
    const sx_layer_result *layer = &r->session.layer[0];
    if (!layer->found) {
        add_none(layer, out);
        sx_text_add(out, "\n");
        print_search(r, view, layer, out);
        if (layer->diagnosis) sx_text_add(out, "\n%s", layer->diagnosis);
        return SX_OK;
    }
    sx_evaluation *e = calloc(1, sizeof *e);
    if (!e) return sx_error_memory();
    sx_status status = sx_layer_evaluate(r, 0, e);
    if (!status) {
        sx_report(e, view->verbose ? SX_DETAIL_ALL : SX_DETAIL_TOTALS, out);
        add_unmapped(&r->network.unmapped, out);
        if (!view->quiet) {
            sx_text_add(out, "\n");
            print_search(r, view, layer, out);
        }
        if (!view->quiet && !view->verbose) {
            sx_text_add(out, "\nLoops, outermost first.\n\n");
            sx_loops_print(&e->mapping, &e->problem, &e->arch, out);
        }
        status = sx_time_report(r, view->quiet, out);
        if (!status) status = sx_densities_print(r, 0, out);
        print_answers("Best mappings.", layer->other, layer->n_best, out);
        print_answers("Pareto front of energy and cycles.", layer->front, layer->n_front, out);
    }
    free(e);
    return status;
}

/* The compulsory minimum's share of a layer's energy times cycles, as a multiple; 0 where it is not known.
 */
static double times_minimum(const sx_layer_result *layer) {
    return layer->found && layer->minimum > 0 ? layer->best.value / layer->minimum : 0;
}

/* Whether something is proven of some layer. */
static bool has_bounds(const sx_result *r) {
    bool some = false;
    for (size_t i = 0; i < r->session.n_layers; i++) some |= is_bounded(&r->session.layer[i]);
    return some;
}

/* Adds the latency of a score, where there is one beside the cycles. */
static void latency_cell(const sx_result *r, const sx_score *score, sx_table *table) {
    if (r->options.model.latency_tile) sx_table_cell(table, "%s", sx_show_count(round(score->latency)).text);
}

static void head_row(const sx_result *r, bool bounds, sx_table *table) {
    const char *const head[] = {"layer",   "times",  "MACs", "cycles",
                                "latency", "energy", "EDP",  r->evaluator ? "score" : "x min",
                                "util"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        if (i != 4 || r->options.model.latency_tile) sx_table_cell(table, "%s", head[i]);
    if (bounds) sx_table_cell(table, "%s", sx_is_chosen(r) ? "front" : "gap");
    sx_table_cell(table, "share of cycles");
}

/* Adds by how much a layer's answer may be above the optimum, or whether the front it was chosen from is proven. */
static void gap_cell(const sx_result *r, const sx_layer_result *layer, sx_table *table) {
    if (layer->summary.optimal)
        sx_table_cell(table, "proven");
    else if (sx_is_chosen(r))
        sx_table_cell(table, "open");
    else if (is_bounded(layer))
        sx_table_cell(table, "%s", sx_show_percent(layer->best.value / layer->summary.lower_bound - 1).text);
    else
        sx_table_blank(table, 1);
}

/* Adds a layer's row; `times`: how often the network runs it, `bounds`: with what is proven of it. */
static void layer_row(const sx_result *r, size_t i, uint64_t times, bool bounds, sx_table *table) {
    double all = r->session.total.cycles;
    const sx_layer *layer = &r->network.layer[i];
    const sx_layer_result *result = &r->session.layer[i];
    const sx_score *score = &result->best.score;
    sx_table_cell(table, "%s", sx_show_name(layer->name, NAME_WIDTH).text);
    sx_table_cell(table, "%llu", (unsigned long long)times);
    sx_table_cell(table, "%s", sx_show_computes((double)sx_problem_computes(&layer->problem)).text);
    if (!result->found) {
        sx_table_cell(table, "%s", result->searched ? "none" : "not searched");
        sx_table_blank(table, (bounds ? 6 : 5) + r->options.model.latency_tile);
        return;
    }
    int bar = all > 0 ? (int)lround(score->cycles * (double)times / all * BAR_WIDTH * 2) : 0;
    sx_table_cell(table, "%s", sx_show_count(score->cycles).text);
    latency_cell(r, score, table);
    sx_table_cell(table, "%s", sx_show_energy(score->energy_pj).text);
    sx_table_cell(table, "%.3e", score->energy_pj * score->cycles);
    if (r->evaluator)
        sx_table_cell(table, "%.6g", result->best.value);
    else
        sx_table_cell(table, "%.2f", times_minimum(result));
    sx_table_cell(table, "%s", sx_show_percent(score->utilization).text);
    if (bounds) gap_cell(r, result, table);
    sx_table_cell(table, "%.*s", bar < BAR_WIDTH ? bar : BAR_WIDTH, "################");
}

static void total_row(const sx_result *r, bool bounds, sx_table *table) {
    const sx_score *total = &r->session.total;
    double computes = 0;
    size_t found = 0;
    for (size_t i = 0; i < r->network.n_layers; i++) {
        if (!r->session.layer[i].found) continue;
        found++;
        computes +=
            (double)sx_problem_computes(&r->network.layer[i].problem) * (double)r->network.layer[i].count;
    }
    if (found < r->session.n_layers)
        sx_table_cell(table, "%zu of %zu layers", found, r->session.n_layers);
    else
        sx_table_cell(table, "all");
    sx_table_blank(table, 1);
    sx_table_cell(table, "%s", sx_show_computes(computes).text);
    sx_table_cell(table, "%s", sx_show_count(total->cycles).text);
    latency_cell(r, total, table);
    sx_table_cell(table, "%s", sx_show_energy(total->energy_pj).text);
    sx_table_cell(table, "%.3e", total->energy_pj * total->cycles);
    sx_table_blank(table, 1);
    sx_table_cell(table, "%s", sx_show_percent(total->utilization).text);
    sx_table_blank(table, bounds ? 2 : 1);
}

/* What is proven of a network's distinct layers. */
typedef struct network_proof {
    size_t searched, proven; /* layers; those whose answers are proven optimal */
    size_t divides,
        bounded; /* of what is proven: among tiles that divide alone; of these: with a bound of all tiles */
    double most; /* by how much remainders could make these better at the most */
} network_proof;

static network_proof find_proof(const sx_result *r) {
    network_proof p = {0};
    for (size_t i = 0; i < r->session.n_layers; i++) {
        const sx_layer_result *layer = &r->session.layer[i];
        if (layer->same_as != i) continue;
        p.searched++;
        p.proven += layer->summary.optimal;
        if (!layer->found || !sx_proves_dividing(r, layer) || !is_bounded(layer)) continue;
        p.divides++;
        p.bounded += layer->any_bound > 0;
        if (layer->any_bound > 0) p.most = fmax(p.most, layer->best.value / layer->any_bound - 1);
    }
    return p;
}

/* Adds what an objective of the network comes to, and what is proven of it. */
static void add_choice(const sx_result *r, sx_text *line) {
    const sx_session_result *s = &r->session;
    const char *tiles = s->any_tiles || !(s->network_bound > 0) ? "" : " among tiles that divide";
    if (!(s->network_value > 0)) return;
    sx_text_add(line,
                " The layers' mappings are chosen on their fronts of energy and cycles: %s of 'all', %.5g,",
                r->objective, s->network_value);
    if (s->network_bound >= s->network_value)
        sx_text_add(line, " is proven to be the least%s.", tiles);
    else if (s->network_bound > 0)
        sx_text_add(line, " is at most %s above the least%s, with a lower bound of %.5g.",
                    sx_show_percent(s->network_value / s->network_bound - 1).text, tiles, s->network_bound);
    else
        sx_text_add(line, " has no lower bound.");
}

/* Adds what the layers' objectives sum up to, where that is not a figure of the network, and that the row of the network has
 * another one. */
static void add_sum(const sx_result *r, double sum, sx_text *line) {
    const sx_criterion *c = &r->options.run.objective.criterion[0];
    if (c->kind != SX_PRODUCT || c->energy_power == 0 || c->delay_power == 0 || r->evaluator || !(sum > 0))
        return;
    sx_text_add(
        line,
        " What is minimised is the sum of the layers' %s, %.5g. The EDP of 'all' is the network's energy "
        "times its cycles; --objective network-%s minimises the network's own %s.",
        r->objective, sum, r->objective, r->objective);
}

/* Adds what is proven of the layers of a network, and of their sum. */
static void add_network_proof(const sx_result *r, const network_proof *p, sx_text *line) {
    const sx_result_sum sum = sx_result_summed(r);
    if (sx_is_chosen(r)) {
        add_choice(r, line);
        return;
    }
    add_sum(r, sum.value, line);
    if (p->proven == p->searched)
        sx_text_add(line, " Every mapping is proven optimal %s.",
                    p->divides == p->proven ? "among tiles that divide" : "for its space");
    else if (has_bounds(r))
        sx_text_add(
            line,
            " %zu %s proven optimal for %s space; 'gap' is how far others are above the optimum at most.",
            p->proven, p->proven == 1 ? "is" : "are", p->proven == 1 ? "its" : "their");
    if (p->proven < p->searched && sum.lower_bound > 0)
        sx_text_add(
            line,
            " Summed over the layers, %s of the objective is proven, and the sum is at most %s above the "
            "least, each layer in the space that its row is proven in.",
            sx_show_percent(sum.proven / sum.value).text,
            sx_show_percent(sum.value / sum.lower_bound - 1).text);
}

/* Adds which layers of a network have tiles that leave remainders, and what these could give to others. */
static void add_network_remainders(const sx_result *r, const network_proof *p, sx_text *line) {
    size_t gained = 0;
    double gain = 0;
    for (size_t i = 0; i < r->session.n_layers; i++) {
        const sx_layer_result *layer = &r->session.layer[i];
        if (layer->same_as != i || !layer->remainders || !layer->found) continue;
        gained++;
        gain = fmax(gain, layer->dividing.value / layer->best.value);
    }
    if (gained)
        sx_text_add(line, " %zu %s tiles that leave remainders, up to %s better than those that divide.",
                    gained, gained == 1 ? "has" : "have", show_gain(gain).text);
    if (p->divides == 0 || (p->divides == p->proven && p->proven == p->searched && !p->bounded)) return;
    sx_text_add(line, " What is proven of %zu is among tiles that divide", p->divides);
    if (p->bounded == p->divides)
        sx_text_add(line, "; with remainders at most %s better", sx_show_percent(p->most).text);
    sx_text_add(line, ".");
}

/* Adds how many searches there were and what they took. */
static void print_effort(const sx_result *r, const sx_mapping_view *view, sx_text *out) {
    const network_proof proof = find_proof(r);
    size_t missing = 0, before = 0, drawn = 0;
    uint64_t evaluations = 0, layers = 0;
    double seconds = 0;
    bool early = !r->session.complete;
    sx_text line = {0};
    for (size_t i = 0; i < r->session.n_layers; i++) {
        const sx_layer_result *layer = &r->session.layer[i];
        missing += !layer->found;
        layers += r->network.layer[i].count;
        if (layer->same_as != i) continue;
        evaluations += layer->summary.evaluations;
        seconds += layer->summary.seconds;
        before += layer->proven_before;
        drawn += layer->summary.drawn;
        early |= ended_early(layer);
    }
    sx_text_add(
        &line,
        "%s layers; one row for each of the %zu distinct ones. Searched by %s, seed %llu: %s evaluations",
        sx_show_count((double)layers).text, proof.searched, view->asked,
        (unsigned long long)r->options.run.seed, sx_show_count((double)evaluations).text);
    if (seconds > 0) sx_text_add(&line, " in %.2f s", seconds);
    if (r->evaluator)
        sx_text_add(&line, ". 'score' is what the evaluator answered; the rest is Sextant's model.");
    else
        sx_text_add(&line, ". 'x min' is the %s (%s) over its compulsory minimum.",
                    sx_is_chosen(r) ? "objective of the layer alone" : "objective",
                    r->objective + (sx_is_chosen(r) ? strlen("network-") : 0));
    if (before)
        sx_text_add(&line, " %zu of the answers %s proven before, from %s, and not searched again.", before,
                    before == 1 ? "was" : "were", view->db);
    if (drawn)
        sx_text_add(&line, " %zu of the answers %s: no mapping that the mapper makes is legal there.", drawn,
                    drawn == 1 ? "is a random draw" : "are random draws");
    add_network_proof(r, &proof, &line);
    if (!sx_is_chosen(r)) add_network_remainders(r, &proof, &line);
    if (missing)
        sx_text_add(&line, " %zu layer%s no mapping; the sums exclude %s.", missing,
                    missing == 1 ? " has" : "s have", missing == 1 ? "it" : "them");
    sx_add_early(early, &line);
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
    sx_report_energies(r->energies, out);
    add_unmapped(&r->network.unmapped, out);
    sx_report_semantics(&r->arch, &r->options.model, out);
}

/* Adds why a layer has no mapping. */
static void add_failure(const sx_result *r, size_t i, sx_text *out) {
    sx_text_add(out, "\n%s: ", r->network.layer[i].name);
    add_none(&r->session.layer[i], out);
    sx_text_add(out, "%s", r->session.layer[i].diagnosis);
}

sx_status sx_mapping_report_network(const sx_result *r, const sx_mapping_view *view, sx_text *out) {
    const bool each = view->verbose;
    sx_table table;
    sx_work *works;
    SX_TRY(sx_result_works(r, &works));
    uint64_t *times = sx_result_times(r);
    if (!times) {
        free(works);
        return sx_error_memory();
    }
    sx_text_add(out, "%s on %s\n\n", r->network.name, r->arch.name);
    bool bounds = has_bounds(r);
    const bool tile = r->options.model.latency_tile;
    sx_table_begin(&table, tile     ? bounds ? "lRRrrrRrRrL" : "lRRrrrRrRL"
                           : bounds ? "lRRrrRrRrL"
                                    : "lRRrrRrRL");
    head_row(r, bounds, &table);
    for (size_t i = 0; i < r->network.n_layers; i++)
        if (each || r->session.layer[i].same_as == i)
            layer_row(r, i, each ? r->network.layer[i].count : times[i], bounds, &table);
    total_row(r, bounds, &table);
    sx_table_end(&table, 2, out);
    print_effort(r, view, out);
    sx_figures_sentence(&r->arch, &works[r->session.n_layers], out);
    if (r->timing && !(r->graph && r->graph->run.phase[0])) sx_time_table(r, works, times, view->quiet, out);
    free(times);
    free(works);
    for (size_t i = 0; i < r->session.n_layers; i++)
        if (r->session.layer[i].diagnosis && r->session.layer[i].same_as == i) add_failure(r, i, out);
    return SX_OK;
}
