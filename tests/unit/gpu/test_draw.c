/* Genomes of the search on a GPU: draws, mutations, crossings and the choice of parents, by how often each thing happens. */
#include "gpu/gpu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DIMS = 4, LEVELS = 3, TENSORS = 3, GENES = DIMS + 3 * LEVELS, TRIES = 40000 };

static sx_gpu_image image;

static int make_image(void **state) {
    (void)state;
    image.core.n_dims = DIMS;
    image.core.n_levels = LEVELS;
    image.core.n_tensors = TENSORS;
    for (int d = 0; d < DIMS; d++) image.n_rows[d] = (uint32_t)(2 + 3 * d);
    return 0;
}

/* Fails the test unless something happened in about this share of all tries: within five standard deviations. */
static void expect_share(double n, double share) {
    const double expected = TRIES * share;
    if (fabs(n - expected) > 5 * sqrt(expected * (1 - share)))
        fail_msg("%g of %d; about %g are expected", n, TRIES, expected);
}

/* The genes of a genome, as numbers: splits, then orders, layouts and kept tensors by level. */
static void list_genes(const sx_gpu_genome *genome, uint32_t out[GENES]) {
    for (int d = 0; d < DIMS; d++) out[d] = genome->row[d];
    for (int s = 0; s < LEVELS; s++) {
        out[DIMS + s] = genome->order[s];
        out[DIMS + LEVELS + s] = genome->layout[s];
        out[DIMS + 2 * LEVELS + s] = genome->keep[s];
    }
}

/* Which genes of two genomes differ, as bits. */
static uint32_t differing(const sx_gpu_genome *a, const sx_gpu_genome *b) {
    uint32_t x[GENES], y[GENES], bits = 0;
    list_genes(a, x);
    list_genes(b, y);
    for (int g = 0; g < GENES; g++) bits |= (uint32_t)(x[g] != y[g]) << g;
    return bits;
}

/* All splits, orders, layouts and kept tensors are equally likely. */
static void draws(void **state) {
    (void)state;
    double split[DIMS][11] = {{0}}, upper[LEVELS] = {0}, wide[LEVELS] = {0}, kept[LEVELS][8] = {{0}},
           both = 0;
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(3, 0, i);
        sx_gpu_genome genome = {0};
        sx_gpu_draw_genome(&image, &random, &genome);
        for (int d = 0; d < DIMS; d++) {
            assert_true(genome.row[d] < image.n_rows[d]);
            split[d][genome.row[d]]++;
        }
        for (int s = 0; s < LEVELS; s++) {
            upper[s] += genome.order[s] >> 31;
            wide[s] += genome.layout[s] >> 15;
            for (int b = 0; b < 8; b++) kept[s][b] += genome.keep[s] >> b & 1;
        }
        both += genome.layout[0] >> 15 && genome.keep[0] >> 7;
    }
    for (int d = 0; d < DIMS; d++)
        for (uint32_t r = 0; r < image.n_rows[d]; r++) expect_share(split[d][r], 1.0 / image.n_rows[d]);
    for (int s = 0; s < LEVELS; s++) {
        expect_share(upper[s], 0.5);
        expect_share(wide[s], 0.5);
        for (int b = 0; b < 8; b++) expect_share(kept[s][b], 0.5);
    }
    expect_share(both, 0.25);
}

/* A mutation changes one gene: a split half of the time, an order a quarter, a layout or one kept tensor an eighth each.
 * A split may be drawn again as it was. */
static void mutations(void **state) {
    (void)state;
    double changed[GENES] = {0}, tensor[TENSORS] = {0};
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(4, 0, i);
        const sx_gpu_genome before = {.row = {1, 1, 1, 1}, .order = {5, 5, 5}, .layout = {5, 5, 5}};
        sx_gpu_genome after = before;
        sx_gpu_mutate(&image, &random, &after);
        const uint32_t bits = differing(&before, &after);
        assert_true((bits & (bits - 1)) == 0);
        for (int g = 0; g < GENES; g++) changed[g] += bits >> g & 1;
        for (int d = 0; d < DIMS; d++) assert_true(after.row[d] < image.n_rows[d]);
        for (int s = 0; s < LEVELS; s++)
            for (int t = 0; t < TENSORS; t++) tensor[t] += after.keep[s] == 1 << t;
    }
    for (int d = 0; d < DIMS; d++) expect_share(changed[d], 0.5 / DIMS * (1 - 1.0 / image.n_rows[d]));
    for (int s = 0; s < LEVELS; s++) {
        expect_share(changed[DIMS + s], 0.25 / LEVELS);
        expect_share(changed[DIMS + LEVELS + s], 0.125 / LEVELS);
        expect_share(changed[DIMS + 2 * LEVELS + s], 0.125 / LEVELS);
    }
    for (int t = 0; t < TENSORS; t++) expect_share(tensor[t], 0.125 / TENSORS);
}

