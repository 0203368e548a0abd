/* The exact semantics of sparse tensors against a slow and simple twin, on random cases: test_sparse [count
 * [seed]]. The twin takes dense counts from the dense model; it finds the words on which an access depends by
 * walking the loops and marking them one by one, and probabilities by multiplying factor after factor. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/sparse_case.h"

#include "sextant/sextant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = SX_SPARSE_LEVELS, MOST_WORDS = 1 << 16 };

typedef struct settings {
    uint64_t count, seed;
} settings;

typedef struct trial {
    sx_sparse_case c;
    sx_cost dense, cost;
    double share[SX_MAX_TENSORS];
    uint64_t words[SX_MAX_TENSORS], tile[SX_MAX_TENSORS][LEVELS];
} trial;

/* Whether a dimension indexes a tensor. */
static bool indexes(const trial *t, int v, int d) {
    for (int r = 0; r < t->c.problem.tensor[v].n_ranks; r++)
        if (t->c.problem.tensor[v].coef[r][d]) return true;
    return false;
}

/* Marks the words of a tensor within a region that starts at 0 and reaches so far; returns their number. */
static uint64_t mark(const trial *t, int v, const uint32_t *reach) {
    static bool seen[MOST_WORDS];
    const sx_tensor *tensor = &t->c.problem.tensor[v];
    uint32_t at[SX_MAX_DIMS] = {0};
    uint64_t n = 0;
    memset(seen, 0, sizeof seen);
    for (;;) {
        uint64_t word = 0;
        for (int r = 0; r < tensor->n_ranks; r++) {
            uint64_t rank = 0;
            for (int d = 0; d < t->c.problem.n_dims; d++) rank += (uint64_t)tensor->coef[r][d] * at[d];
            word = word * 32 + rank;
        }
        assert_true(word < MOST_WORDS);
        n += !seen[word];
        seen[word] = true;
        int d = 0;
        while (d < t->c.problem.n_dims && ++at[d] == reach[d]) at[d++] = 0;
        if (d == t->c.problem.n_dims) return n;
    }
}

