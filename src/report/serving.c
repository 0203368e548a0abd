#include "report/serving.h"

#include "base/status.h"
#include "ir/arch.h"
#include "ir/timing.h"
#include "report/evaluation.h"
#include "timing/layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a run is evaluated with. */
typedef struct serving_case {
    const sx_graph *graph;
    const sx_result *r;
    size_t first, n;
    sx_evaluation *e; /* room for one */
    sx_serving *out;
} serving_case;

/* The layer of an operator; SIZE_MAX where there is none. Layers of the result may have a name before a slash. */
static size_t find_layer(const serving_case *c, const char *name) {
    for (size_t i = c->first; i < c->first + c->n; i++) {
        const char *own = c->r->network.layer[i].name, *slash = strchr(own, '/');
        if (strcmp(own, name) == 0 || (slash && strcmp(slash + 1, name) == 0)) return i;
    }
    return SIZE_MAX;
}

/* The time of a layer without a timing: its cycles. */
static sx_operator_time time_cycles(const sx_arch *arch, const sx_cost *cost, double repeat) {
    sx_operator_time t = {.compute = repeat * (double)cost->compute_cycles * arch->cycle_seconds};
    for (int s = 0; s < arch->n_levels; s++)
        if (cost->level[s].cycles > cost->compute_cycles)
            t.level[s] = repeat * (double)cost->level[s].cycles * arch->cycle_seconds;
    sx_operator_time_finish(arch, INFINITY, &t);
    return t;
}

/* Evaluates a product by the mapping that was found. */
static sx_status time_product(const serving_case *c, const sx_operator *op, sx_serving_part *part) {
    const size_t layer = find_layer(c, op->name);
    const double repeat = (double)op->repeat;
    sx_work work;
    part->of = op->state_reads ? SX_SERVING_ATTENTION : SX_SERVING_WEIGHTS;
    part->macs = (double)op->macs;
    c->out->layers++;
    if (layer == SIZE_MAX || !c->r->session.layer[layer].found) return SX_OK;
    SX_TRY(sx_layer_evaluate(c->r, c->r->session.layer[layer].same_as, c->e));
    c->out->found++;
    c->out->proven += c->r->session.layer[c->r->session.layer[layer].same_as].summary.optimal;
    sx_work_of(&c->e->problem, &c->e->arch, &c->e->cost, &work);
    part->energy_pj = repeat * work.energy_pj;
    part->bytes = repeat * work.dram_bytes;
    part->one = c->r->timing ? sx_time_layer(&c->r->arch, c->r->timing, &c->e->problem, &c->e->cost, repeat,
                                             work.dram_bytes)
                             : time_cycles(&c->r->arch, &c->e->cost, repeat);
    return SX_OK;
}

/* The energy of bytes to and from the outermost level. */
static double move_energy(const sx_arch *arch, double read, double written) {
    const sx_storage *outer = &arch->level[arch->n_levels - 1];
    const double vector = (double)outer->block_size * outer->word_bits / 8;
    return (read * outer->read_energy + written * outer->update_energy) / vector;
}

/* Evaluates an operator that is no product: it moves its bytes. */
static void time_vector(const serving_case *c, const sx_operator *op, const char *function,
                        sx_serving_part *part) {
    const sx_arch *arch = &c->r->arch;
    const double read = op->read_bytes + op->state_read_bytes + op->weight_bytes,
                 written = op->write_bytes + op->state_write_bytes;
    const bool rows = strstr(function, "norm") || strcmp(function, "softmax") == 0;
    const sx_timed_operator timed = {.kind = function,
                                     .bytes = read + written,
                                     .blocks = rows ? (double)op->rows : ceil((double)op->elements / 1024),
                                     .columns = rows ? (double)op->columns : 0,
                                     .again = read};
    sx_timing plain = {.n_kinds = 1};
    if (!c->r->timing) sx_timing_kind_init(&plain.kind[0]);
    part->of = SX_SERVING_VECTOR;
    part->bytes = timed.bytes;
    part->energy_pj = move_energy(arch, read, written);
    part->one = sx_time_operator(arch, c->r->timing ? c->r->timing : &plain, &timed);
}

