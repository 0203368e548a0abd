/* The exact semantics (docs/sparse.md): expectations over independent random tensors, without rounding.
 *
 * An access at a level serves a delivery: a tile that goes to the next inner level, or a word that goes to a
 * compute unit. The delivery is ineffectual where the words of a condition tensor that are used with it, its
 * box, are all zeros. Boxes of inner levels lie in those of outer ones. So what remains of accesses at a level
 * is the product, over condition tensors, of the probability that the smallest box of the actions at or
 * outside that level is not empty; metadata of these accesses goes with them. */
#include "model/sparse/pass.h"

#include <string.h>

double sx_exact_rank_words(const sx_format_model *format, int n_ranks, const double *fiber,
                           const double *empty, double (*out)[2]) {
    int top = n_ranks - 1, counted = format->inner_to_outer ? 0 : top;
    double outside[SX_MAX_FORMAT_RANKS], fibers = 1, bits = 0;
    bool data = true; /* the payload of the innermost rank is the data itself */
    for (int r = top; r >= 0; fibers *= fiber[r], r--) outside[r] = fibers;
    for (int r = 0; r <= top; r++) {
        const sx_rank_model *rank = &format->rank[r];
        double f = fiber[r], coordinates = 0, payloads = 0;
        if (out) out[r][0] = out[r][1] = 0;
        if (f == 1 && r != counted) continue;
        switch ((sx_rank_kind)rank->kind) {
        case SX_RANK_CP:
        case SX_RANK_RLE:
            coordinates = payloads = outside[r] * f * (1 - empty[r]);
            break;
        case SX_RANK_B:
            coordinates = outside[r] * (1 - empty[r + 1]) * f;
            payloads = outside[r] * f * (1 - empty[r]);
            break;
        case SX_RANK_UOP:
            payloads = outside[r] * (1 - empty[r + 1]) * (f + 1);
            break;
        case SX_RANK_UB:
            coordinates = payloads = outside[r] * f;
            break;
        }
        if (data && (coordinates != 0 || payloads != 0)) payloads = data = 0;
        if (out) out[r][0] = coordinates;
        if (out) out[r][1] = payloads;
        bits += coordinates * rank->bits[0];
        bits += payloads * rank->bits[1];
    }
    return bits;
}

/* The same of a tile. */
static double tile_metadata(const sx_sparse_tile *t, const double *empty, double (*out)[2]) {
    double fiber[SX_MAX_FORMAT_RANKS];
    for (int r = 0; r < t->n_ranks; r++) fiber[r] = (double)t->fiber[r];
    return sx_exact_rank_words(t->format, t->n_ranks, fiber, empty, out);
}

/* The most coordinates that k non-zeros can occupy at each rank. */
void sx_exact_metadata(const sx_sparse_state *state, int tensor, int level, uint64_t k, double (*out)[2]) {
    const sx_sparse_tile *t = &state->tile[tensor][level];
    double empty[SX_MAX_FORMAT_RANKS + 1], tiles = 1;
    empty[t->n_ranks] = k > 0 ? 0 : 1;
    for (int r = t->n_ranks - 1; r >= 0; r--) {
        tiles *= (double)t->fiber[r];
        empty[r] = (double)k < tiles ? 1 - (double)k / tiles : 0;
    }
    tile_metadata(t, empty, out);
    for (int r = 0; r < t->n_ranks; r++)
        for (int i = 0; i < 2; i++) out[r][i] = ceil(out[r][i] * (1 - 1e-12));
}

/* The expected occupancy and metadata of a tile; inner levels are known. */
static void expect_tile(sx_sparse_state *state, int v, int s) {
    sx_sparse_tile *t = &state->tile[v][s];
    const sx_density *d = sx_sparse_density(state, v);
    t->density = sx_density_of_word(d);
    if (state->model->sparse->chooses) t->occupancy = (double)t->words * t->density;
    if (!t->format) return;
    t->bits = 0;
    if (!state->details && state->model->sparse->level[s].width == 0) return;
    double empty[SX_MAX_FORMAT_RANKS + 1];
    int n =
        t->n_ranks + (isinf(t->format->most_bits) ? 1 : 0); /* coordinates do not ask for the whole tile */
    for (int r = 0; r < n; r++)
        empty[r] = r > 0 && t->sub[r] == t->sub[r - 1] ? empty[r - 1] : sx_sparse_empty(state, v, t->sub[r]);
    t->bits = tile_metadata(t, empty, t->metadata);
}

