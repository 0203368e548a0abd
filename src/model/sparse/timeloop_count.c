/* From dense counts to random, gated and skipped ones by Timeloop's rules (docs/sparse.md, section 7). Its
 * slips are kept: metadata below an acting level are reduced for a single rank only, and an inner acting
 * level's metadata reads begin from its updates. */
#include "model/sparse/pass.h"

#include <string.h>

/* A double as an unsigned integer, saturating below. */
static double whole_count(double value) {
    return value > 0 ? trunc(value) : 0;
}

static int n_ranks(const sx_sparse_tile *t) {
    return t->format ? t->n_ranks : 0;
}

/* What a format alone leaves of dense counts, and its metadata accesses. */
static void begin_count(const sx_sparse_state *state, int v, int s, sx_sparse_progress *p) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_counts *dense = &state->dense[v][s];
    const double count[SX_N_ACCESSES] = {dense->reads, dense->fills, dense->updates};
    double zeros = 1 - t->density;
    memset(p, 0, sizeof *p);
    for (int a = 0; a < SX_N_ACCESSES; a++) {
        bool reduced = t->format && (a != SX_UPDATE || state->model->shape[v].output);
        p->words[a] = reduced ? whole_count(count[a] - floor(count[a] * zeros)) : count[a];
        for (int r = 0; r < n_ranks(t); r++)
            for (int i = 0; i < 2 && t->possible; i++)
                p->metadata[a][r][i] = ceil(t->metadata[r][i] * (count[a] / (double)t->words));
    }
}

/* Ends the reductions of a level from outside; its metadata reads are those of access `from`. */
static void end_reductions(const sx_sparse_state *state, int v, int s, const sx_sparse_progress *p, int from,
                           sx_sparse_counts *out) {
    for (int a = 0; a < SX_N_ACCESSES; a++) {
        out->actions[SX_RANDOM][a] = whole_count(p->words[a]);
        for (int r = 0; r < n_ranks(&state->tile[v][s]); r++)
            for (int i = 0; i < 2; i++)
                out->metadata[SX_RANDOM][a][r][i] = p->metadata[a == SX_READ ? from : a][r][i];
    }
}

/* Applies a level's own action. */
static void apply_share(const sx_sparse_state *state, int v, int s, double p, sx_sparse_counts *out) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_counts *dense = &state->dense[v][s];
    bool output = state->model->shape[v].output;
    int kind = t->skips ? SX_SKIPPED : SX_GATED, own = n_ranks(t);
    int ranks = t->child >= 0 ? n_ranks(&state->tile[v][t->child]) : own;
    double reads = out->actions[SX_RANDOM][SX_READ], updates = out->actions[SX_RANDOM][SX_UPDATE];
    double gone = whole_count(output ? ceil(reads * p) : floor(reads * p)), less = floor(updates * p);
    out->actions[kind][SX_READ] += gone;
    out->actions[kind][SX_UPDATE] = whole_count(out->actions[kind][SX_UPDATE] + less);
    out->actions[SX_RANDOM][SX_READ] = reads - gone;
    out->actions[SX_RANDOM][SX_UPDATE] = updates - less;
    for (int r = 0; r < ranks && r < own; r++)
        for (int i = 0; i < 2; i++)
            for (int a = SX_READ; a <= SX_UPDATE; a += SX_UPDATE - SX_READ) {
                double part = floor(out->metadata[SX_RANDOM][a][r][i] * p);
                out->metadata[SX_RANDOM][a][r][i] -= part;
                out->metadata[kind][a][r][i] = whole_count(out->metadata[kind][a][r][i] + part);
            }
    if (output) out->reductions = ceil(out->reductions * out->actions[SX_RANDOM][SX_UPDATE] / dense->updates);
}

/* Takes what an outer action removes from an inner level. */
static void reduce_inner(const sx_sparse_state *state, int v, int outer, int inner, double p,
                         sx_sparse_progress *at) {
    for (int a = 0; a < SX_N_ACCESSES; a++) at->words[a] -= floor(at->words[a] * p);
    if (n_ranks(&state->tile[v][outer]) != 1 || !state->tile[v][inner].format) return;
    for (int i = 0; i < 2; i++) {
        at->metadata[SX_FILL][0][i] -= floor(at->metadata[SX_FILL][0][i] * p);
        at->metadata[SX_READ][0][i] -= floor(at->metadata[SX_READ][0][i] * p);
    }
}

