#include "learn/graph.h"

#include <stdlib.h>

sx_status sx_nn_graph_new(size_t n, const uint32_t (*edge)[2], size_t n_edges, sx_nn_graph **out) {
    sx_nn_graph *graph = calloc(1, sizeof *graph);
    size_t *next = graph ? calloc(n + 1, sizeof *next) : NULL;
    if (graph) {
        graph->n = n;
        graph->first = calloc(n + 2, sizeof *graph->first);
        graph->neighbour = calloc(2 * n_edges + n + 1, sizeof *graph->neighbour);
    }
    if (!next || !graph->first || !graph->neighbour) {
        free(next);
        sx_nn_graph_free(graph);
        return sx_error_memory();
    }
    for (size_t i = 0; i < n; i++) next[i] = 1;
    for (size_t e = 0; e < n_edges; e++) next[edge[e][0]]++, next[edge[e][1]]++;
    for (size_t i = 0; i < n; i++) graph->first[i + 1] = graph->first[i] + next[i];
    for (size_t i = 0; i < n; i++) graph->neighbour[next[i] = graph->first[i]] = (uint32_t)i, next[i]++;
    for (size_t e = 0; e < n_edges; e++)
        for (int k = 0; k < 2; k++) graph->neighbour[next[edge[e][k]]++] = edge[e][1 - k];
    size_t kept = 0;
    for (size_t i = 0, first = 0; i < n; i++) {
        uint32_t *list = graph->neighbour + first;
        size_t degree = graph->first[i + 1] - first, begin = kept;
        first = graph->first[i + 1];
        for (size_t k = 1; k < degree; k++)
            for (size_t j = k; j > 0 && list[j - 1] > list[j]; j--) {
                uint32_t swap = list[j];
                list[j] = list[j - 1];
                list[j - 1] = swap;
            }
        for (size_t k = 0; k < degree; k++)
            if (kept == begin || graph->neighbour[kept - 1] != list[k]) graph->neighbour[kept++] = list[k];
        graph->first[i] = begin;
    }
    graph->first[n] = kept;
    free(next);
    *out = graph;
    return SX_OK;
}

void sx_nn_graph_free(sx_nn_graph *graph) {
    if (!graph) return;
    free(graph->first);
    free(graph->neighbour);
    free(graph);
}

bool sx_nn_attention_room(sx_nn_attention *attention, size_t n) {
    if (n <= attention->room) return true;
    float *grown = realloc(attention->share, n * sizeof *grown);
    if (!grown) return false;
    attention->share = grown;
    attention->room = n;
    return true;
}

sx_status sx_nn_new_unet(uint32_t inputs, uint32_t width, unsigned depth, uint32_t outputs, sx_nn **out) {
    sx_nn_plan plan[SX_NN_MAX_LAYERS];
    size_t n = 0;
    if (6 * (size_t)depth + 3 > SX_NN_MAX_LAYERS)
        return sx_error_new(SX_ERR_LIMIT, "a Graph U-Net has a depth of %u instead of 0 to %d", depth,
                            (SX_NN_MAX_LAYERS - 3) / 6);
    for (unsigned i = 0; i <= 2 * depth; i++) {
        if (i > 0) plan[n++] = (sx_nn_plan){.kind = i <= depth ? SX_NN_POOL : SX_NN_UNPOOL};
        plan[n++] = (sx_nn_plan){SX_NN_ATTENTION, width};
        plan[n++] = (sx_nn_plan){.kind = SX_NN_RELU};
    }
    plan[n++] = (sx_nn_plan){SX_NN_DENSE, outputs};
    return sx_nn_new(inputs, plan, n, out);
}
