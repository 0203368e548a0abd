/* One pass over the nodes in order keeps, for each tensor, the rank along which chips have parts of it and into how many
 * parts; a node divides dimensions of its einsum, or its repetitions, so that its operands' parts fit. */
#include "ir/shard.h"

#include "ir/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a tensor of the graph is divided. */
typedef struct tensor_cut {
    int rank;       /* -1: chips have all of it */
    uint64_t parts; /* at most as many as there are chips: others have copies */
    uint64_t most;  /* parts that readers allow: heads of keys and values; 0: any */
    uint64_t block
        [SX_MAX_PART_RANKS]; /* of a rank that an operand uses in part: what must stay together; 0: nothing */
    uint64_t unit; /* of results of experts: elements of the rank that one of them gives; 0: others */
    size_t whole;  /* of the result: the tensor brought together; SX_NO_INDEX: not yet */
} tensor_cut;

/* What of a node is divided. */
typedef struct node_cut {
    uint64_t repeat;           /* by which its repetitions are divided */
    bool experts;              /* which are experts: a chip may have one less than another */
    uint64_t dim[SX_MAX_DIMS]; /* by which dimensions are; 0: not */
    bool partial;              /* results are sums of a part of the reduction */
    uint64_t parts;            /* by which its work is divided */
} node_cut;

typedef struct sharding {
    const sx_graph *graph;
    sx_graph *out;
    uint64_t chips;
    bool by_experts;
    tensor_cut *cut;
    node_cut *of;  /* of each node */
    size_t *index; /* of tensors in the result; SX_NO_INDEX: not added yet */
} sharding;

static const sx_graph_operand *operand_at(const sharding *s, const sx_graph_node *node, size_t i) {
    return &s->graph->operand[node->first + i];
}

static bool is_weight(const sharding *s, const sx_graph_operand *operand) {
    return s->graph->tensor[operand->tensor].weight;
}

/* Whether rank g of an operand has a dimension of the einsum: as that of its outermost part, or anywhere. */
static bool rank_has(const sx_problem *einsum, int v, const sx_graph_operand *operand, size_t g, int d,
                     bool outermost) {
    size_t at = 0;
    for (size_t k = 0; k < g; k++) at += operand->n_of[k];
    const size_t n = outermost && operand->n_of[g] ? 1 : operand->n_of[g];
    for (size_t k = 0; k < n; k++)
        if (einsum->tensor[v].coef[operand->rank[at + k]][d]) return true;
    return false;
}

/* Into how many parts a tensor may be cut. */
static uint64_t allowed_parts(const sharding *s, size_t tensor) {
    const uint64_t most = s->cut[tensor].most;
    return most && most < s->chips && s->chips % most == 0 ? most : s->chips;
}

/* The operand that a node with an einsum writes. */
static size_t written_operand(const sharding *s, const sx_graph_node *node) {
    size_t v = 0;
    while (v < node->n_operands && !operand_at(s, node, v)->written) v++;
    return v;
}

/* Divides an einsum that repeats over heads; *done: it reads parts that its repetitions tell apart. */
static void cut_heads(const sharding *s, const sx_graph_node *node, node_cut *cut, bool *done) {
    const sx_problem *einsum = &s->graph->einsum[node->einsum];
    *done = false;
    for (size_t v = 0; v < node->n_operands && node->repeat > 1; v++) {
        const sx_graph_operand *operand = operand_at(s, node, v);
        const tensor_cut *t = &s->cut[operand->tensor];
        *done |= !operand->written && t->rank >= 0 && operand->split == t->rank && !operand->of;
    }
    if (!*done) return;
    const size_t result = written_operand(s, node);
    if (node->repeat % s->chips == 0) {
        cut->repeat = cut->parts = s->chips;
        return;
    }
    const uint64_t rest = s->chips % node->repeat == 0 ? s->chips / node->repeat : 0;
    for (int d = 0; d < einsum->n_dims && rest; d++) {
        unsigned readers = 0;
        for (size_t v = 0; v < node->n_operands; v++)
            readers += v != result && sx_tensor_has(&einsum->tensor[v], d);
        if (!sx_tensor_has(&einsum->tensor[result], d) || readers != 1 || einsum->size[d] % rest) continue;
        if (operand_at(s, node, result)->split < 0 ||
            !rank_has(einsum, (int)result, operand_at(s, node, result),
                      (size_t)operand_at(s, node, result)->split, d, true))
            continue;
        cut->repeat = node->repeat;
        cut->dim[d] = rest;
        cut->parts = s->chips;
        return;
    }
    *done = false;
}

