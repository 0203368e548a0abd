/* What lower bounds come to on fixed spaces, of mappings that divide and of such that leave remainders, as hashes of all numbers
 * to nine digits. A bound that gets weaker is still true, and shows here; so does one that takes more steps. They are changed on
 * purpose, and no bound may fall. */
#include "bound/bound.h"
#include "bound/effectual.h"
#include "bound/latency.h"
#include "bound/network.h"
#include "bound/prefix.h"
#include "support/expect.h"
#include "support/random_law.h"
#include "support/random_space.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPACES = 12, LINK_SPACES = 25, LAW_SPACES = 24, MAPPINGS = 4, MOST = 600, MOST_POINTS = 1 << 16 };
enum part {
    OUTLINE,
    TRAFFIC,
    SCORES,
    TABLES,
    PARTIAL,
    MOVABLE,
    LATENCY,
    IMPERFECT,
    FLOWS,
    PREFIX,
    JOINED,
    PARTS
};

/* A space with its bounds, and hashes of all that they come to. */
typedef struct bench {
    const sx_map_space *map;
    const sx_model *model;
    sx_bound *bound;
    sx_outline_bound *bounds, *other;
    uint64_t hash[PARTS];
} bench;

static void add(bench *b, enum part part, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.9g ", number);
    b->hash[part] = sx_hash_bytes(text, strlen(text), b->hash[part]);
}

static void add_score(bench *b, enum part part, sx_score score) {
    add(b, part, score.energy_pj);
    add(b, part, score.cycles);
    add(b, part, score.utilization);
}

static void list_may(const sx_map_space *map, uint8_t may[SX_MAX_LEVELS]) {
    memset(may, 0, SX_MAX_LEVELS);
    for (int s = 0; s < map->arch->n_levels; s++) may[s] = map->free_keep[s] | map->banked[s];
}

static void open_bounds(bench *b, const sx_small_space *small) {
    uint8_t may[SX_MAX_LEVELS];
    b->map = small->map;
    b->model = small->model;
    list_may(small->map, may);
    sx_expect_ok(sx_bound_new(small->model, &small->map->constraints, MOST_POINTS, &b->bound));
    sx_expect_ok(sx_bound_survey(b->bound, small->map->fixed_keep, may, NULL));
    sx_expect_ok(sx_bound_quicken(b->bound));
    sx_expect_ok(sx_outline_bound_new(b->bound, &b->bounds));
    sx_expect_ok(sx_outline_bound_new(b->bound, &b->other));
}

static void close_bounds(bench *b) {
    sx_outline_bound_free(b->bounds);
    sx_outline_bound_free(b->other);
    sx_bound_free(b->bound);
}

static sx_outline outline_of(const sx_mapping *mapping) {
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < mapping->n_levels; s++) {
        memcpy(outline.spatial[s], mapping->level[s].spatial, sizeof outline.spatial[s]);
        outline.keep[s] = mapping->level[s].keep;
    }
    return outline;
}

/* Adds what follows from the spatial loops at once. */
static void add_outline(bench *b) {
    const sx_outline_bound *o = b->bounds;
    add(b, OUTLINE, o->steps);
    add(b, OUTLINE, o->leak);
    add(b, OUTLINE, sx_outline_bound_busy(o));
    for (int v = 0; v < b->model->n_tensors; v++) {
        add(b, OUTLINE, o->linked[v]);
        add(b, OUTLINE, sx_bound_loses_reads(b->model, v));
        for (int s = 0; s < b->model->n_levels; s++) {
            add(b, OUTLINE, o->apart[v][s]);
            add(b, OUTLINE, sx_network_word(o, v, s));
            add(b, OUTLINE, sx_outline_bound_has_links(o, s, v));
        }
    }
}

static bool is_listed(const sx_form_list *forms, uint32_t form) {
    for (uint32_t k = 0; k < forms->n; k++)
        if (forms->form[k] == form) return true;
    return false;
}