/* Evaluates a collective operation over the link. */
static sx_status time_link(const serving_case *c, const sx_operator *op, const char *function,
                           sx_serving_part *part) {
    if (!c->r->timing || !(c->r->timing->link_bandwidth > 0))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the architecture '%s' has no link", c->r->arch.name),
                             "give --link BYTES_PER_SECOND,LATENCY");
    part->of = SX_SERVING_LINK;
    part->bytes = op->write_bytes;
    part->one.seconds = sx_time_collective(c->r->timing, function, c->out->chips, part->bytes);
    part->one.limit = SX_LIMIT_LINK;
    return SX_OK;
}

/* Evaluates all operators, and sums them up. */
static sx_status add_parts(const serving_case *c, const sx_operators *operators) {
    sx_serving *out = c->out;
    out->part = calloc(operators->n + 1, sizeof *out->part);
    if (!out->part) return sx_error_memory();
    for (size_t i = 0; i < operators->n; i++) {
        const sx_operator *op = &operators->op[i];
        const sx_graph_node *node = &c->graph->node[op->node];
        const char *function = node->function[0] ? node->function : sx_op_kind_name(node->kind);
        sx_serving_part *part = &out->part[out->n++];
        memcpy(part->name, op->name, sizeof part->name);
        part->times = (double)op->count;
        if (!op->vector)
            SX_TRY(time_product(c, op, part));
        else if (strncmp(function, "all-", 4) == 0)
            SX_TRY(time_link(c, op, function, part));
        else
            time_vector(c, op, function, part);
        out->seconds += part->times * part->one.seconds;
        out->share[part->of] += part->times * part->one.seconds;
        out->energy_pj += out->chips * part->times * part->energy_pj;
    }
    for (int k = 0; k < SX_N_SERVING && out->seconds > 0; k++) out->share[k] /= out->seconds;
    return SX_OK;
}

/* Sets what the run holds in memory, and the largest batch of which all fits. */
static void set_room(const serving_case *c, const sx_operator_totals *totals) {
    sx_serving *out = c->out;
    const sx_storage *outer = &c->r->arch.level[c->r->arch.n_levels - 1];
    const double batch = (double)(out->run.batch ? out->run.batch : 1);
    out->weight_bytes = totals->weights_held_bytes;
    out->state_bytes = totals->state_held_bytes;
    if (totals->state_held)
        out->token_bytes = out->state_bytes * (double)totals->state_per_token / (double)totals->state_held;
    out->capacity = outer->entries == SX_UNLIMITED
                        ? INFINITY
                        : (double)outer->entries * (double)outer->instances * outer->word_bits / 8;
    const double room = out->capacity - out->weight_bytes;
    out->largest_batch = room <= 0              ? 0
                         : out->state_bytes > 0 ? floor(room / (out->state_bytes / batch))
                                                : INFINITY;
}

sx_status sx_serving_of(const sx_graph *graph, const sx_result *r, size_t first, size_t n, unsigned chips,
                        sx_serving *out) {
    sx_operators operators = {0};
    serving_case c = {graph, r, first, n, calloc(1, sizeof *c.e), out};
    *out = (sx_serving){.run = graph->run, .chips = chips};
    sx_status status = c.e ? sx_graph_operators(graph, &operators) : sx_error_memory();
    if (!status) status = add_parts(&c, &operators);
    if (!status) set_room(&c, &operators.totals);
    if (!status && operators.n) out->passed_bytes = operators.op[0].write_bytes;
    sx_operators_fini(&operators);
    free(c.e);
    return status;
}

void sx_serving_fini(sx_serving *serving) {
    free(serving->part);
    *serving = (sx_serving){0};
}

/* New tokens of a run. */
static double tokens_of(const sx_serving *s) {
    return (double)(s->run.batch ? s->run.batch : 1) * (double)(s->run.tokens ? s->run.tokens : 1);
}

double sx_serving_rate(const sx_serving *serving) {
    return serving->seconds > 0 ? tokens_of(serving) / serving->seconds : 0;
}

double sx_serving_joules(const sx_serving *serving) {
    return serving->energy_pj * 1e-12 / tokens_of(serving);
}

const char *sx_serving_limit(const sx_serving *serving, const sx_arch *arch) {
    double most = 0;
    int limit = SX_LIMIT_OVERHEAD;
    for (int k = SX_LIMIT_LINK; k < arch->n_levels; k++) {
        double sum = 0;
        for (size_t i = 0; i < serving->n; i++)
            if (serving->part[i].one.limit == k) sum += serving->part[i].times * serving->part[i].one.seconds;
        if (sum > most) limit = k;
        most = fmax(most, sum);
    }
    return sx_limit_name(arch, limit);
}