/* The probability that a tile of n words is empty. */
static double empty(const trial *t, int v, uint64_t n) {
    uint64_t words = t->words[v], nonzeros = (uint64_t)ceil(t->share[v] * (double)words);
    long double p = 1;
    if (t->c.problem.tensor[v].density_model == SX_DENSITY_FIXED_STRUCTURED)
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

/* The elements of an access, and the whole ones among them. */
static double block(const trial *t, int v, int s) {
    const sx_storage *level = &t->c.arch.level[s];
    double bits = t->c.problem.tensor[v].bits;
    return bits > 0 ? level->word_bits * level->block_size / bits : level->block_size;
}
static double whole_block(const trial *t, int v, int s) {
    return fmax(1, floor(block(t, v, s)));
}

/* How many words of C are used with one delivery of T from a level. */
static uint64_t box_words(const trial *t, int target, int level, int on) {
    uint32_t reach[SX_MAX_DIMS];
    const sx_mapping_level *at = &t->c.mapping.level[level];
    double delivered = level > 0 ? (double)t->tile[target][level - 1] : 1;
    uint32_t need = (uint32_t)ceil(whole_block(t, target, level) / delivered);
    for (int d = 0; d < t->c.problem.n_dims; d++)
        reach[d] = level > 0 ? (uint32_t)sx_mapping_extent(&t->c.mapping, level - 1, d) : 1;
    for (int i = 0; i < t->c.problem.n_dims; i++) {
        int d = at->spatial_order[i];
        if (!indexes(t, target, d)) {
            reach[d] *= at->spatial[d];
        } else if (at->spatial[d] > 1) {
            reach[d] *= need < at->spatial[d] ? need : at->spatial[d];
            need = (need + at->spatial[d] - 1) / at->spatial[d];
        }
    }
    bool moved = level == 0;
    for (int i = 0; i < t->c.problem.n_dims; i++) {
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
    for (int s = level + 1; s < LEVELS; s++) /* the tile may stay during loops of outer levels, too */
        for (int i = 0; i < t->c.problem.n_dims && !moved; i++) {
            int d = t->c.mapping.level[s].temporal_order[i];
            uint32_t n = t->c.mapping.level[s].temporal[d];
            if (n > 1 && indexes(t, target, d))
                moved = true;
            else
                reach[d] *= n;
        }
    return mark(t, on, reach);
}

/* What remains of accesses to a tensor after the actions of levels from `low` on outward; skipping ones alone
 * where asked. `part` is what one condition tensor leaves. */
static double remains(const trial *t, int target, int low, bool skipping, double *part) {
    const sx_sparse *sparse = &t->c.arch.sparse;
    double product = 1;
    for (int v = 0; v < t->c.problem.n_tensors; v++) {
        double most = 0;
        for (int s = low; s < LEVELS; s++) {
            bool skips = false;
            for (int i = 0; i < sparse->n_actions; i++)
                skips |= sparse->action[i].skips && sparse->action[i].level == s &&
                         strcmp(sparse->name[sparse->action[i].option[0].target],
                                t->c.problem.tensor[target].name) == 0;
            for (int i = 0; i < sparse->n_actions; i++) {
                const sx_action_option *o = &sparse->action[i].option[0];
                if (sparse->action[i].level != s || (skipping && !skips)) continue;
                if (strcmp(sparse->name[o->target], t->c.problem.tensor[target].name) != 0) continue;
                for (int k = 0; k < sparse->n_names; k++)
                    if (o->on >> k & 1 && strcmp(sparse->name[k], t->c.problem.tensor[v].name) == 0)
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
    double whole = whole_block(t, v, s), density = word_density(t, v), sum = 0;
    if (!t->c.formatted[v] || whole == 1 || density >= 1) return 1;
    if (t->c.problem.tensor[v].density_model == SX_DENSITY_FIXED_STRUCTURED) {
        double x = (double)n * density, low = floor(x);
        sum = (1 - (x - low)) * ceil(low / whole) + (x - low) * ceil((low + 1) / whole);
    } else {
        for (uint64_t k = 1; k <= n && k <= r; k++) {
            if (n - k > words - r) continue;
            double log = lgamma((double)r + 1) - lgamma((double)k + 1) - lgamma((double)(r - k) + 1) +
                         lgamma((double)(words - r) + 1) - lgamma((double)(n - k) + 1) -
                         lgamma((double)(words - r - n + k) + 1) - lgamma((double)words + 1) +
                         lgamma((double)n + 1) + lgamma((double)(words - n) + 1);
            sum += exp(log) * ceil((double)k / whole);
        }
    }
    return sum / ((double)n * density / whole);
}

static void expect(const trial *t, const char *what, double have, double want) {
    if (fabs(have - want) <= 1e-8 * fmax(1, fabs(want))) return;
    char *text = NULL;
    sx_expect_ok(sx_mapping_write(&t->c.mapping, &t->c.problem, &t->c.arch, SX_YAML, &text));
    print_error("%s is %.12g, not %.12g\n%s\n", what, have, want, text);
    free(text);
    sx_expect_ok(sx_arch_write(&t->c.arch, SX_YAML, &text));
    print_error("%s\n", text);
    free(text);
    fail();
}

/* The energy of one tensor at a level by the twin; counts are held against the model's. */
static double tensor_energy(const trial *t, int v, int s) {
    const sx_storage *level = &t->c.arch.level[s];
    const sx_cost_tensor *dense = &t->dense.level[s].tensor[v], *have = &t->cost.level[s].tensor[v];
    double n = (double)t->dense.level[s].instances, held = t->c.formatted[v] ? word_density(t, v) : 1;
    const double count[3] = {(double)dense->reads / n, (double)dense->fills / n, (double)dense->updates / n};
    const double price[3] = {level->read_energy, level->fill_energy, level->update_energy};
    double before = remains(t, v, s + 1, false, NULL), after = remains(t, v, s, false, NULL), energy = 0;
    double ratio = fullness(t, v, s), addresses = 0;
    bool skips = false, acts = false;
    for (int i = 0; i < t->c.arch.sparse.n_actions; i++) {
        const sx_sparse_action *a = &t->c.arch.sparse.action[i];
        if (a->level != s || strcmp(t->c.arch.sparse.name[a->option[0].target], t->c.problem.tensor[v].name))
            continue;
        acts = true;
        skips |= a->skips;
    }
    int kind = skips ? SX_SKIPPED : SX_GATED;
    for (int a = 0; a < 3; a++) {
        double stays = a == SX_FILL || !acts ? before : after, random = count[a] * held * stays;
        double gone = count[a] * held * (before - stays);
        expect(t, "random accesses", have->actions[SX_RANDOM][a], random);
        expect(t, "gated or skipped accesses", have->actions[kind][a], gone);
        energy += random / block(t, v, s) * ratio * price[a];
        energy += gone / block(t, v, s) * ratio * level->metadata.data_energy[kind][a];
        if (a == (t->c.problem.tensor[v].output ? SX_UPDATE : SX_READ) || a == SX_FILL)
            addresses += random + (kind == SX_GATED ? gone : 0);
        bool data = true; /* the payload of the innermost rank that counts */
        for (int r = 0; t->c.formatted[v] && r <= s; r++) {
            uint64_t outer = t->tile[v][r], inner = r ? t->tile[v][r - 1] : 1;
            if (outer == inner && r != s) continue;
            double coordinates = (double)t->tile[v][s] / (double)inner * (1 - empty(t, v, inner));
            double words = coordinates * (data || coordinates == 0 ? 1 : 2);
            if (coordinates > 0) data = false;
            double bits = words * 4 * count[a] / (double)t->tile[v][s];
            energy += bits * stays / 16 * level->metadata.metadata_energy[SX_RANDOM][a];
            energy += bits * (before - stays) / 16 * level->metadata.metadata_energy[kind][a];
        }
    }
    return (energy + addresses * level->addr_gen_energy) * n;
}

/* Computes by the twin. */
static double compute_energy(const trial *t) {
    double conditioned[SX_MAX_TENSORS] = {0}, skipped[SX_MAX_TENSORS] = {0};
    double all = (double)t->dense.computes, left = all, timed = all, nonzero = 1, present = 1, absent = 1;
    for (int v = 1; v < t->c.problem.n_tensors; v++) {
        (void)remains(t, v, 0, false, conditioned);
        (void)remains(t, v, 0, true, skipped);
    }
    for (int v = 1; v < t->c.problem.n_tensors; v++) {
        double x = word_density(t, v) / (1 - conditioned[v]);
        left *= 1 - conditioned[v];
        timed *= 1 - skipped[v];
        nonzero *= x;
        present *= t->c.formatted[v] ? x : 1;
        absent *= t->c.formatted[v] ? 1 - x : 0;
    }
    const sx_sparse *sparse = &t->c.arch.sparse;
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

/* Holds a case against the twin; false where the mapping cannot run. */
static bool compare(trial *t) {
    if (sx_sparse_case_evaluate(&t->c, false, &t->dense).reason != SX_LEGAL) return false;
    if (!sx_sparse_active(&t->c.arch.sparse) ||
        sx_sparse_case_evaluate(&t->c, true, &t->cost).reason != SX_LEGAL)
        return false;
    for (int v = 0; v < t->c.problem.n_tensors; v++) {
        t->words[v] = sx_problem_words(&t->c.problem, v);
        t->share[v] = t->c.problem.tensor[v].density;
        for (int s = 0; s < LEVELS; s++) t->tile[v][s] = t->dense.level[s].tensor[v].tile;
    }
    /* Tiles of windows overlap, so that coordinates are more than tiles; formats of these are left out. */
    for (int v = 0; v < t->c.problem.n_tensors; v++)
        if (strchr("p", t->c.problem.dim_name[0][0]) && v == 1 && t->c.formatted[v]) return false;
    double energy = compute_energy(t);
    for (int v = 0; v < t->c.problem.n_tensors; v++)
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
        memset(t, 0, sizeof *t);
        sx_random_sparse_nest(&rng, 7, &t->c);
        sx_random_sparse_hardware(&rng, &t->c);
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
