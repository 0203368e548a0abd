/* The pass over dense counts (docs/sparse.md): its parts in order. */
#include "model/sparse_cost.h"

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

uint64_t sx_sparse_most_metadata(const sx_sparse_state *state, int tensor, int level, sx_cost_rank *ranks) {
    const sx_sparse_tile *t = &state->tile[tensor][level];
    double most[SX_MAX_FORMAT_RANKS][2], bits = 0;
    if (!t->words || !t->format) return 0;
    uint64_t k = sx_density_most(sx_sparse_density(state, tensor), t->words);
    if (state->model->sparse->timeloop)
        sx_timeloop_metadata(state, tensor, level, k, most);
    else
        sx_exact_metadata(state, tensor, level, k, most);
    for (int r = 0; r < t->n_ranks; r++) {
        double width[2];
        sx_rank_widths(t, r, width);
        bits += most[r][0] * width[0] + most[r][1] * width[1];
        for (int i = 0; ranks && i < 2; i++)
            ranks[t->format->first + r].capacity[i] = (uint64_t)ceil(most[r][i]);
    }
    return (uint64_t)ceil(bits);
}

/* Whether the metadata of all tensors fit a level. */
static sx_verdict check_metadata(const sx_sparse_state *state, int level) {
    const sx_model *model = state->model;
    double limit = model->sparse->metadata_limit[level], bits = 0;
    if (isinf(limit)) return good;
    for (int v = 0; v < model->n_tensors; v++) bits += (double)sx_sparse_most_metadata(state, v, level, NULL);
    if (bits <= limit) return good;
    return (sx_verdict){SX_METADATA_CAPACITY, (int8_t)level, -1, -1, bits, limit};
}

sx_verdict sx_sparse_prepare(sx_sparse_state *state, const sx_mapping *mapping, const sx_nest *nest) {
    const sx_model *model = state->model;
    state->nest = nest;
    state->failed = false;
    sx_verdict verdict = sx_sparse_ranks(state, mapping);
    if (verdict.reason != SX_LEGAL) return verdict;
    verdict = model->sparse->timeloop ? sx_timeloop_prepare(state) : sx_exact_prepare(state);
    for (int s = 0; s < model->n_levels && verdict.reason == SX_LEGAL && model->sparse->formatted; s++)
        verdict = check_metadata(state, s);
    if (state->failed) verdict.reason = SX_NO_MEMORY;
    return verdict;
}

void sx_sparse_count(sx_sparse_state *state, bool details) {
    state->details = details;
    if (state->model->sparse->timeloop)
        sx_timeloop_count(state);
    else
        sx_exact_count(state);
}