/* Makes a box some times as wide along a loop, up to the whole dimension; `spans` are those of the list's loops. */
static inline void widen_box(const sx_model *model, const sx_loop *list, int l, uint64_t times, uint32_t *box,
                             uint32_t *spans) {
    int dim = list[l].dim;
    uint64_t wide = box[dim] * times;
    box[dim] = (uint32_t)(wide < model->size[dim] ? wide : model->size[dim]);
    if (spans) spans[l] = (uint32_t)times;
}

/* Takes in what of a block lies beyond a tile: `need` tiles along the loops of a slot that move it; returns how many
 * blocks of the slot's are still needed. */
static uint64_t take_block(const sx_model *model, const sx_loop *list, const uint8_t *slot, unsigned dims,
                           uint64_t need, uint32_t *box, uint32_t *spans) {
    for (int l = slot[0]; l < slot[1] && need > 1; l++) {
        uint64_t n = list[l].n;
        if (!(dims >> list[l].dim & 1)) continue;
        widen_box(model, list, l, need < n ? need : n, box, spans);
        need = (need + n - 1) / n;
    }
    return need;
}

/* Starts with the tile of the next inner level that keeps a tensor: all iterations of its loops. */
static void start_loops(const sx_nest *nest, int child, sx_box_loops *loops) {
    for (int l = 0; l < nest->n_spatial; l++)
        loops->spatial[l] = nest->spatial[l].level <= child ? nest->spatial[l].n : 1;
    for (int l = 0; l < nest->n_temporal; l++)
        loops->temporal[l] = nest->temporal[l].level <= child ? nest->temporal[l].n : 1;
}

/* What the next inner level holds, over the loops in which it stays there (a compute unit keeps nothing) and the
 * children that get the same. A vector access delivers a whole block. */
void sx_exact_box(const sx_sparse_state *state, int target, int level, uint32_t *box, sx_box_loops *loops) {
    const sx_model *model = state->model;
    const sx_nest *nest = state->nest;
    unsigned dims = model->sparse->dims[target];
    int child = state->tile[target][level].child;
    uint32_t *spatial = loops ? loops->spatial : NULL, *temporal = loops ? loops->temporal : NULL;
    if (loops) start_loops(nest, child, loops);
    if (child >= 0)
        memcpy(box, nest->extent[child], sizeof nest->extent[child]);
    else
        for (int d = 0; d < SX_MAX_DIMS; d++) box[d] = 1;
    for (int l = nest->spatial_of[child + 1]; l < nest->spatial_of[level + 1]; l++)
        if (!(dims >> nest->spatial[l].dim & 1))
            widen_box(model, nest->spatial, l, nest->spatial[l].n, box, spatial);
    if (child >= 0)
        for (int l = nest->temporal_of[child + 1];
             l < nest->n_temporal && !(dims >> nest->temporal[l].dim & 1); l++)
            widen_box(model, nest->temporal, l, nest->temporal[l].n, box, temporal);
    uint64_t block = sx_level_whole_block(&model->level[level], target), need = 1; /* deliveries of a block */
    uint64_t delivered = child >= 0 ? state->tile[target][child].words : 1;
    if (block <= delivered) return;
    need = (block + delivered - 1) / delivered;
    for (int s = child + 1; s <= level && need > 1; s++) {
        need = take_block(model, nest->spatial, &nest->spatial_of[s], dims, need, box, spatial);
        need = take_block(model, nest->temporal, &nest->temporal_of[s], dims, need, box, temporal);
    }
}

/* What an option saves of a level's reads. */
static double option_saves(const sx_sparse_state *state, int target, int s, unsigned on) {
    const sx_level *level = &state->model->level[s];
    double effectual = 1;
    uint32_t box[SX_MAX_DIMS];
    sx_exact_box(state, target, s, box, NULL);
    for (; on; on &= on - 1) {
        int v = __builtin_ctz(on);
        effectual *= 1 - sx_sparse_empty(state, v, sx_exact_box_number(state, v, target, s, box));
    }
    return level->read_energy / sx_level_block(level, target) * state->tile[target][s].occupancy *
           (1 - effectual);
}

