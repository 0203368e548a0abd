/* What a map space says of itself and of points on fixed spaces: its size line by line, its points by number, why points are
 * illegal and why there may be no legal one, their vectors, and draws and moves to legal ones; as hashes that are changed on
 * purpose. */
#include "support/expect.h"
#include "support/random_space.h"

#include "base/hash.h"
#include "mapspace/map_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPACES = 10, MOST = 1500, POINTS = 30, DRAWS = 20, TRIES = 60 };
enum part { SIZES, NUMBERED, REASONS, DIAGNOSES, VECTORS, PROJECTED, DRAWN, MOVED, PARTS };

typedef struct bench {
    const sx_space *space;
    const sx_map_space *map;
    size_t size;
    uint64_t hash[PARTS];
} bench;

static void add(bench *b, enum part part, uint64_t number) {
    b->hash[part] = sx_hash_mix(b->hash[part], number);
}

static void add_text(bench *b, enum part part, const char *text) {
    b->hash[part] = sx_hash_bytes(text, strlen(text), b->hash[part]);
}

static void add_double(bench *b, enum part part, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.9g ", number);
    add_text(b, part, text);
}

static void add_point(bench *b, enum part part, const void *point) {
    b->hash[part] = sx_hash_bytes(point, b->size, b->hash[part]);
}

/* Adds the account of the size. */
static void add_sizes(bench *b) {
    sx_size line;
    sx_expect_ok(sx_space_count(b->space));
    for (size_t i = 0; sx_space_size(b->space, i, &line); i++) {
        char text[40];
        sx_cardinal_text(&line.count, text, sizeof text);
        add_text(b, SIZES, line.name);
        add_text(b, SIZES, text);
    }
}

/* Adds a point's legality and what is wrong with it, and its vector. */
static void add_reason(bench *b, void *point) {
    static double values[SX_MAP_MAX_VALUES];
    char text[400] = "";
    add(b, REASONS, b->space->type->check(b->space, point));
    add(b, REASONS, sx_space_legal(b->space, point, text, sizeof text));
    add(b, REASONS, sx_map_holds(b->space, point));
    add_text(b, REASONS, text);
    sx_space_encode(b->space, point, values);
    for (size_t i = 0; i < sx_space_n_values(b->space); i++) add_double(b, VECTORS, values[i]);
}

/* Adds the first points by number, and the last one. */
static void add_numbered(bench *b, uint64_t n, void *point) {
    for (uint64_t i = 0; i < n; i += 1 + n / POINTS) {
        if (!sx_space_at(b->space, &(sx_cardinal){.low = i, .exact = true}, point)) break;
        add_point(b, NUMBERED, point);
        add_reason(b, point);
    }
    add(b, NUMBERED, sx_space_at(b->space, &(sx_cardinal){.low = n ? n - 1 : 0, .exact = true}, point));
    add(b, NUMBERED, sx_space_at(b->space, &(sx_cardinal){.low = n, .exact = true}, point));
}

/* Adds draws, and what moves and projections make of them. */
static void add_draws(bench *b, sx_rng *rng, char *point, char *next) {
    static double values[SX_MAP_MAX_VALUES];
    for (int i = 0; i < DRAWS; i++) {
        uint64_t rejected = 0;
        add(b, DRAWN, sx_space_draw_legal(b->space, rng, point, &rejected));
        add(b, DRAWN, rejected);
        add_point(b, DRAWN, point);
        for (int axis = -1; axis <= SX_AXIS_BANKS; axis++) {
            add(b, MOVED, sx_space_mutate(b->space, rng, axis, i % 2, 10, point, next));
            add_point(b, MOVED, point);
        }
        sx_space_encode(b->space, point, values);
        for (size_t k = 0; k < sx_space_n_values(b->space); k++) values[k] += 3 * sx_rng_double(rng) - 1.5;
        const bool done = sx_space_project(b->space, values, next);
        add(b, PROJECTED, done);
        if (done) add_point(b, PROJECTED, next);
        b->space->type->draw(b->space, rng, point);
        add_reason(b, point);
        add(b, DRAWN, sx_map_repair(b->map, rng, point));
        add_point(b, DRAWN, point);
    }
}

/* Adds what numbers of vectors are. */
static void add_values(bench *b) {
    static sx_map_value value[SX_MAP_MAX_VALUES];
    sx_map_describe(b->map, value);
    for (size_t i = 0; i < sx_space_n_values(b->space); i++) {
        add(b, VECTORS, value[i].kind);
        add(b, VECTORS, value[i].level);
        add(b, VECTORS, value[i].which);
        add(b, VECTORS, value[i].spatial);
    }
}

