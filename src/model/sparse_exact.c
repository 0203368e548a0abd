/* The exact semantics (docs/sparse.md): expectations over independent random tensors, without rounding.
 *
 * An access at a level serves a delivery: a tile that goes to the next inner level, or a word that goes to a
 * compute unit. The delivery is ineffectual where the words of a condition tensor that are used with it, its
 * box, are all zeros. Boxes of inner levels lie in those of outer ones. So what remains of accesses at a level
 * is the product, over condition tensors, of the probability that the smallest box of the actions at or
 * outside that level is not empty; metadata of these accesses goes with them. */
#include "model/sparse.h"

#include <string.h>

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

/* Metadata for a tile whose words below a coordinate are empty with these probabilities: expected numbers of
 * coordinates that are present. */
static void metadata(const sx_sparse_tile *t, const double *empty, double (*out)[2]) {
    int top = t->n_ranks - 1, counted = t->format->inner_to_outer ? 0 : top;
    double fibers = 1;
    for (int r = top; r >= 0; fibers *= (double)t->fiber[r], r--) {
        double f = (double)t->fiber[r], present = fibers * (1 - empty[r + 1]);
        double filled = fibers * f * (1 - empty[r]);
        out[r][0] = out[r][1] = 0;
        if (t->fiber[r] == 1 && r != counted) continue;
        switch ((sx_rank_kind)t->format->rank[r].kind) {
        case SX_RANK_CP:
        case SX_RANK_RLE:
            out[r][0] = out[r][1] = filled;
            break;
        case SX_RANK_B:
            out[r][0] = present * f;
            out[r][1] = filled;
            break;
        case SX_RANK_UOP:
            out[r][1] = present * (f + 1);
            break;
        case SX_RANK_UB:
            out[r][0] = out[r][1] = fibers * f;
            break;
        }
    }
    for (int r = 0; r <= top; r++) {
        if (out[r][0] == 0 && out[r][1] == 0) continue;
        out[r][1] = 0; /* the data itself */
        break;
    }
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
    metadata(t, empty, out);
    for (int r = 0; r < t->n_ranks; r++)
        for (int i = 0; i < 2; i++) out[r][i] = ceil(out[r][i] * (1 - 1e-12));
}

/* The expected occupancy and metadata of a tile; inner levels are known. */
static void expect(sx_sparse_state *state, int v, int s) {
    sx_sparse_tile *t = &state->tile[v][s];
    const sx_density *d = sx_sparse_density(state, v);
    t->density = sx_density_of_word(d);
    t->occupancy = (double)t->words * t->density;
    if (!t->format) return;
    const sx_sparse_tile *child = t->child >= 0 ? &state->tile[v][t->child] : NULL;
    int known = child && child->format ? child->n_ranks : -1;
    for (int r = 0; r <= t->n_ranks; r++)
        t->empty[r] = r <= known && child->sub[r] == t->sub[r] ? child->empty[r]
                      : r > 0 && t->sub[r] == t->sub[r - 1]    ? t->empty[r - 1]
                                                               : sx_density_empty(d, state->cache, t->sub[r]);
    metadata(t, t->empty, t->metadata);
    t->bits = sx_rank_words_bits(t, t->metadata);
}

/* Makes a box so many times as wide, up to the whole dimension. */
static void widen(const sx_model *model, int dim, uint64_t times, uint32_t *box) {
    uint64_t wide = box[dim] * times;
    box[dim] = (uint32_t)(wide < model->size[dim] ? wide : model->size[dim]);
}

/* The box of a delivery of a tensor from a level: what the next inner level holds, over the loops in which it
 * stays there and the children that get the same. A vector access delivers a whole block. */
