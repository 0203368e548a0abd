/* The vector unit: operations per element by function (ir/vector_rule.h), and traffic of the outermost level in one pass or
 * several. */
#include "model/vector.h"

#include "ir/vector_rule.h"

#include <math.h>
#include <string.h>

/* Whether a node is a softmax. */
static bool is_softmax(const sx_graph_node *node) {
    return node->kind == SX_OP_SOFTMAX || strcmp(node->function, "softmax") == 0;
}

/* The operations that a node takes. */
static double count_operations(const sx_graph *graph, const sx_operator *op, const sx_vector_unit *unit) {
    const sx_graph_node *node = &graph->node[op->node];
    const double elements = (double)op->elements;
    const sx_vector_rule *rule = sx_vector_rule_of(node->function);
    if (is_softmax(node)) return elements * (unit->passes == 1 ? 7 + 3 * unit->exp : 4 + unit->exp);
    if (rule) return elements * (rule->operations + rule->exponentials * unit->exp);
    if (strcmp(node->function, "top-k") == 0) {
        const double chosen = op->rows ? (double)op->writes / (double)op->rows : 1;
        return elements * (log2(chosen > 1 ? chosen : 1) + 1);
    }
    if (strcmp(node->function, "weighted-sum") == 0) return 2 * (double)op->reads;
    return elements;
}

/* How often a row is read where it does not stay at hand. */
static unsigned passes_of(const sx_graph_node *node, const sx_vector_unit *unit) {
    const sx_vector_rule *rule = sx_vector_rule_of(node->function);
    if (is_softmax(node)) return unit->passes == 1 ? 2 : 3;
    return rule ? 1 + rule->again : node->kind == SX_OP_NORM ? 2 : 1;
}

/* The elements of a row that stay at hand between passes; UINT64_MAX: of any row. */
static uint64_t longest_row(const sx_arch *arch, uint32_t bits) {
    int level = arch->n_levels - 2;
    if (arch->vector.row) return arch->vector.row;
    while (level > 0 && arch->level[level].transparent) level--;
    if (level < 0 || arch->level[level].entries == SX_UNLIMITED) return UINT64_MAX;
    return arch->level[level].entries * arch->level[level].word_bits / (bits ? bits : 1);
}

/* The cycles that words take of a bandwidth. */
static double time_of(double words, double bandwidth, uint64_t instances) {
    return isfinite(bandwidth) && bandwidth > 0 ? words / (bandwidth * (double)instances) : 0;
}

sx_vector_cost sx_vector_cost_of(const sx_arch *arch, const sx_graph *graph, const sx_operator *op) {
    const sx_graph_node *node = &graph->node[op->node];
    const sx_storage *outer = &arch->level[arch->n_levels - 1];
    const uint32_t bits = node->n_operands ? graph->tensor[graph->operand[node->first].tensor].bits : 8;
    sx_vector_cost cost = {.operations = count_operations(graph, op, &arch->vector),
                           .row_fits = op->columns <= longest_row(arch, bits)};
    const double passes = cost.row_fits ? 1 : passes_of(node, &arch->vector);
    cost.words_read =
        (op->read_bytes * passes + op->weight_bytes + op->state_read_bytes) * 8 / outer->word_bits;
    cost.words_written = (op->write_bytes + op->state_write_bytes) * 8 / outer->word_bits;
    cost.compute_cycles = cost.operations / arch->vector.lanes;
    if (strcmp(node->function, "selective-scan") == 0)
        cost.compute_cycles = fmax(cost.compute_cycles, (double)graph->run.tokens);
    cost.cycles =
        fmax(cost.compute_cycles, time_of(cost.words_read, outer->read_bandwidth, outer->instances));
    cost.cycles = fmax(cost.cycles, time_of(cost.words_written, outer->write_bandwidth, outer->instances));
    cost.cycles = fmax(cost.cycles, time_of(cost.words_read + cost.words_written, outer->shared_bandwidth,
                                            outer->instances));
    cost.energy = cost.operations * arch->vector.energy +
                  (cost.words_read * outer->read_energy + cost.words_written * outer->update_energy) /
                      outer->block_size;
    return cost;
}
