#include "session/fuse_independent.h"

#include "base/clock.h"
#include "base/status.h"
#include "fuse/group_chain.h"
#include "fuse/order.h"
#include "ir/arch.h"
#include "sextant/all.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most seconds that a label may take where there is no limit for all. */
static const double LABEL_SECONDS = 10;

void sx_fuse_alone_init(sx_fuse_alone *alone, const sx_independent_options *options,
                        sx_independent_report *report) {
    *alone = (sx_fuse_alone){.options = *options, .report = report};
    if (options->seconds > 0) alone->until = sx_clock_seconds() + options->seconds;
    memset(report, 0, sizeof *report);
    report->verdict = SX_INDEPENDENT_HOLDS;
}

/* Notes that a claim is false; the first one stays. */
static SX_PRINTF(2, 3) void fail_claim(sx_fuse_alone *alone, const char *format, ...) {
    va_list args;
    if (alone->report->verdict == SX_INDEPENDENT_FAILS) return;
    alone->report->verdict = SX_INDEPENDENT_FAILS;
    va_start(args, format);
    vsnprintf(alone->report->why, sizeof alone->report->why, format, args);
    va_end(args);
}

void sx_fuse_alone_doubt(sx_fuse_alone *alone, const char *format, ...) {
    va_list args;
    if (alone->report->verdict != SX_INDEPENDENT_HOLDS) return;
    alone->report->verdict = SX_INDEPENDENT_UNDECIDED;
    va_start(args, format);
    vsnprintf(alone->report->why, sizeof alone->report->why, format, args);
    va_end(args);
}

/* Checks a certificate by its text, for a limited time. */
static sx_status check_text(const sx_fuse_alone *alone, const char *name, const sx_certificate *certificate,
                            double seconds, sx_independent_report *out) {
    sx_independent_options options = alone->options;
    char *text = NULL;
    options.seconds = seconds;
    sx_status status = sx_certificate_write(certificate, &text);
    if (!status) status = sx_independent_check(name, text, strlen(text), &options, out);
    sx_free(text);
    return status;
}

sx_status sx_fuse_alone_label(sx_fuse_alone *alone, const char *name, const sx_certificate *certificate,
                              bool *holds) {
    sx_independent_report one = {.verdict = SX_INDEPENDENT_UNDECIDED};
    sx_independent_report *sum = alone->report;
    double seconds = alone->until > 0 ? alone->until - sx_clock_seconds() : LABEL_SECONDS;
    if (seconds > 0) SX_TRY(check_text(alone, name, certificate, fmin(seconds, LABEL_SECONDS), &one));
    *holds = one.verdict == SX_INDEPENDENT_HOLDS;
    alone->undecided += one.verdict == SX_INDEPENDENT_UNDECIDED;
    sum->spatial += one.spatial;
    sum->outlines += one.outlines;
    sum->compulsory += one.compulsory;
    sum->tiles += one.tiles;
    sum->ports += one.ports;
    sum->walked += one.walked;
    sum->evaluations += one.evaluations;
    if (one.verdict == SX_INDEPENDENT_FAILS) fail_claim(alone, "a label: %.400s", one.why);
    return SX_OK;
}

/* A fused mapping whose cost is counted. */
typedef struct alone_count {
    sx_fuse_alone *alone;
    sx_fusing f;
    const sx_fused *fused;
    double *times; /* of each run */
    double energy, cycles;
} alone_count;

/* Counts runs of a layer on a number of rows. */
static void count_run(alone_count *c, size_t layer, uint32_t rows, bool again, double times) {
    const sx_fused *fused = c->fused;
    for (size_t r = 0; r < fused->n_runs && times > 0; r++)
        if (fused->run[r].layer == layer && fused->run[r].rows == rows && fused->run[r].again == again) {
            c->times[r] += times;
            return;
        }
    if (times > 0)
        fail_claim(c->alone, "%s runs on %u rows%s, of which there is no mapping", fused->layer[layer].name,
                   rows, again ? " again" : "");
}

/* The rows of one step: which of tensor t are made, at [t * width]. */
typedef struct step_rows {
    size_t width;
    bool *make, *here;
} step_rows;

