#include "looptree/path.h"

#include "ir/rank.h"

#include <stdlib.h>
#include <string.h>

sx_relevance sx_relevance_of(const sx_problem *einsum, int tensor, int dim, int *rank) {
    const sx_tensor *v = &einsum->tensor[tensor];
    if (rank) *rank = -1;
    for (int r = 0; r < v->n_ranks; r++) {
        if (!v->coef[r][dim]) continue;
        int n = 0;
        for (int d = 0; d < einsum->n_dims; d++) n += v->coef[r][d] != 0;
        if (rank) *rank = r;
        return n == 1 ? SX_FULLY_RELEVANT : SX_PARTLY_RELEVANT;
    }
    return SX_IRRELEVANT;
}

uint64_t sx_path_room(const sx_storage *level) {
    if (level->entries == SX_UNLIMITED) return UINT64_MAX;
    return (uint64_t)((double)level->entries / level->multiple_buffering) * level->word_bits;
}

uint64_t sx_tile_words(const sx_problem *einsum, int tensor, const uint32_t *extent) {
    uint64_t words = 1;
    for (int r = 0; r < einsum->tensor[tensor].n_ranks; r++)
        words *= sx_rank_extent(einsum, tensor, r, extent);
    return words;
}

/* A level that more instances are asked of than there are; -2 where there is none. */
static int crowded_level(const sx_arch *arch, const sx_path_layout *layout) {
    uint64_t used[SX_MAX_LEVELS][2];
    for (int s = 0; s < SX_MAX_LEVELS; s++) used[s][0] = used[s][1] = 1;
    for (int i = 0; i < layout->n_steps; i++) {
        const sx_path_step *step = &layout->step[i];
        if (step->node.kind != SX_PATH_SPREAD) continue;
        const int parent = step->node.level + 1;
        const uint64_t room =
            step->node.axis ? sx_arch_fanout_y(arch, parent) : sx_arch_fanout_x(arch, parent);
        used[parent][step->node.axis] *= step->bound;
        if (used[parent][step->node.axis] > room) return step->node.level;
    }
    return -2;
}

/* A tensor that nothing holds, or whose holders are not in the order of the levels; -1 where there is none. */
static int badly_held(const sx_problem *einsum, const sx_path_layout *layout, sx_path_fault *fault) {
    for (int v = 0; v < einsum->n_tensors; v++) {
        int level = SX_MAX_LEVELS;
        *fault = SX_PATH_NO_HOLDER;
        for (int i = 0; i < layout->n_steps; i++) {
            const sx_path_node *node = &layout->step[i].node;
            if (node->kind != SX_PATH_HOLD || node->index != v) continue;
            *fault = node->level < level ? SX_PATH_OK : SX_PATH_INWARD;
            if (*fault) return v;
            level = node->level;
        }
        if (*fault) return v;
    }
    return -1;
}

sx_path_fault sx_path_lay_out(const sx_arch *arch, const sx_problem *einsum, const sx_path *path,
                              sx_path_layout *layout, int *index) {
    uint32_t extent[SX_MAX_DIMS] = {0};
    sx_path_fault fault = SX_PATH_OK;
    memcpy(extent, einsum->size, sizeof einsum->size);
    layout->n_steps = layout->n_loops = 0;
    for (int i = 0; i < path->n_nodes; i++) {
        const sx_path_node *node = &path->node[i];
        sx_path_step *step = &layout->step[layout->n_steps];
        *step = (sx_path_step){.node = *node, .bound = 1};
        memcpy(step->extent, extent, sizeof extent);
        *index = node->index;
        if (node->kind != SX_PATH_HOLD) {
            if (!node->tile || extent[node->index] % node->tile) return SX_PATH_NO_DIVISOR;
            step->bound = extent[node->index] / node->tile;
            extent[node->index] = node->tile;
            if (step->bound == 1) continue;
            layout->n_loops++;
        }
        layout->n_steps++;
    }
    for (*index = 0; *index < einsum->n_dims; ++*index)
        if (extent[*index] != 1) return SX_PATH_UNFINISHED;
    *index = badly_held(einsum, layout, &fault);
    if (*index >= 0) return fault;
    *index = crowded_level(arch, layout);
    return *index > -2 ? SX_PATH_FANOUT : SX_PATH_OK;
}
