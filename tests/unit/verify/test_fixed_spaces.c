/* What the verifier's own enumeration comes to on fixed spaces, as hashes: members and why others are none, spatial mappings,
 * orders, mappings below a value, and what all that takes. They are changed on purpose. */
#include "support/check_space.h"
#include "support/expect.h"

#include "base/hash.h"
#include "bound/bound.h"
#include "verify/enumeration.h"
#include "verify/exact_energy.h"
#include "verify/remainder_walk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPACES = 5, MEMBERS = 12, MOST_POINTS = 1 << 16 };
enum part { LIMITS, MEMBER, SPATIAL, LAYOUTS, ORDERS, ENERGY, BELOW, BOUNDS, REMAINDERS, PARTS };

/* A space, and hashes of all that was found. */
typedef struct bench {
    sx_verify_space space;
    sx_check_budget budget;
    enum part visited; /* the part that a visitor adds to */
    uint64_t hash[PARTS];
} bench;

static void add(bench *b, enum part part, uint64_t number) {
    b->hash[part] = sx_hash_mix(b->hash[part], number);
}

static void add_text(bench *b, enum part part, const char *text) {
    b->hash[part] = sx_hash_bytes(text, strlen(text), b->hash[part]);
}

/* Adds a number of a sum of doubles, to nine digits. */
static void add_double(bench *b, enum part part, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.9g", number);
    add_text(b, part, text);
}

static void add_limits(bench *b) {
    const sx_verify_space *space = &b->space;
    add(b, LIMITS, (uint64_t)sx_verify_space_n_keeps(space));
    for (int s = 0; s < space->arch->n_levels; s++) {
        add(b, LIMITS, space->room[s][0]);
        add(b, LIMITS, space->room[s][1]);
        add(b, LIMITS, (uint64_t)(space->must[s] << 8 | space->may[s]));
        add(b, LIMITS, space->banked[s] + 2u * space->splits[s]);
        for (int d = 0; d < space->problem->n_dims; d++) {
            add(b, LIMITS, space->temporal[s][d].least);
            add(b, LIMITS, space->temporal[s][d].most);
            add(b, LIMITS, space->spatial[s][d].least);
            add(b, LIMITS, space->spatial[s][d].most);
            add(b, LIMITS, space->spatial_rank[s][d]);
            add(b, LIMITS, space->temporal_rank[s][d]);
        }
    }
}

/* Changes one thing of a mapping. */
static void change_mapping(sx_rng *rng, sx_mapping *m) {
    sx_mapping_level *at = &m->level[sx_rng_below(rng, m->n_levels)],
                     *other = &m->level[sx_rng_below(rng, m->n_levels)];
    const int d = (int)sx_rng_below(rng, m->n_dims);
    const uint8_t tensor = (uint8_t)(1u << sx_rng_below(rng, m->n_tensors));
    const uint32_t factor = at->temporal[d];
    switch (sx_rng_below(rng, 9)) {
    case 0:
        at->keep ^= tensor;
        break;
    case 1:
        at->no_temporal_reuse ^= tensor;
        break;
    case 2:
        at->no_multicast ^= tensor;
        break;
    case 3:
        sx_rng_shuffle(rng, at->temporal_order, m->n_dims);
        break;
    case 4:
        sx_rng_shuffle(rng, at->spatial_order, m->n_dims);
        break;
    case 5:
        at->split = (uint8_t)sx_rng_below(rng, m->n_dims + 1u);
        break;
    case 6:
        at->temporal[d] = other->temporal[d];
        other->temporal[d] = factor;
        break;
    case 7:
        at->temporal[d] = other->spatial[d];
        other->spatial[d] = factor;
        break;
    default:
        at->temporal[d]++;
        break;
    }
}

