#include "ir/graph.h"

#include "base/status.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

const char *sx_op_kind_name(sx_op_kind kind) {
    static const char *const names[SX_N_OP_KINDS] = {
        "einsum", "pool", "element-wise", "softmax", "norm", "concat", "reshape", "other",
    };
    return kind < SX_N_OP_KINDS ? names[kind] : NULL;
}

void sx_graph_fini(sx_graph *graph) {
    free(graph->node);
    free(graph->tensor);
    free(graph->operand);
    free(graph->einsum);
    memset(graph, 0, sizeof *graph);
}

sx_graph_operand sx_graph_whole(size_t tensor, bool written, size_t n_ranks) {
    sx_graph_operand operand;
    memset(&operand, 0, sizeof operand);
    operand.tensor = tensor;
    operand.written = written;
    operand.split = -1;
    for (size_t g = 0; g < n_ranks && g < SX_MAX_RANKS; g++) {
        operand.n_of[g] = 1;
        operand.rank[g] = (uint8_t)g;
    }
    return operand;
}

/* How many items an array of n has room for: the next power of two, at least 16. */
static size_t room_for(size_t n) {
    size_t room = 16;
    while (room < n) room *= 2;
    return room;
}

/* Makes room for `more` items after the n of an array (which has room_for(n), or is NULL). */
static SX_MUST_USE sx_status reserve_items(void **array, size_t n, size_t more, size_t size) {
    if (more > SIZE_MAX / size / 4 - n) return sx_error_memory();
    size_t room = *array ? room_for(n) : 0;
    return sx_reserve(array, &room, room_for(n + more), size) ? SX_OK : sx_error_memory();
}

sx_status sx_graph_add_tensor(sx_graph *graph, const sx_graph_tensor *tensor, size_t *index) {
    SX_TRY(reserve_items((void **)&graph->tensor, graph->n_tensors, 1, sizeof *tensor));
    graph->tensor[graph->n_tensors] = *tensor;
    if (index) *index = graph->n_tensors;
    graph->n_tensors++;
    return SX_OK;
}

/* The index of an einsum, which is appended where the graph does not have it yet. */
static SX_MUST_USE sx_status add_einsum(sx_graph *graph, const sx_problem *einsum, size_t *index) {
    SX_TRY(reserve_items((void **)&graph->einsum, graph->n_einsums, 1, sizeof *einsum));
    sx_problem *last = &graph->einsum[graph->n_einsums];
    memcpy(last, einsum, sizeof *last);
    memset(last->name, 0, sizeof last->name);
    for (*index = 0; memcmp(&graph->einsum[*index], last, sizeof *last) != 0;) ++*index;
    graph->n_einsums += *index == graph->n_einsums;
    return SX_OK;
}

sx_status sx_graph_add_node(sx_graph *graph, const sx_graph_node *node, const sx_problem *einsum,
                            const sx_graph_operand *operand, size_t n_operands, size_t *index) {
    size_t einsum_index = SX_NO_INDEX;
    SX_TRY(reserve_items((void **)&graph->node, graph->n_nodes, 1, sizeof *node));
    SX_TRY(reserve_items((void **)&graph->operand, graph->n_operands, n_operands, sizeof *operand));
    if (einsum) SX_TRY(add_einsum(graph, einsum, &einsum_index));
    sx_graph_node *added = &graph->node[graph->n_nodes];
    *added = *node;
    added->einsum = einsum_index;
    added->first = graph->n_operands;
    added->n_operands = n_operands;
    if (n_operands) memcpy(&graph->operand[graph->n_operands], operand, n_operands * sizeof *operand);
    graph->n_operands += n_operands;
    if (index) *index = graph->n_nodes;
    graph->n_nodes++;
    return SX_OK;
}

size_t sx_graph_find_node(const sx_graph *graph, const char *name) {
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (strcmp(graph->node[i].name, name) == 0) return i;
    return SX_NO_INDEX;
}

size_t sx_graph_find_tensor(const sx_graph *graph, const char *name) {
    for (size_t i = 0; i < graph->n_tensors; i++)
        if (strcmp(graph->tensor[i].name, name) == 0) return i;
    return SX_NO_INDEX;
}

bool sx_graph_uses_part(const sx_graph_operand *operand) {
    for (size_t g = 0; g < SX_MAX_PART_RANKS; g++)
        if (operand->part[g].length) return true;
    return false;
}

