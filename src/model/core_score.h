/* Scores of mappings by the core, one after another: a mapping is read into a nest, where it differs from the one before. One
 * thread's; it gives the very bits of sx_evaluate. */
#ifndef SX_MODEL_CORE_SCORE_H
#define SX_MODEL_CORE_SCORE_H

#include "core/engine.h"
#include "model/model.h"

typedef struct sx_core_scorer sx_core_scorer;

/* A scorer of a model, or NULL in *out where the core does not cover the model (core_model.h). `sparse` is the workspace of the
 * pass over dense counts, which a score overwrites (NULL: dense models only). */
SX_MUST_USE sx_status sx_core_scorer_new(const sx_model *model, struct sx_sparse_state *sparse,
                                         sx_core_scorer **out);
void sx_core_scorer_free(SX_TAKE sx_core_scorer *scorer);

/* Scores a mapping of a dense model: SX_LEGAL, SX_BOUND_EXCEEDED where it has an objective and is beyond the bound, or -1 where it
 * is not legal or the core does not cover it: remainders, directives other than no_link_transfer, malformed mappings, children
 * that are too many to be listed. */
int sx_core_scorer_score(sx_core_scorer *scorer, const sx_mapping *mapping, const sx_objective *objective,
                         double bound, sx_score *score);

/* Reads a mapping, whatever its levels keep; false where the array does not have the instances, or the core does not cover it. */
bool sx_core_scorer_open(sx_core_scorer *scorer, const sx_mapping *mapping);

/* Whether the criterion is already beyond its bound with at least this energy and these cycles to come; `objective` may be NULL. */
static inline bool sx_is_beyond(const sx_objective *objective, double bound, double energy, double cycles) {
    if (!objective || objective->criterion[0].kind != SX_PRODUCT) return false;
    sx_score least = {.energy_pj = energy, .cycles = cycles};
    return sx_criterion_value(&objective->criterion[0], &least) > bound * (1 + 1e-12);
}

/* A nest or a point that an engine has opened, and its steps of time. */
typedef struct sx_core_opened {
    const sx_core_engine *engine;
    const sx_core_model *model;
    struct sx_core_work *work;
    double cycles;
} sx_core_opened;

/* Scores what was opened where the levels in kept[v] keep tensor v, as sx_core_scorer_score does; -1 where the core does not cover
 * it. */
int sx_core_score_kept(const sx_core_opened *opened, const uint32_t *kept, const sx_objective *objective,
                       double bound, sx_score *score);

/* A tensor mask of a level, for sx_core_scorer_keep: its bit in the byte of each tensor of the mask. */
static inline uint64_t sx_kept_at(int level, uint8_t keep) {
    uint64_t bits = keep * 0x0101010101010101u & 0x8040201008040201u;
    return ((bits + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u) << level;
}

/* Scores the mapping of a dense model that was opened where levels keep a legal choice, the sum of sx_kept_at of all of them, as
 * sx_core_scorer_score does. */
int sx_core_scorer_keep(sx_core_scorer *scorer, uint64_t levels, const sx_objective *objective, double bound,
                        sx_score *score);

/* Opens a mapping of a sparse model and counts its flows; false where the core does not cover it. Then gives the dense counts of a
 * tensor. */
bool sx_core_scorer_count(sx_core_scorer *scorer, const sx_mapping *mapping);
void sx_core_scorer_counts(const sx_core_scorer *scorer, int tensor, sx_counts *counts);

/* Scores a legal mapping of a sparse model that was counted, as sx_evaluate_within does, without an objective as sx_evaluate_score
 * does; false where the pass over dense counts is another one's (sparse/zeros.h). */
bool sx_core_scorer_sparse(sx_core_scorer *scorer, const sx_objective *objective, double bound,
                           sx_score *score, sx_verdict *verdict);

#endif