/* Adds whether mappings are members, or why not, and their energies without rounding. */
static void add_members(bench *b, sx_rng *rng, const sx_small_space *small, const sx_mapping_list *list) {
    char why[400], exact[SX_FRACTION_SIZE];
    for (int i = 0; i < MEMBERS; i++) {
        sx_mapping m = list->mapping[sx_rng_below(rng, list->n)];
        sx_expect_ok(sx_mapping_exact_energy(small->model, &m, exact));
        add_text(b, ENERGY, exact);
        for (int k = 0; k < 3; k++) {
            why[0] = 0;
            add(b, MEMBER, sx_verify_space_contains(&b->space, &m, why, sizeof why));
            add_text(b, MEMBER, why);
            change_mapping(rng, &m);
        }
    }
}

static bool add_spatial(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    bench *b = user;
    for (int s = 0; s < b->space.arch->n_levels; s++)
        for (int d = 0; d < b->space.problem->n_dims; d++) add(b, SPATIAL, spatial[s][d]);
    return true;
}

/* Adds all layouts of the spatial loops of a mapping, and the banks of its tiles. */
static void add_layouts(bench *b, const sx_mapping *m) {
    for (int s = 0; s < m->n_levels; s++) {
        const unsigned loops = sx_verify_space_loops(&b->space, m->level[s].spatial);
        uint32_t extent[SX_MAX_DIMS];
        for (int d = 0; d < SX_MAX_DIMS; d++)
            extent[d] = d < m->n_dims ? (uint32_t)sx_mapping_extent(m, s, d) : 1;
        for (unsigned keep = 0; keep < 1u << m->n_tensors; keep++)
            add(b, LAYOUTS, sx_verify_space_banks_fit(&b->space, s, keep, extent));
        add(b, LAYOUTS, sx_verify_order_matters(&b->space, &m->level[s], s));
        for (unsigned x = 0; x < 1u << m->n_dims; x++) {
            sx_mapping_level at = m->level[s];
            if (x & ~loops) continue;
            add(b, LAYOUTS, sx_verify_space_fits(&b->space, s, at.spatial, x));
            sx_verify_space_set_layout(&b->space, s, x, &at);
            add(b, LAYOUTS, (uint64_t)at.split << 16 | at.x_part);
            for (int d = 0; d < m->n_dims; d++) add(b, LAYOUTS, at.spatial_order[d]);
        }
    }
}

/* Adds the orders of all loops of all levels. */
static void add_orders(bench *b, bool each) {
    const int n_dims = b->space.problem->n_dims;
    sx_order_list *orders;
    sx_expect_ok(sx_order_list_new(&b->space, each, &orders));
    for (int s = 0; s < b->space.arch->n_levels; s++)
        for (unsigned loops = 0; loops < 1u << n_dims; loops++) {
            size_t n, at;
            const uint8_t(*order)[SX_MAX_DIMS] = sx_order_list_of(orders, s, loops, &n);
            assert_non_null(order);
            add(b, ORDERS, n);
            for (size_t i = 0; i < n; i++)
                for (int d = 0; d < n_dims; d++) add(b, ORDERS, order[i][d]);
            if (n) add(b, ORDERS, sx_order_list_find(orders, s, loops, order[n - 1], &at) ? at : SIZE_MAX);
        }
    sx_order_list_free(orders);
}

static void add_mapping(void *user, const sx_mapping *m) {
    bench *b = user;
    for (int s = 0; s < m->n_levels; s++)
        for (int d = 0; d < m->n_dims; d++) {
            add(b, b->visited, m->level[s].temporal[d]);
            add(b, b->visited, m->level[s].temporal_order[d]);
        }
}

static void count_tick(void *user) {
    ++*(uint64_t *)user;
}

/* What an enumeration needs, of a space and an objective. */
typedef struct engine {
    sx_bound *bound;
    sx_order_list *orders;
    sx_check_context context;
    sx_enumeration *enumeration;
    uint64_t ticks;
} engine;

static void open_engine(bench *b, const sx_objective *objective, bool each, engine *out) {
    sx_expect_ok(sx_bound_new(b->space.model, b->space.constraints, MOST_POINTS, &out->bound));
    sx_expect_ok(sx_bound_survey(out->bound, b->space.must, b->space.may, NULL));
    sx_expect_ok(sx_bound_quicken(out->bound));
    sx_expect_ok(sx_order_list_new(&b->space, each, &out->orders));
    out->context = (sx_check_context){&b->space, out->bound, out->orders, objective, &b->budget, NULL};
    sx_expect_ok(sx_enumeration_new(&out->context, &out->enumeration));
    out->ticks = 0;
    sx_enumeration_on_tick(out->enumeration, count_tick, &out->ticks);
}