static void add_space(bench *b, sx_rng *rng, const sx_small_space *small) {
    char *why;
    b->space = small->space;
    b->map = small->map;
    b->size = sx_space_point_size(small->space);
    char *point = calloc(2, b->size);
    assert_non_null(point);
    add_sizes(b);
    add_values(b);
    if (small->n) add_numbered(b, small->n, point);
    add_draws(b, rng, point, point + b->size);
    sx_expect_ok(sx_space_diagnose(b->space, 1, TRIES, &why));
    add_text(b, DIAGNOSES, why);
    free(why);
    free(point);
}

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void random_spaces(void **state) {
    (void)state;
    static const row expected[SX_N_KINDS] = {
        {"banks",
         {0xbcb6cdf1d5e16ef1u, 0x77ad81f371be7bb6u, 0x0ad1a3b704c33e6cu, 0xb72e1a93a803ffa3u,
          0x6a1555bad09324f2u, 0xe512600fb1be9dcdu, 0x121b43581555671au, 0xd6fc11291e19ddb5u}},
        {"sparse",
         {0x87c2f7c28f1872abu, 0x58be1018d5ccfdf1u, 0x89687da7b22b65e9u, 0xaffb0cec3a937da9u,
          0x0aab878f86294c34u, 0x4ff2390740077342u, 0xcfa14c7504caa689u, 0xe9f57acf8ec87f7fu}},
        {"remainders",
         {0x2c31a248cea4c5a1u, 0x4b7a78af14043230u, 0x96ab1332d5337e75u, 0x8ef3899e186b4e38u,
          0x9b6c6d6d01771b2fu, 0xcfb4ded30e5b431eu, 0xb431dcaa016f16afu, 0xe75dfbcbb24998a7u}},
        {"split axes",
         {0x70bb11576faf2058u, 0x39954ad920c875c5u, 0x6373fb701a9580d7u, 0xd1a17c38153232ceu,
          0x12c4929154c395fau, 0x0ab74ffb9f9a7cdeu, 0x417dfe8e71fdd4b8u, 0x89d5c26585c8d042u}},
        {"network",
         {0xad6965ad9eaa4453u, 0xe42b135c5e5f6577u, 0x12674e869e310903u, 0xa2f2d60b48a626beu,
          0x056a36c8d02d32a8u, 0xd5d07fcd620ad118u, 0xde25df3d27148376u, 0xb15b2f809e9f7f5fu}},
        {"links",
         {0x8a1b56dceda07766u, 0x07a2c0e1abfd9233u, 0xac51fec339b98f62u, 0x074f1f448ead2fb3u,
          0xe23f10181350f557u, 0x102775e90aaee7e2u, 0x3f8946a947055fa8u, 0x3880a5b145523092u}},
        {"bits",
         {0x26b5a7a693cdd076u, 0xf40ebe4102e0ba68u, 0x098d529a9e68a694u, 0x330f7b27a42fe844u,
          0x2a87c4595f4392a7u, 0x18925a5a4e5d2d97u, 0x0c29a7f9f6ffe3b8u, 0x2924e22d74aac311u}},
        {"constraints",
         {0xd7a9994176a45869u, 0x3750985986afc9dcu, 0x04da708e8c312ff5u, 0x0fcaac34619dc1efu,
          0x1ec581a48bac4876u, 0xd58575d5d4b805fau, 0xbd1007b17f419b2eu, 0xadc22bc3d1f798d6u}},
        {"least use",
         {0xd70965d37e027966u, 0xbb152b6cef7e2281u, 0xba7016793a4e2523u, 0x24ce3cfedca92f15u,
          0xbb8694b7264d610bu, 0x411108ed839748c0u, 0xf1660f733b595341u, 0x329b0631d452d5b5u}},
        {"buffering",
         {0xdd7414347030850au, 0x164f2f6c10291c81u, 0x12388916984d7cc9u, 0x77383d27212f4a7eu,
          0x5bbf2e568f8ca74au, 0x6236717e68e49099u, 0x473f48b96822cd85u, 0x74e23bfa73749b79u}},
        {"transparent",
         {0x3bfb4813bd8a08a4u, 0x7eec885a0dfe5ae3u, 0x0f8c72907232c7e4u, 0x9d638d3bd964a4c2u,
          0xc2564d4b7e93ec15u, 0xb5b02cd2145bf31fu, 0x0726d8e8beaae1fdu, 0x7ead156a69aac048u}},
        {"windows",
         {0x7cc7fe6ee15092dbu, 0xa7c872a49dbcd1b3u, 0x3403addaed5862d8u, 0xbc41a3d724405ccbu,
          0xca938dfa3964a37fu, 0x3c4a2ea5556324d9u, 0x5a84a85aa694bb7fu, 0x10a9225e1f04bd27u}},
        {"quiet",
         {0x549f9455750de889u, 0x9f0b39921d5f2ec7u, 0x4d34cf5ea88eeb43u, 0x528e43a8339e8689u,
          0xdbf90f00a4fed59du, 0xb1b2688b3312a166u, 0x778888d368452111u, 0x507a1c5ae27372adu}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        bench b = {.space = NULL};
        for (uint64_t i = 0; i < SPACES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "mapped", i);
            sx_small_space small;
            sx_random_space_of(&rng, (sx_space_kind)kind, MOST, &small);
            add_space(&b, &rng, &small);
            sx_small_space_fini(&small);
        }
        good &= sx_is_recorded(sx_space_kind_name((sx_space_kind)kind), b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