/* The operand of a node that has the weights of experts; n_operands where there is none. */
static size_t expert_operand(const sharding *s, const sx_graph_node *node) {
    size_t v = 0;
    while (v < node->n_operands && !operand_at(s, node, v)->of) v++;
    return v;
}

/* Gives each chip experts of its own. */
static sx_status cut_experts(const sharding *s, const sx_graph_node *node, node_cut *cut) {
    const uint64_t all = operand_at(s, node, expert_operand(s, node))->of;
    if (all % s->chips)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                          "--chips %llu: the %llu experts of '%s' do not divide by it",
                                          (unsigned long long)s->chips, (unsigned long long)all, node->name),
                             "take a divisor of the number of experts, or leave out --expert-parallel");
    cut->repeat = cut->parts = s->chips;
    cut->experts = true;
    return SX_OK;
}

/* How the tensor of an operand that is read, and is no weight, is cut beside the repetitions of its node; NULL: it is not. */
static const tensor_cut *cut_read(const sharding *s, const sx_graph_operand *operand) {
    const tensor_cut *t = &s->cut[operand->tensor];
    return operand->written || t->rank < 0 || operand->split == t->rank || is_weight(s, operand) ? NULL : t;
}

/* Divides a product whose operand is cut along its reduction; returns whether it is one. */
static bool cut_rows(const sharding *s, const sx_graph_node *node, node_cut *cut) {
    const sx_problem *einsum = &s->graph->einsum[node->einsum];
    const size_t result = written_operand(s, node);
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = operand_at(s, node, v);
        const tensor_cut *t = cut_read(s, operand);
        if (!t) continue;
        for (int d = 0; d < einsum->n_dims; d++) {
            if (sx_tensor_has(&einsum->tensor[result], d) || einsum->size[d] % t->parts) continue;
            if (!rank_has(einsum, (int)v, operand, (size_t)t->rank, d, true)) continue;
            cut->dim[d] = cut->parts = t->parts;
            cut->partial = true;
            return true;
        }
    }
    return false;
}

/* Divides an einsum along a dimension of its result in which one of its operands is cut, and no other that is whole but
 * weights has; returns whether there is one. */
static bool cut_carried(const sharding *s, const sx_graph_node *node, node_cut *cut) {
    const sx_problem *einsum = &s->graph->einsum[node->einsum];
    const size_t result = written_operand(s, node);
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = operand_at(s, node, v);
        const tensor_cut *t = cut_read(s, operand);
        if (!t) continue;
        for (int d = 0; d < einsum->n_dims; d++) {
            bool other = !sx_tensor_has(&einsum->tensor[result], d) || einsum->size[d] % t->parts;
            for (size_t u = 0; u < node->n_operands; u++)
                other |= u != v && u != result && !is_weight(s, operand_at(s, node, u)) &&
                         (s->cut[operand_at(s, node, u)->tensor].rank >= 0 ||
                          sx_tensor_has(&einsum->tensor[u], d));
            if (other || !rank_has(einsum, (int)v, operand, (size_t)t->rank, d, true)) continue;
            cut->dim[d] = cut->parts = t->parts;
            return true;
        }
    }
    return false;
}

/* Whether a reader of a tensor needs all of a row: the choice of experts. */
static bool needs_whole(const sharding *s, size_t tensor) {
    for (size_t i = 0; i < s->graph->n_nodes; i++) {
        const sx_graph_node *node = &s->graph->node[i];
        if (node->kind == SX_OP_EINSUM || (!strstr(node->function, "top") && node->kind != SX_OP_SOFTMAX))
            continue;
        for (size_t v = 0; v < node->n_operands; v++)
            if (!operand_at(s, node, v)->written && operand_at(s, node, v)->tensor == tensor) return true;
    }
    return false;
}

