/* The table of operators: what each node computes, reads and writes, by the tensors of its operands. */
#include "sextant/operators.h"

#include "base/status.h"
#include "ir/graph.h"

#include <stdlib.h>
#include <string.h>

/* The elements that an operand uses, over all repetitions. */
static uint64_t used_words(const sx_graph *graph, const sx_graph_node *node,
                           const sx_graph_operand *operand) {
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    uint64_t words = 1;
    for (size_t g = 0; g < tensor->n_ranks; g++) {
        const bool part = g < SX_MAX_PART_RANKS && operand->part[g].length;
        uint64_t used = sx_graph_used_extent(tensor, operand, g);
        if (operand->split == (int)g) {
            const uint64_t shares = operand->of ? operand->of : node->repeat;
            if (part && !operand->part[g].block)
                used *= node->repeat;
            else
                used = used / shares * node->repeat;
        }
        words *= used;
    }
    return words;
}

/* The elements that a lookup reads of its table: a row for each element that it writes. */
static bool is_lookup(const sx_graph_node *node) {
    return strncmp(node->function, "gather", strlen("gather")) == 0;
}

/* Counts an operand of a node. A vector operator that works on a part of a state, as one that turns new keys does,
 * counts it like any tensor; one that reads a whole state carries it from run to run. */
static void count_operand(const sx_graph *graph, const sx_graph_node *node, const sx_graph_operand *operand,
                          sx_operator *out) {
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    const uint64_t words = used_words(graph, node, operand);
    const double bytes = (double)words * tensor->bits / 8;
    const bool state = tensor->state && (!out->vector || !sx_graph_uses_part(operand));
    if (tensor->weight && is_lookup(node)) return;
    if (tensor->weight) {
        out->weights += words;
        out->weight_bytes += bytes;
        return;
    }
    if (state) *(operand->written ? &out->state_writes : &out->state_reads) += words;
    if (state) *(operand->written ? &out->state_write_bytes : &out->state_read_bytes) += bytes;
    if (state && out->vector) return;
    *(operand->written ? &out->writes : &out->reads) += words;
    *(operand->written ? &out->write_bytes : &out->read_bytes) += bytes;
}

/* Replaces a count of elements and its bytes, where the node gives one; without bytes so far an element has `bits`. */
static void replace_count(uint64_t given, uint32_t bits, uint64_t *words, double *bytes) {
    if (!given) return;
    *bytes = *words ? *bytes * ((double)given / (double)*words) : (double)given * bits / 8;
    *words = given;
}

/* Replaces what the tensors say by what the node says. */
static void apply_counts(const sx_graph_counts *counts, uint32_t bits, sx_operator *out) {
    if (counts->elements) out->elements = counts->elements;
    if (counts->row) out->columns = counts->row;
    if (counts->useful) out->useful_macs = counts->useful;
    replace_count(counts->reads, bits, &out->reads, &out->read_bytes);
    replace_count(counts->state_reads, bits, &out->state_reads, &out->state_read_bytes);
    replace_count(counts->state_writes, bits, &out->state_writes, &out->state_write_bytes);
}

/* The elements of a row of a node without an einsum: along its axis, else along the first rank. */
static uint64_t row_of(const sx_graph *graph, const sx_graph_node *node) {
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &graph->operand[node->first + v];
        const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
        if (operand->written && tensor->n_ranks)
            return sx_graph_used_extent(tensor, operand, node->axis < 0 ? 0 : (size_t)node->axis);
    }
    return 1;
}

/* One node as an operator. */
static void count_node(const sx_graph *graph, size_t index, sx_operator *out) {
    const sx_graph_node *node = &graph->node[index];
    memset(out, 0, sizeof *out);
    memcpy(out->name, node->layer, sizeof out->name);
    out->node = index;
    out->count = 1;
    out->repeat = node->repeat;
    out->vector = node->einsum == SX_NO_INDEX || node->kind == SX_OP_POOL;
    for (size_t v = 0; v < node->n_operands; v++)
        count_operand(graph, node, &graph->operand[node->first + v], out);
    if (!out->vector)
        out->macs = out->useful_macs = sx_problem_computes(&graph->einsum[node->einsum]) * node->repeat;
    if (out->vector) out->elements = out->writes;
    if (out->vector) out->columns = row_of(graph, node);
    const uint32_t bits = node->n_operands ? graph->tensor[graph->operand[node->first].tensor].bits : 8;
    if (is_lookup(node))
        out->reads = strcmp(node->function, "gather") == 0 ? out->elements : 2 * out->elements;
    if (is_lookup(node)) out->read_bytes = (double)out->reads * bits / 8;
    apply_counts(&node->counts, bits, out);
    if (out->vector && out->columns > out->elements) out->columns = out->elements;
    if (out->vector && out->columns) out->rows = out->elements / out->columns;
}

