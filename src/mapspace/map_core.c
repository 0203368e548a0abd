/* From map spaces to the core. */
#include "mapspace/map_core.h"

/* What the space says of a level. */
static void limit_level(const sx_map_space *space, int s, sx_core_level *to) {
    bool room = space->nested && space->spatial_slot[s] >= 0;
    to->room_x = room ? (double)space->room[s][0] : INFINITY;
    to->room_y = room ? (double)space->room[s][1] : INFINITY;
    to->links &= (uint8_t)~sx_map_point(space->blank)->level[s].no_link_transfer;
    to->must = space->fixed_keep[s];
    to->may = space->free_keep[s];
}

/* What it says of a tensor. */
static void limit_tensor(const sx_map_space *space, int v, sx_core_tensor *to) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (space->fixed_keep[s] >> v & 1) to->fixed |= (uint8_t)(1u << s);
        if (space->free_keep[s] >> v & 1) to->bit[s] = (uint8_t)(1u << to->n_free++);
    }
}

const char *sx_map_core_model(const sx_map_space *space, sx_core_model *out) {
    const sx_mapping *blank = sx_map_point(space->blank);
    unsigned directives = 0;
    if (space->options.remainders) return "factors leave remainders";
    if (space->banks_at) return "levels share out their banks";
    if (space->shares) return "constraints ask for shares of memories or arrays in use";
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = &blank->level[s];
        if (space->splits[s]) return "a dimension may lie on both axes of an array";
        directives |= at->no_temporal_reuse | at->no_multicast | at->rmw_first_update | at->no_coalesce;
    }
    if (directives) return "constraints forbid kinds of reuse";
    if (space->model->sparse || space->model->range || space->model->formats) return "its tensors are sparse";
    if (space->model->law) return "it has a law of latency";
    const char *why = sx_core_model_make(space->model, out);
    if (why) return why;
    for (int s = 0; s < space->arch->n_levels; s++) limit_level(space, s, &out->level[s]);
    for (int v = 0; v < space->problem->n_tensors; v++) limit_tensor(space, v, &out->tensor[v]);
    return NULL;
}

void sx_map_core_cells(const sx_map_space *space, const uint32_t *factor, sx_core_cell *out) {
    double extent = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        double spatial = space->spatial_slot[s] < 0 ? 1 : factor[space->spatial_slot[s]];
        double temporal = factor[space->temporal_slot[s]];
        out[s] = (sx_core_cell){extent * spatial * temporal, extent * spatial, temporal, spatial};
        extent = out[s].extent;
    }
}

/* The loops of an order whose factors are beyond 1; n_x: the first n_x dimensions of the order lie on X. */
static sx_core_loops list_loops(const uint32_t *factor, const uint8_t *order, int n_dims, int n_x) {
    sx_core_loops loops = {0};
    for (int i = 0; i < n_dims; i++) {
        if (factor[order[i]] == 1) continue;
        loops.dims |= (uint32_t)order[i] << 4 * loops.n++;
        loops.n_x = (uint8_t)(loops.n_x + (i < n_x));
    }
    return loops;
}

bool sx_map_core_nest(const sx_map_space *space, const sx_mapping *mapping, sx_core_nest *out) {
    const sx_mapping *blank = sx_map_point(space->blank);
    int n_dims = space->problem->n_dims;
    *out = (sx_core_nest){0};
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        if (!sx_order_is_permutation(at->temporal_order, n_dims) ||
            !sx_order_is_permutation(at->spatial_order, n_dims) || at->no_temporal_reuse ||
            at->no_multicast || at->rmw_first_update || at->no_coalesce || at->x_part ||
            at->no_link_transfer != blank->level[s].no_link_transfer)
            return false;
        out->loops[s] = list_loops(at->temporal, at->temporal_order, n_dims, 0);
        out->slots[s] = list_loops(at->spatial, at->spatial_order, n_dims, at->split);
        out->keep[s] = at->keep;
        for (int d = 0; d < n_dims; d++)
            if (space->spatial_slot[s] < 0 && at->spatial[d] != 1) return false;
    }
    return true;
}