/* Marks the rows of each tensor that a step makes for rows [at, end) of the last one. */
static void make_group_step(const sx_layer_chain *chain, const sx_group_choice *loops, uint32_t at,
                            uint32_t end, step_rows *s) {
    const int n = chain->n;
    memset(s->make, 0, (size_t)(n + 1) * s->width);
    for (uint32_t r = at; r < end && r < chain->link[n - 1].rows_out; r++)
        s->make[(size_t)n * s->width + r] = true;
    for (int t = n; t > 0; t--) {
        const sx_chain_link *link = &chain->link[t - 1];
        const bool *made = &s->make[(size_t)t * s->width];
        bool *need = &s->make[(size_t)(t - 1) * s->width], *here = &s->here[(size_t)(t - 1) * s->width];
        int64_t low = INT64_MAX, high = -1;
        for (int64_t r = 0; r < link->rows_out; r++) {
            if (!made[r]) continue;
            const int64_t from = r * link->stride - link->pad, to = from + link->reach;
            if (from < low) low = from;
            if (to > high) high = to;
        }
        for (int64_t r = low < 0 ? 0 : low; r < high && r < link->rows_in; r++) {
            need[r] = (loops->window == SX_GROUP_RECOMPUTE && !loops->inner) || !here[r];
            here[r] = true;
        }
    }
}

static uint32_t count_rows(const bool *rows, size_t n) {
    uint32_t count = 0;
    for (size_t r = 0; r < n; r++) count += rows[r];
    return count;
}

/* Moves elements of an operand once for each head between the outermost and the exchange memory. */
static void count_move(alone_count *c, const sx_layer_chain *chain, int l, int v, double elements,
                       bool inward) {
    const sx_arch *arch = c->f.searcher.arch;
    const sx_storage *far = &arch->level[arch->n_levels - 1], *near = &arch->level[c->f.searcher.exchange];
    const sx_graph_operand *operand = &chain->link[l].operand[v];
    const sx_tensor *tensor = &chain->link[l].problem->tensor[v];
    const size_t value = c->f.exchange.value_of[operand->tensor];
    for (size_t t = 0; t < c->fused->n_tensors && value != SX_NO_INDEX; t++)
        if (c->fused->tensor[t].depth == 0 &&
            c->f.exchange.value_of[sx_graph_find_tensor(c->f.exchange.graph, c->fused->tensor[t].name)] ==
                value)
            return;
    if (operand->split >= 0) elements /= chain->heads;
    const double out = elements * sx_element_bits(far, tensor) / far->word_bits,
                 in = elements * sx_element_bits(near, tensor) / near->word_bits;
    double energy = ceil(ceil(out) / far->block_size) * (inward ? far->read_energy : far->update_energy) +
                    ceil(out) * far->addr_gen_energy;
    if (inward)
        energy += ceil(ceil(in) / near->block_size) * near->fill_energy + ceil(in) * near->addr_gen_energy;
    double slow = fmin(inward ? far->read_bandwidth : far->write_bandwidth, far->shared_bandwidth);
    double port = fmin(inward ? near->write_bandwidth : near->read_bandwidth, near->shared_bandwidth);
    c->energy += chain->heads * energy;
    c->cycles += chain->heads * ceil(fmax(ceil(out) / slow, ceil(in) / port));
}

/* Counts what is held in the exchange memory while the loops of a group run, and its sums. */
static void count_moves(alone_count *c, const sx_layer_chain *chain, const sx_fused_group *group,
                        const sx_group_choice *loops, uint32_t read) {
    const sx_graph *graph = c->f.exchange.graph;
    const uint32_t rows = chain->link[chain->n - 1].rows_out;
    const double times = loops->inner ? ceil((double)rows / loops->tile) : 1;
    for (int h = 0; h < group->n_held; h++)
        for (int l = 0; l < chain->n; l++) {
            const sx_chain_link *link = &chain->link[l];
            const size_t other = link->operand[link->other].tensor, in = link->operand[link->in].tensor;
            if (strcmp(graph->tensor[other].name, group->held[h]) == 0)
                count_move(c, chain, l, link->other, times * (double)sx_graph_words(&graph->tensor[other]),
                           true);
            else if (l == 0 && strcmp(graph->tensor[in].name, group->held[h]) == 0)
                count_move(c, chain, 0, link->in,
                           (double)sx_graph_words(&graph->tensor[in]) / link->rows_in * read, true);
        }
    const sx_chain_link *last = &chain->link[chain->n - 1];
    if (loops->slices > 1)
        count_move(c, chain, chain->n - 1, last->out,
                   (double)sx_graph_words(&graph->tensor[last->operand[last->out].tensor]), false);
}