/* Adds a flow at the least, for all forms of the tile. */
static void add_traffic(bench *b, int v, int from, int to) {
    const sx_least_traffic *traffic = sx_outline_bound_traffic(b->bounds, v, from, to);
    const sx_form_list forms = sx_outline_bound_forms(b->bounds, v, from);
    for (uint32_t i = 0; i < b->bound->form[v].n_points; i++) {
        const sx_least_traffic *t = &traffic[i];
        const bool possible = is_listed(&forms, i);
        add(b, TRAFFIC, possible ? t->words : INFINITY);
        if (!possible) continue;
        const double numbers[] = {t->groups, t->most, t->fewest,  t->own,
                                  t->outer,  t->all,  t->renewed, t->n_first};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) add(b, TRAFFIC, numbers[k]);
        for (int k = 0; k < t->n_first; k++) {
            const sx_first_loop *first = &t->first[k];
            const double more[] = {first->dims, first->words,       first->groups,
                                   first->own,  first->more_groups, first->more_own};
            for (size_t m = 0; m < sizeof more / sizeof *more; m++) add(b, TRAFFIC, more[m]);
        }
    }
}

/* Adds all flows between levels that keep a tensor. */
static void add_traffics(bench *b, const sx_outline *outline) {
    for (int v = 0; v < b->model->n_tensors; v++)
        for (int to = 0, from = -1; to < b->model->n_levels; to++) {
            if (!(outline->keep[to] >> v & 1)) continue;
            if (from >= 0) add_traffic(b, v, from, to);
            add(b, TRAFFIC, sx_outline_bound_left(b->bounds, v, from, to));
            from = to;
        }
}

/* Adds the bounds of all beginnings of a mapping. */
static void add_beginnings(bench *b, const sx_mapping *mapping) {
    sx_partial_mapping partial, next;
    sx_partial_mapping_begin(b->bounds, &partial);
    for (int s = 0; s < mapping->n_levels; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        uint32_t extent[SX_MAX_DIMS] = {0};
        for (int d = 0; d < mapping->n_dims; d++) extent[d] = (uint32_t)sx_mapping_extent(mapping, s, d);
        uint32_t point = sx_lattice_point(&b->bound->lattice, extent);
        add_score(b, PARTIAL, sx_partial_mapping_try(b->bounds, &partial, s, extent, point));
        sx_partial_mapping_extend(b->bounds, &partial, s, extent, point, at->temporal_order, &next);
        partial = next;
        add_score(b, PARTIAL, sx_partial_mapping_bound(b->bounds, &partial, s));
        add(b, MOVABLE, sx_bound_movable(b->bound, s, at->keep, at->temporal, at->temporal_order));
        for (int v = 0; v < mapping->n_tensors; v++) add(b, MOVABLE, sx_bound_share(b->bound, v, extent));
    }
}

/* Adds the bounds of a mapping's spatial loops where just one tensor must be kept. Sets of tensors with gaps among them are
 * tried, too. */
static void add_choices(bench *b, const sx_outline *outline, const uint8_t *may) {
    for (int v = 0; v < b->model->n_tensors; v++) {
        sx_outline bare = *outline;
        uint8_t all[SX_MAX_LEVELS] = {0};
        for (int s = 0; s < b->model->n_levels; s++) {
            all[s] = may[s] | b->map->fixed_keep[s];
            bare.keep[s] = (uint8_t)(all[s] & 1u << v);
        }
        add_score(b, SCORES, sx_outline_bound_spatial(b->other, &bare, all));
    }
}

/* Adds all bounds of a mapping that divides. */
static void add_mapping(bench *b, const sx_mapping *mapping) {
    const sx_outline outline = outline_of(mapping);
    sx_outline bare = outline;
    uint8_t may[SX_MAX_LEVELS];
    list_may(b->map, may);
    memcpy(bare.keep, b->map->fixed_keep, sizeof bare.keep);
    add_score(b, SCORES, sx_outline_bound_spatial(b->other, &bare, may));
    add_choices(b, &outline, may);
    sx_outline_bound_begin(b->bounds, &outline);
    add_outline(b);
    add_traffics(b, &outline);
    add_score(b, SCORES, sx_outline_bound_compulsory(b->bounds));
    add_score(b, SCORES, sx_outline_bound_quick(b->bounds, false));
    add_score(b, SCORES, sx_outline_bound_quick(b->bounds, true));
    b->bounds->tables = false;
    add_beginnings(b, mapping);
    add_score(b, TABLES, sx_outline_bound_tabulate(b->bounds, NULL));
    b->bounds->tables = true;
    add_beginnings(b, mapping);
    add(b, SCORES, (double)b->bounds->work);
}

static double product_of(const void *rule, const sx_score *score) {
    (void)rule;
    return score->energy_pj * score->cycles;
}