static void find_box(const sx_sparse_state *state, int target, int level, uint32_t *box) {
    const sx_model *model = state->model;
    unsigned dims = model->sparse->dims[target];
    int child = state->tile[target][level].child;
    bool moved = child < 0; /* a compute unit keeps nothing */
    for (int d = 0; d < model->n_dims; d++) box[d] = child >= 0 ? state->nest->extent[child][d] : 1;
    uint64_t block = sx_level_whole_block(&model->level[level], target), need = 1; /* deliveries of a block */
    uint64_t delivered = child >= 0 ? state->tile[target][child].words : 1;
    if (block > delivered) need = (block + delivered - 1) / delivered;
    for (int s = child + 1; s <= level; s++)
        for (int i = 0; i < state->n_loops[s]; i++) {
            const sx_full_loop *loop = &state->loop[s][i];
            uint64_t times = loop->n;
            if (dims >> loop->dim & 1) {
                moved |= !loop->spatial;
                if (need == 1) continue;
                times = need < loop->n ? need : loop->n;
                need = (need + loop->n - 1) / loop->n;
            } else if (moved && !loop->spatial) {
                continue;
            }
            widen(model, loop->dim, times, box);
        }
    for (int s = level + 1; s < model->n_levels && !moved; s++)
        for (int i = 0; i < state->n_loops[s] && !moved; i++) {
            const sx_full_loop *loop = &state->loop[s][i];
            if (loop->spatial) continue;
            moved = dims >> loop->dim & 1;
            if (!moved) widen(model, loop->dim, loop->n, box);
        }
}

/* The tensors on which an option of an action makes its target depend, and with which boxes. */
typedef struct dependence {
    int target, level;
    unsigned on;
    uint64_t box[SX_MAX_TENSORS]; /* as sx_density_empty takes it */
} dependence;

/* Describes an option; false where no level keeps its target. */
static bool describe(const sx_sparse_state *state, const sx_action_model *a, int option, dependence *out) {
    const sx_model *model = state->model;
    uint32_t box[SX_MAX_DIMS];
    out->target = a->option[option].target;
    out->level = a->level;
    out->on = a->option[option].on;
    while (out->level < model->n_levels && !state->tile[out->target][out->level].words) out->level++;
    if (out->level == model->n_levels) return false;
    find_box(state, out->target, out->level, box);
    for (unsigned on = out->on; on; on &= on - 1) {
        int v = __builtin_ctz(on);
        out->box[v] = sx_sparse_number(model, v, box);
    }
    return true;
}

/* What an option saves of a level's reads. */
static double saves(const sx_sparse_state *state, const dependence *d) {
    const sx_level *level = &state->model->level[d->level];
    double effectual = 1;
    for (unsigned on = d->on; on; on &= on - 1) {
        int v = __builtin_ctz(on);
        effectual *= 1 - sx_density_empty(sx_sparse_density(state, v), state->cache, d->box[v]);
    }
    return level->read_energy / sx_level_block(level, d->target) *
           state->tile[d->target][d->level].occupancy * (1 - effectual);
}

/* Takes an action into account: that of its options that saves most. */
static void act(sx_sparse_state *state, const sx_action_model *a) {
    dependence best, next;
    bool found = describe(state, a, 0, &best);
    for (int i = 1; i < a->n_options; i++) {
        if (!describe(state, a, i, &next)) continue;
        if (!found || saves(state, &next) > saves(state, &best)) best = next;
        found = true;
    }
    if (!found) return;
    sx_sparse_tile *t = &state->tile[best.target][best.level];
    for (unsigned on = best.on; on; on &= on - 1) {
        int v = __builtin_ctz(on);
        uint64_t *at = &state->box[best.target][best.level][v];
        if (*at == 0 || best.box[v] < *at) *at = best.box[v];
    }
    t->skips |= a->skips;
    t->acts = true;
}

/* The probability that a box of a tensor is empty. */
static double box_empty(const sx_sparse_state *state, int v, uint64_t box) {
    return sx_density_empty(sx_sparse_density(state, v), state->cache, box);
}

/* Sets what remains at each level of a tensor's accesses: before and after the level's own action. */
static void settle(sx_sparse_state *state, int target) {
    const sx_model *model = state->model;
    uint64_t smallest[SX_MAX_TENSORS] = {0}, skipped[SX_MAX_TENSORS] = {0};
    double empty[SX_MAX_TENSORS] = {0}, before = 1;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        sx_sparse_tile *t = &state->tile[target][s];
        const uint64_t *box = state->box[target][s];
        t->exists = t->effectual = before;
        if (!t->acts) continue;
        t->effectual = 1;
        for (int v = 0; v < model->n_tensors; v++) {
            if (box[v] && (!smallest[v] || box[v] < smallest[v]))
                empty[v] = box_empty(state, v, smallest[v] = box[v]);
            if (box[v] && t->skips && (!skipped[v] || box[v] < skipped[v])) skipped[v] = box[v];
            t->effectual *= 1 - empty[v];
        }
        before = t->effectual;
    }
    if (model->shape[target].output) return;
    for (int v = 0; v < model->n_tensors; v++) {
        if (!smallest[v] || model->shape[v].output) continue;
        if (empty[v] > state->conditioned[v]) state->conditioned[v] = empty[v];
        if (!skipped[v]) continue;
        double passed = skipped[v] == smallest[v] ? empty[v] : box_empty(state, v, skipped[v]);
        if (passed > state->skipped[v]) state->skipped[v] = passed;
    }
}