uint64_t sx_graph_used_extent(const sx_graph_tensor *tensor, const sx_graph_operand *operand, size_t g) {
    if (g >= SX_MAX_PART_RANKS || !operand->part[g].length) return tensor->extent[g];
    const uint64_t block = operand->part[g].block;
    return block ? tensor->extent[g] / block * operand->part[g].length : operand->part[g].length;
}

uint64_t sx_graph_words(const sx_graph_tensor *tensor) {
    uint64_t words = 1;
    for (size_t g = 0; g < tensor->n_ranks; g++) words *= tensor->extent[g];
    return words;
}

void sx_graph_producers(const sx_graph *graph, size_t *producer) {
    for (size_t t = 0; t < graph->n_tensors; t++) producer[t] = SX_NO_INDEX;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sx_graph_operand *operand = &graph->operand[graph->node[i].first];
        for (size_t v = 0; v < graph->node[i].n_operands; v++)
            if (operand[v].written && !graph->tensor[operand[v].tensor].state)
                producer[operand[v].tensor] = i;
    }
}

/* A walk from nodes to those they depend on, depth first. */
typedef struct walk {
    const sx_graph *graph;
    size_t *producer; /* of each tensor */
    size_t *stack;    /* nodes that wait for one before them in the order */
    size_t *next;     /* for each node the operand to look at next; SX_NO_INDEX: not begun */
    size_t *order, n_ordered;
} walk;

/* The next node that must come before a node, SX_NO_INDEX where there is none left. */
static size_t next_before(walk *w, size_t node) {
    const sx_graph_node *at = &w->graph->node[node];
    while (w->next[node] < at->n_operands) {
        const sx_graph_operand *operand = &w->graph->operand[at->first + w->next[node]++];
        if (!operand->written && w->producer[operand->tensor] != SX_NO_INDEX)
            return w->producer[operand->tensor];
    }
    return SX_NO_INDEX;
}

/* Puts a node into the order, after all that it depends on; a node met again while it waits is *cyclic. */
static SX_MUST_USE sx_status visit_node(walk *w, size_t start, size_t *cyclic) {
    size_t depth = 0;
    w->stack[depth++] = start;
    w->next[start] = 0;
    while (depth) {
        const size_t node = w->stack[depth - 1], before = next_before(w, node);
        if (before == SX_NO_INDEX) {
            w->order[w->n_ordered++] = node;
            w->next[node] = SX_NO_INDEX - 1;
            depth--;
        } else if (w->next[before] == SX_NO_INDEX) {
            w->next[before] = 0;
            w->stack[depth++] = before;
        } else if (w->next[before] != SX_NO_INDEX - 1) {
            *cyclic = before;
            sx_status status = sx_error_new(SX_ERR_INPUT, "node '%s' depends on its own output",
                                            w->graph->node[before].name);
            return before == node
                       ? sx_error_hint(status, "a tensor that a node reads and writes, and that survives the "
                                               "run, has 'state: true'")
                       : status;
        }
    }
    return SX_OK;
}

bool sx_graph_runs_in_order(const sx_graph *graph, size_t *count) {
    for (size_t t = 0; t < graph->n_tensors; t++) count[t] = 0;
    for (size_t i = 0; i < graph->n_operands; i++) {
        const sx_graph_operand *operand = &graph->operand[i];
        if (operand->written && (graph->tensor[operand->tensor].state || ++count[operand->tensor] > 1))
            return true;
    }
    return false;
}

sx_status sx_graph_order_of(const sx_graph *graph, size_t *order, size_t *cyclic) {
    const size_t n = graph->n_nodes;
    size_t *memory = malloc((graph->n_tensors + 2 * n + 1) * sizeof *memory);
    if (!memory) return sx_error_memory();
    walk w = {.graph = graph, .producer = memory, .order = order};
    w.stack = memory + graph->n_tensors;
    w.next = w.stack + n;
    const bool in_order = sx_graph_runs_in_order(graph, w.producer);
    sx_graph_producers(graph, w.producer);
    for (size_t i = 0; i < n; i++) w.next[i] = SX_NO_INDEX;
    for (size_t i = 0; i < n && in_order; i++) order[i] = i;
    sx_status status = SX_OK;
    for (size_t i = 0; i < n && !in_order && !status; i++)
        if (w.next[i] == SX_NO_INDEX) status = visit_node(&w, i, cyclic);
    free(memory);
    return status;
}

sx_status sx_graph_order(const sx_graph *graph, size_t *order) {
    size_t cyclic;
    return sx_graph_order_of(graph, order, &cyclic);
}