/* Whether parts of a result along a dimension hold whole blocks of what its readers use of it. */
static bool keeps_blocks(const sharding *s, const sx_problem *einsum, const sx_graph_operand *operand,
                         size_t v, int d, uint64_t parts) {
    for (size_t g = 0; g < s->graph->tensor[operand->tensor].n_ranks && g < SX_MAX_PART_RANKS; g++) {
        const uint64_t block = s->cut[operand->tensor].block[g];
        if (block && rank_has(einsum, (int)v, operand, g, d, false) &&
            s->graph->tensor[operand->tensor].extent[g] / parts % block)
            return false;
    }
    return true;
}

/* Divides a product with weights whose other operands are whole, by columns; returns whether it can be. */
static bool cut_columns(const sharding *s, const sx_graph_node *node, node_cut *cut) {
    const sx_problem *einsum = &s->graph->einsum[node->einsum];
    const size_t result = written_operand(s, node);
    const sx_graph_operand *written = operand_at(s, node, result);
    const uint64_t parts = allowed_parts(s, written->tensor);
    int best = -1;
    if (s->cut[written->tensor].rank < 0 && needs_whole(s, written->tensor)) return false;
    for (size_t v = 0; v < node->n_operands; v++) {
        if (!is_weight(s, operand_at(s, node, v))) continue;
        for (int d = 0; d < einsum->n_dims; d++) {
            bool others = false;
            for (size_t u = 0; u < node->n_operands; u++)
                others |= u != v && u != result && sx_tensor_has(&einsum->tensor[u], d);
            if (others || !sx_tensor_has(&einsum->tensor[v], d) || !sx_tensor_has(&einsum->tensor[result], d))
                continue;
            if (!keeps_blocks(s, einsum, written, result, d, parts)) continue;
            if (einsum->size[d] % parts == 0 && (best < 0 || einsum->size[d] > einsum->size[best])) best = d;
        }
    }
    if (best < 0) return false;
    cut->dim[best] = cut->parts = parts;
    return true;
}

/* Sets the cut of the tensor that a node with an einsum writes. */
static void set_result(const sharding *s, const sx_graph_node *node, const node_cut *cut) {
    const sx_problem *einsum = &s->graph->einsum[node->einsum];
    const size_t v = written_operand(s, node);
    const sx_graph_operand *operand = operand_at(s, node, v);
    tensor_cut *t = &s->cut[operand->tensor];
    if (cut->partial || cut->parts <= 1) return;
    if (cut->repeat > 1 && operand->split >= 0) {
        t->rank = operand->split;
        t->parts = cut->parts;
        if (cut->experts) t->unit = s->graph->tensor[operand->tensor].extent[t->rank] / node->repeat;
        return;
    }
    for (size_t g = 0; g < s->graph->tensor[operand->tensor].n_ranks; g++)
        for (int d = 0; d < einsum->n_dims; d++)
            if (cut->dim[d] && rank_has(einsum, (int)v, operand, g, d, true)) {
                t->rank = (int)g;
                t->parts = cut->parts;
            }
}

/* Adds the shape of a weight of a divided product: it follows the dimensions. */
static void set_weights(const sharding *s, const sx_graph_node *node, const node_cut *cut) {
    const sx_problem *einsum = &s->graph->einsum[node->einsum];
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = operand_at(s, node, v);
        if (!s->graph->tensor[operand->tensor].weight) continue;
        tensor_cut *t = &s->cut[operand->tensor];
        if (cut->repeat > 1 && operand->split >= 0) {
            t->rank = operand->split;
            t->parts = cut->repeat;
        }
        for (size_t g = 0; g < s->graph->tensor[operand->tensor].n_ranks; g++)
            for (int d = 0; d < einsum->n_dims; d++)
                if (cut->dim[d] && rank_has(einsum, (int)v, operand, g, d, false)) {
                    t->rank = (int)g;
                    t->parts = cut->dim[d];
                }
    }
}

