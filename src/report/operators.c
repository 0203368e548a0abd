#include "report/operators.h"

#include "model/vector.h"
#include "report/table.h"
#include "sextant/all.h"

#include <inttypes.h>
#include <string.h>

/* Bytes in the unit of 1000s that suits them. */
static void add_bytes(sx_text *out, const char *what, double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit < 5; unit++) bytes /= 1000;
    sx_text_add(out, "%s%.4g %s", what, bytes, units[unit]);
}

void sx_operators_add_totals(const sx_graph *graph, const sx_operators *operators, sx_text *out) {
    const sx_operator_totals *t = &operators->totals;
    const sx_graph_run *run = &graph->run;
    sx_text_add(out, "%s", run->phase);
    if (run->tokens)
        sx_text_add(out, " of %" PRIu64 " token%s after %" PRIu64, run->tokens, run->tokens == 1 ? "" : "s",
                    run->context);
    sx_text_add(out, ", batch %" PRIu64 ": %s parameters", run->batch,
                sx_show_computes((double)t->parameters).text);
    if (t->active_parameters != t->parameters)
        sx_text_add(out, " (%s active)", sx_show_computes((double)t->active_parameters).text);
    sx_text_add(out, ", %s MACs", sx_show_computes((double)t->macs).text);
    if (t->useful_macs != t->macs)
        sx_text_add(out, " (%s useful)", sx_show_computes((double)t->useful_macs).text);
    add_bytes(out, "\nweights ", t->weights_held_bytes);
    add_bytes(out, ", read ", t->weights_read_bytes);
    if (t->experts_hit) sx_text_add(out, " (%" PRIu64 " experts of a layer hit)", t->experts_hit);
    if (t->state_held) {
        add_bytes(out, "; caches and states ", t->state_held_bytes);
        add_bytes(out, ", read ", t->state_read_bytes);
        add_bytes(out, ", written ", t->state_write_bytes);
    }
    if (t->state_per_token) sx_text_add(out, ", %" PRIu64 " elements per token", t->state_per_token);
    sx_text_add(out, "\n");
}

void sx_operators_add_vectors(const sx_graph *graph, const sx_operators *operators, sx_text *out) {
    static const char *const head[] = {"vector operator", "count", "function", "rows", "row", "read",
                                       "written"};
    sx_table table;
    sx_table_begin(&table, "lrlrrrr");
    for (size_t i = 0; i < 7; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < operators->n; i++) {
        const sx_operator *op = &operators->op[i];
        const sx_graph_node *node = &graph->node[op->node];
        if (!op->vector) continue;
        sx_table_cell(&table, "%s", op->name);
        sx_table_cell(&table, "%" PRIu64, op->count);
        sx_table_cell(&table, "%s", node->function[0] ? node->function : sx_op_kind_name(node->kind));
        sx_table_cell(&table, "%" PRIu64, op->rows);
        sx_table_cell(&table, "%" PRIu64, op->columns);
        sx_table_cell(&table, "%" PRIu64, op->reads);
        sx_table_cell(&table, "%" PRIu64, op->writes);
    }
    sx_table_end(&table, 2, out);
}

/* Sets a count. */
static void set_count(json_t *object, const char *key, uint64_t value) {
    sx_json_set(object, key, sx_json_count(value));
}

/* A figure of a struct, by its key of JSON. */
typedef struct figure_key {
    const char *key;
    size_t at;
} figure_key;

/* Sets figures of a struct that are counts, or real numbers. */
static void set_counts(json_t *object, const void *from, const figure_key *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        set_count(object, keys[i].key, *(const uint64_t *)((const char *)from + keys[i].at));
}

static void set_reals(json_t *object, const void *from, const figure_key *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        sx_json_set(object, keys[i].key, sx_json_real(*(const double *)((const char *)from + keys[i].at)));
}

#define KEYS(array) array, sizeof array / sizeof *array
#define TOTAL(field) offsetof(sx_operator_totals, field)
#define OPERATOR(field) offsetof(sx_operator, field)
#define COST(field) offsetof(sx_vector_cost, field)

