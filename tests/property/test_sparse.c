/* The exact semantics of sparse tensors against a slow and simple twin, on random cases: test_sparse [count
 * [seed]]. The twin takes dense counts from the dense model; it finds the words on which an access depends by
 * walking the loops and marking them one by one, and probabilities by multiplying factor after factor. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/sparse_case.h"

#include "sextant/all.h"

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

/* How many iterations of each loop a box spans, per level: of its spatial loops, then of its temporal ones. */
typedef struct box {
    uint32_t spans[LEVELS][2][SX_MAX_DIMS];
} box;

/* Marks the words of a tensor that a box holds; returns how many are new. */
static uint64_t mark(const trial *t, int v, const box *b, bool *seen) {
    const sx_tensor *tensor = &t->c.problem.tensor[v];
    uint32_t digit[LEVELS * 2 * SX_MAX_DIMS] = {0}, dims = t->c.problem.n_dims, n_loops = LEVELS * 2 * dims;
    uint64_t n = 0;
    for (uint32_t l = 0; l < n_loops;) {
        uint64_t word = 0, at[SX_MAX_DIMS] = {0}, step[SX_MAX_DIMS] = {0};
        for (uint32_t d = 0; d < dims; d++) step[d] = 1;
        for (l = 0; l < n_loops; l++) {
            uint32_t s = l / dims / 2, d = l % dims, temporal = l / dims % 2;
            const sx_mapping_level *level = &t->c.mapping.level[s];
            at[d] += digit[l] * step[d];
            step[d] *= temporal ? level->temporal[d] : level->spatial[d];
        }
        for (int r = 0; r < tensor->n_ranks; r++) {
            uint64_t rank = 0;
            for (uint32_t d = 0; d < dims; d++) rank += (uint64_t)tensor->coef[r][d] * at[d];
            word = word * 32 + rank;
        }
        assert_true(word < MOST_WORDS);
        n += !seen[word];
        seen[word] = true;
        for (l = 0; l < n_loops && ++digit[l] == b->spans[l / dims / 2][l / dims % 2][l % dims]; l++)
            digit[l] = 0;
    }
    return n;
}

