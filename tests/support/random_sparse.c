#include "support/random_sparse.h"

#include <string.h>

/* The number of a name, which is added where it is new. */
static uint8_t number_of(sx_sparse *sparse, const char *name) {
    for (uint8_t i = 0; i < sparse->n_names; i++)
        if (strcmp(sparse->name[i], name) == 0) return i;
    strcpy(sparse->name[sparse->n_names], name);
    return sparse->n_names++;
}

static void draw_densities(sx_rng *rng, sx_problem *problem) {
    static const double share[] = {1, 0.7, 0.5, 0.3, 0.1, 0.03};
    for (int v = 0; v < problem->n_tensors; v++) {
        sx_tensor *tensor = &problem->tensor[v];
        if (sx_rng_below(rng, tensor->output ? 3 : 5) == 0) continue;
        tensor->density_model = (uint8_t)(1 + sx_rng_below(rng, 2));
        tensor->density = share[sx_rng_below(rng, 6)];
    }
}

static void draw_stores(sx_rng *rng, sx_arch *arch) {
    for (int s = 0; s < arch->n_levels; s++) {
        sx_metadata_store *m = &arch->level[s].metadata;
        m->word_bits = (uint32_t)sx_rng_below(rng, 3) * 4;
        m->width = 32;
        m->depth = sx_rng_below(rng, 6) ? 1u << 20 : 1 + sx_rng_below(rng, 20);
        m->decompresses = m->compresses = sx_rng_below(rng, 8) > 0;
        for (int fate = 0; fate < SX_N_ACTION_KINDS; fate++)
            for (int a = 0; a < SX_N_ACCESSES; a++) {
                m->data_energy[fate][a] = fate ? 0.125 * (double)sx_rng_below(rng, 5) : 0;
                m->metadata_energy[fate][a] = 0.25 * (double)sx_rng_below(rng, 5);
            }
    }
    arch->compute.gated_energy = (double)sx_rng_range(rng, -1, 2) * 0.25;
    arch->compute.skipped_energy = (double)sx_rng_range(rng, -1, 2) * 0.125;
}

/* Gives a tensor formats from some level on outward: a rank more at each level. */
static void draw_formats(sx_rng *rng, const sx_problem *problem, sx_arch *arch, int tensor) {
    static const sx_rank_kind kinds[] = {SX_RANK_CP, SX_RANK_RLE, SX_RANK_B};
    sx_sparse *sparse = &arch->sparse;
    const sx_rank_kind kind = kinds[sx_rng_below(rng, 3)];
    bool flat = sx_rng_below(rng, 3) > 0, inside = sx_rng_below(rng, 4) == 0;
    uint32_t dims = 0;
    for (int d = 0; d < problem->n_dims; d++) dims |= 1u << number_of(sparse, problem->dim_name[d]);
    int ranks = 0;
    for (int s = (int)sx_rng_below(rng, arch->n_levels); s < arch->n_levels; s++) {
        ranks += flat ? 1 : 3;
        if (ranks > 8) ranks = 8;
        if (sparse->n_ranks + ranks > SX_MAX_ALL_RANKS) return;
        sx_tensor_format *f = &sparse->format[sparse->n_formats++];
        *f = (sx_tensor_format){.level = (uint8_t)s,
                                .tensor = number_of(sparse, problem->tensor[tensor].name),
                                .n_ranks = (uint8_t)ranks,
                                .inner_to_outer = inside,
                                .first = sparse->n_ranks};
        for (int r = 0; r < ranks; r++) {
            bool offsets = r > 0 && r == ranks - 1 && s == arch->n_levels - 1 && sx_rng_below(rng, 3) == 0;
            sx_rank_format rank = {.kind = (uint8_t)(offsets ? SX_RANK_UOP : kind),
                                   .n_flattened = flat,
                                   .metadata_bits = SX_BITS_DEFAULT,
                                   .payload_bits = SX_BITS_DEFAULT};
            if (flat) rank.flattened[0] = dims;
            sparse->rank[sparse->n_ranks++] = rank;
        }
    }
}

static void draw_action(sx_rng *rng, const sx_problem *problem, sx_arch *arch) {
    sx_sparse *sparse = &arch->sparse;
    sx_sparse_action *a = &sparse->action[sparse->n_actions++];
    *a = (sx_sparse_action){.level = (uint8_t)sx_rng_below(rng, arch->n_levels),
                            .skips = sx_rng_below(rng, 2)};
    int n = 1 + (sx_rng_below(rng, 4) == 0);
    for (int i = 0; i < n; i++) {
        int target = (int)sx_rng_below(rng, problem->n_tensors);
        sx_action_option *o = &a->option[a->n_options++];
        *o = (sx_action_option){.target = number_of(sparse, problem->tensor[target].name)};
        for (int v = 0; v < problem->n_tensors; v++)
            if (v != target && !problem->tensor[v].output && (sx_rng_below(rng, 2) || !o->on))
                o->on |= 1u << number_of(sparse, problem->tensor[v].name);
        if (!o->on) o->on = 1u << number_of(sparse, problem->tensor[(target + 1) % problem->n_tensors].name);
    }
}

void sx_random_sparse(sx_rng *rng, sx_problem *problem, sx_arch *arch) {
    draw_densities(rng, problem);
    draw_stores(rng, arch);
    for (int v = 0; v < problem->n_tensors; v++)
        if (sx_rng_below(rng, 2)) draw_formats(rng, problem, arch, v);
    for (int n = (int)sx_rng_below(rng, 4); n > 0; n--) draw_action(rng, problem, arch);
    arch->sparse.gates_compute = sx_rng_below(rng, 2);
    arch->sparse.skips_compute = sx_rng_below(rng, 3) == 0;
}