json_t *sx_operators_totals_json(const sx_graph *graph, const sx_operators *operators) {
    static const figure_key counts[] = {{"params", TOTAL(parameters)},
                                        {"active_params", TOTAL(active_parameters)},
                                        {"macs", TOTAL(macs)},
                                        {"useful_macs", TOTAL(useful_macs)},
                                        {"weight_macs", TOTAL(weight_macs)},
                                        {"weights_read", TOTAL(weights_read)},
                                        {"kv_read", TOTAL(state_reads)},
                                        {"kv_write", TOTAL(state_writes)},
                                        {"kv_elements_per_token", TOTAL(state_per_token)},
                                        {"kv_cache_elements", TOTAL(state_held)},
                                        {"vector_elements", TOTAL(vector_elements)},
                                        {"vector_reads", TOTAL(vector_reads)},
                                        {"vector_writes", TOTAL(vector_writes)},
                                        {"ops", TOTAL(einsums)},
                                        {"layers", TOTAL(layers)},
                                        {"vector_ops", TOTAL(vector_ops)}};
    static const figure_key bytes[] = {{"weights_bytes", TOTAL(weights_held_bytes)},
                                       {"weights_read_bytes", TOTAL(weights_read_bytes)},
                                       {"kv_cache_bytes", TOTAL(state_held_bytes)},
                                       {"kv_read_bytes", TOTAL(state_read_bytes)},
                                       {"kv_write_bytes", TOTAL(state_write_bytes)}};
    const sx_operator_totals *t = &operators->totals;
    json_t *o = json_object();
    sx_json_set(o, "phase", json_string(graph->run.phase));
    set_count(o, "batch", graph->run.batch);
    set_count(o, "tokens", graph->run.tokens);
    set_count(o, "context", graph->run.context);
    set_counts(o, t, KEYS(counts));
    if (t->experts_hit) set_count(o, "experts_hit", t->experts_hit);
    set_reals(o, t, KEYS(bytes));
    return o;
}

/* One operator. */
static SX_OWN json_t *operator_json(const sx_graph *graph, const sx_operator *op) {
    static const figure_key counts[] = {
        {"macs", OPERATOR(macs)},
        {"useful_macs", OPERATOR(useful_macs)},
        {"weights", OPERATOR(weights)},
        {"reads", OPERATOR(reads)},
        {"writes", OPERATOR(writes)},
        {"kv_read", OPERATOR(state_reads)},
        {"kv_write", OPERATOR(state_writes)},
    };
    const sx_graph_node *node = &graph->node[op->node];
    json_t *o = json_object();
    sx_json_set(o, "name", json_string(op->name));
    sx_json_set(o, "kind", json_string(op->vector ? "vector" : "einsum"));
    set_count(o, "count", op->count);
    set_count(o, "repeat", op->repeat);
    if (op->vector) {
        sx_json_set(o, "function",
                    json_string(node->function[0] ? node->function : sx_op_kind_name(node->kind)));
        set_count(o, "rows", op->rows);
        set_count(o, "cols", op->columns);
        set_count(o, "elements", op->elements);
    }
    set_counts(o, op, KEYS(counts));
    return o;
}

json_t *sx_operators_json(const sx_graph *graph, const sx_operators *operators) {
    json_t *array = json_array();
    for (size_t i = 0; i < operators->n; i++) sx_json_append(array, operator_json(graph, &operators->op[i]));
    return array;
}

/* The sum over all nodes of what vector operators cost. */
static sx_vector_cost sum_costs(const sx_arch *arch, const sx_graph *graph, const sx_operators *operators) {
    sx_vector_cost sum = {.row_fits = true};
    for (size_t i = 0; i < operators->n; i++) {
        if (!operators->op[i].vector) continue;
        const sx_vector_cost one = sx_vector_cost_of(arch, graph, &operators->op[i]);
        const double count = (double)operators->op[i].count;
        sum.operations += count * one.operations;
        sum.words_read += count * one.words_read;
        sum.words_written += count * one.words_written;
        sum.cycles += count * one.cycles;
        sum.compute_cycles += count * one.compute_cycles;
        sum.energy += count * one.energy;
        sum.row_fits &= one.row_fits;
    }
    return sum;
}