/* The words of a tensor that boxes of a set hold. */
static uint64_t words_in(const trial *t, int v, const box *boxes, unsigned set) {
    static bool seen[MOST_WORDS];
    uint64_t n = 0;
    memset(seen, 0, sizeof seen);
    for (; set; set &= set - 1) n += mark(t, v, &boxes[__builtin_ctz(set)], seen);
    return n;
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

/* What is used with one delivery of T from a level. */
static box box_of(const trial *t, int target, int level) {
    const sx_mapping_level *all = t->c.mapping.level, *at = &all[level];
    double delivered = level > 0 ? (double)t->tile[target][level - 1] : 1;
    uint32_t need = (uint32_t)ceil(whole_block(t, target, level) / delivered);
    box b;
    for (int s = 0; s < LEVELS; s++)
        for (int d = 0; d < t->c.problem.n_dims; d++) {
            b.spans[s][0][d] = s < level ? all[s].spatial[d] : 1;
            b.spans[s][1][d] = s < level ? all[s].temporal[d] : 1;
        }
    for (int i = 0; i < t->c.problem.n_dims; i++) {
        int d = at->spatial_order[i];
        if (!indexes(t, target, d)) {
            b.spans[level][0][d] = at->spatial[d];
        } else if (at->spatial[d] > 1) {
            b.spans[level][0][d] = need < at->spatial[d] ? need : at->spatial[d];
            need = (need + at->spatial[d] - 1) / at->spatial[d];
        }
    }
    bool moved = level == 0;
    for (int i = 0; i < t->c.problem.n_dims; i++) {
        int d = at->temporal_order[i];
        if (at->temporal[d] == 1) continue;
        if (!indexes(t, target, d)) {
            if (!moved) b.spans[level][1][d] = at->temporal[d];
            continue;
        }
        moved = true;
        b.spans[level][1][d] = need < at->temporal[d] ? need : at->temporal[d];
        need = (need + at->temporal[d] - 1) / at->temporal[d];
    }
    for (int s = level + 1; s < LEVELS; s++) /* the tile may stay during loops of outer levels, too */
        for (int i = 0; i < t->c.problem.n_dims && !moved; i++) {
            int d = all[s].temporal_order[i];
            if (all[s].temporal[d] > 1 && indexes(t, target, d))
                moved = true;
            else
                b.spans[s][1][d] = all[s].temporal[d];
        }
    return b;
}

/* Whether an action is about a tensor at a level. */
static bool acts_on(const trial *t, const sx_sparse_action *a, int target, int level) {
    return a->level == level &&
           strcmp(t->c.arch.sparse.name[a->option[0].target], t->c.problem.tensor[target].name) == 0;
}

/* Adds the boxes of a tensor on which accesses to another one depend, by actions of levels from `low` on outward;
 * skipping ones alone where asked. Returns how many there are then. */
static int add_boxes(const trial *t, int target, int low, bool skipping, int v, int n, box *out) {
    const sx_sparse *sparse = &t->c.arch.sparse;
    for (int s = low; s < LEVELS; s++) {
        bool skips = false;
        for (int i = 0; i < sparse->n_actions; i++)
            skips |= sparse->action[i].skips && acts_on(t, &sparse->action[i], target, s);
        for (int i = 0; i < sparse->n_actions; i++) {
            if (!acts_on(t, &sparse->action[i], target, s) || (skipping && !skips)) continue;
            for (int k = 0; k < sparse->n_names; k++)
                if (sparse->action[i].option[0].on >> k & 1 &&
                    strcmp(sparse->name[k], t->c.problem.tensor[v].name) == 0)
                    out[n++] = box_of(t, target, s);
        }
    }
    return n;
}

/* The probability that some of the boxes are empty. */
static double some_empty(const trial *t, int v, const box *boxes, int n) {
    double some = 0;
    for (unsigned set = 1; set < 1u << n; set++) {
        double all = empty(t, v, words_in(t, v, boxes, set));
        some += __builtin_popcount(set) & 1 ? all : -all;
    }
    return some;
}

/* What remains of accesses to a tensor after the actions of levels from `low` on outward. */
static double remains(const trial *t, int target, int low) {
    double product = 1;
    for (int v = 0; v < t->c.problem.n_tensors; v++) {
        box boxes[SX_MAX_ACTIONS];
        product *= 1 - some_empty(t, v, boxes, add_boxes(t, target, low, false, v, 0, boxes));
    }
    return product;
}

/* The share of computes that zeros of a tensor leave out, by any action on operands or by skipping ones. */
static double left_out(const trial *t, int v, bool skipping) {
    box boxes[SX_MAX_ACTIONS];
    int n = 0;
    for (int target = 1; target < t->c.problem.n_tensors; target++)
        n = add_boxes(t, target, 0, skipping, v, n, boxes);
    return some_empty(t, v, boxes, n);
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

/* The energy of one tensor at a level by the twin; counts are compared with the model's. */
static double tensor_energy(const trial *t, int v, int s) {
    const sx_storage *level = &t->c.arch.level[s];
    const sx_cost_tensor *dense = &t->dense.level[s].tensor[v], *have = &t->cost.level[s].tensor[v];
    double n = (double)t->dense.level[s].instances, held = t->c.formatted[v] ? word_density(t, v) : 1;
    const double count[3] = {(double)dense->reads / n, (double)dense->fills / n, (double)dense->updates / n};
    const double price[3] = {level->read_energy, level->fill_energy, level->update_energy};
    double before = remains(t, v, s + 1), after = remains(t, v, s), energy = 0;
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
    double all = (double)t->dense.computes, left = all, timed = all, nonzero = 1, present = 1, absent = 1;
    for (int v = 1; v < t->c.problem.n_tensors; v++) {
        double removed = left_out(t, v, false), x = word_density(t, v) / (1 - removed);
        left *= 1 - removed;
        timed *= 1 - left_out(t, v, true);
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

/* Compares a case with the twin; false where the mapping cannot run. */
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
        sx_random_sparse_shared(&rng, &t->c);
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
