#include "report/serving.h"

#include "base/status.h"
#include "ir/timing.h"
#include "model/vector.h"
#include "report/evaluation.h"
#include "timing/layer.h"

#include <math.h>
#include <stdio.h>
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
    const sx_layer_result *found = &c->r->session.layer[c->r->session.layer[layer].same_as];
    SX_TRY(sx_layer_evaluate(c->r, c->r->session.layer[layer].same_as, c->e));
    c->out->found++;
    c->out->proven += found->summary.optimal;
    if (!found->summary.optimal)
        c->out->gap = fmax(c->out->gap, found->summary.lower_bound > 0
                                            ? found->best.value / found->summary.lower_bound - 1
                                            : INFINITY);
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

/* The time of an operator by the timing, or by the peaks of the architecture where it has none. */
static sx_operator_time time_plainly(const serving_case *c, const sx_timed_operator *timed) {
    sx_timing plain = {.n_kinds = 1};
    if (!c->r->timing) sx_timing_kind_init(&plain.kind[0]);
    return sx_time_operator(&c->r->arch, c->r->timing ? c->r->timing : &plain, timed);
}

/* The time of an operator on a vector unit, as the model counts its cycles; a timing adds overhead and efficiencies. */
static sx_operator_time time_lanes(const sx_arch *arch, const sx_timing *timing, const char *function,
                                   const sx_vector_cost *cost) {
    const int outer = arch->n_levels - 1;
    sx_timing_kind plain;
    sx_timing_kind_init(&plain);
    const sx_timing_kind *kind = timing ? sx_timing_find(timing, function) : &plain;
    sx_operator_time t = {.overhead = kind->overhead,
                          .vector = cost->compute_cycles * arch->cycle_seconds / kind->compute};
    if (cost->cycles > cost->compute_cycles)
        t.level[outer] = cost->cycles * arch->cycle_seconds / kind->level[outer];
    sx_operator_time_finish(arch, kind->overlap, &t);
    return t;
}

/* Evaluates an operator that is no product: it moves its bytes, and works in the lanes of a vector unit where the timing has
 * no kernels of libraries. */
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
    part->of = SX_SERVING_VECTOR;
    part->bytes = timed.bytes;
    part->energy_pj = move_energy(arch, read, written);
    part->one = time_plainly(c, &timed);
    if (!(arch->vector.lanes > 0)) return;
    const sx_vector_cost cost = sx_vector_cost_of(arch, c->graph, op);
    part->energy_pj = cost.energy;
    if (!c->r->timing || !c->r->timing->units) part->one = time_lanes(arch, c->r->timing, function, &cost);
}

/* The operators of attention that a fused kernel runs together. */
typedef struct attention {
    const sx_operator *scores, *softmax, *context;
} attention;

/* Whether a node of an operator reads, or writes, a tensor. */
static bool node_uses(const sx_graph *graph, const sx_operator *op, size_t tensor, bool written) {
    const sx_graph_node *node = &graph->node[op->node];
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &graph->operand[node->first + v];
        if (operand->tensor == tensor && operand->written == written) return true;
    }
    return false;
}

/* The product that writes what an operator reads, or reads what it writes; NULL: there is none. */
static const sx_operator *find_product(const sx_graph *graph, const sx_operators *operators,
                                       const sx_operator *of, bool writer) {
    const sx_graph_node *node = &graph->node[of->node];
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &graph->operand[node->first + v];
        if (operand->written == writer) continue;
        for (size_t i = 0; i < operators->n; i++)
            if (!operators->op[i].vector && operators->op[i].count == of->count &&
                node_uses(graph, &operators->op[i], operand->tensor, writer))
                return &operators->op[i];
    }
    return NULL;
}

/* Whether an operator belongs to fused attention, of which *out become all. */
static bool find_attention(const serving_case *c, const sx_operators *operators, const sx_operator *op,
                           attention *out) {
    if (!c->r->served.fused_attention) return false;
    for (size_t i = 0; i < operators->n; i++) {
        const sx_operator *softmax = &operators->op[i];
        if (!softmax->vector || c->graph->node[softmax->node].kind != SX_OP_SOFTMAX) continue;
        *out = (attention){find_product(c->graph, operators, softmax, true), softmax,
                           find_product(c->graph, operators, softmax, false)};
        if (out->scores && out->context && (op == out->scores || op == softmax || op == out->context))
            return true;
    }
    return false;
}

/* Evaluates fused attention: scores stay inside, so that queries, keys, values and results are all that moves. Energy is
 * that of the two mapped products without the scores' way out and back, and of the softmax's operations. */
