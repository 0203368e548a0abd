/* Scores of sparse models whose pass a frame does itself: the charges of sparse/charge.c, in their order of operations. */
#include "model/frame/zeros.h"
#include "model/sparse/charge.h"
#include "model/sparse/use.h"

/* Whether the metadata of all tensors fit their levels for certain. */
static bool metadata_fit(const sx_cost_frame *f) {
    const sx_frame_held(*held)[SX_FRAME_LEVELS] = (const void *)f->zeros->held;
    for (uint32_t left = f->zeros->limited; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        double bits = 0;
        for (int v = 0; v < f->n_tensors; v++)
            if (f->kept[v] >> s & 1 && held[v][s].format)
                bits += f->words[v][s] * held[v][s].format->most_bits;
        if (!(bits <= f->model->sparse->level[s].metadata_limit)) return false;
    }
    return true;
}

/* What is left of dense accesses to a tensor at a level. */
static inline sx_exact_shares shares_of(const sx_frame_held *h, double density) {
    return (sx_exact_shares){.formatted = h->format != NULL,
                             .acts = h->on != 0,
                             .skips = h->skips,
                             .density = density,
                             .words = h->words,
                             .bits = h->bits,
                             .exists = h->exists,
                             .effectual = h->effectual};
}

/* The words that accesses to a tile move. */
static inline double words_left(const sx_exact_shares *t, double count, double share) {
    return t->formatted ? count * t->density * share : count * share;
}

/* The energy of what a level decompresses and compresses. */
static double conversions(const sx_cost_frame *f, int v, int s, const sx_frame_counts *c) {
    const sx_frame_held *h = &f->zeros->held[v][s];
    const sx_sparse_level *level = &f->model->sparse->level[s];
    if (h->packed || h->parent < 0 || !f->zeros->held[v][h->parent].packed) return 0;
    sx_exact_shares here = shares_of(h, f->zeros->density[v]),
                    outside = shares_of(&f->zeros->held[v][h->parent], f->zeros->density[v]);
    double decompressions = words_left(&here, c[s].fills, here.exists), compressions = 0;
    if (f->tensor[v].output) compressions = words_left(&outside, c[h->parent].updates, outside.effectual);
    return decompressions * level->decompression_energy + compressions * level->compression_energy;
}

/* Charges a tensor's accesses to a level; `use` has its conversions. The rates are words, not yet per cycle. */
static inline __attribute__((always_inline)) void charge_level(const sx_cost_frame *f, const sx_frame_held *h,
                                                               int s, double density,
                                                               const sx_frame_counts *c, bool output,
                                                               sx_sparse_usage *use, sx_frame_charge *out) {
    const sx_level *level = use->level;
    const sx_sparse_level *sparse = &f->model->sparse->level[s];
    double instances = f->above[s], clusters = f->clusters[s], conversions = use->energy;
    sx_exact_shares shares = shares_of(h, density);
    use->energy = 0;
    sx_exact_use(sparse, &shares, c->reads, c->fills, c->updates, output, h->ratio, 1, use);
    double energy = (use->energy + conversions) / (instances / clusters) * instances;
    double generations = use->words[output ? SX_UPDATE : SX_READ] + use->words[SX_FILL];
    out->energy[s] = energy + generations * level->addr_gen_energy * clusters;
    if (level->bounded) sx_sparse_ports(sparse, use, false, &out->reads[s], &out->writes[s]);
}

/* Charges a tensor's accesses. Adds those to the level `last` up. */
static void charge_tensor(const sx_cost_frame *f, int v, double cycles, int last, double *accesses,
                          sx_frame_charge *out) {
    sx_frame_counts c[SX_FRAME_LEVELS];
    const sx_frame_held *held = f->zeros->held[v];
    double density = f->zeros->density[v];
    bool output = f->tensor[v].output, converts = f->model->sparse->converts >> v & 1;
    sx_frame_count_levels(f, v, f->kept[v], c);
    for (int s = 0; s < f->n_levels; s++) out->energy[s] = out->reads[s] = out->writes[s] = 0;
    for (uint32_t left = f->kept[v]; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        sx_sparse_usage use = {.level = &f->model->level[s], .tensor = v};
        if (converts) use.energy = conversions(f, v, s, c);
        if (output)
            charge_level(f, &held[s], s, density, &c[s], true, &use, out);
        else
            charge_level(f, &held[s], s, density, &c[s], false, &use, out);
    }
    for (uint32_t left = f->bounded & f->kept[v]; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        double scale = f->model->level[s].scale[v];
        out->reads[s] = out->reads[s] / cycles * scale;
        out->writes[s] = out->writes[s] / cycles * scale;
    }
    out->kept = f->kept[v];
    if (!(f->kept[v] >> last & 1)) return;
    sx_exact_shares shares = shares_of(&held[last], density);
    *accesses += words_left(&shares, c[last].reads, shares.effectual);
    *accesses += words_left(&shares, c[last].fills, shares.exists);
    *accesses += words_left(&shares, c[last].updates, shares.effectual);
}

bool sx_frame_score_zeros(sx_cost_frame *f, const sx_objective *objective, double bound, sx_score *score,
                          sx_verdict *verdict) {
    sx_sparse_state *state = f->sparse;
    const sx_frame_charge *charge[SX_MAX_TENSORS] = {NULL};
    uint32_t kept = 0;
    state->failed = state->details = false;
    for (int v = 0; v < f->n_tensors; v++) {
        if (!sx_frame_count(f, v)) {
            f->known = false;
            return false;
        }
        if (!sx_frame_hold(f, v)) return false;
        kept |= f->kept[v];
    }
    if (!metadata_fit(f) || !sx_frame_settle(f)) return false;
    sx_exact_count(state);
    sx_sparse_computed computed = sx_sparse_compute(state, f->cycles, 1);
    double accesses = 0, energy = computed.energy;
    int last = 31 - __builtin_clz(kept);
    for (int v = 0; v < f->n_tensors; v++) {
        if (objective &&
            sx_frame_beyond(&objective->criterion[0], bound, energy, computed.cycles + f->latency)) {
            verdict->reason = SX_BOUND_EXCEEDED;
            return true;
        }
        charge_tensor(f, v, computed.cycles, last, &accesses, &f->zeros->charge[v]);
        charge[v] = &f->zeros->charge[v];
        for (int s = 0; s < f->n_levels && objective; s++) energy += charge[v]->energy[s];
    }
    if (state->failed || sx_density_cache_failed(state->cache)) {
        for (int v = 0; v < f->n_tensors; v++) f->zeros->kept[v] = 0;
        return false;
    }
    sx_frame_computes computes = {computed.cycles, computed.energy,
                                  computed.busy / (double)f->model->compute_instances};
    sx_frame_sum(f, computes, charge, kept, score);
    score->last_level_accesses = accesses * f->above[last];
    if (objective && sx_objective_value(objective, score) > bound) verdict->reason = SX_BOUND_EXCEEDED;
    return true;
}