/* The index of a tensor in the result, which is added in its part. */
static sx_status place_tensor(const sharding *s, size_t tensor, size_t *out) {
    if (s->index[tensor] == SX_NO_INDEX) {
        sx_graph_tensor t = s->graph->tensor[tensor];
        const tensor_cut *cut = &s->cut[tensor];
        const uint64_t units = cut->unit ? t.extent[cut->rank] / cut->unit : 0;
        if (cut->unit)
            t.extent[cut->rank] = (units + cut->parts - 1) / cut->parts * cut->unit;
        else if (cut->rank >= 0)
            t.extent[cut->rank] /= cut->parts;
        if (cut->rank >= 0) t.held /= cut->parts;
        SX_TRY(sx_graph_add_tensor(s->out, &t, &s->index[tensor]));
    }
    *out = s->index[tensor];
    return SX_OK;
}

/* Adds a tensor with the whole of one of which chips have parts, and the node that brings it together ("all-gather"); with
 * more than one part, that with the parts of a chip after all have exchanged theirs ("all-to-all"). */
static sx_status gather_tensor(const sharding *s, const char *layer, size_t tensor, uint64_t parts,
                               size_t *whole) {
    const char *const function = parts > 1 ? "all-to-all" : "all-gather";
    const int rank = s->cut[tensor].rank;
    sx_graph_tensor t = s->graph->tensor[tensor];
    sx_graph_node node = {.kind = SX_OP_OTHER, .axis = -1, .repeat = 1, .einsum = SX_NO_INDEX};
    size_t own;
    SX_TRY(place_tensor(s, tensor, &own));
    memset(t.name, 0, sizeof t.name);
    snprintf(t.name, sizeof t.name, "%.*s.whole", SX_NAME_SIZE - 8, s->graph->tensor[tensor].name);
    t.state = t.output = t.weight = false;
    t.extent[rank] = (t.extent[rank] + parts - 1) / parts;
    SX_TRY(sx_graph_add_tensor(s->out, &t, whole));
    snprintf(node.function, sizeof node.function, "%s", function);
    snprintf(node.name, sizeof node.name, "%.*s.%s", SX_NAME_SIZE - 12, s->graph->tensor[tensor].name,
             function);
    snprintf(node.layer, sizeof node.layer, "%.*s.%s", SX_NAME_SIZE - 12, layer, function);
    sx_graph_operand operand[2] = {sx_graph_whole(own, false, 0), sx_graph_whole(*whole, true, 0)};
    return sx_graph_add_node(s->out, &node, NULL, operand, 2, NULL);
}

/* The tensor that a node reads in full: brought together where chips have parts. */
static sx_status place_whole(const sharding *s, const sx_graph_node *node, size_t tensor, size_t *out) {
    if (s->cut[tensor].rank < 0) return place_tensor(s, tensor, out);
    if (s->cut[tensor].whole == SX_NO_INDEX)
        SX_TRY(gather_tensor(s, node->layer, tensor, 1, &s->cut[tensor].whole));
    *out = s->cut[tensor].whole;
    return SX_OK;
}

/* Divides what is said of a node's work. */
static void divide_counts(sx_graph_counts *counts, uint64_t parts) {
    counts->useful /= parts;
    counts->elements /= parts;
    counts->reads /= parts;
    counts->state_reads /= parts;
    counts->state_writes /= parts;
}