static void close_engine(engine *e) {
    sx_enumeration_free(e->enumeration);
    sx_order_list_free(e->orders);
    sx_bound_free(e->bound);
}

/* Adds what the enumeration of the spatial factors of a mapping finds below a value around its own. */
static void add_enumeration(bench *b, engine *e, const sx_mapping *m, double value) {
    static const double shares[] = {0.5, 0.9, 1 + 1e-9, 1.5, 4};
    uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS] = {{0}};
    for (int s = 0; s < m->n_levels; s++)
        for (int d = 0; d < m->n_dims; d++) spatial[s][d] = m->level[s].spatial[d];
    const uint32_t(*factors)[SX_MAX_DIMS] = (const uint32_t(*)[SX_MAX_DIMS])spatial;
    add_double(b, BOUNDS, sx_enumeration_compulsory(e->enumeration, factors));
    b->visited = BELOW;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (int how = 0; how < 3; how++) {
            double least = INFINITY;
            sx_enumeration_on_below(e->enumeration, how == 2, how ? add_mapping : NULL, b);
            add(b, BELOW, sx_enumeration_check_mappings(e->enumeration, factors, shares[i] * value, &least));
            add_double(b, BELOW, least);
            add(b, BELOW, sx_enumeration_evaluations(e->enumeration));
            least = INFINITY;
            if (how) continue;
            add(b, BOUNDS, sx_enumeration_check_bounds(e->enumeration, factors, shares[i] * value, &least));
            add_double(b, BOUNDS, least);
        }
    add(b, BOUNDS, atomic_load(&b->budget.steps));
    add(b, BOUNDS, e->ticks);
}

/* Adds what mappings that leave remainders are below some values. */
static void add_remainders(bench *b, engine *e, double value) {
    static const double shares[] = {0.5, 0.95, 1 + 1e-9, 1.5};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        sx_remainder_walk *walk;
        double least = INFINITY;
        sx_expect_ok(sx_remainder_walk_new(&e->context, &walk));
        add(b, REMAINDERS, sx_remainder_walk_check(walk, shares[i] * value, NULL, NULL, &least));
        const sx_walk_counts counts = sx_remainder_walk_counts(walk);
        add(b, REMAINDERS, counts.spatial);
        add(b, REMAINDERS, counts.searched);
        add(b, REMAINDERS, counts.evaluations);
        add_double(b, REMAINDERS, least);
        sx_remainder_walk_free(walk);
    }
}

/* Adds all that is enumerated of a space by an objective. */
static void add_values(bench *b, sx_rng *rng, const sx_small_space *small, const sx_mapping_list *list,
                       const char *by) {
    sx_objective objective;
    engine e;
    size_t best = 0, other = sx_rng_below(rng, list->n);
    sx_expect_ok(sx_objective_parse(by, &objective));
    for (size_t i = 1; i < list->n; i++)
        if (sx_objective_value(&objective, &list->score[i]) <
            sx_objective_value(&objective, &list->score[best]))
            best = i;
    open_engine(b, &objective, small->options.remainders, &e);
    const double value = sx_objective_value(&objective, &list->score[best]);
    if (small->options.remainders) {
        add_remainders(b, &e, value);
    } else {
        add_enumeration(b, &e, &list->mapping[best], value);
        add_enumeration(b, &e, &list->mapping[other], value);
    }
    close_engine(&e);
}

