#include "fuse/order.h"

#include "base/status.h"
#include "ir/graph.h"

#include <stdlib.h>
#include <string.h>

/* More einsums than that have only the graph's own order. */
enum { MOST_EINSUMS = 4096 };

/* The einsums of a graph in its own order, and which of them come before which. */
typedef struct einsum_order {
    const sx_graph *graph;
    size_t n, most;
    size_t *producer; /* of each tensor */
    size_t *node;     /* of each einsum */
    bool *before;     /* at [i * n + j]: einsum j must run before einsum i */
} einsum_order;

/* A block: einsums that all before it come before, and all after it wait for, with its orders. */
typedef struct order_block {
    size_t first, n;
    sx_vector orders; /* each is n numbers of einsums */
} order_block;

/* Whether all that a node reads is made. */
static bool is_ready(const sx_graph *graph, const size_t *producer, size_t node, const bool *done) {
    const sx_graph_operand *operand = &graph->operand[graph->node[node].first];
    for (size_t v = 0; v < graph->node[node].n_operands; v++)
        if (!operand[v].written && producer[operand[v].tensor] != SX_NO_INDEX &&
            !done[producer[operand[v].tensor]])
            return false;
    return true;
}

/* Runs the nodes that are ready and no einsum. */
static void run_others(const sx_graph *graph, const size_t *producer, const size_t *own, bool *done,
                       size_t *out, size_t *n) {
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            if (done[own[i]] || graph->node[own[i]].kind == SX_OP_EINSUM) continue;
            if (!is_ready(graph, producer, own[i], done)) continue;
            done[own[i]] = any = true;
            out[(*n)++] = own[i];
        }
    }
}

sx_status sx_order_complete(const sx_graph *graph, const size_t *einsum, size_t n, size_t *out,
                            size_t *early) {
    size_t *producer = malloc((graph->n_tensors + 1) * sizeof *producer), at = 0;
    size_t *own = malloc((graph->n_nodes + 1) * sizeof *own);
    bool *done = calloc(graph->n_nodes + 1, sizeof *done);
    sx_status status = producer && own && done ? sx_graph_order(graph, own) : sx_error_memory();
    if (!status) {
        sx_graph_producers(graph, producer);
        run_others(graph, producer, own, done, out, &at);
        for (*early = 0; *early < n && is_ready(graph, producer, einsum[*early], done); ++*early) {
            done[einsum[*early]] = true;
            out[at++] = einsum[*early];
            run_others(graph, producer, own, done, out, &at);
        }
    }
    free(producer);
    free(own);
    free(done);
    return status;
}

/* The einsum of a name that is not among the first n of a list; SX_NO_INDEX: none. */
static size_t find_einsum(const sx_graph *graph, const char *name, const size_t *einsum, size_t n) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        bool used = graph->node[i].kind != SX_OP_EINSUM || strcmp(graph->node[i].name, name) != 0;
        for (size_t k = 0; k < n && !used; k++) used = einsum[k] == i;
        if (!used) return i;
    }
    return SX_NO_INDEX;
}

sx_status sx_order_by_names(const sx_graph *graph, const char *const *name, size_t n, size_t *out,
                            size_t *bad) {
    size_t *einsum = malloc((n + 1) * sizeof *einsum), known = 0;
    if (!einsum) return sx_error_memory();
    for (; known < n; known++) {
        einsum[known] = find_einsum(graph, name[known], einsum, known);
        if (einsum[known] == SX_NO_INDEX) break;
    }
    sx_status status = sx_order_complete(graph, einsum, known, out, bad);
    free(einsum);
    return status;
}

/* Finds which einsums come before which: those whose outputs a node reads, directly or through others. */
static sx_status set_before(einsum_order *e, const size_t *own) {
    const sx_graph *graph = e->graph;
    bool *of_node = calloc(graph->n_nodes + 1, e->n + 1);
    if (!of_node) return sx_error_memory();
    for (size_t i = 0, k = 0; i < graph->n_nodes; i++) {
        const sx_graph_node *node = &graph->node[own[i]];
        bool *row = &of_node[own[i] * e->n];
        for (size_t v = 0; v < node->n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[node->first + v];
            const size_t maker = operand->written ? SX_NO_INDEX : e->producer[operand->tensor];
            for (size_t j = 0; j < e->n && maker != SX_NO_INDEX; j++)
                row[j] |= of_node[maker * e->n + j] || e->node[j] == maker;
        }
        if (node->kind == SX_OP_EINSUM) memcpy(&e->before[k++ * e->n], row, e->n);
    }
    free(of_node);
    return SX_OK;
}