/* Adds the bounds of a query, and the steps that they take. */
static void add_query(bench *b, const sx_prefix_bound *prefix, const sx_prefix_query *query, double known) {
    const double limits[] = {INFINITY, known};
    for (int first = -1; first < b->model->n_dims; first++) {
        sx_score score = {0};
        add(b, PREFIX, sx_prefix_bound_score(prefix, query, first, &score));
        add_score(b, PREFIX, score);
    }
    for (int i = 0; i < 2; i++) {
        const sx_prefix_goal goal = {product_of, NULL, limits[i], i ? known * 0.5 : -INFINITY};
        uint64_t steps = 0;
        const sx_prefix_least least[] = {sx_prefix_bound_least(prefix, query, &goal, &steps),
                                         query->order ? (sx_prefix_least){0}
                                                      : sx_prefix_bound_open(prefix, query, &goal, &steps)};
        for (int k = 0; k < 2; k++) {
            add(b, JOINED, least[k].value);
            add(b, JOINED, least[k].energy);
            add(b, JOINED, least[k].cycles);
        }
        add(b, JOINED, (double)steps);
    }
}

/* Takes over the loops of a mapping. */
static void decide(sx_prefix_bound *prefix, const sx_mapping *mapping) {
    sx_prefix_bound_begin(prefix);
    for (int s = 0; s < mapping->n_levels; s++)
        for (int i = 0; i < mapping->n_dims; i++) {
            int d = mapping->level[s].temporal_order[i];
            sx_decided_set(&prefix->decided, s, d, mapping->level[s].temporal[d]);
            prefix->decided.place[s][d] = (uint8_t)i;
        }
}

/* Adds the bounds of the beginnings of a mapping that leaves remainders. */
static void add_prefixes(bench *b, sx_prefix_bound *prefix, const sx_mapping *mapping, double known) {
    decide(prefix, mapping);
    add_query(b, prefix, &(sx_prefix_query){.last = -1, .order = true}, known);
    for (int s = 0; s + 1 < mapping->n_levels; s++) {
        add_query(b, prefix, &(sx_prefix_query){.last = s, .order = true}, known);
        add_query(b, prefix,
                  &(sx_prefix_query){.last = s, .inner = mapping->level[s].temporal_order[0], .loose = 1},
                  known);
        for (int d = 0; d < mapping->n_dims; d++)
            add(b, FLOWS, (double)sx_decided_alike(&prefix->decided, s, d, mapping->level[s].temporal[d]));
    }
}

/* Adds all bounds of a mapping that may leave remainders. */
static void add_imperfect(bench *b, sx_imperfect_bound *bounds, sx_prefix_bound *prefix,
                          const sx_mapping *mapping, double known) {
    sx_imperfect_flow flow[SX_IMPERFECT_FLOWS];
    const sx_outline outline = outline_of(mapping);
    uint8_t keep[SX_MAX_LEVELS];
    memcpy(keep, outline.keep, sizeof keep);
    add_score(b, IMPERFECT, sx_imperfect_bound_all(bounds));
    sx_imperfect_bound_spatial(bounds, &outline);
    add_score(b, IMPERFECT, sx_imperfect_bound_any(bounds));
    sx_imperfect_bound_keep(bounds, keep);
    add_score(b, IMPERFECT, sx_imperfect_bound_score(bounds, 0));
    const int n = sx_imperfect_flows(bounds, flow);
    for (int i = 0; i < n; i++) {
        const double numbers[] = {flow[i].tensor, flow[i].child, flow[i].parent, flow[i].asked,
                                  flow[i].filled};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) add(b, FLOWS, numbers[k]);
    }
    add_prefixes(b, prefix, mapping, known);
}

