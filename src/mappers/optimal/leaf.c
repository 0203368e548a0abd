/* Complete mappings: what levels keep, how spatial loops are laid on X and Y, and evaluating them.
 *
 * What is left out without a bound, and why no optimum is lost: ways to lay spatial loops on X and Y at a
 * level where no cost tells them apart. Where they stand decides only hops, which cost nothing without energy
 * in the network, and neighbours, which matter to compute units (level 0), to sliding windows whose own
 * dimensions are spread at that level (docs/model.md, section 3; model/fast_perfect.c holds the same view,
 * bit for bit), and to tiles that are fetched anew at every visit, which a neighbour with the same tile had a visit
 * before. Legality is the same for all that have room. Where several best mappings are wanted nothing
 * is left out, as such ways are different mappings. */
#include "mappers/optimal/leaf.h"

#include "mapspace/map_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

uint32_t sx_leaf_loops(const sx_map_space *space, const uint32_t *factor) {
    uint32_t loops = 0;
    for (int d = 0; d < space->problem->n_dims; d++) loops |= (uint32_t)(factor[d] > 1) << d;
    return loops;
}

uint32_t sx_leaf_windows(const sx_model *model) {
    uint32_t windows = 0;
    for (int v = 0; v < model->n_tensors; v++)
        windows |= (uint32_t)(model->shape[v].dims & ~model->shape[v].solo);
    return windows;
}

bool sx_leaf_layout_matters(const sx_map_space *space, int level, uint32_t loops, uint32_t windows) {
    const sx_model *model = space->model;
    bool renewed = false;
    for (int s = 0; s < model->n_levels; s++) renewed |= space->constraints.level[s].no_temporal_reuse != 0;
    return model->net_energy || model->sparse ||
           (!model->options.no_link_transfers && (level == 0 || renewed || (loops & windows)));
}

void sx_leaf_begin(sx_leaf *leaf, const sx_outline *outline) {
    const sx_map_space *space = leaf->space;
    const sx_model *model = space->model;
    leaf->point = sx_worker_scratch(leaf->worker, 0);
    memcpy(leaf->point, space->blank, space->space.point_size);
    for (int s = 0; s < model->n_levels; s++) {
        memcpy(sx_map_level(leaf->point, s)->spatial, outline->spatial[s], model->n_dims * sizeof(uint32_t));
        if (space->spatial_slot[s] < 0) continue;
        uint32_t loops = sx_leaf_loops(space, outline->spatial[s]);
        leaf->layout[s] = sx_map_layouts_of(leaf->choices, s, loops, &leaf->n_layouts[s]);
        leaf->failed |= !leaf->layout[s];
        leaf->layout_matters[s] =
            leaf->cutoff->rule->k > 1 || sx_leaf_layout_matters(space, s, loops, leaf->windows);
    }
}

bool sx_leaf_keep(const sx_leaf *leaf, int level, uint8_t keep, const uint32_t *extent) {
    sx_map_keep choice[1 << SX_MAX_TENSORS];
    sx_map_level(leaf->point, level)->keep = keep;
    if (!sx_tile_fits(leaf->space, level, keep, extent)) return false;
    if (!leaf->space->banked[level]) return true;
    int n = sx_map_keeps_of(leaf->space, level, extent, choice);
    for (int i = 0; i < n; i++) {
        if (choice[i].keep != keep) continue;
        memcpy(sx_map_banks(leaf->space, leaf->point, level), choice[i].banks, sizeof choice[i].banks);
        return true;
    }
    return false;
}

const uint8_t (*sx_leaf_orders_of(const sx_map_space *space, sx_map_choices *choices, void *point, int level,
                                  size_t *n))[SX_MAX_DIMS] {
    bool layout = sx_leaf_loops(space, sx_map_level(point, 0)->spatial) != 0;
    return sx_map_orders_of(choices, level, sx_leaf_loops(space, sx_map_level(point, level)->temporal),
                            sx_map_order_matters(space, level, layout), n);
}

const uint8_t (*sx_leaf_orders(sx_leaf *leaf, int level, size_t *n))[SX_MAX_DIMS] {
    const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders_of(leaf->space, leaf->choices, leaf->point, level, n);
    if (!order) sx_worker_fail(leaf->worker, sx_orders_failure(*n));
    leaf->failed |= !order;
    return order;
}

/* Evaluates the mapping. */
static void evaluate_leaf(sx_leaf *leaf) {
    const sx_space *space = &leaf->space->space;
    sx_map_normalize(leaf->space, leaf->point);
    if (space->type->check(space, leaf->point) != 0) {
        sx_worker_reject(leaf->worker, 1);
        return;
    }
    sx_outcome outcome = sx_worker_evaluate(leaf->worker, leaf->point, true);
    leaf->over |= outcome.reason == SX_NOT_EVALUATED;
    if (outcome.reason == 0) {
        sx_score score = sx_metrics_score(&outcome.metrics);
        sx_cutoff_update(leaf->cutoff, &score, leaf->point);
    }
    leaf->failed |= leaf->cutoff->failed;
}

/* Evaluates the mapping in all ways to lay the spatial loops of the levels up to `level`. */
static void try_layouts(sx_leaf *leaf, int level) {
    while (level >= 0 && leaf->space->spatial_slot[level] < 0) level--;
    if (level < 0) {
        evaluate_leaf(leaf);
        return;
    }
    const uint32_t *factor = sx_map_level(leaf->point, level)->spatial;
    for (size_t i = 0; i < leaf->n_layouts[level] && !leaf->over && !leaf->failed; i++) {
        if (!sx_map_layout_fits(leaf->space, level, factor, leaf->layout[level][i])) continue;
        sx_map_set_layout(leaf->space, level, leaf->layout[level][i], leaf->point);
        try_layouts(leaf, level - 1);
        if (!leaf->layout_matters[level]) break;
    }
}

void sx_leaf_evaluate(sx_leaf *leaf) {
    try_layouts(leaf, leaf->space->arch->n_levels - 1);
}

/* Whether no part of a node has a lower bound than the node. */
__attribute__((unused)) static bool bounds_hold(const sx_node_visit *visit) {
    const double bound = visit->node.bound, least = bound - 1e-9 * fabs(bound);
    for (size_t i = 0; i < visit->left.n && isfinite(bound); i++)
        if (visit->left.at[i].bound < least) return false;
    return true;
}

sx_visit_end sx_leaf_end(const sx_leaf *leaf, const sx_node_visit *visit) {
    if (leaf->failed) sx_worker_fail(leaf->worker, sx_error_memory());
    if (leaf->over || leaf->failed) return SX_VISIT_STOPPED;
    assert(bounds_hold(visit));
    return visit->left.n > 0 ? SX_VISIT_OPEN : SX_VISIT_CLOSED;
}