/* Adds the orders of a block that go on from the first `done` einsums; one more than `most` are enough to know. */
static sx_status add_orders(const einsum_order *e, order_block *block, size_t *order, size_t done) {
    if (block->orders.n > e->most) return SX_OK;
    if (done == block->n) {
        size_t *item = sx_vector_add(&block->orders);
        if (!item) return sx_error_memory();
        memcpy(item, order, block->n * sizeof *item);
        return SX_OK;
    }
    for (size_t i = block->first; i < block->first + block->n; i++) {
        bool free_now = true;
        size_t ready = 0, needs = 0;
        for (size_t k = 0; k < done; k++) {
            free_now &= order[k] != i;
            ready += e->before[i * e->n + order[k]];
        }
        for (size_t j = block->first; j < block->first + block->n; j++) needs += e->before[i * e->n + j];
        if (!free_now || ready < needs) continue;
        order[done] = i;
        SX_TRY(add_orders(e, block, order, done + 1));
    }
    return SX_OK;
}

/* The orders of a block; of one with too many, only the graph's own. */
static sx_status list_block(const einsum_order *e, order_block *block) {
    size_t *order = malloc((block->n + 1) * sizeof *order);
    if (!order) return sx_error_memory();
    block->orders.size = block->n * sizeof *order;
    sx_status status = add_orders(e, block, order, 0);
    if (block->orders.n > e->most) block->orders.n = 1;
    free(order);
    return status;
}

/* Cuts the einsums into blocks: one ends where all after it wait for all before. */
static sx_status list_blocks(const einsum_order *e, sx_vector *blocks) {
    for (size_t first = 0, end = 1; end <= e->n; end++) {
        bool cut = true;
        for (size_t i = end; i < e->n && cut; i++)
            for (size_t j = first; j < end && cut; j++) cut = e->before[i * e->n + j];
        if (!cut) continue;
        order_block *block = sx_vector_add(blocks);
        if (!block) return sx_error_memory();
        *block = (order_block){.first = first, .n = end - first};
        SX_TRY(list_block(e, block));
        first = end;
    }
    return SX_OK;
}

/* Adds the orders of the whole graph: blocks combined in all ways, or each with its next order. */
static sx_status combine_blocks(const einsum_order *e, const sx_vector *blocks, sx_vector *out) {
    size_t all = 1, largest = 1, early;
    for (size_t b = 0; b < blocks->n; b++) {
        const size_t n = ((const order_block *)sx_vector_at(blocks, b))->orders.n;
        all = all > e->most ? all : all * n;
        if (n > largest) largest = n;
    }
    const bool every = all <= e->most;
    size_t *einsum = malloc((e->n + 1) * sizeof *einsum);
    sx_status status = einsum ? SX_OK : sx_error_memory();
    for (size_t i = 1; i < (every ? all : largest) && !status; i++) {
        size_t rest = i;
        for (size_t b = 0; b < blocks->n; b++) {
            const order_block *block = sx_vector_at(blocks, b);
            const size_t *order = sx_vector_at(&block->orders, rest % block->orders.n);
            if (every) rest /= block->orders.n;
            for (size_t k = 0; k < block->n; k++) einsum[block->first + k] = e->node[order[k]];
        }
        size_t *item = sx_vector_add(out);
        status = item ? sx_order_complete(e->graph, einsum, e->n, item, &early) : sx_error_memory();
    }
    free(einsum);
    return status;
}

/* Lists all orders but the graph's own. */
static sx_status list_others(einsum_order *e, const size_t *own, sx_vector *out) {
    sx_vector blocks = {.size = sizeof(order_block)};
    e->node = malloc((e->graph->n_nodes + 1) * sizeof *e->node);
    if (!e->node) return sx_error_memory();
    for (size_t i = 0; i < e->graph->n_nodes; i++)
        if (e->graph->node[own[i]].kind == SX_OP_EINSUM) e->node[e->n++] = own[i];
    if (e->n > MOST_EINSUMS) return SX_OK;
    e->before = calloc(e->n + 1, e->n + 1);
    if (!e->before) return sx_error_memory();
    sx_graph_producers(e->graph, e->producer);
    sx_status status = set_before(e, own);
    if (!status) status = list_blocks(e, &blocks);
    if (!status) status = combine_blocks(e, &blocks, out);
    for (size_t b = 0; b < blocks.n; b++) sx_vector_clear(&((order_block *)sx_vector_at(&blocks, b))->orders);
    sx_vector_clear(&blocks);
    return status;
}

sx_status sx_orders_list(const sx_graph *graph, size_t most, sx_vector *out) {
    einsum_order e = {
        .graph = graph, .most = most, .producer = malloc((graph->n_tensors + 1) * sizeof *e.producer)};
    *out = (sx_vector){.size = (graph->n_nodes + 1) * sizeof(size_t)};
    size_t *own = sx_vector_add(out);
    sx_status status = e.producer && own ? sx_graph_order(graph, own) : sx_error_memory();
    if (!status && most > 1 && !sx_graph_runs_in_order(graph, e.producer)) {
        size_t *copy = malloc(out->size);
        if (copy) memcpy(copy, own, out->size);
        status = copy ? list_others(&e, copy, out) : sx_error_memory();
        free(copy);
    }
    free(e.producer);
    free(e.node);
    free(e.before);
    return status;
}
