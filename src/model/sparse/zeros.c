/* Scores of sparse models on the core's state: the charges of sparse/charge.c, in their order of operations. */
#include "model/sparse/zeros.h"
#include "model/core_score.h"
#include "model/sparse/charge.h"
#include "model/sparse/use.h"

#include <stdlib.h>

sx_zero_pass *sx_zeros_new(const sx_model *model, sx_sparse_state *sparse, sx_core_model *core,
                           sx_core_work *work) {
    sx_zero_pass *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->model = model;
    f->p = core;
    f->st = &work->st;
    f->sparse = sparse;
    f->n_levels = model->n_levels;
    f->n_dims = model->n_dims;
    f->n_tensors = model->n_tensors;
    f->several = f->n_tensors > 3;
    for (int s = 0; s < f->n_levels; s++) {
        f->bounded |= (uint32_t)model->level[s].bounded << s;
        if (model->sparse->formatted && !isinf(model->sparse->level[s].metadata_limit)) f->limited |= 1u << s;
    }
    for (int v = 0; v < f->n_tensors; v++) {
        f->density[v] = sx_density_of_word(&model->sparse->density[v]);
        f->share[v] = model->sparse->density[v].share;
        f->blank[v] = sx_sparse_empty(sparse, v, 1);
        f->random[v] = model->sparse->density[v].model == SX_DENSITY_HYPERGEOMETRIC;
        if (!model->shape[v].unit) f->mixed |= (uint8_t)(1u << v);
        for (int s = 0; s < f->n_levels; s++) f->block[v][s] = sx_level_whole_block(&model->level[s], v);
    }
    return f;
}

/* Whether the metadata of all tensors fit their levels for certain. */
static bool metadata_fit(const sx_zero_pass *f) {
    const sx_zeros_held(*held)[SX_CORE_LEVELS] = (const void *)f->held;
    for (uint32_t left = f->limited; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        double bits = 0;
        for (int v = 0; v < f->n_tensors; v++)
            if (f->kept[v] >> s & 1 && held[v][s].format)
                bits += f->st->words[v][s] * held[v][s].format->most_bits;
        if (!(bits <= f->model->sparse->level[s].metadata_limit)) return false;
    }
    return true;
}