/* Adds the bounds of mappings that may leave remainders. */
static void add_remainders(bench *b, const sx_small_space *small, const sx_mapping *mapping,
                           const sx_score *score, size_t n) {
    sx_imperfect_bound *bounds = calloc(1, sizeof *bounds);
    sx_prefix_bound *prefix = calloc(1, sizeof *prefix);
    sx_imperfect_tiles *tiles;
    uint8_t may[SX_MAX_LEVELS];
    unsigned renewed = 0;
    assert_true(bounds && prefix);
    b->model = small->model;
    list_may(small->map, may);
    for (int s = 0; s < small->model->n_levels; s++)
        renewed |= small->map->constraints.level[s].no_temporal_reuse;
    sx_expect_ok(sx_imperfect_tiles_new(small->model, small->map->fixed_keep, may, 0, NULL, &tiles));
    sx_imperfect_bound_init(bounds, tiles);
    bounds->reuses = renewed == 0;
    sx_prefix_bound_init(prefix, bounds, bounds->reuses);
    for (size_t i = 0; i < n; i++)
        add_imperfect(b, bounds, prefix, &mapping[i], score[i].energy_pj * score[i].cycles);
    sx_imperfect_tiles_free(tiles);
    free(prefix);
    free(bounds);
}

/* Draws mappings of a space; returns how many. */
static size_t draw_mappings(sx_rng *rng, const sx_small_space *small, sx_mapping *mapping, sx_score *score) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_model_workspace *evaluator;
    uint64_t rejected = 0;
    size_t n = 0;
    assert_non_null(point);
    sx_expect_ok(sx_model_workspace_new(small->model, &evaluator));
    for (; n < MAPPINGS && sx_space_draw_legal(small->space, rng, point, &rejected); n++) {
        sx_map_space_mapping(small->space, point, &mapping[n]);
        assert_int_equal(sx_evaluate_score(evaluator, &mapping[n], &score[n]).reason, SX_LEGAL);
    }
    sx_model_workspace_free(evaluator);
    free(point);
    return n;
}

static void add_space(bench *b, sx_rng *rng, const sx_small_space *small) {
    static sx_mapping mapping[MAPPINGS];
    sx_score score[MAPPINGS];
    const size_t n = draw_mappings(rng, small, mapping, score);
    if (small->options.remainders) {
        add_remainders(b, small, mapping, score, n);
        return;
    }
    open_bounds(b, small);
    for (size_t i = 0; i < n; i++) add_mapping(b, &mapping[i]);
    close_bounds(b);
}

