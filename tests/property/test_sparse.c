/* The exact semantics of sparse tensors against a slow and simple twin, on random cases: test_sparse [count
 * [seed]]. The twin takes dense counts from the dense model; it finds the words on which an access depends by
 * walking the loops and marking them one by one, and probabilities by multiplying factor after factor. */
#include "support/compared.h"
#include "support/expect.h"

#include "sextant/sextant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = 3, MOST_WORDS = 1 << 16 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A case. Every level keeps every tensor, all formats have one flattened rank per level. */
typedef struct trial {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_cost dense, cost;
    double share[SX_MAX_TENSORS];
    uint64_t words[SX_MAX_TENSORS], tile[SX_MAX_TENSORS][LEVELS];
    bool formatted[SX_MAX_TENSORS];
} trial;

static const char *const texts[] = {
    "Z[m,n] += A[m,k]*B[k,n] {m:%u,n:%u,k:%u}",
    "Z[p] += A[p+r,c]*B[r,c] {p:%u,r:%u,c:%u}",
    "Z[m] += A[m,k]*B[k,n]*C[n] {m:%u,n:%u,k:%u}",
    "Z[m,n] += A[m,k]*B[k,n]*C[m,k] {m:%u,n:%u,k:%u}",
};

/* Splits a size into random factors of all loops of its dimension. */
static void draw_factors(sx_rng *rng, trial *t, int d) {
    uint32_t left = t->problem.size[d];
    for (uint32_t prime = 2; left > 1;) {
        if (left % prime) {
            prime++;
            continue;
        }
        sx_mapping_level *at = &t->mapping.level[sx_rng_below(rng, LEVELS)];
        if (sx_rng_below(rng, 3))
            at->temporal[d] *= prime;
        else
            at->spatial[d] *= prime;
        left /= prime;
    }
}