/* Adds a node with an einsum, divided. */
static sx_status add_einsum(const sharding *s, const sx_graph_node *from, const node_cut *cut) {
    sx_graph_operand operand[SX_MAX_TENSORS];
    sx_problem einsum = s->graph->einsum[from->einsum];
    sx_graph_node node = *from;
    size_t partial = SX_NO_INDEX;
    for (int d = 0; d < einsum.n_dims; d++)
        if (cut->dim[d]) einsum.size[d] /= (uint32_t)cut->dim[d];
    if (cut->repeat > 1) node.repeat = (node.repeat + cut->repeat - 1) / cut->repeat;
    if (cut->experts) node.counts.reads = node.counts.reads / from->repeat * node.repeat;
    if (cut->parts > 1 && !cut->experts) divide_counts(&node.counts, cut->parts);
    const size_t result = written_operand(s, from);
    for (size_t v = 0; v < from->n_operands; v++) {
        operand[v] = *operand_at(s, from, v);
        if (cut->repeat > 1 && operand[v].of) operand[v].of /= cut->repeat;
        if (v == result) continue;
        SX_TRY(cut->parts > 1 || is_weight(s, operand_at(s, from, v))
                   ? place_tensor(s, operand[v].tensor, &operand[v].tensor)
                   : place_whole(s, from, operand[v].tensor, &operand[v].tensor));
    }
    const size_t written = operand[result].tensor;
    if (cut->partial) {
        size_t own;
        SX_TRY(place_tensor(s, written, &own));
        sx_graph_tensor t = s->graph->tensor[written];
        char name[2 * SX_NAME_SIZE];
        snprintf(name, sizeof name, "%s.part", t.name);
        memset(t.name, 0, sizeof t.name);
        snprintf(t.name, sizeof t.name, "%.*s", SX_NAME_SIZE - 1, name);
        SX_TRY(sx_graph_add_tensor(s->out, &t, &partial));
        operand[result].tensor = partial;
    } else
        SX_TRY(place_tensor(s, written, &operand[result].tensor));
    SX_TRY(sx_graph_add_node(s->out, &node, &einsum, operand, from->n_operands, NULL));
    if (!cut->partial) return SX_OK;
    sx_graph_node sum = {.kind = SX_OP_OTHER, .axis = -1, .repeat = 1, .einsum = SX_NO_INDEX};
    snprintf(sum.function, sizeof sum.function, "all-reduce");
    snprintf(sum.name, sizeof sum.name, "%.*s.sum", SX_NAME_SIZE - 8, from->name);
    snprintf(sum.layer, sizeof sum.layer, "%.*s.sum", SX_NAME_SIZE - 8, from->layer);
    sx_graph_operand of[2] = {sx_graph_whole(partial, false, 0), sx_graph_whole(s->index[written], true, 0)};
    return sx_graph_add_node(s->out, &sum, NULL, of, 2, NULL);
}

/* Whether a node without an einsum can work on parts of a tensor along a rank: it goes along another one, or over rows
 * that lie within a part. */
static bool works_on_parts(const sharding *s, const sx_graph_node *node, size_t tensor) {
    const tensor_cut *t = &s->cut[tensor];
    const uint64_t extent = s->graph->tensor[tensor].extent[t->rank] / t->parts;
    if (strstr(node->function, "top")) return false;
    if (node->axis != t->rank) return true;
    return node->kind == SX_OP_CONCAT ? false : node->counts.row && extent % node->counts.row == 0;
}

/* The input whose parts a written tensor has: cut, and alike along that rank; SX_NO_INDEX: none. */
static size_t alike_input(const sharding *s, const sx_graph_node *node, size_t written) {
    const sx_graph_tensor *to = &s->graph->tensor[written];
    if (node->kind == SX_OP_ELEMENT_WISE)
        for (size_t v = 0; v < node->n_operands; v++) {
            const sx_graph_operand *operand = operand_at(s, node, v);
            if (!operand->written && !is_weight(s, operand) && s->cut[operand->tensor].rank < 0)
                return SX_NO_INDEX;
        }
    for (size_t v = 0; v < node->n_operands; v++) {
        const size_t tensor = operand_at(s, node, v)->tensor;
        const tensor_cut *t = &s->cut[tensor];
        if (operand_at(s, node, v)->written || t->rank < 0) continue;
        const sx_graph_tensor *from = &s->graph->tensor[tensor];
        if (from->n_ranks == to->n_ranks && from->extent[t->rank] == to->extent[t->rank] &&
            works_on_parts(s, node, tensor))
            return tensor;
    }
    return SX_NO_INDEX;
}

/* Whether a node adds up what experts of several chips gave. */
static bool sums_experts(const sharding *s, const sx_graph_node *node) {
    bool found = false;
    for (size_t v = 0; v < node->n_operands; v++)
        found |= !operand_at(s, node, v)->written && s->cut[operand_at(s, node, v)->tensor].unit;
    return found && strcmp(node->function, "weighted-sum") == 0;
}

/* Divides the tokens of a sum over experts among chips, where they divide; returns by which. */
static uint64_t cut_tokens(const sharding *s, const sx_graph_node *node) {
    const size_t tensor = operand_at(s, node, written_operand(s, node))->tensor;
    if (s->graph->tensor[tensor].extent[1] % s->chips) return 1;
    s->cut[tensor].rank = 1;
    s->cut[tensor].parts = s->chips;
    return s->chips;
}