sx_verdict sx_exact_prepare(sx_sparse_state *state) {
    const sx_model *model = state->model;
    const struct sx_sparse_model *sparse = model->sparse;
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++) memset(state->box[v][s], 0, sizeof state->box[v][s]);
    memset(state->conditioned, 0, sizeof state->conditioned);
    memset(state->skipped, 0, sizeof state->skipped);
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++)
            if (state->tile[v][s].words) expect(state, v, s);
    for (int i = 0; i < sparse->n_actions; i++) act(state, &sparse->action[i]);
    for (int v = 0; v < model->n_tensors; v++) settle(state, v);
    for (int v = 0; v < model->n_tensors; v++) {
        if (model->shape[v].output) continue;
        int s = 0;
        while (!state->tile[v][s].words) s++;
        double x = fmin(1, sx_density_of_word(&sparse->density[v]) / (1 - state->conditioned[v]));
        bool absent = state->tile[v][s].format != NULL;
        state->state[v][0] = x;
        state->state[v][1] = absent ? 0 : 1 - x;
        state->state[v][2] = absent ? 1 - x : 0;
    }
    return good;
}

/* Counts one tensor at a level. */
static void count_level(sx_sparse_state *state, int v, int s) {
    const sx_sparse_tile *t = &state->tile[v][s];
    const sx_counts *dense = &state->dense[v][s];
    sx_sparse_counts *out = &state->counts[v][s];
    const double count[SX_N_ACCESSES] = {dense->reads, dense->fills, dense->updates};
    double held = t->format ? t->density : 1;
    int kind = t->skips ? SX_SKIPPED : SX_GATED;
    if (state->details) memset(out->metadata, 0, sizeof out->metadata);
    memset(out->actions, 0, sizeof out->actions);
    memset(out->bits, 0, sizeof out->bits);
    out->reductions = out->decompressions = out->compressions = 0;
    if (!t->words) return;
    for (int a = 0; a < SX_N_ACCESSES; a++) {
        double stays = a == SX_FILL ? t->exists : t->effectual;
        out->actions[SX_RANDOM][a] = count[a] * held * stays;
        out->actions[kind][a] += count[a] * held * (t->exists - stays);
        double times = count[a] / (double)t->words;
        if (!t->format) continue;
        out->bits[SX_RANDOM][a] = t->bits * times * stays;
        out->bits[kind][a] += t->bits * times * (t->exists - stays);
        for (int r = 0; state->details && r < t->n_ranks; r++)
            for (int i = 0; i < 2; i++) {
                double words = t->metadata[r][i] * times;
                out->metadata[SX_RANDOM][a][r][i] = words * stays;
                out->metadata[kind][a][r][i] += words * (t->exists - stays);
            }
    }
    out->reductions = dense->reductions * held * t->effectual;
    if (t->parent < 0 || (t->format && t->format->compressed)) return;
    const sx_sparse_tile *parent = &state->tile[v][t->parent];
    if (!parent->format || !parent->format->compressed) return;
    out->decompressions = out->actions[SX_RANDOM][SX_FILL];
    if (state->model->shape[v].output)
        out->compressions = state->dense[v][t->parent].updates * parent->density * parent->effectual;
}

void sx_exact_count(sx_sparse_state *state) {
    const sx_model *model = state->model;
    const struct sx_sparse_model *sparse = model->sparse;
    double computes = (double)model->computes, timed = computes, nonzero = 1, present = 1, absent = 1;
    for (int v = 0; v < model->n_tensors; v++) {
        for (int s = 0; s < model->n_levels; s++) count_level(state, v, s);
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
