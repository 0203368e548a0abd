#include "frontend/onnx/scope.h"

#include <stdlib.h>
#include <string.h>

/* Compares names for qsort: by text, those that nodes write first. */
static int by_text(const void *a, const void *b) {
    const sx_onnx_name *x = a, *y = b;
    const int order = sx_bytes_compare(x->text, y->text);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* Adds a name unless it is empty. */
static void add_name(sx_onnx_scope *scope, sx_bytes text, uint32_t node) {
    if (text.size) scope->name[scope->n++] = (sx_onnx_name){text, SX_ONNX_NONE, node};
}

/* Sorts the names and leaves one of each. */
static sx_status sort_names(sx_onnx_scope *scope) {
    size_t n = 0;
    qsort(scope->name, scope->n, sizeof *scope->name, by_text);
    for (size_t i = 0; i < scope->n; i++) {
        const bool again = n && sx_bytes_compare(scope->name[n - 1].text, scope->name[i].text) == 0;
        if (again && scope->name[i].node != SX_ONNX_NONE) {
            char name[SX_NAME_SIZE];
            sx_onnx_text(scope->name[i].text, name, sizeof name);
            return sx_error_new(SX_ERR_INPUT, "two nodes write the value '%s'", name);
        }
        if (!again) scope->name[n++] = scope->name[i];
    }
    scope->n = n;
    return SX_OK;
}

sx_status sx_onnx_scope_of(sx_arena *arena, const sx_onnx_graph *graph, const sx_onnx_scope *outer,
                           sx_onnx_scope *out) {
    size_t n = graph->n_inputs + graph->n_tensors;
    for (size_t i = 0; i < graph->n_nodes; i++) n += graph->node[i].n_outputs;
    *out = (sx_onnx_scope){.outer = outer, .name = sx_arena_alloc(arena, n + 1, sizeof *out->name)};
    if (!out->name) return sx_arena_error(arena);
    for (size_t i = 0; i < graph->n_inputs; i++) add_name(out, graph->input[i].name, SX_ONNX_NONE);
    for (size_t i = 0; i < graph->n_tensors; i++) add_name(out, graph->tensor[i].name, SX_ONNX_NONE);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->node[i].n_outputs; k++)
            add_name(out, graph->node[i].output[k], (uint32_t)i);
    return sort_names(out);
}

/* Compares a text with a name for bsearch. */
static int compare_text(const void *key, const void *item) {
    const sx_bytes *text = key;
    const sx_onnx_name *name = item;
    return sx_bytes_compare(*text, name->text);
}

sx_onnx_name *sx_onnx_scope_find(const sx_onnx_scope *scope, sx_bytes text) {
    return scope->n ? bsearch(&text, scope->name, scope->n, sizeof *scope->name, compare_text) : NULL;
}

uint32_t sx_onnx_scope_value(const sx_onnx_scope *scope, sx_bytes text) {
    if (text.size == 0) return SX_ONNX_NONE;
    for (; scope; scope = scope->outer) {
        const sx_onnx_name *name = sx_onnx_scope_find(scope, text);
        if (name) return name->value;
    }
    return SX_ONNX_NONE;
}

/* A walk from nodes to those that write their inputs, depth first. */
typedef struct walk {
    const sx_onnx_graph *graph;
    const sx_onnx_scope *scope;
    uint32_t *order, *stack, *next; /* next: the input of each node to look at; NOT_BEGUN, DONE */
    size_t n;
} walk;
enum { NOT_BEGUN = 0 };
#define DONE UINT32_MAX

/* The next node that must come before a node, SX_ONNX_NONE where there is none left. */
static uint32_t next_before(walk *w, uint32_t node) {
    const sx_onnx_node *at = &w->graph->node[node];
    while (w->next[node] <= at->n_inputs) {
        const sx_bytes text = at->input[w->next[node]++ - 1];
        const sx_onnx_name *name = sx_onnx_scope_find(w->scope, text);
        if (text.size && name && name->node != SX_ONNX_NONE) return name->node;
    }
    return SX_ONNX_NONE;
}

/* Puts a node into the order after all that it waits for. */
static sx_status visit_node(walk *w, uint32_t start) {
    size_t depth = 0;
    w->stack[depth++] = start;
    w->next[start] = 1;
    while (depth) {
        const uint32_t node = w->stack[depth - 1], before = next_before(w, node);
        if (before == SX_ONNX_NONE) {
            w->order[w->n++] = node;
            w->next[node] = DONE;
            depth--;
        } else if (w->next[before] == NOT_BEGUN) {
            w->next[before] = 1;
            w->stack[depth++] = before;
        } else if (w->next[before] != DONE) {
            char name[SX_NAME_SIZE];
            sx_onnx_text(w->graph->node[before].output[0], name, sizeof name);
            return sx_error_new(SX_ERR_INPUT, "the value '%s' depends on itself", name);
        }
    }
    return SX_OK;
}

sx_status sx_onnx_scope_order(sx_arena *arena, const sx_onnx_graph *graph, const sx_onnx_scope *scope,
                              uint32_t **order) {
    const size_t n = graph->n_nodes;
    uint32_t *memory = sx_arena_alloc(arena, 3 * n + 1, sizeof *memory);
    if (!memory) return sx_arena_error(arena);
    walk w = {.graph = graph, .scope = scope, .order = memory, .stack = memory + n, .next = memory + 2 * n};
    for (size_t i = 0; i < n; i++)
        if (w.next[i] == NOT_BEGUN) SX_TRY(visit_node(&w, (uint32_t)i));
    *order = memory;
    return SX_OK;
}