/* Sets the parts of what a node without an einsum writes; returns by which its work is divided. */
static uint64_t cut_other(const sharding *s, const sx_graph_node *node) {
    uint64_t parts = 1;
    if (sums_experts(s, node)) return cut_tokens(s, node);
    for (size_t v = 0; v < node->n_operands; v++) {
        const size_t tensor = operand_at(s, node, v)->tensor;
        if (!operand_at(s, node, v)->written) continue;
        const size_t alike = s->cut[tensor].rank < 0 ? alike_input(s, node, tensor) : tensor;
        if (alike == SX_NO_INDEX) continue;
        s->cut[tensor].rank = s->cut[alike].rank;
        s->cut[tensor].parts = s->cut[alike].parts;
        s->cut[tensor].unit = s->cut[alike].unit;
        if (s->cut[tensor].parts > parts) parts = s->cut[tensor].parts;
    }
    return parts;
}

/* Adds a node without an einsum: on parts where what it writes has them, else on whole tensors; weights, as tables of
 * which chips have parts, are used as they are. */
static sx_status add_other(const sharding *s, const sx_graph_node *from, uint64_t parts) {
    sx_graph_operand *operand = malloc((from->n_operands + 1) * sizeof *operand);
    sx_graph_node node = *from;
    sx_status status = operand ? SX_OK : sx_error_memory();
    const bool sums = parts > 1 && sums_experts(s, from);
    char layer[SX_NAME_SIZE]; /* experts with one more token have a layer of their own */
    snprintf(layer, sizeof layer, "%.*s", SX_NAME_SIZE - 16, from->layer);
    if (parts > 1) divide_counts(&node.counts, parts);
    for (size_t v = 0; v < from->n_operands && !status; v++) {
        operand[v] = *operand_at(s, from, v);
        const size_t tensor = operand[v].tensor;
        if (sums && !operand[v].written && s->cut[tensor].unit) {
            status = gather_tensor(s, layer, tensor, parts, &operand[v].tensor);
            snprintf(layer, sizeof layer, "%.*s+", SX_NAME_SIZE - 16, from->layer);
        } else
            status = operand[v].written || parts > 1 || is_weight(s, &operand[v])
                         ? place_tensor(s, tensor, &operand[v].tensor)
                         : place_whole(s, from, tensor, &operand[v].tensor);
    }
    if (!status) status = sx_graph_add_node(s->out, &node, NULL, operand, from->n_operands, NULL);
    free(operand);
    return status;
}

/* Says how tensors may be cut: keys and values into as many parts as there are heads that their readers repeat over,
 * those that are used in part between blocks. */
static void find_heads(const sharding *s) {
    for (size_t i = 0; i < s->graph->n_nodes; i++) {
        const sx_graph_node *node = &s->graph->node[i];
        for (size_t v = 0; v < node->n_operands; v++) {
            const sx_graph_operand *operand = operand_at(s, node, v);
            const sx_graph_tensor *tensor = &s->graph->tensor[operand->tensor];
            tensor_cut *cut = &s->cut[operand->tensor];
            if (tensor->state && operand->split >= 0 && node->repeat > 1) cut->most = node->repeat;
            for (size_t g = 0; g < SX_MAX_PART_RANKS && g < tensor->n_ranks; g++) {
                const sx_graph_part *part = &operand->part[g];
                const uint64_t share =
                    operand->split == (int)g ? tensor->extent[g] / node->repeat : tensor->extent[g];
                if (part->length) cut->block[g] = part->block ? part->block : share;
            }
        }
    }
}

/* Whether a node repeats over the heads of a state. */
static bool reads_heads(const sharding *s, const sx_graph_node *node) {
    for (size_t v = 0; v < node->n_operands && node->repeat > 1; v++) {
        const sx_graph_operand *operand = operand_at(s, node, v);
        if (!operand->written && s->graph->tensor[operand->tensor].state && operand->split >= 0) return true;
    }
    return false;
}