/* Applies the actions of a tensor; returns the probability of the innermost one, 0 without any. */
static double combine_actions(sx_sparse_state *state, int v) {
    int n_levels = state->model->n_levels;
    sx_sparse_progress *at = state->progress;
    double innermost = 0;
    for (int s = 0; s < n_levels; s++) begin_count(state, v, s, &at[s]);
    for (int s = n_levels - 1; s >= 0; s--) {
        const sx_sparse_tile *t = &state->tile[v][s];
        if (!t->acts) continue;
        double p = innermost = t->ineffectual;
        int q = s - 1;
        for (; q >= 0; q--) {
            const sx_sparse_tile *inner = &state->tile[v][q];
            reduce_inner(state, v, s, q, p, &at[q]);
            if (!inner->acts) continue;
            end_reductions(state, v, q, &at[q], SX_UPDATE, &state->counts[v][q]);
            apply_share(state, v, q, 1 - (1 - inner->ineffectual) / (1 - p), &state->counts[v][q]);
            at[q].done = true;
            break;
        }
        if (at[s].done) continue;
        at[s].done = true;
        end_reductions(state, v, s, &at[s], SX_READ, &state->counts[v][s]);
        apply_share(state, v, s, p, &state->counts[v][s]);
    }
    for (int s = 0; s < n_levels; s++) {
        const sx_counts *dense = &state->dense[v][s];
        sx_sparse_counts *out = &state->counts[v][s];
        if (state->tile[v][s].acts) continue;
        end_reductions(state, v, s, &at[s], SX_READ, out);
        out->reductions = dense->updates == 0
                              ? 0
                              : ceil(out->reductions * out->actions[SX_RANDOM][SX_UPDATE] / dense->updates);
    }
    return innermost;
}

/* Counts words that are compressed or decompressed between a level and its parent. */
static void count_conversions(sx_sparse_state *state, int v) {
    for (int s = 0; s < state->model->n_levels; s++) {
        const sx_sparse_tile *t = &state->tile[v][s];
        if (t->parent < 0 || (t->format && t->format->compressed)) continue;
        const sx_format_model *outside = state->tile[v][t->parent].format;
        if (!outside || !outside->compressed) continue;
        sx_sparse_counts *out = &state->counts[v][s];
        out->decompressions = out->actions[SX_RANDOM][SX_FILL];
        if (state->model->shape[v].output)
            out->compressions = state->counts[v][t->parent].actions[SX_RANDOM][SX_UPDATE];
    }
}

/* Splits n computes by the states of their two operands, in the order in which Timeloop adds. */
static void split_computes(sx_sparse_state *state, double n) {
    const struct sx_sparse_model *sparse = state->model->sparse;
    const double *x = NULL, *y = NULL;
    for (int v = 0; v < state->model->n_tensors; v++) {
        if (state->model->shape[v].output) continue;
        y = x ? state->state[v] : y;
        x = x ? x : state->state[v];
    }
    double some_absent = n * (x[0] * y[2] + x[2] * y[0]), gated = 0, skipped = 0;
    if (sparse->gates) gated += n * (x[0] * y[1] + x[1] * y[0]);
    if (sparse->gates && !sparse->skips) gated += some_absent;
    if (sparse->gates) gated += n * (x[1] * y[1]);
    if (sparse->skips) skipped = some_absent + n * (x[1] * y[2] + x[2] * y[1]);
    if (sparse->gates && !sparse->skips) gated += n * (x[1] * y[2] + x[2] * y[1]);
    state->computes[SX_SKIPPED] = floor(skipped);
    state->computes[SX_GATED] = floor(gated);
    state->computes[SX_RANDOM] = whole_count(n - floor(skipped) - floor(gated) - floor(n * (x[2] * y[2])));
}

void sx_timeloop_count(sx_sparse_state *state) {
    const sx_model *model = state->model;
    double computes = (double)model->computes;
    for (int v = 0; v < model->n_tensors; v++) {
        for (int s = 0; s < model->n_levels; s++) {
            memset(&state->counts[v][s], 0, sizeof state->counts[v][s]);
            state->counts[v][s].reductions = state->dense[v][s].reductions;
        }
        double p = combine_actions(state, v);
        if (!model->shape[v].output) computes -= floor(computes * p);
        count_conversions(state, v);
        for (int s = 0; s < model->n_levels; s++)
            for (int i = 0; i < SX_N_ACTION_KINDS * SX_N_ACCESSES; i++) {
                sx_sparse_counts *c = &state->counts[v][s];
                int kind = i / SX_N_ACCESSES, a = i % SX_N_ACCESSES;
                c->bits[kind][a] = sx_rank_words_bits(&state->tile[v][s], c->metadata[kind][a]);
            }
    }
    split_computes(state, whole_count(computes));
}