/* A cost as JSON. */
static SX_OWN json_t *cost_json(const sx_vector_cost *cost) {
    static const figure_key figures[] = {
        {"operations", COST(operations)},         {"words_read", COST(words_read)},
        {"words_written", COST(words_written)},   {"cycles", COST(cycles)},
        {"compute_cycles", COST(compute_cycles)}, {"energy_pj", COST(energy)}};
    json_t *o = json_object();
    set_reals(o, cost, KEYS(figures));
    sx_json_set(o, "row_fits", json_boolean(cost->row_fits));
    return o;
}

json_t *sx_operators_vector_json(const sx_arch *arch, const sx_graph *graph, const sx_operators *operators,
                                 const sx_score *total) {
    if (!(arch->vector.lanes > 0)) return json_pack("{s:b}", "unit", 0);
    const sx_vector_cost sum = sum_costs(arch, graph, operators);
    json_t *o = cost_json(&sum), *list = json_array();
    sx_json_set(o, "unit", json_true());
    sx_json_set(o, "total_cycles", sx_json_real(total->cycles + sum.cycles));
    sx_json_set(o, "total_energy_pj", sx_json_real(total->energy_pj + sum.energy));
    for (size_t i = 0; i < operators->n; i++) {
        if (!operators->op[i].vector) continue;
        const sx_vector_cost one = sx_vector_cost_of(arch, graph, &operators->op[i]);
        json_t *item = cost_json(&one);
        sx_json_set(item, "name", json_string(operators->op[i].name));
        set_count(item, "count", operators->op[i].count);
        sx_json_append(list, item);
    }
    sx_json_set(o, "operators", list);
    return o;
}

void sx_operators_add_costs(const sx_arch *arch, const sx_graph *graph, const sx_operators *operators,
                            sx_text *out) {
    static const char *const head[] = {"vector operator", "count", "operations", "words", "cycles", "energy"};
    sx_table table;
    sx_table_begin(&table, "lrrrrr");
    for (size_t i = 0; i < 6; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < operators->n; i++) {
        if (!operators->op[i].vector) continue;
        const sx_vector_cost one = sx_vector_cost_of(arch, graph, &operators->op[i]);
        sx_table_cell(&table, "%s", operators->op[i].name);
        sx_table_cell(&table, "%" PRIu64, operators->op[i].count);
        sx_table_cell(&table, "%s", sx_show_computes(one.operations).text);
        sx_table_cell(&table, "%s", sx_show_computes(one.words_read + one.words_written).text);
        sx_table_cell(&table, "%s", sx_show_count(one.cycles).text);
        sx_table_cell(&table, "%s", sx_show_energy(one.energy).text);
    }
    sx_text_add(out, "\n");
    sx_table_end(&table, 2, out);
}

void sx_operators_add_cost(const sx_arch *arch, const sx_graph *graph, const sx_operators *operators,
                           const sx_score *total, bool timed, sx_text *out) {
    const sx_operator_totals *t = &operators->totals;
    if (!(arch->vector.lanes > 0)) {
        sx_text_add(
            out,
            "%" PRIu64 " vector operators (%s elements read, %s written): the architecture has no vector "
            "unit; the table leaves "
            "them out%s\n",
            t->vector_ops, sx_show_computes((double)t->vector_reads).text,
            sx_show_computes((double)t->vector_writes).text,
            timed ? ", and what follows counts their traffic with the outermost memory, not their operations"
                  : "");
        return;
    }
    const sx_vector_cost sum = sum_costs(arch, graph, operators);
    sx_text_add(out, "%" PRIu64 " vector operators: %s cycles, %s", t->vector_ops,
                sx_show_count(sum.cycles).text, sx_show_energy(sum.energy).text);
    sx_text_add(out, "; with them %s cycles, %s\n", sx_show_count(total->cycles + sum.cycles).text,
                sx_show_energy(total->energy_pj + sum.energy).text);
}