/* Walks the steps of a group. */
static sx_status count_steps(alone_count *c, const sx_layer_chain *chain, const sx_group_choice *loops,
                             const sx_fused_group *group) {
    step_rows s = {.width = 1};
    uint32_t read = 0;
    for (int l = 0; l < chain->n; l++) {
        if (chain->link[l].rows_in > s.width) s.width = chain->link[l].rows_in;
        if (chain->link[l].rows_out > s.width) s.width = chain->link[l].rows_out;
    }
    s.make = calloc(2 * (size_t)(chain->n + 1), s.width);
    if (!s.make) return sx_error_memory();
    s.here = s.make + (size_t)(chain->n + 1) * s.width;
    const uint32_t tile = loops->inner ? loops->inner : loops->tile;
    for (uint32_t at = 0, end; at < chain->link[chain->n - 1].rows_out; at = end) {
        const uint32_t outer = at / loops->tile * loops->tile;
        if (at == outer && loops->window == SX_GROUP_RECOMPUTE)
            memset(s.here, 0, (size_t)(chain->n + 1) * s.width);
        end = at + tile < outer + loops->tile ? at + tile : outer + loops->tile;
        make_group_step(chain, loops, at, end, &s);
        read += count_rows(s.make, s.width);
        for (int l = 0; l < chain->n; l++) {
            const uint32_t rows = count_rows(&s.make[(size_t)(l + 1) * s.width], s.width);
            const bool sums = loops->slices > 1 && l == chain->n - 1;
            const double each = rows ? chain->heads : 0;
            count_run(c, group->first + (size_t)l, rows, false, each * (sums ? 1 : loops->slices));
            if (sums) count_run(c, group->first + (size_t)l, rows, true, each * (loops->slices - 1));
        }
    }
    count_moves(c, chain, group, loops, read);
    free(s.make);
    return SX_OK;
}

/* Counts the runs of a group with loops. */
static sx_status count_group(alone_count *c, const sx_fused_group *group) {
    sx_layer_chain chain;
    size_t step = 0;
    c->f.exchange.one_pass = group->one_pass;
    while (c->f.exchange.step[step].layer == SX_NO_INDEX || c->f.order[step] != group->first) step++;
    if (!sx_layer_chain_find(&c->f.exchange, step, (int)(group->last - group->first + 1), &chain)) {
        fail_claim(c->alone, "the layers from %s on are no chain", c->fused->layer[group->first].name);
        return SX_OK;
    }
    const sx_chain_link *last = &chain.link[chain.n - 1];
    sx_group_choice loops = {.window = group->recompute ? SX_GROUP_RECOMPUTE : SX_GROUP_RETAIN,
                             .tile = last->rows_out,
                             .slices = 1};
    for (int i = 0; i < group->n_loops; i++) {
        const sx_fused_loop *loop = &group->loop[i];
        if (strcmp(loop->dimension, "repeat") == 0) continue;
        if (strcmp(loop->dimension, last->problem->dim_name[last->row]) != 0)
            loops.slices = loop->bound;
        else if (loops.slices > 1)
            loops.inner = (loops.tile + loop->bound - 1) / loop->bound;
        else
            loops.tile = (last->rows_out + loop->bound - 1) / loop->bound;
    }
    return count_steps(c, &chain, &loops, group);
}

/* Counts what a run costs by the checker's own rules. */
static sx_status count_cost(alone_count *c, size_t index) {
    const sx_fused_run *run = &c->fused->run[index];
    const sx_fuse_searcher *s = &c->f.searcher;
    sx_cut cut = sx_fused_run_cut(run);
    for (int v = 0; v < run->problem.n_tensors && run->again; v++)
        if (run->problem.tensor[v].output) cut.found |= (uint8_t)(1u << v);
    sx_independent_report report = {0};
    sx_certificate *certificate = calloc(1, sizeof *certificate);
    sx_constraints *limits = malloc(sizeof *limits);
    sx_status status = certificate && limits ? SX_OK : sx_error_memory();
    if (!status) {
        certificate->problem = run->problem;
        certificate->mapping = run->mapping;
        certificate->score = run->score;
        sx_cut_arch(s->arch, s->exchange, &cut, &certificate->arch);
        sx_constraints_init(limits, &run->problem, s->arch);
        sx_cut_constraints(s->arch, limits, s->exchange, &cut, &certificate->constraints);
        certificate->space = s->options->space;
        certificate->model = s->options->model;
        certificate->objective = s->options->run.objective;
        certificate->value = sx_objective_value(&certificate->objective, &run->score);
        status = sx_proof_new(0, 1, &certificate->proof);
    }
    if (!status) status = check_text(c->alone, run->problem.name, certificate, 1e-9, &report);
    if (!status && report.energy_pj == 0)
        sx_fuse_alone_doubt(c->alone, "a run of %s: %.300s", c->fused->layer[run->layer].name, report.why);
    if (!status && report.cycles != run->score.cycles && report.energy_pj > 0)
        sx_fuse_alone_doubt(c->alone, "a run of %s: the port that tensors on chip and tiles share",
                            c->fused->layer[run->layer].name);
    c->energy += c->times[index] * report.energy_pj;
    c->cycles += c->times[index] * report.cycles;
    free(limits);
    sx_certificate_free(certificate);
    return status;
}

