/* What tiles that need not divide cause. */
#include "bound/imperfect.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A unit below a buffer of few words; only the outermost level's accesses cost energy, and its port takes time. */
static const char machine[] =
    "arch:\n  arithmetic: {name: MAC, instances: 1, word-bits: 16, energy: 0}\n"
    "  storage:\n"
    "  - {name: Buffer, entries: %d, instances: 1, read_energy: 0, fill_energy: 0, update_energy: 0}\n"
    "  - {name: DRAM, class: DRAM, instances: 1, read_energy: 1, fill_energy: 0, update_energy: 1,\n"
    "     shared_bandwidth: 0.01}\n";

enum { M = 13, N = 11, K = 17, ROOM = 40 };

/* The accesses to the outermost level of a product of these sizes where the buffer has a tile of these extents, and the loop
 * outside it on dimension `first` comes first. The output's words are written at each visit, and read at all but the first. */
static double accesses(const int *size, int m, int n, int k, int first) {
    double along_m = (size[0] + m - 1) / m, along_n = (size[1] + n - 1) / n, along_k = (size[2] + k - 1) / k;
    double a = size[0] * size[2] * (first == 1 ? 1 : along_n),
           b = size[2] * size[1] * (first == 0 ? 1 : along_m);
    double o = size[0] * size[1] * (first == 2 ? 1 : along_k);
    return a + b + o + (o - size[0] * size[1]);
}

/* Opens a map of a problem on the machine with a given number of words in its buffer. */
static void open_map(sx_small_map *map, const char *einsum, int room) {
    char text[1024];
    snprintf(text, sizeof text, machine, room);
    sx_small_map_open(map, einsum, text, NULL, NULL);
}

/* The least of these over all tiles that fit. */
static double least_accesses(const int *size, int room) {
    double least = INFINITY;
    for (int m = 1; m <= size[0]; m++)
        for (int n = 1; n <= size[1]; n++)
            for (int k = 1; k <= size[2]; k++) {
                if (m * k + k * n + m * n > room) continue;
                if (m < size[0]) least = fmin(least, accesses(size, m, n, k, 0));
                if (n < size[1]) least = fmin(least, accesses(size, m, n, k, 1));
                if (k < size[2]) least = fmin(least, accesses(size, m, n, k, 2));
            }
    return least;
}

/* The bounds of a matrix product are those of the best tile of all that fit, in energy and in time. */
static void expect_best_tile(const int *size, int room) {
    char einsum[80];
    sx_small_map map;
    sx_imperfect_tiles *tiles;
    sx_imperfect_bound bounds;
    sx_outline outline;
    const uint8_t must[SX_MAX_LEVELS] = {7, 7}, may[SX_MAX_LEVELS] = {0};
    snprintf(einsum, sizeof einsum, "O[m,n] += A[m,k]*B[k,n] {m:%d,n:%d,k:%d}", size[0], size[1], size[2]);
    open_map(&map, einsum, room);
    sx_expect_ok(sx_imperfect_tiles_new(map.model, must, may, 0, NULL, &tiles));
    sx_imperfect_bound_init(&bounds, tiles);
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
    sx_imperfect_bound_spatial(&bounds, &outline);
    const double least = least_accesses(size, room);
    if (fabs(sx_imperfect_bound_any(&bounds).energy_pj - least) > 1e-6)
        fail_msg("room of %d: %g, not %g", room, sx_imperfect_bound_any(&bounds).energy_pj, least);
    assert_true(fabs(sx_imperfect_bound_all(&bounds).energy_pj - least) < 1e-6);
    sx_imperfect_bound_keep(&bounds, must);
    assert_true(fabs(sx_imperfect_bound_score(&bounds, 0).energy_pj - least) < 1e-6);
    assert_true(fabs(sx_imperfect_bound_score(&bounds, 0).cycles - 100 * least) < 1e-3);
    sx_imperfect_tiles_free(tiles);
    sx_small_map_close(&map);
}

static void knows_the_best_tile(void **state) {
    (void)state;
    static const int rooms[] = {3, 5, 9, 14, 20, 27, ROOM, 63, 100, 150, 220, 300, 400, 500};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        expect_best_tile((const int[]){M, N, K}, rooms[i]);
    expect_best_tile((const int[]){17, 5, 5}, 80); /* 9 of m, which has the most sizes of blocks */
    expect_best_tile((const int[]){17, 5, 5}, 50); /* 6 of m */
}

/* Units read a word of each input at every step, and of the output at all but the first of each word; they update it at every
 * step. */
