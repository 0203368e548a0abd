/* Scores of sparse models: the frame's tiles, loops and dense counts, and the pass over them (docs/sparse.md). */
#include "model/frame/zeros.h"
#include "model/sparse/charge.h"

#include <stdlib.h>

bool sx_frame_sparse_new(sx_cost_frame *f) {
    const sx_model *model = f->model;
    f->nest = calloc(1, sizeof *f->nest);
    if (!f->nest || !sx_frame_has_zeros(model)) return f->nest != NULL;
    struct sx_frame_zeros *z = f->zeros = calloc(1, sizeof *z);
    if (!z) return false;
    z->several = f->n_tensors > 3;
    for (int s = 0; s < f->n_levels; s++)
        if (model->sparse->formatted && !isinf(model->sparse->level[s].metadata_limit)) z->limited |= 1u << s;
    for (int v = 0; v < f->n_tensors; v++) {
        z->density[v] = sx_density_of_word(&model->sparse->density[v]);
        z->share[v] = model->sparse->density[v].share;
        z->blank[v] = sx_sparse_empty(f->sparse, v, 1);
        z->random[v] = model->sparse->density[v].model == SX_DENSITY_HYPERGEOMETRIC;
        if (!model->shape[v].unit) z->mixed |= (uint8_t)(1u << v);
        for (int s = 0; s < f->n_levels; s++) z->block[v][s] = sx_level_whole_block(&model->level[s], v);
    }
    return true;
}

/* Appends the loops of a level. */
static sx_loop *add_loops(const sx_frame_loops *loops, const uint32_t *factor, int level, sx_loop *out) {
    for (int i = 0; i < loops->n; i++) {
        uint8_t d = loops->dim[i];
        *out++ = (sx_loop){.n = factor[d], .last = factor[d], .dim = d, .level = (uint8_t)level};
    }
    return out;
}

/* Hands the mapping that was read to the pass: what it asks of a nest. */
static void set_nest(const sx_cost_frame *f, sx_nest *nest) {
    sx_loop *temporal = nest->temporal, *spatial = nest->spatial;
    nest->perfect = true;
    nest->cycles = (uint64_t)f->cycles;
    nest->used_x = (uint64_t)(f->expand_x[0] * f->slot_x[0]);
    nest->used_y = (uint64_t)(f->expand_y[0] * f->slot_y[0]);
    for (int s = 0; s < f->n_levels; s++) {
        nest->temporal_of[s] = (uint8_t)(temporal - nest->temporal);
        nest->spatial_of[s] = (uint8_t)(spatial - nest->spatial);
        temporal = add_loops(&f->loops[s], f->seen[s].temporal, s, temporal);
        spatial = add_loops(&f->slots[s], f->seen[s].spatial, s, spatial);
        nest->above[s] = (uint64_t)f->above[s];
        for (int d = 0; d < f->n_dims; d++) nest->extent[s][d] = (uint32_t)f->extent[s][d];
        for (int v = 0; v < f->n_tensors; v++) nest->tile[v][s] = (uint64_t)f->words[v][s];
    }
    nest->temporal_of[f->n_levels] = nest->n_temporal = (uint8_t)(temporal - nest->temporal);
    nest->spatial_of[f->n_levels] = nest->n_spatial = (uint8_t)(spatial - nest->spatial);
}

/* Sets the dense counts of a tensor; false where the frame does not cover them. */
static bool count_dense(sx_cost_frame *f, int v) {
    sx_frame_counts c[SX_FRAME_LEVELS];
    if (!sx_frame_count(f, v)) return false;
    sx_frame_count_levels(f, v, f->kept[v], c);
    for (int s = 0; s < f->n_levels; s++)
        f->sparse->dense[v][s] =
            f->kept[v] >> s & 1
                ? (sx_counts){.reads = c[s].reads, .fills = c[s].fills, .updates = c[s].updates}
                : (sx_counts){0};
    return true;
}

bool sx_frame_score_sparse(sx_cost_frame *f, const sx_mapping *mapping, const sx_objective *objective,
                           double bound, sx_score *score, sx_verdict *verdict) {
    sx_cost_accumulator costs;
    uint32_t kept = 0;
    if (f->zeros && sx_frame_score_zeros(f, objective, bound, score, verdict)) return true;
    set_nest(f, f->nest);
    *verdict = sx_sparse_prepare(f->sparse, mapping, f->nest, false);
    if (verdict->reason != SX_LEGAL) return true;
    for (int v = 0; v < f->n_tensors; v++) {
        if (!count_dense(f, v)) {
            f->known = false;
            return false;
        }
        kept |= f->kept[v];
    }
    sx_cost_accumulator_begin(&costs, f->model, f->nest, false);
    if (!sx_sparse_charge(&costs, f->sparse, NULL)) {
        verdict->reason = SX_NO_MEMORY;
        return true;
    }
    sx_cost_accumulator_finish(&costs, score, NULL);
    score->last_level_accesses = sx_sparse_accesses(f->sparse, 31 - __builtin_clz(kept), false);
    if (objective && sx_objective_value(objective, score) > bound) verdict->reason = SX_BOUND_EXCEEDED;
    return true;
}
