/* The short way from a nest to the counts of one tensor, for the common case that nothing needs records:
 * factors are exact, the tensor is kept at every level without directives, networks cost no energy, children
 * of a level want the same words exactly if they agree in the loops that index the tensor, and none gets
 * words from a neighbour. What a level hands to a group of children is then what each of them gets, and
 * sections 3 to 5 of the specification shrink to a product per level. Gives the very numbers of flow.c and
 * collapse.c. */
#include "model/motion.h"

/* How many groups of children a level has; 0 where the short way does not lead. */
static inline uint64_t count_groups(const sx_shape *shape, const sx_nest *nest, int level) {
    uint64_t groups = 1;
    for (int l = nest->spatial_of[level]; l < nest->spatial_of[level + 1]; l++) {
        unsigned dim = 1u << nest->spatial[l].dim;
        if (shape->dims & ~shape->solo & dim) return 0;
        groups *= shape->dims & dim ? nest->spatial[l].n : 1;
    }
    return groups;
}

/* The words one child of a level above the first gets over the whole run. */
static inline uint64_t hand_down(const sx_evaluator *e, const sx_shape *shape, int tensor, int level) {
    const sx_nest *nest = &e->nest;
    int j = nest->temporal_of[level];
    uint64_t words = nest->tile[tensor][level - 1];
    while (j < nest->n_temporal && !(shape->dims >> nest->temporal[j].dim & 1)) j++;
    if (j == nest->n_temporal || shape->solo >> nest->temporal[j].dim & 1) return words * nest->suffix[j];
    sx_motion motion;
    sx_motion_init(&motion, e->model, nest, level, tensor, false);
    return sx_motion_volume(&motion);
}

/* Whether compute units under one instance have neighbours that use the same operand: all have, or none. */
static bool have_twins(const sx_shape *shape, const sx_nest *nest) {
    int n = nest->spatial_of[1], n_x = nest->n_x[0];
    bool x = n_x > 0 && !(shape->dims >> nest->spatial[0].dim & 1);
    bool y = n > n_x && !(shape->dims >> nest->spatial[n_x].dim & 1);
    return x || y;
}

/* The operands one compute unit gets from the first level: one a step, unless it stays the same and a
 * neighbour has it too (section 4); 0 where the short way does not lead. */
static inline uint64_t feed(const sx_evaluator *e, const sx_mapping *mapping, const sx_shape *shape,
                            int tensor) {
    const sx_nest *nest = &e->nest;
    uint64_t steps = nest->suffix[0];
    if (nest->spatial_of[1] == 0 || e->model->options.no_link_transfers ||
        mapping->level[0].no_link_transfer >> tensor & 1)
        return steps;
    if (nest->spatial_of[1] > nest->n_x[0] && nest->slot_x[0] < e->model->level[0].fanout_x) return 0;
    if (!have_twins(shape, nest)) return steps;
    int j = 0;
    while (j < nest->n_temporal && !(shape->dims >> nest->temporal[j].dim & 1)) j++;
    if (j == nest->n_temporal || shape->solo >> nest->temporal[j].dim & 1) return nest->suffix[j];
    sx_motion motion;
    sx_motion_init(&motion, e->model, nest, 0, tensor, true);
    for (j = 0; j < motion.n_near; j++)
        if (motion.still[j]) steps -= (motion.loop[j].n - 1u) * motion.suffix[j + 1];
    return steps;
}

bool sx_express_count(const sx_evaluator *e, const sx_mapping *mapping, int tensor, sx_counts *counts) {
    const sx_model *model = e->model;
    const sx_nest *nest = &e->nest;
    const sx_shape *shape = &model->shape[tensor];
    int n = model->n_levels;
    if (model->net_energy || (shape->output && !shape->unit)) return false;
    uint64_t handed[SX_MAX_LEVELS + 1], groups[SX_MAX_LEVELS + 1];
    for (int s = 0; s < n; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        unsigned special =
            at->no_temporal_reuse | at->no_multicast | at->rmw_first_update | ~(unsigned)at->keep;
        groups[s] = count_groups(shape, nest, s);
        if (special >> tensor & 1 || groups[s] == 0) return false;
        handed[s] = s > 0 ? hand_down(e, shape, tensor, s) : feed(e, mapping, shape, tensor);
        if (handed[s] == 0) return false;
        if ((double)handed[s] * (double)(nest->slot_x[s] * nest->slot_y[s]) * (double)nest->above[s] >=
            0x1p53)
            return false;
    }
    handed[n] = 0;
    double partition =
        shape->output && !model->options.no_first_read_elision ? (double)model->words[tensor] : 0;
    for (int s = n - 1; s >= 0; s--) {
        double out = (double)(handed[s] * groups[s]), in = (double)handed[s + 1];
        double elided = s < n - 1 ? partition : 0;
        counts[s] = (sx_counts){.tile = nest->tile[tensor][s],
                                .reads = out - partition,
                                .fills = in - elided,
                                .updates = shape->output ? out : 0};
        partition /= (double)groups[s];
    }
    return true;
}