static void knows_what_units_take(void **state) {
    (void)state;
    static const char inner[] =
        "arch:\n  arithmetic: {name: MAC, instances: 1, word-bits: 16, energy: 0}\n  storage:\n"
        "  - {name: Buffer, entries: 40, instances: 1, read_energy: %d, fill_energy: 0, update_energy: %d}\n"
        "  - {name: DRAM, class: DRAM, instances: 1, read_energy: 0, fill_energy: 0, update_energy: 0}\n";
    static const double steps = M * N * K, expected[] = {2 * steps + (steps - M * N), steps};
    const uint8_t must[SX_MAX_LEVELS] = {7, 7}, may[SX_MAX_LEVELS] = {0};
    for (int update = 0; update < 2; update++) {
        char text[1024];
        sx_small_map map;
        sx_imperfect_tiles *tiles;
        sx_imperfect_bound bounds;
        sx_outline outline;
        snprintf(text, sizeof text, inner, !update, update);
        sx_small_map_open(&map, "O[m,n] += A[m,k]*B[k,n] {m:13,n:11,k:17}", text, NULL, NULL);
        sx_expect_ok(sx_imperfect_tiles_new(map.model, must, may, 0, NULL, &tiles));
        sx_imperfect_bound_init(&bounds, tiles);
        memset(&outline, 0, sizeof outline);
        for (int s = 0; s < 2; s++)
            for (int d = 0; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
        sx_imperfect_bound_spatial(&bounds, &outline);
        double any = sx_imperfect_bound_any(&bounds).energy_pj;
        if (fabs(any - expected[update]) > 1e-6) fail_msg("%.9g, not %.9g", any, expected[update]);
        assert_true(sx_imperfect_bound_all(&bounds).energy_pj <= expected[update]);
        sx_imperfect_bound_keep(&bounds, must);
        assert_true(fabs(sx_imperfect_bound_score(&bounds, 0).energy_pj - expected[update]) < 1e-6);
        sx_imperfect_tiles_free(tiles);
        sx_small_map_close(&map);
    }
}

/* The last block along a loop may be alone in its sweep where another loop on its dimension is further out. */
static void knows_where_tiles_move(void **state) {
    (void)state;
    sx_small_map map;
    open_map(&map, "O[p] += A[p+r]*B[r] {p:12,r:3}", ROOM);
    enum { O, A, B };
    sx_imperfect_tile tile = {.blocks = {3, 1}, .first = 0, .top = true};
    assert_true(fabs(sx_imperfect_tile_flow(map.model, O, &tile) - 12) < 1e-9);
    assert_true(fabs(sx_imperfect_tile_flow(map.model, A, &tile) - 14) < 1e-9); /* 12 move, 14 are touched */
    assert_true(fabs(sx_imperfect_tile_flow(map.model, B, &tile) - 3) < 1e-9);  /* stays */
    tile.blocks[1] = 3; /* two words of r in each sweep move, for each of three blocks of p */
    tile.first = 1;
    assert_true(fabs(sx_imperfect_tile_flow(map.model, O, &tile) - 12) < 1e-9); /* stays */
    assert_true(fabs(sx_imperfect_tile_flow(map.model, B, &tile) - 9) < 1e-9);
    tile.top = false;
    assert_true(fabs(sx_imperfect_tile_flow(map.model, B, &tile) - 6) < 1e-9); /* the last block may stay */
    sx_small_map_close(&map);
}

/* A word of an input is read once and filled once, one of an output also written once where it comes from. */
static void knows_what_a_word_counts_for(void **state) {
    (void)state;
    sx_small_map map;
    enum { O, A };
    open_map(&map, "O[m,n] += A[m,k]*B[k,n] {m:13,n:11,k:17}", ROOM);
    sx_imperfect_word out = sx_imperfect_word_of(map.model, O), in = sx_imperfect_word_of(map.model, A);
    assert_true(in.reads == 1 && in.updates == 0 && in.fills == 1);
    assert_true(out.reads == 1 && out.updates == 1 && out.fills == 1);
    assert_true(sx_imperfect_word_energy(map.model, O, 0, 1) == 2);
    assert_true(sx_imperfect_word_energy(map.model, A, 0, 1) == 1);
    sx_small_map_close(&map);
}

/* Whether a row has in no dimension more blocks than another one. */
static bool undercuts(const uint32_t *a, const uint32_t *b) {
    return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2];
}

/* The rows of largest tiles: each is of a tile that fits, no row is above another, and every tile that fits is above
 * some row. */
static void lists_the_largest_tiles(void **state) {
    (void)state;
    sx_small_map map;
    sx_largest_tiles rows = {0};
    open_map(&map, "O[m,n] += A[m,k]*B[k,n] {m:13,n:11,k:17}", ROOM);
    sx_expect_ok(sx_largest_tiles_make(map.model, 0, 7, 0, NULL, &rows));
    assert_true(rows.n > 5);
    for (size_t i = 0; i < rows.n; i++) {
        const uint32_t *r = rows.blocks + 3 * i;
        uint32_t m = (M + r[0] - 1) / r[0], n = (N + r[1] - 1) / r[1], k = (K + r[2] - 1) / r[2];
        assert_true(m * k + k * n + m * n <= ROOM);
        for (size_t j = 0; j < rows.n; j++) assert_true(i == j || !undercuts(rows.blocks + 3 * j, r));
    }
    for (uint32_t m = 1; m <= M; m++)
        for (uint32_t n = 1; n <= N; n++)
            for (uint32_t k = 1; k <= K; k++) {
                const uint32_t blocks[] = {(M + m - 1) / m, (N + n - 1) / n, (K + k - 1) / k};
                bool covered = m * k + k * n + m * n > ROOM;
                for (size_t i = 0; i < rows.n && !covered; i++)
                    covered = undercuts(rows.blocks + 3 * i, blocks);
                assert_true(covered);
            }
    sx_largest_tiles_fini(&rows);
    sx_small_map_close(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_best_tile),     cmocka_unit_test(knows_what_units_take),
        cmocka_unit_test(knows_where_tiles_move),  cmocka_unit_test(knows_what_a_word_counts_for),
        cmocka_unit_test(lists_the_largest_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
