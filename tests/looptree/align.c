#include "looptree/fused_mapping.h"

#include <string.h>

/* A run of loops of a path without a holder between them, above its innermost exchanged tensor: they may change
 * places. */
typedef struct block {
    uint8_t first, n;
} block;

#define MAX_TRIES 1000000 /* orders of one einsum that are compared with those before it */

typedef struct alignment {
    const sx_cascade *cascade;
    sx_fused_mapping *mapping;
    uint64_t tries;
} alignment;

static bool is_first_holder(const sx_path *path, int node) {
    for (int i = 0; i < node; i++)
        if (path->node[i].kind == SX_PATH_HOLD && path->node[i].index == path->node[node].index) return false;
    return true;
}

/* The innermost outermost holder of a shared tensor; 0 where there is none. */
static int last_exchange(const sx_cascade *cascade, size_t e, const sx_path *path) {
    int last = 0;
    for (int i = 0; i < path->n_nodes; i++)
        if (path->node[i].kind == SX_PATH_HOLD && is_first_holder(path, i) &&
            cascade->tensor[cascade->tensor_of[e][path->node[i].index]].shared)
            last = i;
    return last;
}

/* Lists the blocks of a path whose loops are of different dimensions; returns how many. */
static int list_blocks(const sx_cascade *cascade, size_t e, const sx_path *path, block *list) {
    const int last = last_exchange(cascade, e, path);
    int n = 0;
    for (int i = 0; i < last;) {
        uint32_t dims = 0;
        bool repeats = false;
        int j = i;
        for (; j < last && path->node[j].kind == SX_PATH_LOOP; j++) {
            repeats |= dims >> path->node[j].index & 1;
            dims |= 1u << path->node[j].index;
        }
        if (j > i + 1 && !repeats) list[n++] = (block){(uint8_t)i, (uint8_t)(j - i)};
        i = j > i ? j : i + 1;
    }
    return n;
}

/* The loops above the outermost holder of a tensor that have more than one iteration, as (kind, rank, bound).
 * Returns their number, -1 where nothing holds the tensor. */
typedef struct face_loop {
    uint8_t kind;
    int rank;
    uint32_t bound;
} face_loop;

static int list_face(const sx_problem *einsum, const sx_path *path, int tensor, face_loop *loop, int *level) {
    uint32_t extent[SX_MAX_DIMS];
    int n = 0;
    memcpy(extent, einsum->size, sizeof extent);
    for (int i = 0; i < path->n_nodes; i++) {
        const sx_path_node *node = &path->node[i];
        if (node->kind == SX_PATH_HOLD) {
            *level = node->level;
            if (node->index == tensor) return n;
            continue;
        }
        if (!node->tile) return -1;
        const uint32_t bound = extent[node->index] / node->tile;
        extent[node->index] = node->tile;
        if (bound == 1) continue;
        loop[n] = (face_loop){.kind = node->kind, .bound = bound};
        sx_relevance_of(einsum, tensor, node->index, &loop[n++].rank);
    }
    return -1;
}

/* Whether einsum e has a shared tensor as its first user has it. */
static bool has_same_face(const alignment *a, size_t e, size_t t) {
    face_loop mine[SX_MAX_PATH], first[SX_MAX_PATH];
    int local = 0, first_local = 0, level = 0, first_level = 0;
    const size_t f = a->cascade->tensor[t].first;
    if (!sx_cascade_uses(a->cascade, e, t, &local) || !sx_cascade_uses(a->cascade, f, t, &first_local))
        return true;
    const int n = list_face(&a->cascade->einsum[e], &a->mapping->path[e], local, mine, &level);
    if (n != list_face(&a->cascade->einsum[f], &a->mapping->path[f], first_local, first, &first_level) ||
        level != first_level)
        return false;
    for (int i = 0; i < n; i++)
        if (mine[i].kind != first[i].kind || mine[i].rank != first[i].rank || mine[i].bound != first[i].bound)
            return false;
    return true;
}

static bool is_aligned(const alignment *a, size_t e) {
    for (int v = 0; v < a->cascade->einsum[e].n_tensors; v++) {
        const size_t t = a->cascade->tensor_of[e][v];
        if (a->cascade->tensor[t].shared && a->cascade->tensor[t].first < e && !has_same_face(a, e, t))
            return false;
    }
    return true;
}

static bool align_from(alignment *a, size_t e);

/* Tiles of the loops follow their order: a loop keeps its tile, as its dimension occurs once in a block. */
static void swap_nodes(sx_path_node *a, sx_path_node *b) {
    const sx_path_node other = *a;
    *a = *b;
    *b = other;
}

/* Tries all orders of the blocks from `at` on, loop `i` of the block being next. */
static bool permute_blocks(alignment *a, size_t e, const block *list, int n, int at, int i) {
    if (at == n) return is_aligned(a, e) && align_from(a, e + 1);
    if (a->tries++ > MAX_TRIES) return false;
    if (i == list[at].n) return permute_blocks(a, e, list, n, at + 1, 0);
    sx_path_node *node = a->mapping->path[e].node + list[at].first;
    for (int j = i; j < list[at].n; j++) {
        swap_nodes(&node[i], &node[j]);
        if (permute_blocks(a, e, list, n, at, i + 1)) return true;
        swap_nodes(&node[i], &node[j]);
    }
    return false;
}

/* Aligns einsum e and those after it with the ones before. */
static bool align_from(alignment *a, size_t e) {
    block list[SX_MAX_PATH];
    if (e == a->cascade->n_einsums) return true;
    const int n = list_blocks(a->cascade, e, &a->mapping->path[e], list);
    return permute_blocks(a, e, list, n, 0, 0);
}

void sx_fused_align(const sx_cascade *cascade, sx_fused_mapping *mapping) {
    alignment a = {.cascade = cascade, .mapping = mapping};
    align_from(&a, 0);
}