/* What is left of dense accesses to a tensor at a level. */
static inline sx_exact_shares shares_of(const sx_zeros_held *h, double density) {
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
static double conversion_energy(const sx_zero_pass *f, int v, int s, const sx_core_accesses *c) {
    const sx_zeros_held *h = &f->held[v][s];
    const sx_sparse_level *level = &f->model->sparse->level[s];
    if (h->packed || h->parent < 0 || !f->held[v][h->parent].packed) return 0;
    sx_exact_shares here = shares_of(h, f->density[v]),
                    outside = shares_of(&f->held[v][h->parent], f->density[v]);
    double decompressions = words_left(&here, c[s].fills, here.exists), compressions = 0;
    if (f->p->tensor[v].output) compressions = words_left(&outside, c[h->parent].updates, outside.effectual);
    return decompressions * level->decompression_energy + compressions * level->compression_energy;
}

/* Charges a tensor's accesses to a level; `use` has its conversions. The rates are words, not yet per cycle. */
static inline __attribute__((always_inline)) void charge_level(const sx_zero_pass *f, const sx_zeros_held *h,
                                                               int s, double density,
                                                               const sx_core_accesses *c, bool output,
                                                               sx_sparse_usage *use, double *out) {
    const sx_level *level = use->level;
    const sx_sparse_level *sparse = &f->model->sparse->level[s];
    double instances = f->st->above[s], clusters = f->st->clusters[s], conversions = use->energy;
    sx_exact_shares shares = shares_of(h, density);
    use->energy = 0;
    sx_exact_use(sparse, &shares, c->reads, c->fills, c->updates, output, h->ratio, 1, use);
    double energy = (use->energy + conversions) / (instances / clusters) * instances;
    double generations = use->words[output ? SX_UPDATE : SX_READ] + use->words[SX_FILL];
    out[s] = energy + generations * level->addr_gen_energy * clusters;
    if (level->bounded) sx_sparse_ports(sparse, use, false, &out[f->n_levels + s], &out[2 * f->n_levels + s]);
}

/* Charges a tensor's accesses (core/charge.h). Adds those to the level `last` up. */
static void charge_tensor(const sx_zero_pass *f, int v, double cycles, int last, double *accesses,
                          double *out) {
    sx_core_accesses c[SX_CORE_LEVELS];
    const sx_zeros_held *held = f->held[v];
    double density = f->density[v];
    bool output = f->p->tensor[v].output, converts = f->model->sparse->converts >> v & 1;
    sx_core_count_levels(f->p, f->st, v, f->kept[v], c);
    double *reads = out + f->n_levels, *writes = reads + f->n_levels;
    for (int i = 0; i < 3 * f->n_levels; i++) out[i] = 0;
    for (uint32_t left = f->kept[v]; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        sx_sparse_usage use = {.level = &f->model->level[s], .tensor = v};
        if (converts) use.energy = conversion_energy(f, v, s, c);
        if (output)
            charge_level(f, &held[s], s, density, &c[s], true, &use, out);
        else
            charge_level(f, &held[s], s, density, &c[s], false, &use, out);
    }
    for (uint32_t left = f->bounded & f->kept[v]; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        double scale = f->model->level[s].scale[v];
        reads[s] = reads[s] / cycles * scale;
        writes[s] = writes[s] / cycles * scale;
    }
    if (!(f->kept[v] >> last & 1)) return;
    sx_exact_shares shares = shares_of(&held[last], density);
    *accesses += words_left(&shares, c[last].reads, shares.effectual);
    *accesses += words_left(&shares, c[last].fills, shares.exists);
    *accesses += words_left(&shares, c[last].updates, shares.effectual);
}

/* Makes the tiles of all tensors; returns the levels that keep one, 0 where they are not covered. */
static uint32_t hold_tiles(sx_zero_pass *f) {
    uint32_t kept = 0;
    for (int v = 0; v < f->n_tensors; v++) {
        f->kept[v] = sx_core_kept(f->p, &f->st->nest, v);
        if (!sx_zeros_hold(f, v)) return 0;
        kept |= f->kept[v];
    }
    return metadata_fit(f) && sx_zeros_settle(f) ? kept : 0;
}

/* Adds the charges up. */
static sx_score add_charges(sx_zero_pass *f, const sx_sparse_computed *computed, double accesses) {
    uint32_t at[SX_CORE_TENSORS];
    double energy, cycles, steps = f->st->cycles;
    for (int v = 0; v < f->n_tensors; v++) at[v] = (uint32_t)v * SX_CORE_CHARGE;
    f->p->compute_energy = computed->energy;
    f->st->cycles = computed->cycles;
    sx_core_sum(f->p, f->st, f->charge[0], at, &energy, &cycles);
    f->st->cycles = steps;
    double share = computed->busy / (double)f->model->compute_instances;
    return (sx_score){energy, cycles, share / cycles, accesses, cycles};
}

bool sx_zeros_score(sx_zero_pass *f, const sx_objective *objective, double bound, sx_score *score,
                    sx_verdict *verdict) {
    sx_sparse_state *state = f->sparse;
    state->failed = state->details = false;
    uint32_t kept = hold_tiles(f);
    if (!kept) return false;
    sx_exact_count(state);
    sx_sparse_computed computed = sx_sparse_compute(state, f->st->cycles, 1);
    double accesses = 0, energy = computed.energy;
    int last = 31 - __builtin_clz(kept);
    for (int v = 0; v < f->n_tensors; v++) {
        if (sx_is_beyond(objective, bound, energy, computed.cycles + f->p->latency)) {
            verdict->reason = SX_BOUND_EXCEEDED;
            return true;
        }
        charge_tensor(f, v, computed.cycles, last, &accesses, f->charge[v]);
        for (int s = 0; s < f->n_levels && objective; s++) energy += f->charge[v][s];
    }
    if (state->failed || sx_density_cache_failed(state->cache)) {
        for (int v = 0; v < f->n_tensors; v++) f->held_for[v] = 0;
        return false;
    }
    *score = add_charges(f, &computed, accesses * f->st->above[last]);
    if (objective && sx_objective_value(objective, score) > bound) verdict->reason = SX_BOUND_EXCEEDED;
    return true;
}
