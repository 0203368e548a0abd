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

json_t *sx_operators_totals_json(const sx_graph *graph, const sx_operators *operators) {
    const sx_operator_totals *t = &operators->totals;
    json_t *o = json_object();
    sx_json_set(o, "phase", json_string(graph->run.phase));
    set_count(o, "batch", graph->run.batch);
    set_count(o, "tokens", graph->run.tokens);
    set_count(o, "context", graph->run.context);
    set_count(o, "params", t->parameters);
    set_count(o, "active_params", t->active_parameters);
    set_count(o, "macs", t->macs);
    set_count(o, "useful_macs", t->useful_macs);
    set_count(o, "weight_macs", t->weight_macs);
    set_count(o, "weights_read", t->weights_read);
    set_count(o, "kv_read", t->state_reads);
    set_count(o, "kv_write", t->state_writes);
    set_count(o, "kv_elements_per_token", t->state_per_token);
    set_count(o, "kv_cache_elements", t->state_held);
    if (t->experts_hit) set_count(o, "experts_hit", t->experts_hit);
    set_count(o, "vector_elements", t->vector_elements);
    set_count(o, "vector_reads", t->vector_reads);
    set_count(o, "vector_writes", t->vector_writes);
    set_count(o, "ops", t->einsums);
    set_count(o, "layers", t->layers);
    set_count(o, "vector_ops", t->vector_ops);
    sx_json_set(o, "weights_bytes", sx_json_real(t->weights_held_bytes));
    sx_json_set(o, "weights_read_bytes", sx_json_real(t->weights_read_bytes));
    sx_json_set(o, "kv_cache_bytes", sx_json_real(t->state_held_bytes));
    sx_json_set(o, "kv_read_bytes", sx_json_real(t->state_read_bytes));
    sx_json_set(o, "kv_write_bytes", sx_json_real(t->state_write_bytes));
    return o;
}

/* One operator. */
static SX_OWN json_t *operator_json(const sx_graph *graph, const sx_operator *op) {
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
    set_count(o, "macs", op->macs);
    set_count(o, "useful_macs", op->useful_macs);
    set_count(o, "weights", op->weights);
    set_count(o, "reads", op->reads);
    set_count(o, "writes", op->writes);
    set_count(o, "kv_read", op->state_reads);
    set_count(o, "kv_write", op->state_writes);
    return o;
}

json_t *sx_operators_json(const sx_graph *graph, const sx_operators *operators) {
    json_t *array = json_array();
    for (size_t i = 0; i < operators->n; i++)
        (void)sx_json_append(array, operator_json(graph, &operators->op[i]));
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
    json_t *o = json_object();
    sx_json_set(o, "operations", sx_json_real(cost->operations));
    sx_json_set(o, "words_read", sx_json_real(cost->words_read));
    sx_json_set(o, "words_written", sx_json_real(cost->words_written));
    sx_json_set(o, "cycles", sx_json_real(cost->cycles));
    sx_json_set(o, "compute_cycles", sx_json_real(cost->compute_cycles));
    sx_json_set(o, "energy_pj", sx_json_real(cost->energy));
    sx_json_set(o, "row_fits", json_boolean(cost->row_fits));
    return o;
}

/* What vector operators cost: {"unit": false} without a unit, else the sum, that with the einsums, and each operator. */
static SX_OWN json_t *vector_json(const sx_result *r, const sx_operators *operators) {
    const sx_score *total = &r->session.total;
    if (!(r->arch.vector.lanes > 0)) return json_pack("{s:b}", "unit", 0);
    const sx_vector_cost sum = sum_costs(&r->arch, r->graph, operators);
    json_t *o = cost_json(&sum), *list = json_array();
    sx_json_set(o, "unit", json_true());
    sx_json_set(o, "total_cycles", sx_json_real(total->cycles + sum.cycles));
    sx_json_set(o, "total_energy_pj", sx_json_real(total->energy_pj + sum.energy));
    for (size_t i = 0; i < operators->n; i++) {
        if (!operators->op[i].vector) continue;
        const sx_vector_cost one = sx_vector_cost_of(&r->arch, r->graph, &operators->op[i]);
        json_t *item = cost_json(&one);
        sx_json_set(item, "name", json_string(operators->op[i].name));
        set_count(item, "count", operators->op[i].count);
        (void)sx_json_append(list, item);
    }
    sx_json_set(o, "operators", list);
    return o;
}

sx_status sx_operators_put_run(json_t *object, const sx_result *result) {
    sx_operators operators;
    SX_TRY(sx_graph_operators(result->graph, &operators));
    sx_json_set(object, "totals", sx_operators_totals_json(result->graph, &operators));
    sx_json_set(object, "vector", vector_json(result, &operators));
    sx_operators_fini(&operators);
    return SX_OK;
}

/* Adds the cost of each vector operator as a table. */
static void add_costs(const sx_result *r, const sx_operators *operators, sx_text *out) {
    static const char *const head[] = {"vector operator", "count", "operations", "words", "cycles", "energy"};
    sx_table table;
    sx_table_begin(&table, "lrrrrr");
    for (size_t i = 0; i < 6; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < operators->n; i++) {
        if (!operators->op[i].vector) continue;
        const sx_vector_cost one = sx_vector_cost_of(&r->arch, r->graph, &operators->op[i]);
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

sx_status sx_operators_report_run(const sx_result *r, bool verbose, sx_text *out) {
    sx_operators operators;
    const sx_score *total = &r->session.total;
    SX_TRY(sx_graph_operators(r->graph, &operators));
    const sx_operator_totals *t = &operators.totals;
    const bool unit = r->arch.vector.lanes > 0;
    if (unit && verbose) add_costs(r, &operators, out);
    sx_text_add(out, "\n");
    if (r->graph->run.phase[0]) sx_operators_add_totals(r->graph, &operators, out);
    if (!unit) {
        sx_text_add(
            out,
            "%" PRIu64
            " vector operators (%s elements read, %s written) are not in the total: the architecture has no "
            "vector unit\n",
            t->vector_ops, sx_show_computes((double)t->vector_reads).text,
            sx_show_computes((double)t->vector_writes).text);
    } else {
        const sx_vector_cost sum = sum_costs(&r->arch, r->graph, &operators);
        sx_text_add(out, "%" PRIu64 " vector operators: %s cycles, %s", t->vector_ops,
                    sx_show_count(sum.cycles).text, sx_show_energy(sum.energy).text);
        sx_text_add(out, "; with them %s cycles, %s\n", sx_show_count(total->cycles + sum.cycles).text,
                    sx_show_energy(total->energy_pj + sum.energy).text);
    }
    sx_operators_fini(&operators);
    return SX_OK;
}