static const sx_gpu_genome zeros,
    ones = {.row = {1, 1, 1, 1}, .order = {1, 1, 1}, .layout = {1, 1, 1}, .keep = {1, 1, 1}};

/* Each gene comes from the other genome half of the time, whatever happens to the rest. */
static void crossings(void **state) {
    (void)state;
    double together[GENES][GENES] = {{0}};
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(5, 0, i);
        sx_gpu_genome child = zeros;
        sx_gpu_cross(&image, &random, &ones, &child);
        const uint32_t bits = differing(&zeros, &child);
        for (int a = 0; a < GENES; a++)
            for (int b = 0; b < GENES; b++) together[a][b] += bits >> a & bits >> b & 1;
    }
    for (int a = 0; a < GENES; a++)
        for (int b = 0; b < GENES; b++) expect_share(together[a][b], a == b ? 0.5 : 0.25);
}

/* An island whose members are better the earlier they stand. */
static void make_island(sx_gpu_member island[SX_GPU_ISLAND]) {
    for (int i = 0; i < SX_GPU_ISLAND; i++) island[i] = (sx_gpu_member){.genome = zeros, .value = i};
}

/* A parent is the better of two, each of which may be any: a member of rank r of n has won with 2 (n - r) - 1 of n^2 pairs. */
static void tournaments(void **state) {
    (void)state;
    sx_gpu_member island[SX_GPU_ISLAND];
    double won[SX_GPU_ISLAND] = {0};
    const double n = SX_GPU_ISLAND;
    make_island(island);
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(6, 0, i);
        won[sx_gpu_tournament(island, &random)]++;
    }
    for (int i = 0; i < SX_GPU_ISLAND; i++) expect_share(won[i], (2 * (n - i) - 1) / (n * n));
}

/* Children differ from a parent by one to three mutations, equally often each; half of them are crossed before. Of two
 * parents that are equal nothing is left of crossing but its random numbers. */
static void children(void **state) {
    (void)state;
    sx_gpu_member island[SX_GPU_ISLAND];
    double far = 0, of_ones = 0, mixed = 0;
    make_island(island);
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(7, 0, i);
        sx_gpu_genome child;
        sx_gpu_breed(&image, island, &random, &child);
        const int n = __builtin_popcount(differing(&zeros, &child));
        assert_true(n <= 3);
        far += n == 3;
    }
    assert_true(far > 0.15 * TRIES && far < 1.0 / 3 * TRIES);
    for (int i = 0; i < SX_GPU_ISLAND; i += 2) island[i].genome = ones;
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(8, 0, i);
        sx_gpu_genome child;
        sx_gpu_breed(&image, island, &random, &child);
        const int n = __builtin_popcount(differing(&zeros, &child));
        of_ones += n >= GENES - 3;
        mixed += n > 3 && n < GENES - 3;
    }
    assert_true(mixed > 0.2 * TRIES && mixed < 0.25 * TRIES);
    assert_true(of_ones > 0.35 * TRIES);
}

/* Members without a legal point are no parents: children are drawn, or not crossed with them. */
static void children_of_illegal_members(void **state) {
    (void)state;
    sx_gpu_member island[SX_GPU_ISLAND];
    double drawn = 0;
    make_island(island);
    for (int i = 0; i < SX_GPU_ISLAND; i++) {
        island[i].genome = ones;
        island[i].value = INFINITY;
    }
    island[9] = (sx_gpu_member){.genome = zeros, .value = 1};
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t random = sx_gpu_stream(9, 0, i);
        sx_gpu_genome child = {0};
        sx_gpu_breed(&image, island, &random, &child);
        const int n = __builtin_popcount(differing(&zeros, &child));
        assert_true(n <= 3 || child.order[1] > 1);
        drawn += n > 3;
    }
    expect_share(drawn, 31.0 * 31 / (32 * 32));
}

/* Of equal members the first counts. */
static void best_and_worst(void **state) {
    (void)state;
    sx_gpu_member island[SX_GPU_ISLAND];
    make_island(island);
    assert_int_equal(sx_gpu_best_member(island), 0);
    assert_int_equal(sx_gpu_worst_member(island), SX_GPU_ISLAND - 1);
    island[SX_GPU_ISLAND - 1].value = -1;
    assert_int_equal(sx_gpu_best_member(island), SX_GPU_ISLAND - 1);
    island[4].value = island[7].value = -2;
    island[5].value = island[8].value = 99;
    assert_int_equal(sx_gpu_best_member(island), 4);
    assert_int_equal(sx_gpu_worst_member(island), 5);
    island[0].value = 100;
    assert_int_equal(sx_gpu_worst_member(island), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws),          cmocka_unit_test(mutations),
        cmocka_unit_test(crossings),      cmocka_unit_test(tournaments),
        cmocka_unit_test(children),       cmocka_unit_test(children_of_illegal_members),
        cmocka_unit_test(best_and_worst),
    };
    return cmocka_run_group_tests(tests, make_image, NULL);
}