static void draw_case(sx_rng *rng, trial *t) {
    static const unsigned sizes[] = {1, 2, 3, 4, 6, 8, 12};
    char text[128];
    memset(t, 0, sizeof *t);
    snprintf(text, sizeof text, texts[sx_rng_below(rng, 4)], sizes[sx_rng_below(rng, 7)],
             sizes[sx_rng_below(rng, 7)], sizes[sx_rng_below(rng, 7)]);
    sx_expect_ok(sx_einsum_parse(text, &t->problem));
    sx_compute_init(&t->arch.compute);
    strcpy(t->arch.compute.name, "MAC");
    t->arch.compute.energy = 1;
    t->arch.compute.gated_energy = 0.5;
    t->arch.compute.skipped_energy = 0.25;
    t->arch.compute.instances = t->arch.compute.mesh_x = 1 << 12;
    t->arch.n_levels = LEVELS;
    for (int s = 0; s < LEVELS; s++) {
        sx_storage *level = &t->arch.level[s];
        sx_storage_init(level);
        snprintf(level->name, sizeof level->name, "L%d", s);
        level->instances = level->mesh_x = s == LEVELS - 1 ? 1 : 1u << (12 - 6 * s);
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
    for (int d = 0; d < t->problem.n_dims; d++) t->mapping.level[LEVELS - 1].temporal[d] = 1;
    for (int d = 0; d < t->problem.n_dims; d++) draw_factors(rng, t, d);
    for (int s = 0; s < LEVELS; s++) {
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

/* Densities, one flattened rank per level for some tensors, and actions. */
static void draw_sparse(sx_rng *rng, trial *t) {
    static const double shares[] = {1, 0.75, 0.5, 0.25, 0.1};
    sx_sparse *sparse = &t->arch.sparse;
    uint32_t dims = 0;
    for (int d = 0; d < t->problem.n_dims; d++) dims |= 1u << number_of(sparse, t->problem.dim_name[d]);
    for (int v = 0; v < t->problem.n_tensors; v++) {
        sx_tensor *tensor = &t->problem.tensor[v];
        sx_expect_ok(sx_tensor_set_density(tensor, (sx_density_model)(1 + sx_rng_below(rng, 2)),
                                           shares[sx_rng_below(rng, 5)]));
        t->formatted[v] = sx_rng_below(rng, 2);
        for (int s = 0; s < LEVELS && t->formatted[v]; s++) {
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
        *a = (sx_sparse_action){
            .level = (uint8_t)sx_rng_below(rng, LEVELS), .skips = sx_rng_below(rng, 2), .n_options = 1};
        a->option[0].target = number_of(sparse, t->problem.tensor[target].name);
        for (int v = 1; v < t->problem.n_tensors; v++)
            if (v != target && (sx_rng_below(rng, 2) || !a->option[0].on))
                a->option[0].on |= 1u << number_of(sparse, t->problem.tensor[v].name);
    }
    sparse->gates_compute = sx_rng_below(rng, 2);
    sparse->skips_compute = sx_rng_below(rng, 2);
}

/* Whether a dimension indexes a tensor. */
static bool indexes(const trial *t, int v, int d) {
    for (int r = 0; r < t->problem.tensor[v].n_ranks; r++)
        if (t->problem.tensor[v].coef[r][d]) return true;
    return false;
}

/* Marks the words of a tensor within a region that starts at 0 and reaches so far; returns their number. */
static uint64_t mark(const trial *t, int v, const uint32_t *reach) {
    static bool seen[MOST_WORDS];
    const sx_tensor *tensor = &t->problem.tensor[v];
    uint32_t at[SX_MAX_DIMS] = {0};
    uint64_t n = 0;
    memset(seen, 0, sizeof seen);
    for (;;) {
        uint64_t word = 0;
        for (int r = 0; r < tensor->n_ranks; r++) {
            uint64_t rank = 0;
            for (int d = 0; d < t->problem.n_dims; d++) rank += (uint64_t)tensor->coef[r][d] * at[d];
            word = word * 32 + rank;
        }
        assert_true(word < MOST_WORDS);
        n += !seen[word];
        seen[word] = true;
        int d = 0;
        while (d < t->problem.n_dims && ++at[d] == reach[d]) at[d++] = 0;
        if (d == t->problem.n_dims) return n;
    }
}

/* The probability that a tile of n words is empty. */
static double empty(const trial *t, int v, uint64_t n) {
    uint64_t words = t->words[v], nonzeros = (uint64_t)ceil(t->share[v] * (double)words);
    long double p = 1;
    if (t->problem.tensor[v].density_model == SX_DENSITY_FIXED_STRUCTURED)
        return fmax(0, 1 - (double)n * t->share[v]);
    for (uint64_t i = 0; i < n; i++) {
        if (words - nonzeros <= i) return 0;
        p *= (long double)(words - nonzeros - i) / (long double)(words - i);
    }
    return (double)p;
}

static double word_density(const trial *t, int v) {
    return 1 - empty(t, v, 1);
}

/* How many words of C are used with one delivery of T from a level. */
static uint64_t box_words(const trial *t, int target, int level, int on) {
    uint32_t reach[SX_MAX_DIMS];
    const sx_mapping_level *at = &t->mapping.level[level];
    double delivered = level > 0 ? (double)t->tile[target][level - 1] : 1;
    uint32_t need = (uint32_t)ceil(t->arch.level[level].block_size / delivered);
    for (int d = 0; d < t->problem.n_dims; d++)
        reach[d] = level > 0 ? (uint32_t)sx_mapping_extent(&t->mapping, level - 1, d) : 1;
    for (int i = 0; i < t->problem.n_dims; i++) {
        int d = at->spatial_order[i];
        if (!indexes(t, target, d)) {
            reach[d] *= at->spatial[d];
        } else if (at->spatial[d] > 1) {
            reach[d] *= need < at->spatial[d] ? need : at->spatial[d];
            need = (need + at->spatial[d] - 1) / at->spatial[d];
        }
    }
    bool moved = level == 0;
    for (int i = 0; i < t->problem.n_dims; i++) {
        int d = at->temporal_order[i];
        if (at->temporal[d] == 1) continue;
        if (!indexes(t, target, d)) {
            if (!moved) reach[d] *= at->temporal[d];
            continue;
        }
        moved = true;
        reach[d] *= need < at->temporal[d] ? need : at->temporal[d];
        need = (need + at->temporal[d] - 1) / at->temporal[d];
    }
    return mark(t, on, reach);
}

/* What remains of accesses to a tensor after the actions of levels from `low` on outward; skipping ones alone
 * where asked. `part` is what one condition tensor leaves. */
static double remains(const trial *t, int target, int low, bool skipping, double *part) {
    const sx_sparse *sparse = &t->arch.sparse;
    double product = 1;
    for (int v = 0; v < t->problem.n_tensors; v++) {
        double most = 0;
        for (int s = low; s < LEVELS; s++) {
            bool skips = false;
            for (int i = 0; i < sparse->n_actions; i++)
                skips |= sparse->action[i].skips && sparse->action[i].level == s &&
                         strcmp(sparse->name[sparse->action[i].option[0].target],
                                t->problem.tensor[target].name) == 0;
            for (int i = 0; i < sparse->n_actions; i++) {
                const sx_action_option *o = &sparse->action[i].option[0];
                if (sparse->action[i].level != s || (skipping && !skips)) continue;
                if (strcmp(sparse->name[o->target], t->problem.tensor[target].name) != 0) continue;
                for (int k = 0; k < sparse->n_names; k++)
                    if (o->on >> k & 1 && strcmp(sparse->name[k], t->problem.tensor[v].name) == 0)
                        most = fmax(most, empty(t, v, box_words(t, target, s, v)));
            }
        }
        if (part) part[v] = fmax(part[v], most);
        product *= 1 - most;
    }
    return product;
}

/* The expected vectors per full vector of a tile. */
static double fullness(const trial *t, int v, int s) {
    uint64_t n = t->tile[v][s], words = t->words[v], r = (uint64_t)ceil(t->share[v] * (double)words);
    double block = t->arch.level[s].block_size, density = word_density(t, v), sum = 0;
    if (!t->formatted[v] || block == 1 || density >= 1) return 1;
    if (t->problem.tensor[v].density_model == SX_DENSITY_FIXED_STRUCTURED) {
        double x = (double)n * density, low = floor(x);
        sum = (1 - (x - low)) * ceil(low / block) + (x - low) * ceil((low + 1) / block);
    } else {
        for (uint64_t k = 1; k <= n && k <= r; k++) {
            if (n - k > words - r) continue;
            double log = lgamma((double)r + 1) - lgamma((double)k + 1) - lgamma((double)(r - k) + 1) +
                         lgamma((double)(words - r) + 1) - lgamma((double)(n - k) + 1) -
                         lgamma((double)(words - r - n + k) + 1) - lgamma((double)words + 1) +
                         lgamma((double)n + 1) + lgamma((double)(words - n) + 1);
            sum += exp(log) * ceil((double)k / block);
        }
    }
    return sum / ((double)n * density / block);
}

static void expect(const trial *t, const char *what, double have, double want) {
    if (fabs(have - want) <= 1e-8 * fmax(1, fabs(want))) return;
    char *text = NULL;
    sx_expect_ok(sx_mapping_write(&t->mapping, &t->problem, &t->arch, SX_YAML, &text));
    print_error("%s is %.12g, not %.12g\n%s\n", what, have, want, text);
    free(text);
    sx_expect_ok(sx_arch_write(&t->arch, SX_YAML, &text));
    print_error("%s\n", text);
    free(text);
    fail();
}

/* The energy of one tensor at a level by the twin; counts are held against the model's. */
static double tensor_energy(const trial *t, int v, int s) {
    const sx_storage *level = &t->arch.level[s];
    const sx_cost_tensor *dense = &t->dense.level[s].tensor[v], *have = &t->cost.level[s].tensor[v];
    double n = (double)t->dense.level[s].instances, held = t->formatted[v] ? word_density(t, v) : 1;
    const double count[3] = {(double)dense->reads / n, (double)dense->fills / n, (double)dense->updates / n};
    const double price[3] = {level->read_energy, level->fill_energy, level->update_energy};
    double before = remains(t, v, s + 1, false, NULL), after = remains(t, v, s, false, NULL), energy = 0;
    double ratio = fullness(t, v, s), addresses = 0;
    bool skips = false, acts = false;
    for (int i = 0; i < t->arch.sparse.n_actions; i++) {
        const sx_sparse_action *a = &t->arch.sparse.action[i];
        if (a->level != s || strcmp(t->arch.sparse.name[a->option[0].target], t->problem.tensor[v].name))
            continue;
        acts = true;
        skips |= a->skips;
    }
    int fate = skips ? SX_SKIPPED : SX_GATED;
    for (int a = 0; a < 3; a++) {
        double stays = a == SX_FILL || !acts ? before : after, random = count[a] * held * stays;
        double gone = count[a] * held * (before - stays);
        expect(t, "random accesses", have->actions[SX_RANDOM][a], random);
        expect(t, "gated or skipped accesses", have->actions[fate][a], gone);
        energy += random / level->block_size * ratio * price[a];
        energy += gone / level->block_size * ratio * level->metadata.data_energy[fate][a];
        if (a == (t->problem.tensor[v].output ? SX_UPDATE : SX_READ) || a == SX_FILL)
            addresses += random + (fate == SX_GATED ? gone : 0);
        bool data = true; /* the payload of the innermost rank that counts */
        for (int r = 0; t->formatted[v] && r <= s; r++) {
            uint64_t outer = t->tile[v][r], inner = r ? t->tile[v][r - 1] : 1;
            if (outer == inner && r != s) continue;
            double coordinates = (double)t->tile[v][s] / (double)inner * (1 - empty(t, v, inner));
            double words = coordinates * (data || coordinates == 0 ? 1 : 2);
            if (coordinates > 0) data = false;
            double bits = words * 4 * count[a] / (double)t->tile[v][s];
            energy += bits * stays / 16 * level->metadata.metadata_energy[SX_RANDOM][a];
            energy += bits * (before - stays) / 16 * level->metadata.metadata_energy[fate][a];
        }
    }
    return (energy + addresses * level->addr_gen_energy) * n;
}

/* Computes by the twin. */
static double compute_energy(const trial *t) {
    double conditioned[SX_MAX_TENSORS] = {0}, skipped[SX_MAX_TENSORS] = {0};
    double all = (double)t->dense.computes, left = all, timed = all, nonzero = 1, present = 1, absent = 1;
    for (int v = 1; v < t->problem.n_tensors; v++) {
        (void)remains(t, v, 0, false, conditioned);
        (void)remains(t, v, 0, true, skipped);
    }
    for (int v = 1; v < t->problem.n_tensors; v++) {
        double x = word_density(t, v) / (1 - conditioned[v]);
        left *= 1 - conditioned[v];
        timed *= 1 - skipped[v];
        nonzero *= x;
        present *= t->formatted[v] ? x : 1;
        absent *= t->formatted[v] ? 1 - x : 0;
    }
    const sx_sparse *sparse = &t->arch.sparse;
    double zeros = left * (present - nonzero), some = left * (1 - present - absent), gated = 0, skips = 0;
    if (sparse->gates_compute) gated = zeros + (sparse->skips_compute ? 0 : some);
    if (sparse->skips_compute) skips = some;
    double random = left * (1 - absent) - gated - skips;
    gated += timed - left;
    expect(t, "gated computes", t->cost.gated_computes, gated);
    expect(t, "skipped computes", t->cost.skipped_computes, skips);
    if (fabs((double)t->cost.computes - random) > 0.5 + 1e-6)
        expect(t, "computes", (double)t->cost.computes, random);
    double cycles = (double)t->dense.compute_cycles * (random + gated) / all;
    expect(t, "compute cycles", (double)t->cost.compute_cycles, fmax(1, ceil(cycles * (1 - 1e-12))));
    return random + 0.5 * gated + 0.25 * skips;
}

static sx_verdict evaluate(const trial *t, bool sparse, sx_cost *out) {
    sx_arch *arch = malloc(sizeof *arch);
    sx_model *model = NULL;
    sx_evaluator *evaluator = NULL;
    *arch = t->arch;
    if (!sparse) memset(&arch->sparse, 0, sizeof arch->sparse);
    sx_expect_ok(sx_model_new(&t->problem, arch, NULL, &model));
    sx_expect_ok(sx_evaluator_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate(evaluator, &t->mapping, out);
    sx_evaluator_free(evaluator);
    sx_model_free(model);
    free(arch);
    return verdict;
}

/* Holds a case against the twin; false where the mapping cannot run. */
static bool compare(trial *t) {
    if (evaluate(t, false, &t->dense).reason != SX_LEGAL) return false;
    if (!sx_sparse_active(&t->arch.sparse) || evaluate(t, true, &t->cost).reason != SX_LEGAL) return false;
    for (int v = 0; v < t->problem.n_tensors; v++) {
        t->words[v] = sx_problem_words(&t->problem, v);
        t->share[v] = t->problem.tensor[v].density;
        for (int s = 0; s < LEVELS; s++) t->tile[v][s] = t->dense.level[s].tensor[v].tile;
    }
    /* Tiles of windows overlap, so that coordinates are more than tiles; formats of these are left out. */
    for (int v = 0; v < t->problem.n_tensors; v++)
        if (strchr("p", t->problem.dim_name[0][0]) && v == 1 && t->formatted[v]) return false;
    double energy = compute_energy(t);
    for (int v = 0; v < t->problem.n_tensors; v++)
        for (int s = 0; s < LEVELS; s++) energy += tensor_energy(t, v, s);
    expect(t, "energy", t->cost.energy_pj, energy);
    return true;
}

static void twin_agrees(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    trial *t = malloc(sizeof *t);
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "sparse", i);
        draw_case(&rng, t);
        draw_sparse(&rng, t);
        compared += compare(t);
    }
    free(t);
    sx_expect_compared("sparse cases", compared, set->count / 3);
}

int main(int argc, char **argv) {
    settings set = {3000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(twin_agrees, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