static sx_status time_attention(const serving_case *c, const attention *a, sx_serving_part *part) {
    const sx_arch *arch = &c->r->arch;
    const double matrix = a->softmax->write_bytes, rows = (double)a->softmax->rows;
    const double keys = (double)a->softmax->columns,
                 queries = c->graph->run.tokens ? (double)c->graph->run.tokens : keys;
    const double batch = (double)(c->graph->run.batch ? c->graph->run.batch : 1);
    const bool causal = a->scores->useful_macs < a->scores->macs;
    sx_serving_part scores = {0}, context = {0};
    SX_TRY(time_product(c, a->scores, &scores));
    SX_TRY(time_product(c, a->context, &context));
    const sx_timed_operator timed = {
        .kind = queries == 1 ? "attention-decode"
                : causal     ? "attention-prefill-causal"
                             : "attention-prefill",
        .macs = (double)(a->scores->useful_macs + a->context->useful_macs),
        .bytes = a->scores->read_bytes + a->context->read_bytes - matrix + a->context->write_bytes,
        .blocks = queries == 1 ? batch * (double)a->scores->repeat * ceil(keys / 256)
                               : rows / queries * ceil(queries / 128)};
    const char *tag = strncmp(a->scores->name, "scores", 6) == 0 ? a->scores->name + 6 : "";
    memset(part->name, 0, sizeof part->name);
    snprintf(part->name, sizeof part->name, "attention%.40s", tag);
    part->of = SX_SERVING_ATTENTION;
    part->macs = scores.macs + context.macs;
    part->bytes = timed.bytes;
    part->energy_pj = scores.energy_pj + context.energy_pj;
    if (part->energy_pj > 0) part->energy_pj -= move_energy(arch, matrix, a->scores->write_bytes);
    if (arch->vector.lanes > 0)
        part->energy_pj += sx_vector_cost_of(arch, c->graph, a->softmax).operations * arch->vector.energy;
    part->one = time_plainly(c, &timed);
    return SX_OK;
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

/* Evaluates an operator; *none: it is part of a fused one that comes later. */
static sx_status time_part(const serving_case *c, const sx_operators *operators, const sx_operator *op,
                           sx_serving_part *part, bool *none) {
    const sx_graph_node *node = &c->graph->node[op->node];
    const char *function = node->function[0] ? node->function : sx_op_kind_name(node->kind);
    attention fused;
    memcpy(part->name, op->name, sizeof part->name);
    part->times = (double)op->count;
    const bool attends = find_attention(c, operators, op, &fused);
    *none = attends && op != fused.context;
    if (*none) return SX_OK;
    if (attends) return time_attention(c, &fused, part);
    if (!op->vector) return time_product(c, op, part);
    if (strncmp(function, "all-", 4) == 0) return time_link(c, op, function, part);
    time_vector(c, op, function, part);
    return SX_OK;
}

/* Evaluates all operators, and sums them up. */
static sx_status add_parts(const serving_case *c, const sx_operators *operators) {
    sx_serving *out = c->out;
    out->part = calloc(operators->n + 1, sizeof *out->part);
    if (!out->part) return sx_error_memory();
    for (size_t i = 0; i < operators->n; i++) {
        sx_serving_part *part = &out->part[out->n];
        bool none;
        SX_TRY(time_part(c, operators, &operators->op[i], part, &none));
        if (none) {
            *part = (sx_serving_part){0};
            continue;
        }
        out->n++;
        out->seconds += part->times * part->one.seconds;
        out->share[part->of] += part->times * part->one.seconds;
        out->energy_pj += out->chips * part->times * part->energy_pj;
    }
    for (int k = 0; k < SX_N_SERVING && out->seconds > 0; k++) out->share[k] /= out->seconds;
    return SX_OK;
}

/* Sets what a run takes in stages of equal time. */
static void set_stages(const serving_case *c) {
    sx_serving *out = c->out;
    const sx_timing *timing = c->r->timing;
    out->stages = c->r->served.stages ? c->r->served.stages : 1;
    out->pipeline_seconds = out->stage_seconds = out->seconds;
    if (out->stages == 1) return;
    const double pass = timing->link_latency + out->passed_bytes / timing->link_bandwidth;
    out->pipeline_seconds = out->seconds + (out->stages - 1) * pass;
    out->stage_seconds = out->seconds / out->stages + pass;
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

sx_status sx_serving_of(const sx_graph *graph, const sx_result *r, size_t first, size_t n, sx_serving *out) {
    sx_operators operators = {0};
    serving_case c = {graph, r, first, n, calloc(1, sizeof *c.e), out};
    *out = (sx_serving){.run = graph->run, .chips = r->served.chips ? r->served.chips : 1};
    sx_status status = c.e ? sx_graph_operators(graph, &operators) : sx_error_memory();
    if (!status) status = add_parts(&c, &operators);
    if (!status) set_room(&c, &operators.totals);
    if (!status && operators.n) out->passed_bytes = operators.op[0].write_bytes;
    if (!status) set_stages(&c);
    sx_operators_fini(&operators);
    free(c.e);
    return status;
}

void sx_serving_fini(sx_serving *serving) {
    free(serving->part);
    *serving = (sx_serving){0};
}

double sx_serving_tokens(const sx_serving *s) {
    return (double)(s->run.batch ? s->run.batch : 1) * (double)(s->run.tokens ? s->run.tokens : 1);
}

double sx_serving_rate(const sx_serving *serving) {
    return serving->seconds > 0 ? sx_serving_tokens(serving) / serving->seconds : 0;
}

double sx_serving_joules(const sx_serving *serving) {
    return serving->energy_pj * 1e-12 / sx_serving_tokens(serving);
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
