#include "support/sparse_case.h"

#include "support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
    "Z[m,n] += A[m,k]*B[k,n] {m:%u,n:%u,k:%u}",
    "Z[p] += A[p+r,c]*B[r,c] {p:%u,r:%u,c:%u}",
    "Z[m] += A[m,k]*B[k,n]*C[n] {m:%u,n:%u,k:%u}",
    "Z[m,n] += A[m,k]*B[k,n]*C[m,k] {m:%u,n:%u,k:%u}",
};

/* Splits a size into random factors of all loops of its dimension. */
static void draw_factors(sx_rng *rng, sx_sparse_case *t, int d) {
    uint32_t left = t->problem.size[d];
    for (uint32_t prime = 2; left > 1;) {
        if (left % prime) {
            prime++;
            continue;
        }
        sx_mapping_level *at = &t->mapping.level[sx_rng_below(rng, SX_SPARSE_LEVELS)];
        if (sx_rng_below(rng, 3))
            at->temporal[d] *= prime;
        else
            at->spatial[d] *= prime;
        left /= prime;
    }
}

void sx_random_sparse_nest(sx_rng *rng, unsigned n_sizes, sx_sparse_case *t) {
    static const unsigned sizes[] = {1, 2, 3, 4, 6, 8, 12};
    char text[128];
    unsigned size[3];
    memset(t, 0, sizeof *t);
    for (int i = 0; i < 3; i++) size[i] = sizes[sx_rng_below(rng, n_sizes)];
    snprintf(text, sizeof text, texts[sx_rng_below(rng, 4)], size[0], size[1], size[2]);
    sx_expect_ok(sx_einsum_parse(text, &t->problem));
    sx_compute_init(&t->arch.compute);
    strcpy(t->arch.compute.name, "MAC");
    t->arch.compute.energy = 1;
    t->arch.compute.gated_energy = 0.5;
    t->arch.compute.skipped_energy = 0.25;
    t->arch.compute.instances = t->arch.compute.mesh_x = 1 << 12;
    t->arch.n_levels = SX_SPARSE_LEVELS;
    for (int s = 0; s < SX_SPARSE_LEVELS; s++) {
        sx_storage *level = &t->arch.level[s];
        sx_storage_init(level);
        snprintf(level->name, sizeof level->name, "L%d", s);
        level->instances = level->mesh_x = s == SX_SPARSE_LEVELS - 1 ? 1 : 1u << (12 - 6 * s);
        level->block_size = sx_rng_below(rng, 3) ? 1 : 2;
        level->read_energy = 3 + s;
        level->fill_energy = 2 + s;
        level->update_energy = 4 + s;
        level->addr_gen_energy = 0.5;
        level->metadata = (sx_metadata_store){.word_bits = 4, .width = 16, .depth = 1 << 30};
        level->metadata.decompresses = level->metadata.compresses = true;
        for (int i = 0; i < 9; i++) {
            level->metadata.data_energy[i / 3][i % 3] = i < 3 ? 0 : 0.125 * i;
            level->metadata.metadata_energy[i / 3][i % 3] = 0.25 * (i + 1);
        }
    }
    sx_mapping_init(&t->mapping, &t->problem, &t->arch);
    for (int d = 0; d < t->problem.n_dims; d++) t->mapping.level[SX_SPARSE_LEVELS - 1].temporal[d] = 1;
    for (int d = 0; d < t->problem.n_dims; d++) draw_factors(rng, t, d);
    for (int s = 0; s < SX_SPARSE_LEVELS; s++) {
        sx_rng_shuffle(rng, t->mapping.level[s].temporal_order, t->problem.n_dims);
        t->mapping.level[s].split = t->problem.n_dims;
    }
}

static uint8_t number_of(sx_sparse *sparse, const char *name) {
    for (uint8_t i = 0; i < sparse->n_names; i++)
        if (strcmp(sparse->name[i], name) == 0) return i;
    strcpy(sparse->name[sparse->n_names], name);
    return sparse->n_names++;
}