/* Adds a node to the sums. */
static void add_totals(const sx_operator *op, sx_operator_totals *t) {
    t->macs += op->macs;
    t->useful_macs += op->useful_macs;
    if (op->weights && !op->vector) t->weight_macs += op->macs;
    t->weights_read += op->weights;
    t->state_reads += op->state_reads;
    t->state_writes += op->state_writes;
    t->weights_read_bytes += op->weight_bytes;
    t->state_read_bytes += op->state_read_bytes;
    t->state_write_bytes += op->state_write_bytes;
    if (!op->vector) t->einsums += op->repeat;
    if (!op->vector) return;
    t->vector_ops++;
    t->vector_elements += op->elements;
    t->vector_reads += op->reads;
    t->vector_writes += op->writes;
}

/* Adds what tensors hold: weights, and states after the run. */
static void add_held(const sx_graph *graph, sx_operator_totals *t) {
    uint64_t weights = 0;
    for (size_t i = 0; i < graph->n_tensors; i++) {
        const sx_graph_tensor *tensor = &graph->tensor[i];
        const uint64_t words = sx_graph_words(tensor), held = tensor->held ? tensor->held : words;
        if (tensor->weight) weights += words;
        if (tensor->weight) t->weights_held_bytes += (double)words * tensor->bits / 8;
        if (tensor->state) t->state_held += held;
        if (tensor->state) t->state_held_bytes += (double)held * tensor->bits / 8;
    }
    t->parameters = graph->run.parameters ? graph->run.parameters : weights;
    t->active_parameters = graph->run.active_parameters ? graph->run.active_parameters : t->parameters;
}

/* The most shares of one tensor that nodes use, as of experts; 0 where no operand has 'of'. `hit` has a 0 for each
 * tensor. */
static uint64_t count_experts(const sx_graph *graph, uint64_t *hit) {
    uint64_t most = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[graph->node[i].first + v];
            if (!operand->of) continue;
            hit[operand->tensor] += graph->node[i].repeat;
            if (hit[operand->tensor] > most) most = hit[operand->tensor];
        }
    return most;
}

/* The elements that einsums write to parts of states: what a state grows by. */
static uint64_t count_appended(const sx_graph *graph) {
    uint64_t words = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[graph->node[i].first + v];
            if (graph->node[i].kind == SX_OP_EINSUM && operand->written &&
                graph->tensor[operand->tensor].state && sx_graph_uses_part(operand))
                words += used_words(graph, &graph->node[i], operand);
        }
    return words;
}

/* Enters a node: a layer of its own, or one more of a layer that is there. */
static void enter_node(const sx_operator *op, sx_operators *out) {
    for (size_t i = 0; i < out->n; i++) {
        if (strcmp(out->op[i].name, op->name) != 0) continue;
        out->op[i].count++;
        return;
    }
    out->op[out->n++] = *op;
    out->totals.layers += !op->vector;
}

sx_status sx_graph_operators(const sx_graph *graph, sx_operators *out) {
    sx_operators all = {.op = calloc(graph->n_nodes + 1, sizeof *all.op)};
    uint64_t *hit = calloc(graph->n_tensors + 1, sizeof *hit);
    if (!all.op || !hit) {
        free(all.op);
        free(hit);
        return sx_error_memory();
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        sx_operator op;
        if (graph->node[i].kind == SX_OP_RESHAPE || graph->node[i].kind == SX_OP_CONCAT) continue;
        count_node(graph, i, &op);
        add_totals(&op, &all.totals);
        enter_node(&op, &all);
    }
    all.totals.experts_hit = count_experts(graph, hit);
    add_held(graph, &all.totals);
    const uint64_t tokens = graph->run.batch * graph->run.tokens;
    if (tokens) all.totals.state_per_token = count_appended(graph) / tokens;
    free(hit);
    *out = all;
    return SX_OK;
}

void sx_operators_fini(sx_operators *operators) {
    free(operators->op);
    memset(operators, 0, sizeof *operators);
}
