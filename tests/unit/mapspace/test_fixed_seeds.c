/* What draws, moves, repairs and projections give for fixed seeds on machines of the catalog. Searches rest on all of them: a
 * change here is a change of every search's results for the same seed, to be made on purpose and with news of it. */
#include "support/expect.h"
#include "support/map_neighbour.h"
#include "support/small_map.h"

#include "base/hash.h"
#include "mapspace/map_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 24, MOVES = 6 };
enum operation { DRAW, LIKELY, REDRAW, NUDGE, NEIGHBOUR, TAKE, REPAIR, PROJECT, OPERATIONS };

/* A space, and hashes of all points that operations gave. */
typedef struct bench {
    const sx_space *space;
    const sx_map_space *map;
    size_t size;
    uint64_t hash[OPERATIONS];
} bench;

/* Adds a point, and whether it is legal, to the hash of an operation. */
static void add_point(bench *b, enum operation operation, const void *point, bool done) {
    assert_true(sx_map_holds(b->space, point));
    b->hash[operation] = sx_hash_bytes(point, b->size, b->hash[operation] + done);
}

/* Moves from a point to others. */
static void try_moves(bench *b, sx_rng *rng, char *point, char *next) {
    for (int k = 0; k < MOVES && b->space->n_genes > 0; k++) {
        size_t gene = sx_rng_below(rng, b->space->n_genes);
        memcpy(next, point, b->size);
        sx_map_redraw(b->space, rng, gene, next);
        add_point(b, REDRAW, next, true);
        sx_map_take(b->space, sx_rng_below(rng, b->space->n_genes), next, point);
        sx_map_normalize(b->map, point);
        add_point(b, TAKE, point, true);
        sx_map_nudge(b->space, rng, gene, point);
        sx_map_normalize(b->map, point);
        add_point(b, NUDGE, point, true);
        if (sx_map_neighbour(b->space, point, sx_rng_below(rng, 40), next))
            add_point(b, NEIGHBOUR, next, true);
    }
}

/* Projects the vector of a point, moved by random amounts. */
static void try_projection(bench *b, sx_rng *rng, const char *point, char *next) {
    static double values[SX_MAP_MAX_VALUES];
    sx_map_encode(b->space, point, values);
    for (size_t i = 0; i < sx_map_n_values(b->map); i++) values[i] += 2 * sx_rng_double(rng) - 1;
    memcpy(next, point, b->size);
    bool done = sx_map_project(b->space, values, next);
    if (done) add_point(b, PROJECT, next, true);
    b->hash[PROJECT] += done;
}

/* Tries all operations on a space. */
static void try_space(bench *b, const char *einsum, const char *arch, const sx_map_space_options *options) {
    sx_small_map small;
    sx_small_map_open(&small, einsum, arch, NULL, options);
    b->space = small.space;
    b->map = small.map;
    b->size = sx_space_point_size(small.space);
    char *point = calloc(2, b->size), *next = point + b->size;
    assert_non_null(point);
    for (uint64_t i = 0; i < POINTS; i++) {
        sx_rng rng = sx_rng_stream(0, "test.fixed-seeds", i);
        sx_map_draw(b->space, &rng, point);
        add_point(b, DRAW, point, true);
        add_point(b, REPAIR, point, sx_map_repair(b->map, &rng, point));
        try_moves(b, &rng, point, next);
        try_projection(b, &rng, point, next);
        sx_map_draw_likely(b->space, &rng, point);
        add_point(b, LIKELY, point, true);
        add_point(b, REPAIR, point, sx_map_repair(b->map, &rng, point));
    }
    free(point);
    sx_small_map_close(&small);
}

static void operations_give_what_they_gave(void **state) {
    (void)state;
    static const char *const archs[] = {"eyeriss",       "edge-unified", "accel-a", "accel-b",
                                        "mind-mappings", "simba",        "glb128"};
    static const char *const texts[] = {
        "O[m,n] += A[m,k]*B[k,n] {m:96,n:40,k:63}",
        "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:16,c:12,p:14,q:7,r:3,s:3}",
        "O[i,r] += T[i,j,k]*B[j,r]*C[k,r] {i:30,j:18,k:8,r:11}"};
    static const sx_map_space_options options[] = {
        {0}, {.remainders = true}, {.split_axes = true}, {.keep_all = true}};
    static const char *const names[OPERATIONS] = {"draw",      "likely draw", "redraw", "nudge",
                                                  "neighbour", "take",        "repair", "project"};
    static const uint64_t expected[OPERATIONS] = {
        0x0f278fec0f71c0dcu, 0x5ad30d33088b0f86u, 0xc4e15ee447ad832au, 0x65a1a776408bb629u,
        0x753edfe59144d183u, 0xf017943de3cb9c03u, 0xeb63a99bdc13967eu, 0x2e4e484b78f7c122u};
    bench b = {0};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            for (size_t o = 0; o < sizeof options / sizeof *options; o++)
                try_space(&b, texts[k], archs[i], &options[o]);
    for (int i = 0; i < OPERATIONS; i++)
        if (b.hash[i] != expected[i]) print_error("%s: 0x%016llx\n", names[i], (unsigned long long)b.hash[i]);
    assert_int_equal(memcmp(b.hash, expected, sizeof expected), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_give_what_they_gave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
