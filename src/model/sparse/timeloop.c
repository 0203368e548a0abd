/* Timeloop's rules for sparse tensors, as its master branch of March 2025 has them: expected occupancies,
 * metadata, and the probability that accesses are ineffectual (docs/sparse.md, sections 4 to 6). Everything is
 * computed in the order of its source, since floors of products depend on the last bit. */
#include "model/sparse/pass.h"

#include <string.h>

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

/* The least number of non-zeros of a tile, as Timeloop computes it: an unsigned subtraction wraps where the
 * tile is larger than the number of zeros but smaller than the tensor. */
static double least_occupancy(const sx_density *d, uint64_t n) {
    double words = (double)n;
    if (d->model != SX_DENSITY_HYPERGEOMETRIC) return floor(floor(words * d->share) / words * words);
    if (n <= d->words - d->nonzeros) return 0;
    if (n < d->words) return INFINITY;
    return floor((double)d->nonzeros / words * words);
}

void sx_timeloop_metadata(const sx_sparse_state *state, int tensor, int level, uint64_t k, double (*out)[2]) {
    const sx_sparse_tile *t = &state->tile[tensor][level];
    const sx_density *d = sx_sparse_density(state, tensor);
    int top = t->n_ranks - 1, counted = t->format->inner_to_outer ? 0 : top;
    double fibers = 1;
    uint64_t words = t->words;
    for (int r = top; r >= 0; words = t->sub[r], fibers *= (double)t->fiber[r], r--) {
        double f = (double)t->fiber[r];
        out[r][0] = out[r][1] = 0;
        if (t->fiber[r] == 1 && r != counted) continue;
        double present = fibers * (1 - sx_density_empty_given(d, state->cache, words, t->words, k));
        double filled = 1 - sx_density_empty_given(d, state->cache, t->sub[r], t->words, k);
        switch ((sx_rank_kind)t->format->rank[r].kind) {
        case SX_RANK_CP:
            out[r][0] = out[r][1] = ceil(f * filled) * present;
            break;
        case SX_RANK_RLE:
            out[r][0] = out[r][1] = f * filled * present;
            break;
        case SX_RANK_B:
            out[r][0] = present * f;
            out[r][1] = present * ceil(f * filled);
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

/* Adds metadata of one occupancy. */
static void add_metadata(const sx_sparse_state *state, int v, int s, uint64_t k, double p, bool first,
                         double (*sum)[2]) {
    double part[SX_MAX_FORMAT_RANKS][2];
    sx_timeloop_metadata(state, v, s, k, part);
    for (int r = 0; r < state->tile[v][s].n_ranks; r++)
        for (int i = 0; i < 2; i++) sum[r][i] = first ? part[r][i] * p : sum[r][i] + part[r][i] * p;
}

/* The expected occupancy of a tile, and of its metadata. */
static void expect_tile(sx_sparse_state *state, int v, int s) {
    sx_sparse_tile *t = &state->tile[v][s];
    const sx_density *d = sx_sparse_density(state, v);
    double least = least_occupancy(d, t->words), most = (double)sx_density_most(d, t->words);
    sx_occupancies at;
    if (!sx_density_window(d, state->cache, t->words, &at)) {
        state->failed = true;
        return;
    }
    size_t low = 0, high = at.n;
    while (low < high && (double)(at.first + low) < least) low++;
    while (high > low && (double)(at.first + high - 1) > most) high--;
    bool given = t->parent >= 0 && state->tile[v][t->parent].format && least == 0 && low < high;
    double rest = given ? 1 - at.probability[low] : 1, sum = 0;
    if (given) t->instances *= rest;
    memset(t->metadata, 0, sizeof t->metadata);
    for (size_t i = low; i < high; i++) {
        double p = at.probability[i];
        if (given) p = i == low || rest == 0 ? 0 : p / rest;
        sum = fma(p, (double)(at.first + i), sum);
        if (t->format) add_metadata(state, v, s, at.first + i, p, i == low, t->metadata);
    }
    t->possible = low < high;
    t->occupancy = sum;
    t->density = sum / (double)t->words;
}

/* The loop that leads the accesses to a target, and the loops that share them. */
typedef struct leader {
    int level, child; /* of the target */
    bool scalar, spatial;
    uint8_t dim;
    int n_loops;
    sx_full_loop loop[SX_MAX_LEVELS * 2 * SX_MAX_DIMS];
    uint32_t mold[SX_MAX_DIMS], box[SX_MAX_DIMS];
} leader;

/* Whether loop i of a level leads. */
static bool loop_leads(const sx_sparse_state *state, int s, int i, int child, unsigned dims, bool *scalar) {
    const sx_full_loop *loop = &state->loop[s][i];
    if (child >= 0) return loop->n != 1 && dims >> loop->dim & 1;
    if (i + 1 < state->n_loops[s] && loop[1].spatial) return loop->n != 1 && dims >> loop->dim & 1;
    *scalar = !loop->spatial;
    return true;
}

/* Finds the leading loop; sets `mold` to the extents up to it. */
static void find_leader(const sx_sparse_state *state, unsigned dims, leader *l, int *level, int *index) {
    const sx_model *model = state->model;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < model->n_dims; d++) extent[d] = l->child >= 0 ? state->nest->extent[l->child][d] : 1;
    bool found = false;
    *level = l->level;
    *index = state->n_loops[l->level] - 1;
    for (int s = l->child + 1; s <= l->level && !found; s++)
        for (int i = 0; i < state->n_loops[s] && !found; i++) {
            extent[state->loop[s][i].dim] *= state->loop[s][i].n;
            found = loop_leads(state, s, i, l->child, dims, &l->scalar);
            if (!found) continue;
            *level = s;
            *index = i;
        }
    for (int d = 0; d < model->n_dims; d++) l->mold[d] = l->scalar ? 1 : extent[d];
}

/* Describes how accesses to a target at a level are led. */
static void describe_leader(const sx_sparse_state *state, int target, int level, leader *l) {
    unsigned dims = state->model->sparse->dims[target];
    int at, index;
    *l = (leader){.level = level, .child = state->tile[target][level].child};
    find_leader(state, dims, l, &at, &index);
    const sx_full_loop *first = &state->loop[at][index];
    l->dim = first->dim;
    l->spatial = first->spatial;
    l->loop[l->n_loops++] = *first;
    memcpy(l->box, l->mold, sizeof l->box);
    bool located = !first->spatial;
    for (int s = at; s <= level; s++)
        for (int i = s == at ? index + 1 : 0; i < state->n_loops[s]; i++) {
            const sx_full_loop *loop = &state->loop[s][i];
            bool mine = dims >> loop->dim & 1;
            if (loop->n == 1) continue;
            if (loop->spatial || (!located && l->child >= 0 && !mine)) {
                l->box[loop->dim] *= loop->n;
                l->loop[l->n_loops++] = *loop;
            }
            if (l->spatial && !loop->spatial && (l->child < 0 || mine)) located = true;
        }
}

/* The words of a tensor on which an access depends; 0 where Timeloop finds no dependence. */
static uint64_t depends_on(const sx_sparse_state *state, const leader *l, int target, int on) {
    const sx_model *model = state->model;
    unsigned theirs = model->sparse->dims[on], both = model->sparse->dims[target] & theirs;
    double factor[SX_MAX_DIMS], all = 1;
    unsigned shared = 0;
    for (int i = 0; i < l->n_loops && !l->scalar; i++) {
        unsigned d = l->loop[i].dim;
        if (l->spatial && shared && theirs >> d & 1) return 0;
        if (!(both >> d & 1)) continue;
        factor[d] = (shared >> d & 1 ? factor[d] : 1.0) * l->loop[i].n;
        all *= l->loop[i].n;
        shared |= 1u << d;
    }
    uint32_t box[SX_MAX_DIMS];
    memcpy(box, l->box, sizeof box);
    double words = (double)sx_shape_words(&model->shape[target], l->mold);
    double need = ceil(sx_level_whole_block(&model->level[l->level], target) / (words / all));
    for (int d = 0; d < model->n_dims; d++) {
        if (!(shared >> d & 1)) continue;
        box[d] = (uint32_t)ceil(box[d] / (factor[d] / need));
        need /= factor[d];
    }
    if (need > 1) box[l->dim] = (uint32_t)(box[l->dim] * need);
    return sx_shape_words(&model->shape[on], box);
}

/* The probability that an access to a target is ineffectual, given what it depends on. */
static double ineffectual_share(const sx_sparse_state *state, int target, int level, unsigned on) {
    leader l;
    double effectual = 1;
    describe_leader(state, target, level, &l);
    for (int v = 0; v < state->model->n_tensors; v++) {
        uint64_t words = on >> v & 1 ? depends_on(state, &l, target, v) : 0;
        if (words) effectual *= 1 - sx_density_empty(sx_sparse_density(state, v), state->cache, words);
    }
    return 1 - effectual;
}

/* What an option would save: energy of the tile that it acts on. */
static double option_saves(const sx_sparse_state *state, int target, int level, double p) {
    const sx_model *model = state->model;
    const sx_sparse_tile *t = &state->tile[target][level];
    const sx_sparse_tile *sent = t->child >= 0 ? &state->tile[target][t->child] : t;
    const sx_storage *storage = &model->arch->level[level];
    double metadata = 0;
    for (int r = 0; sent->format && r < sent->n_ranks; r++)
        metadata += sent->metadata[r][0] + sent->metadata[r][1];
    double occupancy = t->occupancy + metadata * (storage->metadata.word_bits / storage->word_bits);
    return model->level[level].read_energy / sx_level_block(&model->level[level], target) * occupancy * p;
}

/* Takes an action into account: that of its options that saves most. */
static sx_verdict act_on_tensor(sx_sparse_state *state, const sx_action_model *a) {
    const sx_model *model = state->model;
    double most = 0, chosen_p = 0;
    int chosen = -1, chosen_level = 0;
    for (int i = 0; i < a->n_options; i++) {
        int target = a->option[i].target, level = a->level;
        while (level < model->n_levels && !state->tile[target][level].words) level++;
        if (level == model->n_levels)
            return (sx_verdict){SX_SPARSE_UNDEFINED, (int8_t)a->level, (int8_t)target, -1, 0, 0};
        const sx_sparse_tile *t = &state->tile[target][level];
        const sx_sparse_tile *sent = t->child >= 0 ? &state->tile[target][t->child] : t;
        if (sent->format && !sent->possible)
            return (sx_verdict){SX_SPARSE_UNDEFINED, (int8_t)level, (int8_t)target, -1, 0, 0};
        double p = ineffectual_share(state, target, level, a->option[i].on);
        double saved = option_saves(state, target, level, p);
        if (chosen >= 0 && saved < most) continue;
        chosen = target;
        chosen_level = level;
        chosen_p = p;
        most = saved;
    }
    sx_sparse_tile *t = &state->tile[chosen][chosen_level];
    if (t->acts && !(t->ineffectual < chosen_p)) return good;
    t->acts = true;
    t->ineffectual = chosen_p;
    t->skips = a->skips;
    return good;
}

static double six_decimals(double value) {
    return round(value * 1000000) / 1000000;
}

/* The states in which computes find an operand, given what other operands' actions have removed. */
static sx_verdict find_states(sx_sparse_state *state, const int operand[2]) {
    const sx_model *model = state->model;
    double word[2], empty[2];
    bool acts[2] = {false, false};
    for (int i = 0; i < 2; i++) {
        int v = operand[i];
        word[i] = six_decimals(six_decimals(sx_density_of_word(&model->sparse->density[v])));
        empty[i] = 0;
        for (int s = model->n_levels - 1; s >= 0; s--) {
            if (!state->tile[v][s].acts) continue;
            acts[i] = true;
            empty[i] = six_decimals(state->tile[v][s].ineffectual);
        }
    }
    for (int i = 0; i < 2; i++) {
        int v = operand[i], s = 0;
        while (!state->tile[v][s].words) s++;
        double x = acts[1 - i] ? word[i] / (1 - empty[1 - i]) : word[i];
        double value[3] = {x, 1 - x, 0};
        if (state->tile[v][s].format) value[2] = value[1], value[1] = 0;
        for (int k = 0; k < 3; k++) {
            if (!(value[k] >= -0.00001 && value[k] <= 1.00001))
                return (sx_verdict){SX_SPARSE_UNDEFINED, (int8_t)s, (int8_t)v, -1, 0, 0};
            state->state[v][k] = fmin(1, fmax(0, value[k]));
        }
    }
    return good;
}

/* Whether probabilities of actions at several levels can be combined. */
static sx_verdict check_stack(const sx_sparse_state *state, int v) {
    bool certain = false;
    for (int s = state->model->n_levels - 1; s >= 0; s--) {
        const sx_sparse_tile *t = &state->tile[v][s];
        if (!t->acts) continue;
        if (certain || !isfinite(t->ineffectual))
            return (sx_verdict){SX_SPARSE_UNDEFINED, (int8_t)s, (int8_t)v, -1, 0, 0};
        certain = t->ineffectual == 1;
    }
    return good;
}

sx_verdict sx_timeloop_prepare(sx_sparse_state *state) {
    const sx_model *model = state->model;
    const struct sx_sparse_model *sparse = model->sparse;
    int operand[2] = {0, 0}, n = 0;
    for (int v = 0; v < model->n_tensors; v++) {
        if (model->shape[v].output) continue;
        if (n < 2) operand[n] = v;
        n++;
    }
    if (n != 2) return (sx_verdict){SX_SPARSE_UNDEFINED, (int8_t)model->n_levels, -1, -1, 0, 0};
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels; s++)
            if (state->tile[v][s].words) expect_tile(state, v, s);
    sx_verdict verdict = good;
    for (int skips = 0; skips < 2; skips++)
        for (int s = 0; s < model->n_levels; s++)
            for (int i = 0; i < sparse->n_actions && verdict.reason == SX_LEGAL; i++)
                if (sparse->action[i].skips == (skips == 1) && sparse->action[i].level == s)
                    verdict = act_on_tensor(state, &sparse->action[i]);
    for (int v = 0; v < model->n_tensors && verdict.reason == SX_LEGAL; v++) verdict = check_stack(state, v);
    if (verdict.reason == SX_LEGAL) verdict = find_states(state, operand);
    return verdict;
}