/* The error of heads that chips cannot share. */
static sx_status refuse_heads(const sharding *s, const sx_graph_node *node) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--chips %llu: the heads of '%s' do not divide by it",
                                      (unsigned long long)s->chips, node->name),
                         "take a divisor of the number of heads");
}

/* Decides how a node is divided, and with it what it writes. */
static sx_status decide_node(const sharding *s, const sx_graph_node *node, node_cut *cut) {
    bool done = false, whole = true;
    *cut = (node_cut){.parts = 1};
    if (node->einsum == SX_NO_INDEX) {
        cut->parts = cut_other(s, node);
        return SX_OK;
    }
    if (s->by_experts && s->chips > 1 && expert_operand(s, node) < node->n_operands) {
        SX_TRY(cut_experts(s, node, cut));
    } else if (node->kind == SX_OP_EINSUM && s->chips > 1) {
        cut_heads(s, node, cut, &done);
        if (!done && reads_heads(s, node)) return refuse_heads(s, node);
        for (size_t v = 0; v < node->n_operands; v++) {
            const sx_graph_operand *operand = operand_at(s, node, v);
            whole &= operand->written || is_weight(s, operand) || s->cut[operand->tensor].rank < 0;
        }
        if (!done && !cut_rows(s, node, cut) && !cut_carried(s, node, cut) &&
            (!whole || !cut_columns(s, node, cut)))
            *cut = (node_cut){.parts = 1};
    }
    set_result(s, node, cut);
    set_weights(s, node, cut);
    return SX_OK;
}

/* Brings the graph's outputs together. */
static sx_status gather_outputs(const sharding *s, const bool *read) {
    for (size_t i = 0; i < s->graph->n_nodes; i++) {
        const sx_graph_node *node = &s->graph->node[i];
        for (size_t v = 0; v < node->n_operands; v++) {
            const size_t tensor = operand_at(s, node, v)->tensor;
            size_t whole;
            if (!operand_at(s, node, v)->written || read[tensor] || s->graph->tensor[tensor].state) continue;
            SX_TRY(place_whole(s, node, tensor, &whole));
        }
    }
    return SX_OK;
}

/* Divides all nodes: decides first, as a weight may be used before the product that divides it. */
static sx_status shard_nodes(const sharding *s) {
    const sx_graph *graph = s->graph;
    bool *read = calloc(graph->n_tensors + 1, sizeof *read);
    sx_status status = read ? SX_OK : sx_error_memory();
    find_heads(s);
    for (size_t i = 0; i < graph->n_nodes && !status; i++) {
        const sx_graph_node *node = &graph->node[i];
        for (size_t v = 0; v < node->n_operands; v++)
            if (!operand_at(s, node, v)->written) read[operand_at(s, node, v)->tensor] = true;
        status = decide_node(s, node, &s->of[i]);
    }
    for (size_t i = 0; i < graph->n_nodes && !status; i++)
        status = graph->node[i].einsum == SX_NO_INDEX ? add_other(s, &graph->node[i], s->of[i].parts)
                                                      : add_einsum(s, &graph->node[i], &s->of[i]);
    if (!status) status = gather_outputs(s, read);
    free(read);
    return status;
}

sx_status sx_graph_shard(const sx_graph *graph, unsigned chips, bool by_experts, sx_graph *out) {
    const size_t n = graph->n_tensors;
    sharding s = {graph,
                  out,
                  chips,
                  by_experts,
                  calloc(n + 1, sizeof *s.cut),
                  calloc(graph->n_nodes + 1, sizeof *s.of),
                  calloc(n + 1, sizeof *s.index)};
    sx_status status = s.cut && s.of && s.index ? SX_OK : sx_error_memory();
    *out = (sx_graph){.run = graph->run};
    memcpy(out->name, graph->name, sizeof out->name);
    for (size_t t = 0; t < n && !status; t++) {
        s.cut[t] = (tensor_cut){.rank = -1, .parts = 1, .whole = SX_NO_INDEX};
        s.index[t] = SX_NO_INDEX;
    }
    if (!status) status = shard_nodes(&s);
    if (!status) status = sx_graph_check(out);
    if (status) sx_graph_fini(out);
    free(s.cut);
    free(s.of);
    free(s.index);
    return status;
}