/* Counts all runs and their costs. */
static sx_status count_all(alone_count *c) {
    const sx_fused *fused = c->fused;
    for (size_t g = 0; g < fused->n_groups; g++)
        if (fused->group[g].n_loops) SX_TRY(count_group(c, &fused->group[g]));
    for (size_t i = 0; i < fused->n_layers; i++) {
        const size_t group = fused->layer[i].group;
        if (group == SX_NO_INDEX || !fused->group[group].n_loops)
            count_run(c, i, 0, false, fused->layer[i].repeat);
    }
    for (size_t r = 0; r < fused->n_runs; r++) {
        if (c->times[r] != fused->run[r].times)
            fail_claim(c->alone, "%s runs %.17g times on %u rows, not %.17g",
                       fused->layer[fused->run[r].layer].name, c->times[r], fused->run[r].rows,
                       fused->run[r].times);
        SX_TRY(count_cost(c, r));
    }
    return SX_OK;
}

/* The order in which the layers of a fused network run, freed with free(); NULL: that of the graph. */
static sx_status copy_order(const sx_graph *graph, const sx_fused *fused, size_t **out) {
    size_t bad;
    if (!fused->reordered) return SX_OK;
    const char **name = calloc(fused->n_layers + 1, sizeof *name);
    *out = calloc(graph->n_nodes + 1, sizeof **out);
    for (size_t i = 0; name && i < fused->n_layers; i++) name[i] = fused->layer[i].name;
    sx_status status =
        name && *out ? sx_order_by_names(graph, name, fused->n_layers, *out, &bad) : sx_error_memory();
    free(name);
    return status;
}

sx_status sx_fuse_alone_cost(sx_fuse_alone *alone, const sx_graph *graph, const sx_network *network,
                             const sx_arch *arch, const sx_session_options *session, const sx_fused *fused) {
    alone_count c = {.alone = alone,
                     .f = {.options = session, .searcher = {.arch = arch, .options = session}},
                     .fused = fused,
                     .times = calloc(fused->n_runs + 1, sizeof *c.times)};
    sx_fused *layers = calloc(1, sizeof *layers);
    size_t *order = NULL;
    sx_status status = c.times && layers ? copy_order(graph, fused, &order) : sx_error_memory();
    char levels[2 * SX_NAME_SIZE + 1];
    snprintf(levels, sizeof levels, "%s%s%s", fused->level, fused->second[0] ? "," : "", fused->second);
    if (!status) status = sx_fusing_init(&c.f, graph, network, levels, order);
    free(order);
    if (!status) status = sx_fused_set_layers(&c.f, layers);
    if (!status) status = count_all(&c);
    alone->report->energy_pj = c.energy;
    alone->report->cycles = c.cycles;
    if (arch->vector.lanes > 0)
        sx_fuse_alone_doubt(alone, "there is no independent rule for the vector unit");
    const bool counted = !status && alone->report->verdict == SX_INDEPENDENT_HOLDS;
    if (counted && fabs(c.energy - fused->total.energy_pj) > 1e-9 * c.energy)
        fail_claim(alone, "the mapping costs %.17g pJ", c.energy);
    if (counted && fabs(c.cycles - fused->total.cycles) > 1e-9 * c.cycles)
        fail_claim(alone, "the mapping takes %.17g cycles", c.cycles);
    sx_fused_free(layers);
    sx_fusing_fini(&c.f);
    free(c.times);
    return status;
}