/* Takes an action of several options into account: that which saves most, of those whose target some level keeps. */
static void choose_option(sx_sparse_state *state, const sx_action_model *a) {
    sx_sparse_tile *chosen = NULL;
    double most = 0;
    unsigned on = 0;
    for (int i = 0; i < a->n_options; i++) {
        int target = a->option[i].target, s = a->level;
        while (s < state->model->n_levels && !state->tile[target][s].words) s++;
        if (s == state->model->n_levels) continue;
        double saved = option_saves(state, target, s, a->option[i].on);
        if (chosen && saved <= most) continue;
        chosen = &state->tile[target][s];
        on = a->option[i].on;
        most = saved;
    }
    if (!chosen) return;
    chosen->on |= (uint8_t)on;
    chosen->skips |= a->skips;
    chosen->acts = true;
}

/* The smallest boxes of a tensor's actions from the outermost level to one. */
typedef struct smallest {
    unsigned on; /* the tensors that have one */
    uint8_t level[SX_MAX_TENSORS];
    uint64_t box[SX_MAX_TENSORS];
    double empty[SX_MAX_TENSORS]; /* the probability that it is */
} smallest;

/* Takes a level's action into account; what remains of accesses after it. */
static double narrow_down(const sx_sparse_state *state, int target, int s, unsigned on, smallest *least) {
    uint32_t extent[SX_MAX_DIMS];
    double effectual = 1;
    sx_exact_box(state, target, s, extent, NULL);
    for (; on; on &= on - 1) {
        int v = __builtin_ctz(on);
        uint64_t box = sx_exact_box_number(state, v, target, s, extent);
        if (least->on >> v & 1 && box >= least->box[v]) continue;
        least->on |= 1u << v;
        least->level[v] = (uint8_t)s;
        least->box[v] = box;
        least->empty[v] = sx_sparse_empty(state, v, box);
    }
    for (on = least->on; on; on &= on - 1) effectual *= 1 - least->empty[__builtin_ctz(on)];
    return effectual;
}

/* Adds the smallest boxes of an operand's actions to those that leave out computes. */
static void leave_out(const sx_model *model, int target, const smallest *least, sx_left_out *list) {
    for (unsigned on = least->on; on; on &= on - 1) {
        int v = __builtin_ctz(on);
        if (model->shape[v].output || least->empty[v] <= 0) continue;
        sx_left_out *at = &list[v];
        at->target[at->n] = (uint8_t)target;
        at->level[at->n++] = least->level[v];
        if (least->empty[v] <= at->most) continue;
        at->most = least->empty[v];
        at->words = least->box[v];
    }
}

/* Sets what remains at each level of a tensor's accesses, before and after the level's own action, and what leaves
 * out computes: by any action, and by skipping ones. */
static void settle_accesses(sx_sparse_state *state, int target, sx_left_out (*left_out)[SX_MAX_TENSORS]) {
    const sx_model *model = state->model;
    smallest least;
    double before = 1;
    bool gates = false, skips = false;
    least.on = 0;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        sx_sparse_tile *t = &state->tile[target][s];
        unsigned on = t->on & model->sparse->thin;
        t->exists = t->effectual = before;
        if (!on) continue;
        t->effectual = before = narrow_down(state, target, s, on, &least);
        gates |= !t->skips;
        skips |= t->skips;
    }
    if (model->shape[target].output) return;
    leave_out(model, target, &least, left_out[0]);
    if (!skips) return;
    if (gates) least.on = 0;
    for (int s = model->n_levels - 1; s >= 0 && gates; s--) {
        const sx_sparse_tile *t = &state->tile[target][s];
        if (t->skips) (void)narrow_down(state, target, s, t->on & model->sparse->thin, &least);
    }
    leave_out(model, target, &least, left_out[1]);
}

void sx_exact_operand(sx_sparse_state *state, int v, bool absent) {
    double word = sx_density_of_word(sx_sparse_density(state, v));
    double x = fmin(1, word / (1 - state->conditioned[v]));
    state->state[v][0] = x;
    state->state[v][1] = absent ? 0 : 1 - x;
    state->state[v][2] = absent ? 1 - x : 0;
}

