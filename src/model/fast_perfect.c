/* The fast path from a nest to the counts of one tensor, for the common case that nothing needs more than one
 * record per level: factors are exact, no directives, networks cost no energy, children of a level want the
 * same words exactly if they agree in the loops that index the tensor, and no buffer gets words from a
 * neighbour. What a level hands to a group of children is then what each of them gets, and docs/model.md,
 * section 4, shrinks to a product per level. Gives the very numbers of access_stats.c and collapse.c. */
#include "model/fanout.h"
#include "model/tile_delta.h"

#include <math.h>
#include <stdlib.h>

/* A level's children as a tensor sees them. */
typedef struct fanout_shape {
    uint64_t groups; /* of children that want the same words */
    bool apart;      /* children stand apart in a mixed rank, by at most `span` */
    int64_t span[SX_MAX_RANKS];
} fanout_shape;

/* Describes a level's children; false where two loops move the same rank. */
static inline bool describe_fanout(fanout_shape *b, const sx_shape *shape, const sx_nest *nest, int level) {
    b->groups = 1;
    b->apart = false;
    for (int l = nest->spatial_of[level]; l < nest->spatial_of[level + 1]; l++) {
        const sx_loop *loop = &nest->spatial[l];
        unsigned dim = 1u << loop->dim;
        if (!(shape->dims & dim)) continue;
        b->groups *= loop->n;
        if (shape->solo & dim) continue;
        if (!b->apart)
            for (int r = 0; r < shape->n_ranks; r++) b->span[r] = 0;
        b->apart = true;
        for (int i = shape->first_of_dim[loop->dim]; i < shape->first_of_dim[loop->dim + 1]; i++) {
            int64_t *span = &b->span[shape->of_dim[i].rank];
            if (*span != 0) return false;
            *span = llabs(shape->of_dim[i].coef * (int64_t)loop->step) * (loop->n - 1);
        }
    }
    return true;
}

/* Whether a step of the tile might lead to where a neighbour was. */
static bool meets_neighbour(const sx_tile_delta *m, const fanout_shape *b) {
    if (m->overlaps) return true;
    for (int j = 0; j < m->n_near; j++) {
        bool near = !m->still[j];
        for (int k = 0; k < m->shape->n_mixed; k++)
            near &= llabs(m->f[j][m->shape->mixed[k]]) <= b->span[m->shape->mixed[k]];
        if (near) return true;
    }
    return false;
}

/* The words one child of a level above the first gets over the whole run; 0 if the fast path does not
 * apply. */
static inline uint64_t hand_down(const sx_evaluator *e, const sx_shape *shape, int tensor, int level,
                                 bool links, const fanout_shape *b) {
    const sx_nest *nest = &e->nest;
    int j = nest->temporal_of[level];
    uint64_t words = nest->tile[tensor][level - 1];
    while (j < nest->n_temporal && !(shape->dims >> nest->temporal[j].dim & 1)) j++;
    if (j == nest->n_temporal || shape->solo >> nest->temporal[j].dim & 1) return words * nest->suffix[j];
    sx_tile_delta delta;
    sx_tile_delta_init(&delta, e->model, nest, level, tensor, false);
    if (b->apart && links && meets_neighbour(&delta, b)) return 0;
    return sx_tile_delta_volume(&delta);
}

/* The operands one compute unit gets from the first level: one a step, unless it stays the same and a
 * neighbour has it too (docs/model.md, section 3); 0 if the fast path does not apply. */
static inline uint64_t feed(const sx_evaluator *e, const sx_shape *shape, int tensor, bool links,
                            const fanout_shape *b) {
    const sx_nest *nest = &e->nest;
    uint64_t steps = nest->suffix[0];
    if (nest->spatial_of[1] == 0 || !links) return steps;
    if (b->apart || (nest->spatial_of[1] > nest->n_x[0] && nest->slot_x[0] < e->model->level[0].fanout_x))
        return 0;
    if (!sx_neighbours_agree(nest->spatial, nest->spatial_of[1], nest->n_x[0], shape->dims)) return steps;
    int j = 0;
    while (j < nest->n_temporal && !(shape->dims >> nest->temporal[j].dim & 1)) j++;
    if (j == nest->n_temporal || shape->solo >> nest->temporal[j].dim & 1) return nest->suffix[j];
    sx_tile_delta delta;
    sx_tile_delta_init(&delta, e->model, nest, 0, tensor, true);
    for (j = 0; j < delta.n_near; j++)
        if (delta.still[j]) steps -= (delta.loop[j].n - 1u) * delta.suffix[j + 1];
    return steps;
}

/* Section 5, with one record per level. */
static void count(const sx_evaluator *e, const sx_mapping *mapping, int tensor, const uint64_t *handed,
                  const uint64_t *groups, sx_counts *counts) {
    const sx_model *model = e->model;
    const sx_nest *nest = &e->nest;
    bool output = model->shape[tensor].output;
    int n = model->n_levels, outermost = n - 1;
    double out[SX_MAX_LEVELS + 1];
    for (int s = 0; s < n; s++) out[s] = (double)(handed[s] * groups[s]);
    for (int s = 0; s < n - 1; s++) {
        if (mapping->level[s].keep >> tensor & 1) continue;
        uint64_t children = nest->slot_x[s + 1] * nest->slot_y[s + 1];
        double delivered = out[s + 1] * (double)(children / groups[s + 1]);
        out[s + 1] *= out[s] * (double)children / delivered;
    }
    while (!(mapping->level[outermost].keep >> tensor & 1)) outermost--;
    double partition = output && !model->options.no_first_read_elision ? (double)model->words[tensor] : 0;
    for (int s = n - 1; s >= 0; partition /= (double)groups[s--]) {
        counts[s] = (sx_counts){0};
        if (!(mapping->level[s].keep >> tensor & 1)) continue;
        double in = s < outermost ? (double)handed[s + 1] - partition : 0;
        counts[s].tile = nest->tile[tensor][s];
        counts[s].reads = fmax(round(out[s] - partition), 0);
        counts[s].fills = fmax(in, 0);
        counts[s].updates = output ? round(out[s]) : 0;
    }
}

bool sx_fast_count_perfect(const sx_evaluator *e, const sx_mapping *mapping, int tensor, sx_counts *counts) {
    const sx_model *model = e->model;
    const sx_nest *nest = &e->nest;
    const sx_shape *shape = &model->shape[tensor];
    if (model->net_energy || (shape->output && !shape->unit)) return false;
    uint64_t handed[SX_MAX_LEVELS], groups[SX_MAX_LEVELS];
    for (int s = 0; s < model->n_levels; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        bool links = !model->options.no_link_transfers && !(at->no_link_transfer >> tensor & 1);
        fanout_shape b;
        if ((at->no_temporal_reuse | at->no_multicast | at->rmw_first_update) >> tensor & 1) return false;
        if (!describe_fanout(&b, shape, nest, s)) return false;
        handed[s] = s > 0 ? hand_down(e, shape, tensor, s, links, &b) : feed(e, shape, tensor, links, &b);
        groups[s] = b.groups;
        if (handed[s] == 0 || sx_access_stats_most(e, tensor, s, s == 0) >= 0x1p53) return false;
    }
    count(e, mapping, tensor, handed, groups, counts);
    return true;
}