/* Adds the bounds of the latency of a space on whose machine a law was drawn. */
static void add_latency(bench *b, sx_rng *rng, const sx_small_space *small) {
    static sx_mapping mapping[MAPPINGS];
    sx_score score[MAPPINGS];
    sx_latency_bound *latency;
    uint32_t most[SX_MAX_LEVELS][SX_MAX_DIMS];
    const size_t n = draw_mappings(rng, small, mapping, score);
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++)
            most[s][d] = (uint32_t)sx_rng_range(rng, 1, 1u << (s + d) % 5 * 2);
    const uint32_t(*limits)[SX_MAX_DIMS] = (const uint32_t(*)[SX_MAX_DIMS])most;
    open_bounds(b, small);
    add(b, LATENCY, sx_latency_bound_any(small->model, small->map->fixed_keep, limits));
    sx_expect_ok(sx_latency_bound_new(b->bound, small->map->fixed_keep, limits, &latency));
    for (size_t i = 0; i < n; i++) {
        const sx_outline outline = outline_of(&mapping[i]);
        sx_launched_tile tile;
        sx_launched_tile_begin(latency, &b->bound->lattice, outline.spatial, &tile);
        for (int s = 0; s < small->model->n_levels; s++) {
            uint32_t extent[SX_MAX_DIMS] = {0};
            for (int d = 0; d < mapping->n_dims; d++)
                extent[d] = (uint32_t)sx_mapping_extent(&mapping[i], s, d);
            const uint32_t point = sx_lattice_point(&b->bound->lattice, extent);
            sx_launched_tile_set(latency, s, point, &tile);
            add(b, LATENCY, sx_launched_tile_least(latency, &tile, s + 1, point, 5));
        }
    }
    sx_latency_bound_free(latency);
    close_bounds(b);
}

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void random_spaces(void **state) {
    (void)state;
    static const row expected[SX_N_KINDS] = {
        {"banks",
         {0x718d9b028e799dfdu, 0x85defa1fe97a118fu, 0xf145ffc4497371dcu, 0x60fc2cd94c0d62d7u,
          0x24540e68e2b453f6u, 0x764cc53e8ecb8344u, 0x0000000000000000u, 0xde65c7d2835f39eeu,
          0x5a834cb05a116fb5u, 0xb139fb79d8cfb1fbu, 0x7d826641fc95aa48u}},
        {"sparse",
         {0x24c8f1609392ffbbu, 0xedb8da5c0d8cf9bdu, 0xfc3a68547da77f9au, 0x2e395946e8cd1996u,
          0x05defbd1f476c3abu, 0xb07bc68b31ef41d9u, 0x0000000000000000u, 0xbc5883966d1f3eceu,
          0x02704a76a8c8adb4u, 0x022c461cd0fa7da3u, 0x13b67e597d60a0e3u}},
        {"remainders",
         {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x17555457ce8cf7a0u,
          0x3c3b325677edcd9du, 0x7e68582c979ae5c4u, 0xe757d9f51feffb7fu}},
        {"split axes",
         {0xac6424103e06dc4bu, 0xd14f567819160ce0u, 0xdf7db6b5ff7e10f2u, 0x650c6cec99f37c5au,
          0x1cca2e8bf4c08aacu, 0x88e97b34553491c3u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u}},
        {"network",
         {0x19fec6426e9aef8fu, 0x8613764abbbebb01u, 0xdb3d84da5381d5fbu, 0x84d0fbc0ded6ba68u,
          0x55a6ee2764cf1aecu, 0xc0b9998174994357u, 0x0000000000000000u, 0x7bd513ca21768caau,
          0x631bda0428b73f57u, 0x3faf7e5f26928439u, 0xbcee9f4c817f4087u}},
        {"links",
         {0x10e12dcc15de5b59u, 0x3127b3aa23aa3439u, 0xefa6dfe2f570312du, 0x38c460cc82054f10u,
          0x606b28c6e33d5a62u, 0x29963f062238612au, 0x0000000000000000u, 0xcc4267438f0c911bu,
          0xa9e8c258ac4de819u, 0x85b42e414542f32bu, 0xbd956cdd57cef500u}},
        {"bits",
         {0x8ab5585649ca5abdu, 0x350dd92244670056u, 0x2dc0aa3c8badc0c2u, 0xe38b4f51a0ee49b4u,
          0x711a7590b1d16b6au, 0x25141d84380d947fu, 0x0000000000000000u, 0xc39eb2e363a72f32u,
          0xd42c848aaf87ea63u, 0x6519080030983348u, 0x2483d6c832b070e7u}},
        {"constraints",
         {0x73b42677276f4512u, 0x7a8a80625569df2au, 0xf050213163509915u, 0x0c363ae47fa887bbu,
          0xa3b5480613ce4d4cu, 0x81a07b8a592b973cu, 0x0000000000000000u, 0xdfc4fd7bef32fd3cu,
          0xd2400758f3c08580u, 0x38a9b69b35bbb88du, 0xf5ca12e80848cec3u}},
        {"least use",
         {0xd749a60f7d651dddu, 0x73cca3638789ef01u, 0x19c8c5e7b6a00fe7u, 0xdf56cd76c2b22bbcu,
          0xd15091d95b949e15u, 0x918f6a52e2b31101u, 0x0000000000000000u, 0x50b672b97a50755eu,
          0x4dd503857db59c7fu, 0x2d4d5ff095867dd8u, 0x8cd734319ad249cdu}},
        {"buffering",
         {0x4f081bb34f4f58bau, 0xc9be19945154a21bu, 0x58eafa6829650a6du, 0x9f2fed32cb9a0ff2u,
          0x6d6afc37223928e9u, 0x6298c862339e5ad8u, 0x0000000000000000u, 0x7df83a6e242230ccu,
          0x284c913eed4b73b7u, 0x34eb7e13fad33bacu, 0x4455b923bffa656bu}},
        {"transparent",
         {0x3ff1b05a10bd00b3u, 0xe2b11f1d1928f1feu, 0xbd9adf3b8b49606du, 0xf58e434481830b92u,
          0xfb6e336ee5616c49u, 0x5ce774419944696eu, 0x0000000000000000u, 0x64951ae90ba81a66u,
          0x997248555ca1ae98u, 0xcf6d9be6edc5195du, 0xc2b106287c122e5cu}},
        {"windows",
         {0x0164c55929446126u, 0x5bc108d018d4cdaau, 0x8db78e28dabebb83u, 0x2609f0c26e215245u,
          0xfbe4ce7f96b763a9u, 0x2db735648a2d071bu, 0x0000000000000000u, 0x3aa2ab6869004a08u,
          0xd0ceae990a39b3a6u, 0x3b5ae4307dd09427u, 0xce1c4ecbf92b0dceu}},
        {"quiet",
         {0xe7e7fb251d208e15u, 0x87068a85464b1991u, 0xc713f9aa05f5b6b6u, 0x517d5dfc86e190bau,
          0x9ff662fabefb7295u, 0x738d64974dcd4948u, 0x0000000000000000u, 0xec6aa1c80a57be2fu,
          0xd69509a4ab91bcdeu, 0x64a51a1996403616u, 0xc8ff9feb3f4b3cdfu}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        bench b = {.map = NULL};
        for (uint64_t i = 0; i < SPACES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "bounded", i);
            sx_small_space small;
            sx_random_space_of(&rng, (sx_space_kind)kind, MOST, &small);
            add_space(&b, &rng, &small);
            sx_small_space_fini(&small);
        }
        good &= sx_is_recorded(sx_space_kind_name((sx_space_kind)kind), b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

static void larger_spaces(void **state) {
    (void)state;
    static const row expected[] = {
        {"linked windows",
         {0xc1c78d7c560cffd2u, 0x5d3f6b6d068c14e0u, 0x953bb015ea7861f7u, 0xbdeb903b0ea5b119u,
          0xbc88129553aee46du, 0xe07afac480431387u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u}},
        {"shared windows",
         {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x7b3e0746bf0d7fe5u,
          0x4de628806dd6cf9au, 0x1031ea636572e51fu, 0x4a69784e60f519a2u}},
        {"plain, remainders",
         {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
          0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0xfa4954844b93de53u,
          0x937d781b9cf850f1u, 0x892d7a7f48797169u, 0x0abf9a9d43e0c8d7u}}};
    bool good = true;
    for (size_t kind = 0; kind < sizeof expected / sizeof *expected; kind++) {
        bench b = {.map = NULL};
        for (uint64_t i = 0; i < LINK_SPACES; i++) {
            sx_rng rng = sx_rng_stream(kind, "bounded, larger", i);
            sx_small_space small;
            if (kind == 0) sx_random_link_space(&rng, &small);
            if (kind == 0 && i % 2) sx_random_hops(&rng, &small);
            if (kind == 1) sx_random_shared_window(&rng, MOST, &small);
            if (kind == 2) sx_random_plain_space(&rng, MOST, &small);
            add_space(&b, &rng, &small);
            sx_small_space_fini(&small);
        }
        good &= sx_is_recorded(expected[kind].name, b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

static void latencies(void **state) {
    (void)state;
    static const row expected = {"latencies",
                                 {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
                                  0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u,
                                  0x3e9047494053591bu, 0x0000000000000000u, 0x0000000000000000u,
                                  0x0000000000000000u, 0x0000000000000000u}};
    static const char *const einsums[] = {"O[m,n] += A[m,k]*B[k,n] {m:6,n:4,k:8}",
                                          "O[k,p] += I[2*p+r]*W[k,r] {k:4,p:6,r:3}"};
    bench b = {.map = NULL};
    for (uint64_t i = 0; i < LAW_SPACES; i++) {
        sx_rng rng = sx_rng_stream(0, "bounded latencies", i);
        sx_small_space small;
        static sx_arch arch;
        sx_problem problem;
        sx_expect_ok(sx_einsum_parse(einsums[i % 2], &problem));
        sx_expect_ok(sx_catalog_arch(i % 4 < 2 ? "glb128" : "accel-b", &arch));
        memset(&small, 0, sizeof small);
        small.c.problem = problem;
        small.c.arch = arch;
        small.c.arch.n_laws = 1;
        sx_random_law(&rng, &problem, i % 3 == 0, &small.c.arch.law[0]);
        small.c.arch.level[arch.n_levels - 1].law = 1;
        small.c.options.latency_tile = true;
        sx_constraints_init(&small.limits, &small.c.problem, &small.c.arch);
        sx_expect_ok(sx_model_new(&small.c.problem, &small.c.arch, &small.c.options, &small.model));
        sx_expect_ok(sx_map_space_new(small.model, &small.limits, &small.options, &small.space));
        small.map = sx_map_space_of(small.space);
        add_latency(&b, &rng, &small);
        sx_small_space_fini(&small);
    }
    assert_true(sx_is_recorded("latencies", b.hash, expected.hash, PARTS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_spaces),
        cmocka_unit_test(larger_spaces),
        cmocka_unit_test(latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