void sx_exact_prepare(sx_sparse_state *state) {
    const sx_model *model = state->model;
    const struct sx_sparse_model *sparse = model->sparse;
    sx_left_out left_out[2][SX_MAX_TENSORS];
    memset(left_out, 0, sizeof left_out);
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++)
            if (state->tile[v][s].words) expect_tile(state, v, s);
    for (int i = 0; i < sparse->n_actions && sparse->chooses; i++)
        if (sparse->action[i].n_options > 1) choose_option(state, &sparse->action[i]);
    for (int v = 0; v < model->n_tensors; v++) settle_accesses(state, v, left_out);
    for (int v = 0; v < model->n_tensors; v++) {
        if (model->shape[v].output) continue;
        state->conditioned[v] = sx_exact_some_empty(state, v, &left_out[0][v]);
        state->skipped[v] = sx_exact_some_empty(state, v, &left_out[1][v]);
        int s = 0;
        while (!state->tile[v][s].words) s++;
        sx_exact_operand(state, v, state->tile[v][s].format != NULL);
    }
}

/* Counts accesses of a kind, of which `share` takes place. */
static void count_access(const sx_sparse_tile *t, int kind, int a, double count, double share,
                         sx_sparse_counts *out) {
    out->actions[kind][a] = sx_exact_words(t, count, share);
    if (!t->format) return;
    for (int r = 0; r < t->n_ranks; r++)
        for (int i = 0; i < 2; i++)
            out->metadata[kind][a][r][i] = t->metadata[r][i] * (count / (double)t->words) * share;
}

bool sx_exact_conversions(const sx_sparse_state *state, int v, int s, double *decompressions,
                          double *compressions) {
    const sx_sparse_tile *t = &state->tile[v][s];
    if (t->parent < 0 || (t->format && t->format->compressed)) return false;
    const sx_sparse_tile *parent = &state->tile[v][t->parent];
    if (!parent->format || !parent->format->compressed) return false;
    *decompressions = sx_exact_words(t, state->dense[v][s].fills, t->exists);
    *compressions = 0;
    if (state->model->shape[v].output)
        *compressions = sx_exact_words(parent, state->dense[v][t->parent].updates, parent->effectual);
    return true;
}

/* Counts one tensor at a level. */
static void count_level(sx_sparse_state *state, int v, int s) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_counts *dense = &state->dense[v][s];
    sx_sparse_counts *out = &state->counts[v][s];
    int kind = t->skips ? SX_SKIPPED : SX_GATED;
    memset(out, 0, sizeof *out);
    if (!t->words) return;
    count_access(t, SX_RANDOM, SX_READ, dense->reads, t->effectual, out);
    count_access(t, SX_RANDOM, SX_FILL, dense->fills, t->exists, out);
    count_access(t, SX_RANDOM, SX_UPDATE, dense->updates, t->effectual, out);
    count_access(t, kind, SX_READ, dense->reads, t->exists - t->effectual, out);
    count_access(t, kind, SX_UPDATE, dense->updates, t->exists - t->effectual, out);
    out->reductions = sx_exact_words(t, dense->reductions, t->effectual);
    (void)sx_exact_conversions(state, v, s, &out->decompressions, &out->compressions);
}

void sx_exact_count(sx_sparse_state *state) {
    const sx_model *model = state->model;
    const struct sx_sparse_model *sparse = model->sparse;
    double computes = (double)model->computes, timed = computes, nonzero = 1, present = 1, absent = 1;
    for (int v = 0; v < model->n_tensors; v++) {
        for (int s = 0; s < model->n_levels && state->details; s++) count_level(state, v, s);
        if (model->shape[v].output) continue;
        computes *= 1 - state->conditioned[v];
        timed *= 1 - state->skipped[v];
        nonzero *= state->state[v][0];
        present *= state->state[v][0] + state->state[v][1];
        absent *= state->state[v][2];
    }
    double zeros = present - nonzero > 1e-12 ? computes * (present - nonzero) : 0,
           some = 1 - present - absent > 1e-12 ? computes * (1 - present - absent) : 0;
    state->computes[SX_GATED] = sparse->gates ? zeros + (sparse->skips ? 0 : some) : 0;
    state->computes[SX_SKIPPED] = sparse->skips ? some : 0;
    state->computes[SX_RANDOM] =
        fmax(0, computes * (1 - absent) - state->computes[SX_GATED] - state->computes[SX_SKIPPED]);
    state->computes[SX_GATED] += timed - computes; /* units wait for operands whose accesses are gated */
}