static void add_space(bench *b, sx_rng *rng, const sx_small_space *small) {
    static const char *const objectives[] = {"edp", "energy", "delay", "ed2p"};
    sx_mapping_list list;
    sx_list_mappings(small, &list);
    sx_expect_ok(sx_verify_space_init(&b->space, small->model, &small->limits, &small->options));
    add_limits(b);
    sx_verify_space_list_spatial(&b->space, small->options.remainders, &b->budget, add_spatial, b);
    for (int each = 0; each < 2; each++) add_orders(b, each);
    if (list.n) {
        add_members(b, rng, small, &list);
        add_layouts(b, &list.mapping[sx_rng_below(rng, list.n)]);
        add_values(b, rng, small, &list, objectives[sx_rng_below(rng, 4)]);
    }
    sx_verify_space_fini(&b->space);
    sx_free_mappings(&list);
}

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void random_spaces(void **state) {
    (void)state;
    static const row expected[SX_N_KINDS] = {
        {"banks",
         {0xa74de303aa0fb1a7u, 0xa5c3638c776e07e0u, 0x14e56c49cbde474au, 0x7ea35df5557147a3u,
          0x245414d60e88fca3u, 0x316e5d06b2e4a25eu, 0x929cfcd66910a048u, 0x8e54782b22d2e58du,
          0x0000000000000000u}},
        {"sparse",
         {0x926c973be980f34du, 0x5999b3f8e5ea0df7u, 0x7719b31c3685907du, 0x068d3132a6046548u,
          0xb5aa8c77943dbf54u, 0xf764ed01bd96219cu, 0x640bbc09b54916c4u, 0x7d7a65b5bc59d078u,
          0x0000000000000000u}},
        {"remainders",
         {0xc3df497cba0a460du, 0x29082649fe4f4288u, 0x1c804c22542d2330u, 0x854e3a12914cf018u,
          0x89f5c72035d0a606u, 0xf5f0521b1cbeeb38u, 0x0000000000000000u, 0x0000000000000000u,
          0x8ff55eb7d56bb05cu}},
        {"split axes",
         {0x5fcd4f780fff4395u, 0x87b59f4d527a1468u, 0x6dfb982926a3e4b9u, 0x5ded284b2b9ed60eu,
          0xc7fc9bd76374e76cu, 0x315c6ead2d9bc46eu, 0xdeece026c95aafe8u, 0x43dcb61c6e2c7e77u,
          0x0000000000000000u}},
        {"network",
         {0xb01fb1879d636593u, 0x6da2094365b4fe55u, 0x9a410d5d2f9bebe5u, 0x0d80139685eebb15u,
          0xf8570d803d4b8f70u, 0xb32959a10aa6cdd8u, 0x316120898a1a6faau, 0x67c0c5e69a24f6c3u,
          0x0000000000000000u}},
        {"links",
         {0x360e5098a2bd9358u, 0xdd7eb631ae3e3ca7u, 0xf6516815619c89d2u, 0x7a0e48c080b42dc6u,
          0xd1313a6205ebd85cu, 0x72a736acb1473544u, 0x969d94e3b76b5872u, 0x090bb8489e528bf1u,
          0x0000000000000000u}},
        {"bits",
         {0xc026ee7a0d7d10f2u, 0xd7f545c19b1cfbebu, 0x150c83181e429e19u, 0xdafcbd31892dea7fu,
          0x563ba64751e78f89u, 0xe71e394e0fbde51fu, 0xa1b25972addecfb3u, 0x3b94ecd2a517aad9u,
          0x0000000000000000u}},
        {"constraints",
         {0xa433133bd9a2fdbfu, 0x926b9233cd200ba0u, 0xa5f09b16a1cdcbafu, 0x904845f8f7cb2438u,
          0x7cd11442ec775baau, 0xc602db95db9c5f2fu, 0xfe41ee1f11dfad2du, 0x582f40b418635f52u,
          0x0000000000000000u}},
        {"least use",
         {0x2900993c9683dda4u, 0xaa82b24d0183deb5u, 0x34fd6019b52ab6bau, 0x6f3017ef7f0cc1f0u,
          0x84f14a9141c053f5u, 0xdd8d0184d39e2238u, 0x12a5c44121e3bc51u, 0x5be16ba392fd7fc8u,
          0x0000000000000000u}},
        {"buffering",
         {0x83be19c12ce4ce53u, 0x297d0fe9ce5e880cu, 0x6c899e2e1a201bb2u, 0x969dc6ae81a39724u,
          0xa39a1e5541d70704u, 0x668708a270085e7du, 0x7e24b1facef09f91u, 0x1eb445f6e2e0a857u,
          0x0000000000000000u}},
        {"transparent",
         {0x0cc1f6c657160d0fu, 0x4fc7335b28bfc04eu, 0x12a41985867436feu, 0xd999b5969fd871b3u,
          0x65025db4db95289cu, 0xc1ac487298fe89fcu, 0x666d7fd97c339a45u, 0xf1d0b7f8e50c315cu,
          0x0000000000000000u}},
        {"windows",
         {0x70a10b4068157c39u, 0xbe05d87873f2d50fu, 0xf7d01dd671bbac00u, 0x30bcbfcc33ff2184u,
          0x870b0af71aa409d6u, 0xc93bb872a60484e2u, 0x9216b0f528ed111bu, 0xf0263eaa5c04b9c8u,
          0x0000000000000000u}},
        {"quiet",
         {0xb3ca71e72a354cf7u, 0xf0f00c0a61aca6d6u, 0x9c33d129e783afb2u, 0x721ecb70786e7dc3u,
          0xb5820accee7f088eu, 0xb886ea4a7890ca46u, 0xc3bb9058990a4cf0u, 0x66d6581c95964485u,
          0x0000000000000000u}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        bench b = {.visited = BELOW};
        const char *name = sx_space_kind_name((sx_space_kind)kind);
        for (uint64_t i = 0; i < SPACES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "verified", i);
            sx_small_space small;
            if (kind == SX_KIND_REMAINDERS)
                sx_draw_remainder_space(&rng, &small);
            else
                sx_draw_check_space_of(&rng, (sx_space_kind)kind, &small);
            add_space(&b, &rng, &small);
            sx_small_space_fini(&small);
        }
        good &= sx_is_recorded(name, b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

/* Whether the walk of a space's mappings, which nothing closes and which ends at no mapping, says that its budget is spent. */
static sx_check_outcome walk_without_budget(bench *b, const sx_small_space *small,
                                            const sx_mapping_list *list) {
    sx_check_outcome outcome;
    sx_objective objective;
    engine e;
    double least = INFINITY;
    sx_expect_ok(sx_objective_parse("edp", &objective));
    open_engine(b, &objective, small->options.remainders, &e);
    atomic_store(&b->budget.over, true);
    if (small->options.remainders) {
        sx_remainder_walk *walk;
        sx_expect_ok(sx_remainder_walk_new(&e.context, &walk));
        outcome = sx_remainder_walk_check(walk, 1e300, NULL, NULL, &least);
        sx_remainder_walk_free(walk);
    } else {
        uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
        for (int s = 0; s < SX_MAX_LEVELS; s++)
            for (int d = 0; d < SX_MAX_DIMS; d++) spatial[s][d] = list->mapping[0].level[s].spatial[d];
        sx_enumeration_on_below(e.enumeration, true, add_mapping, b);
        outcome = sx_enumeration_check_mappings(e.enumeration, (const uint32_t(*)[SX_MAX_DIMS])spatial, 1e300,
                                                &least);
    }
    close_engine(&e);
    return outcome;
}

static void a_spent_budget_is_said(void **state) {
    (void)state;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        bench b = {.visited = BELOW};
        sx_rng rng = sx_rng_stream((uint64_t)kind, "verified", 0);
        sx_small_space small;
        sx_mapping_list list;
        if (kind == SX_KIND_REMAINDERS)
            sx_draw_remainder_space(&rng, &small);
        else
            sx_draw_check_space_of(&rng, (sx_space_kind)kind, &small);
        sx_list_mappings(&small, &list);
        sx_expect_ok(sx_verify_space_init(&b.space, small.model, &small.limits, &small.options));
        if (list.n) assert_int_equal(walk_without_budget(&b, &small, &list), SX_CHECK_STOPPED);
        sx_verify_space_fini(&b.space);
        sx_free_mappings(&list);
        sx_small_space_fini(&small);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spaces),
        cmocka_unit_test(a_spent_budget_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