void sx_random_sparse_hardware(sx_rng *rng, sx_sparse_case *t) {
    static const double shares[] = {1, 0.75, 0.5, 0.25, 0.1};
    sx_sparse *sparse = &t->arch.sparse;
    uint32_t dims = 0;
    for (int d = 0; d < t->problem.n_dims; d++) dims |= 1u << number_of(sparse, t->problem.dim_name[d]);
    for (int v = 0; v < t->problem.n_tensors; v++) {
        sx_tensor *tensor = &t->problem.tensor[v];
        const double share = shares[sx_rng_below(rng, 5)];
        sx_expect_ok(sx_tensor_set_density(tensor, (sx_density_model)(1 + sx_rng_below(rng, 2)), share));
        t->formatted[v] = sx_rng_below(rng, 2);
        if (sx_rng_below(rng, 4) == 0) tensor->bits = (uint8_t)(4u << sx_rng_below(rng, 4));
        for (int s = 0; s < SX_SPARSE_LEVELS && t->formatted[v]; s++) {
            sparse->format[sparse->n_formats++] =
                (sx_tensor_format){.level = (uint8_t)s,
                                   .tensor = number_of(sparse, tensor->name),
                                   .n_ranks = (uint8_t)(s + 1),
                                   .first = sparse->n_ranks};
            for (int r = 0; r <= s; r++)
                sparse->rank[sparse->n_ranks++] = (sx_rank_format){.kind = SX_RANK_CP,
                                                                   .n_flattened = 1,
                                                                   .flattened = {dims},
                                                                   .metadata_bits = SX_BITS_DEFAULT,
                                                                   .payload_bits = SX_BITS_DEFAULT};
        }
    }
    for (uint64_t n = sx_rng_below(rng, 4); n > 0; n--) {
        sx_sparse_action *a = &sparse->action[sparse->n_actions++];
        int target = (int)sx_rng_below(rng, t->problem.n_tensors);
        *a = (sx_sparse_action){.level = (uint8_t)sx_rng_below(rng, SX_SPARSE_LEVELS), .n_options = 1};
        a->skips = sx_rng_below(rng, 2);
        a->option[0].target = number_of(sparse, t->problem.tensor[target].name);
        for (int v = 1; v < t->problem.n_tensors; v++)
            if (v != target && (sx_rng_below(rng, 2) || !a->option[0].on))
                a->option[0].on |= 1u << number_of(sparse, t->problem.tensor[v].name);
    }
    sparse->gates_compute = sx_rng_below(rng, 2);
    sparse->skips_compute = sx_rng_below(rng, 2);
}

void sx_random_sparse_shared(sx_rng *rng, sx_sparse_case *t) {
    sx_sparse *sparse = &t->arch.sparse;
    int n = t->problem.n_tensors, on = 1 + (int)sx_rng_below(rng, (uint64_t)n - 1);
    if (n < 4 || sx_rng_below(rng, 2)) return;
    for (int v = 1; v < n; v++) {
        if (v == on) continue;
        sx_sparse_action *a = &sparse->action[sparse->n_actions++];
        *a = (sx_sparse_action){.level = (uint8_t)sx_rng_below(rng, SX_SPARSE_LEVELS), .n_options = 1};
        a->skips = sx_rng_below(rng, 2);
        a->option[0].target = number_of(sparse, t->problem.tensor[v].name);
        a->option[0].on = 1u << number_of(sparse, t->problem.tensor[on].name);
    }
}

sx_verdict sx_sparse_case_evaluate(const sx_sparse_case *t, bool sparse, sx_cost *out) {
    sx_arch *arch = malloc(sizeof *arch);
    sx_model *model = NULL;
    sx_model_workspace *evaluator = NULL;
    *arch = t->arch;
    if (!sparse) memset(&arch->sparse, 0, sizeof arch->sparse);
    sx_expect_ok(sx_model_new(&t->problem, arch, NULL, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate(evaluator, &t->mapping, out);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    free(arch);
    return verdict;
}
