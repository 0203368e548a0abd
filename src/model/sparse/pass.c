/* The pass over dense counts (docs/sparse.md): its parts in order. */
#include "model/capacity.h"
#include "model/sparse/charge.h"

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

uint64_t sx_sparse_most_metadata(const sx_sparse_state *state, int tensor, int level, sx_cost_rank *ranks) {
    const sx_sparse_tile *t = &state->tile[tensor][level];
    double most[SX_MAX_FORMAT_RANKS][2], bits = 0;
    if (!t->words || !t->format) return 0;
    uint64_t k = sx_density_most_counted(sx_sparse_density(state, tensor), state->cache, t->number);
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
    double limit = model->sparse->level[level].metadata_limit, bits = 0;
    if (isinf(limit)) return good;
    for (int v = 0; v < model->n_tensors; v++) {
        const sx_sparse_tile *t = &state->tile[v][level];
        if (t->format) bits += (double)t->words * t->format->most_bits;
    }
    if (bits <= limit) return good;
    bits = 0;
    for (int v = 0; v < model->n_tensors; v++) bits += (double)sx_sparse_most_metadata(state, v, level, NULL);
    if (bits <= limit) return good;
    return (sx_verdict){SX_METADATA_CAPACITY, (int8_t)level, -1, -1, bits, limit};
}

/* Whether tiles whose non-zeros are counted fit a level; words alone have told only what is impossible. */
static sx_verdict check_counted(const sx_sparse_state *state, int s) {
    const sx_model *model = state->model;
    const sx_level *level = &model->level[s];
    sx_occupancy use = {0, 0};
    int largest = -1;
    uint64_t most = 0;
    for (int v = 0; v < model->n_tensors; v++) {
        const sx_sparse_tile *t = &state->tile[v][s];
        uint64_t k = t->words;
        if (t->words && t->format)
            k = sx_density_most_counted(sx_sparse_density(state, v), state->cache, t->number);
        sx_occupancy_add_words(&use, level, sx_level_words(level, v, (double)k));
        if (k > most) most = k, largest = v;
    }
    if (!level->limited || sx_level_fits(level, &use)) return good;
    double words = use.banks > level->banks ? fmax(use.words, use.banks * level->bank_words) : use.words;
    return (sx_verdict){SX_CAPACITY, (int8_t)s, (int8_t)largest, -1, words, level->effective};
}

sx_verdict sx_sparse_prepare(sx_sparse_state *state, const sx_mapping *mapping, const sx_nest *nest,
                             bool details) {
    const sx_model *model = state->model;
    state->nest = nest;
    state->details = details;
    state->failed = false;
    sx_verdict verdict = sx_sparse_ranks(state, mapping);
    if (verdict.reason != SX_LEGAL) return verdict;
    if (model->sparse->timeloop)
        verdict = sx_timeloop_prepare(state);
    else if (state->counts)
        sx_exact_prepare(state);
    for (int s = 0; s < model->n_levels && verdict.reason == SX_LEGAL && model->sparse->formatted; s++) {
        if (model->sparse->any_placed) verdict = check_counted(state, s);
        if (verdict.reason == SX_LEGAL) verdict = check_metadata(state, s);
    }
    if (state->failed || sx_density_cache_failed(state->cache)) verdict.reason = SX_NO_MEMORY;
    return verdict;
}

void sx_sparse_count(sx_sparse_state *state) {
    if (state->model->sparse->timeloop)
        sx_timeloop_count(state);
    else
        sx_exact_count(state);
}
