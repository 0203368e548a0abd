/* Open parts of a space: lists, and a heap that a search takes the most promising ones from. */
#include "mappers/optimal/nodes.h"

#include "base/vector.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST_CHECKED = 64 }; /* nodes of a heap whose order is asserted as a whole */

bool sx_search_nodes_add(sx_search_nodes *nodes, const sx_search_node *node) {
    if (!sx_reserve(&nodes->at, &nodes->room, nodes->n + 1, sizeof *nodes->at)) return false;
    nodes->at[nodes->n++] = *node;
    return true;
}

static double rank_of(const sx_search_node *node) {
    double exhausted = node->visits > 1 ? node->visits - 1 : 0;
    return node->bound > 0 ? node->bound * (1 + exhausted / (node->imperfect ? 64 : 4)) : node->bound;
}

/* Whether a node comes before another: by rank, then by what it is. */
static bool node_before(const sx_search_node *a, const sx_search_node *b) {
    double x = rank_of(a), y = rank_of(b);
    if (a->imperfect != b->imperfect) return b->imperfect;
    if (x != y) return x < y;
    if (a->spatial != b->spatial) return a->spatial < b->spatial;
    if (a->keep != b->keep) return a->keep < b->keep;
    return a->part < b->part;
}

static void swap_nodes(sx_search_node *a, sx_search_node *b) {
    sx_search_node c = *a;
    *a = *b;
    *b = c;
}

/* Whether no node comes before the one that it lies below. */
__attribute__((unused)) static bool in_order(const sx_search_node *heap, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (node_before(&heap[i], &heap[(i - 1) / 2])) return false;
    return true;
}

void sx_heap_push(sx_search_node *heap, size_t n) {
    for (size_t i = n; i > 0 && node_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap_nodes(&heap[i], &heap[(i - 1) / 2]);
    assert(n > MOST_CHECKED || in_order(heap, n + 1));
}

void sx_heap_pop(sx_search_node *heap, size_t n) {
    swap_nodes(&heap[0], &heap[--n]);
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && node_before(&heap[child + 1], &heap[child])) child++;
        if (!node_before(&heap[child], &heap[i])) break;
        swap_nodes(&heap[i], &heap[child]);
    }
    assert(n == 0 || !node_before(&heap[0], &heap[n]));
    assert(n > MOST_CHECKED || in_order(heap, n));
}