/* Adds the figures of the run. */
static void add_figures(const sx_serving *s, sx_text *out) {
    const bool decode = strcmp(s->run.phase, "decode") == 0;
    sx_text_add(out, "  %s %s: %.4g tokens/s", decode ? "Time per token" : "Time to the first token",
                sx_show_scaled(s->seconds, "s").text, sx_serving_rate(s));
    if (decode) sx_text_add(out, " (%.4g of each of %llu)", 1 / s->seconds, (unsigned long long)s->run.batch);
    sx_text_add(out, ", %s per token.\n", sx_show_energy(sx_serving_joules(s) * 1e12).text);
    sx_text_add(out, "  Weights %s", sx_show_scaled(s->weight_bytes, "B").text);
    if (s->state_bytes > 0)
        sx_text_add(out, ", states %s (%s per token)", sx_show_scaled(s->state_bytes, "B").text,
                    sx_show_scaled(s->token_bytes, "B").text);
    if (s->chips > 1) sx_text_add(out, " on each of %u chips", s->chips);
    if (isfinite(s->capacity))
        sx_text_add(out, ": %s",
                    s->weight_bytes + s->state_bytes <= s->capacity ? "they fit" : "they do NOT fit");
    if (isfinite(s->largest_batch))
        sx_text_add(out, "; the largest batch that fits is %.0f", s->largest_batch);
    sx_text_add(out, ".\n  Time: %s products with weights, %s attention, %s vector operators, %s link.\n",
                sx_show_percent(s->share[SX_SERVING_WEIGHTS]).text,
                sx_show_percent(s->share[SX_SERVING_ATTENTION]).text,
                sx_show_percent(s->share[SX_SERVING_VECTOR]).text,
                sx_show_percent(s->share[SX_SERVING_LINK]).text);
    if (s->found < s->layers)
        sx_text_add(out, "  %zu of %zu products have no mapping yet and are not counted.\n",
                    s->layers - s->found, s->layers);
}

void sx_serving_report(const sx_serving *s, const sx_arch *arch, sx_text *out) {
    static const char *const head[] = {"operator",   "times", "time",   "share",
                                       "limited by", "bytes", "FLOP/B", "energy"};
    sx_table table;
    sx_table_begin(&table, "lRrrlrrr");
    for (int i = 0; i < 8; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < s->n; i++) {
        const sx_serving_part *p = &s->part[i];
        sx_table_cell(&table, "%s", sx_show_name(p->name, 32).text);
        sx_table_cell(&table, "%.0f", p->times);
        sx_table_cell(&table, "%s", sx_show_scaled(p->one.seconds, "s").text);
        sx_table_cell(&table, "%s", sx_show_percent(p->times * p->one.seconds / s->seconds).text);
        sx_table_cell(&table, "%s", sx_limit_name(arch, p->one.limit));
        sx_table_cell(&table, "%s", sx_show_scaled(p->bytes, "B").text);
        if (p->macs > 0 && p->bytes > 0)
            sx_table_cell(&table, "%.4g", 2 * p->macs / p->bytes);
        else
            sx_table_blank(&table, 1);
        sx_table_cell(&table, "%s", sx_show_energy(p->energy_pj).text);
    }
    sx_table_end(&table, 2, out);
    sx_text_add(out, "\n");
    add_figures(s, out);
}

void sx_serving_stages(const sx_serving *s, const sx_timing *timing, unsigned stages, sx_text *out) {
    const double pass = timing->link_latency + s->passed_bytes / timing->link_bandwidth;
    const double run = s->seconds + (stages - 1) * pass, stage = s->seconds / stages + pass;
    sx_text_add(out, "  In %u stages of equal time, %s passing between two: a run takes %s", stages,
                sx_show_scaled(s->passed_bytes, "B").text, sx_show_scaled(run, "s").text);
    sx_text_add(out, ", at most %.4g tokens/s with %u batches in flight; %s of weights and",
                tokens_of(s) / stage, stages, sx_show_scaled(s->weight_bytes / stages, "B").text);
    sx_text_add(out, " %s of states on each.\n", sx_show_scaled(s->state_bytes, "B").text);
}
