/* Bounds of partly decided mappings against the cost of every mapping of small spaces, each being a
 * completion of all its own beginnings; and against random mappings of larger ones: test_bounds [count
 * [seed [test]]]. Prints how close the bounds come, which must be at least as close as the floors here. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"
#include "support/sanitized.h"
#include "support/small_map.h"

#include "bound/bound.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1500, DEFAULT_COUNT = 2000, DEFAULT_SEED = 1, FIRST = 24, FIRST_DRAWS = 2 };

/* The bounds, each with its own mean of bound / cost. */
enum kind { ARRAY, FLAT, QUICK, TABLES, TILE, TILE_TABLES, STEM, STEM_TABLES, KINDS };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* Sums of bound / cost; of utilizations, which are bounded from above, the inverse. */
typedef struct tally {
    uint64_t n[KINDS];
    double energy[KINDS], cycles[KINDS], utilization[KINDS];
} tally;

/* The least means that the bounds may have; that of a utilization is that of the cycles. */
typedef struct floors {
    double energy[KINDS], cycles[KINDS];
} floors;

static const floors plain_floors = {{0.50, 0.80, 0.80, 0.80, 0.81, 0.81, 0.81, 0.81},
                                    {0.68, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93, 0.93}},
                    window_floors = {{0.52, 0.67, 0.67, 0.67, 0.71, 0.72, 0.71, 0.73},
                                     {0.65, 0.83, 0.83, 0.83, 0.84, 0.86, 0.85, 0.86}},
                    real_floors = {{0.26, 0.66, 0.67, 0.67, 0.78, 0.80, 0.81, 0.82},
                                   {0.88, 0.94, 0.94, 0.94, 0.95, 0.95, 0.95, 0.95}},
                    sparse_floors = {{0.37, 0.62, 0.62, 0.62, 0.66, 0.66, 0.66, 0.67},
                                     {0.44, 0.58, 0.58, 0.58, 0.62, 0.62, 0.62, 0.62}},
                    sparse_real_floors = {{0.11, 0.37, 0.38, 0.36, 0.58, 0.56, 0.62, 0.60},
                                          {0.09, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
                    link_floors = {{0.70, 0.76, 0.79, 0.83, 0.825, 0.917, 0.84, 0.93}, {0}},
                    no_floors = {{0}, {0}};

typedef struct bench {
    const sx_map_space *map;
    const sx_small_space *small; /* NULL: of the catalog */
    sx_bound *bound;
    sx_outline_bound *bounds, *other;
    sx_model_workspace *evaluator;
    bool begun;
    sx_score tables;
    tally *tally, *first; /* first: of the first cases of a test; NULL: it is none */
    uint64_t number;
    const char *name;
} bench;

static sx_outline outline_of(const sx_mapping *mapping) {
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < mapping->n_levels; s++) {
        memcpy(outline.spatial[s], mapping->level[s].spatial, sizeof outline.spatial[s]);
        outline.keep[s] = mapping->level[s].keep;
    }
    return outline;
}

/* Adds how close a bound is to a cost. */
static void add_bound(tally *t, const sx_score *bound, const sx_score *cost, enum kind kind) {
    t->n[kind]++;
    t->energy[kind] += cost->energy_pj > 0 ? bound->energy_pj / cost->energy_pj : 1;
    t->cycles[kind] += bound->cycles / cost->cycles;
    t->utilization[kind] += cost->utilization / bound->utilization;
}

/* Fails where a bound is above a cost. */
static void hold(const bench *b, const char *what, int level, sx_score bound, const sx_score *cost,
                 enum kind kind) {
    const double slack = 1 + 1e-9;
    add_bound(b->tally, &bound, cost, kind);
    if (b->first) add_bound(b->first, &bound, cost, kind);
    if (bound.energy_pj <= cost->energy_pj * slack && bound.cycles <= cost->cycles * slack &&
        cost->utilization <= bound.utilization * slack)
        return;
    char *text = b->small ? sx_small_space_text(b->small) : strdup(b->name);
    print_error("case %llu, %s, level %d: bound %.17g pJ, %.17g cycles, utilization %.17g; cost %.17g, "
                "%.17g, %.17g\n%s\n",
                (unsigned long long)b->number, what, level, bound.energy_pj, bound.cycles, bound.utilization,
                cost->energy_pj, cost->cycles, cost->utilization, text);
    free(text);
    fail();
}

/* Compares the bound of a mapping's spatial factors with its cost. */
static void hold_array(const bench *b, const sx_outline *outline, const sx_score *cost) {
    const sx_map_space *map = b->map;
    sx_outline bare = *outline;
    uint8_t may[SX_MAX_LEVELS];
    for (int s = 0; s < map->arch->n_levels; s++) {
        bare.keep[s] = map->fixed_keep[s];
        may[s] = map->free_keep[s] | map->banked[s];
    }
    hold(b, "array", -1, sx_outline_bound_spatial(b->other, &bare, may), cost, ARRAY);
}

/* Fails where a glance at a tile is above its bound, or the tile of a level without loops is said to exclude it. */
static void hold_glance(const bench *b, const sx_partial_mapping *partial, int level, const sx_score *tried,
                        uint32_t point) {
    const double slack = 1e-12;
    const sx_outline_bound *bounds = b->bounds;
    uint32_t base[SX_MAX_DIMS];
    sx_tile_glance glance;
    sx_tile_glance_begin(bounds, partial, level, &glance);
    sx_score seen = sx_tile_glance_at(bounds, &glance, point);
    for (int d = 0; d < SX_MAX_DIMS; d++)
        base[d] = d < b->map->problem->n_dims ? partial->extent[d] * bounds->outline.spatial[level][d] : 1;
    if (seen.energy_pj > tried->energy_pj + slack * fabs(tried->energy_pj) ||
        seen.cycles > tried->cycles * (1 + slack))
        fail_msg("case %llu, level %d: a glance of %.17g pJ, %.17g cycles is above the bound, %.17g, %.17g",
                 (unsigned long long)b->number, level, seen.energy_pj, seen.cycles, tried->energy_pj,
                 tried->cycles);
    if (sx_outline_bound_excludes(bounds, level, sx_lattice_point(&b->bound->lattice, base)))
        fail_msg("case %llu, level %d: a tile is excluded", (unsigned long long)b->number, level);
}

/* Compares all bounds of a mapping's beginnings with its cost, those by tables where asked to. */
static void try_mapping(bench *b, const sx_mapping *mapping, bool tabled) {
    sx_score cost;
    if (sx_evaluate_score(b->evaluator, mapping, &cost).reason != SX_LEGAL) return;
    sx_outline outline = outline_of(mapping);
    if (!b->begun || memcmp(&outline, &b->bounds->outline, sizeof outline) != 0) {
        sx_outline_bound_begin(b->bounds, &outline);
        if (tabled) b->tables = sx_outline_bound_tabulate(b->bounds, NULL);
        b->begun = true;
    }
    hold_array(b, &outline, &cost);
    hold(b, "outline", -1, sx_outline_bound_compulsory(b->bounds), &cost, FLAT);
    hold(b, "outline, quick", -1, sx_outline_bound_quick(b->bounds, false), &cost, QUICK);
    if (tabled) hold(b, "outline, tables", -1, b->tables, &cost, TABLES);
    sx_partial_mapping partial, next;
    int n_levels = mapping->n_levels;
    for (int tables = 0; tables < (tabled ? 2 : 1); tables++) {
        b->bounds->tables = tables != 0;
        sx_partial_mapping_begin(b->bounds, &partial);
        for (int s = 0; s < n_levels; s++) {
            uint32_t extent[SX_MAX_DIMS] = {0};
            for (int d = 0; d < mapping->n_dims; d++) extent[d] = (uint32_t)sx_mapping_extent(mapping, s, d);
            uint32_t point = sx_lattice_point(&b->bound->lattice, extent);
            sx_score tried = sx_partial_mapping_try(b->bounds, &partial, s, extent, point);
            hold(b, tables ? "tile with tables" : "tile", s, tried, &cost, tables ? TILE_TABLES : TILE);
            hold_glance(b, &partial, s, &tried, point);
            sx_partial_mapping_extend(b->bounds, &partial, s, extent, point, mapping->level[s].temporal_order,
                                      &next);
            partial = next;
            hold(b, tables ? "stem with tables" : "stem", s, sx_partial_mapping_bound(b->bounds, &partial, s),
                 &cost, tables ? STEM_TABLES : STEM);
        }
    }
}

static void start(bench *b, const sx_map_space *map, tally *sums) {
    uint8_t may[SX_MAX_LEVELS];
    *b = (bench){.map = map, .tally = sums};
    sx_expect_ok(sx_bound_new(map->model, &map->constraints, 1 << 20, &b->bound));
    for (int s = 0; s < map->arch->n_levels; s++) may[s] = map->free_keep[s] | map->banked[s];
    sx_expect_ok(sx_bound_survey(b->bound, map->fixed_keep, may, NULL));
    sx_expect_ok(sx_bound_quicken(b->bound));
    sx_expect_ok(sx_outline_bound_new(b->bound, &b->bounds));
    sx_expect_ok(sx_outline_bound_new(b->bound, &b->other));
    sx_expect_ok(sx_model_workspace_new(map->model, &b->evaluator));
}

static void finish(bench *b) {
    sx_model_workspace_free(b->evaluator);
    sx_outline_bound_free(b->bounds);
    sx_outline_bound_free(b->other);
    sx_bound_free(b->bound);
}

/* Prints how close bounds come; fails where one is further off than its floor, or too few were compared. Floors are
 * for the default seed, and a tenth lower where fewer cases are asked for; under sanitizers there are too few for them. */
static void report(const settings *set, const char *what, const tally *t, const floors *least,
                   uint64_t cases) {
    static const char *const kinds[KINDS] = {"array alone",     "outline",      "outline, quick",
                                             "outline, tables", "tiles",        "tiles, tables",
                                             "stems",           "stems, tables"};
    const double slack = set->count < DEFAULT_COUNT ? 0.9 : 1;
    for (int i = 0; i < KINDS; i++) {
        double n = (double)t->n[i], e = t->energy[i] / n, c = t->cycles[i] / n, u = t->utilization[i] / n;
        print_message(
            "%s, %s: %.3f of the energy, %.3f of the cycles, %.3f of the utilization; %.0f bounds\n", what,
            kinds[i], e, c, u, n);
        assert_true(t->n[i] >= cases);
        bool close = e >= slack * least->energy[i] && fmin(c, u) >= slack * least->cycles[i];
        assert_true(close || SX_SANITIZED || set->seed != DEFAULT_SEED);
    }
}

/* Compares the bounds of the first cases with those that were recorded for the default seed. */
static void expect_first(const settings *set, const char *what, const tally *t, double recorded) {
    double sum = 0;
    for (int i = 0; i < KINDS; i++)
        sum += (1 + i) * t->energy[i] + (11 + i) * t->cycles[i] + (23 + i) * t->utilization[i];
    if (set->seed == DEFAULT_SEED && set->count >= 16 * FIRST) sx_expect_recorded(what, sum, recorded);
}

/* Compares all bounds of a space with every mapping of it; false where it has remainders. */
static bool hold_for_space(const sx_small_space *small, uint64_t number, tally *plain, tally *other,
                           tally *first) {
    bench b;
    bool partly_relevant = false;
    if (small->options.remainders) return false;
    start(&b, small->map, plain);
    b.small = small;
    b.number = number;
    b.first = first;
    for (int v = 0; v < small->model->n_tensors; v++) partly_relevant |= b.bound->partly_relevant[v] != 0;
    if (partly_relevant) b.tally = other;
    void *point = malloc(sx_space_point_size(small->space));
    sx_cardinal index = {.exact = true};
    for (; sx_space_at(small->space, &index, point); index.low++) {
        sx_mapping mapping;
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        sx_map_space_mapping(small->space, point, &mapping);
        try_mapping(&b, &mapping, true);
    }
    free(point);
    finish(&b);
    return true;
}

static void hold_for_every_mapping(void **state) {
    const settings *set = *state;
    tally plain = {0}, windows = {0}, first = {0};
    for (uint64_t i = 0, n = 0; n < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "bounds", i);
        sx_small_space small;
        sx_random_space(&rng, MOST, &small);
        n += hold_for_space(&small, i, &plain, &windows, i < FIRST ? &first : NULL);
        sx_small_space_fini(&small);
    }
    report(set, "plain", &plain, &plain_floors, set->count);
    report(set, "windows", &windows, &window_floors, set->count);
    expect_first(set, "every mapping", &first, 1544777.759997);
}

/* The same where zeros count, by the exact semantics and by Timeloop's. */
static void hold_for_sparse_tensors(void **state) {
    const settings *set = *state;
    static const struct {
        uint64_t seed, number;
    } hard[] = {
        {1, 208},  /* an empty tile of Timeloop's */
        {1, 796},  /* a tile that stays beyond the level that it comes from */
        {9, 6026}, /* a condition on a diagonal */
        {12, 197}, /* an inner tile of an operand that Timeloop loses */
    };
    enum { HARD = sizeof hard / sizeof *hard };
    tally exact = {0}, timeloop = {0}, first = {0};
    uint64_t count = set->count / 12 + 1;
    for (uint64_t i = 0, n = 0; n < count || timeloop.n[0] < count / 16; i++) {
        uint64_t number = i < HARD ? hard[i].number : i - HARD;
        sx_rng rng = sx_rng_stream(i < HARD ? hard[i].seed : set->seed, "bounds.sparse", number);
        sx_small_space small;
        sx_random_sparse_space(&rng, MOST / 2, &small);
        tally *to = small.c.options.sparse_timeloop ? &timeloop : &exact;
        n += hold_for_space(&small, number, to, to, i < FIRST ? &first : NULL);
        sx_small_space_fini(&small);
    }
    report(set, "sparse", &exact, &sparse_floors, count);
    report(set, "sparse, Timeloop's semantics", &timeloop, &no_floors, count / 16);
    expect_first(set, "sparse", &first, 661184.7441217);
}

/* Random mappings of a space, and those of less energy that moves lead to. */
static void hold_for_descent(bench *b, sx_space *space, sx_rng *rng, int moves, int tabled) {
    size_t size = sx_space_point_size(space);
    char *now = malloc(3 * size), *next = now + size;
    uint64_t rejected = 0;
    sx_score best, score;
    sx_mapping mapping;
    bool drawn = sx_space_draw_legal(space, rng, now, &rejected);
    sx_map_space_mapping(space, now, &mapping);
    drawn = drawn && sx_evaluate_score(b->evaluator, &mapping, &best).reason == SX_LEGAL;
    for (int k = 0; k < moves && drawn; k++) {
        memcpy(next, now, size);
        if (!sx_space_mutate(space, rng, -1, false, 20, next, next + size)) continue;
        sx_map_space_mapping(space, next, &mapping);
        if (sx_evaluate_score(b->evaluator, &mapping, &score).reason != SX_LEGAL) continue;
        b->begun = b->begun && k < moves - tabled;
        try_mapping(b, &mapping, k >= moves - tabled);
        if (score.energy_pj > best.energy_pj) continue;
        best = score;
        memcpy(now, next, size);
    }
    free(now);
}

/* Spaces where neighbours hand words on, and hops cost energy or do not. */
static void hold_on_arrays(const settings *set, bool hops, uint64_t n, tally *sums, tally *first) {
    const uint64_t hard = 5925; /* neighbours help along two windows */
    for (uint64_t i = 0; i <= n; i++) {
        sx_rng rng = sx_rng_stream(i ? set->seed : 1, "bounds.links", i ? i - 1 : hard);
        sx_small_space small;
        bench b;
        sx_random_link_space(&rng, &small);
        if (hops) sx_random_hops(&rng, &small);
        start(&b, small.map, sums);
        b.small = &small;
        b.number = i;
        b.first = i < FIRST ? first : NULL;
        hold_for_descent(&b, small.space, &rng, 24, 1);
        finish(&b);
        sx_small_space_fini(&small);
    }
}

static void hold_for_links(void **state) {
    const settings *set = *state;
    tally sums = {0}, first = {0};
    hold_on_arrays(set, false, set->count, &sums, &first);
    report(set, "links", &sums, &link_floors, set->count / 2);
    expect_first(set, "links", &first, 199001.964913);
}

static void hold_for_hops(void **state) {
    const settings *set = *state;
    tally sums = {0}, first = {0};
    hold_on_arrays(set, true, set->count, &sums, &first);
    report(set, "hops", &sums, &no_floors, set->count / 2);
    expect_first(set, "hops", &first, 195351.2698138);
}

/* As many tensors, dimensions and levels as there may be. */
static void hold_for_the_largest(void **state) {
    tally sums = {0};
    sx_small_space small;
    for (int i = 0; sx_largest_space(i, false, &small); i++) {
        sx_rng rng = sx_rng_stream(DEFAULT_SEED, "bounds.largest", (uint64_t)i);
        bench b;
        start(&b, small.map, &sums);
        b.small = &small;
        hold_for_descent(&b, small.space, &rng, 24, 2);
        finish(&b);
        sx_small_space_fini(&small);
    }
    expect_first(*state, "largest", &sums, 68933.72860459881);
}

/* Random mappings of a problem onto a chip, and better ones that moves lead to. */
static void hold_for_moves(const char *chip, const char *text, const settings *set, tally *sums,
                           tally *first) {
    enum { MOVES = 12, TABLED = 8 };
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_space *space;
    bench b;
    sx_expect_ok(sx_catalog_arch(chip, &arch));
    sx_expect_ok(sx_einsum_parse(text, &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    start(&b, sx_map_space_of(space), sums);
    b.name = text;
    size_t size = sx_space_point_size(space);
    char *now = malloc(3 * size), *next = now + size;
    for (uint64_t i = 0; i < set->count / 40 + 1; i++) {
        sx_rng rng = sx_rng_stream(set->seed, chip, i);
        uint64_t rejected = 0;
        sx_score best, score;
        sx_mapping mapping;
        b.number = i;
        b.begun = false;
        b.first = i < FIRST_DRAWS ? first : NULL;
        if (!sx_space_draw_legal(space, &rng, now, &rejected)) continue;
        sx_map_space_mapping(space, now, &mapping);
        if (sx_evaluate_score(b.evaluator, &mapping, &best).reason != SX_LEGAL) continue;
        for (int k = 0; k < MOVES; k++) {
            memcpy(next, now, size);
            if (!sx_space_mutate(space, &rng, -1, false, 20, next, next + size)) continue;
            sx_map_space_mapping(space, next, &mapping);
            if (sx_evaluate_score(b.evaluator, &mapping, &score).reason != SX_LEGAL) continue;
            b.begun = b.begun && k < MOVES - 1;
            try_mapping(&b, &mapping, k == MOVES - 1 && i % TABLED == 0);
            if (score.energy_pj * score.cycles > best.energy_pj * best.cycles) continue;
            best = score;
            memcpy(now, next, size);
        }
    }
    free(now);
    finish(&b);
    sx_space_free(space);
    sx_model_free(model);
}

static void hold_for_real_sizes(void **state) {
    static const char *const chip[] = {"eyeriss", "edge-unified",  "accel-a",
                                       "accel-b", "mind-mappings", "simba"};
    static const char *const text[] = {
        "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:1,k:64,c:64,p:56,q:56,r:3,s:3}",
        "O[n,k,p,q] += I[n,c,2*p+r,2*q+s]*W[k,c,r,s] {n:1,k:64,c:3,p:112,q:112,r:7,s:7}",
        "O[n,k,p,q] += I[n,c,p+2*r,q+2*s]*W[k,c,r,s] {n:2,k:8,c:8,p:28,q:28,r:3,s:5}",
        "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:32,k:32,c:16,p:3,q:3,r:28,s:28}",
        "O[c,p,q] += I[c,p+r,q+s]*W[c,r,s] {c:96,p:14,q:14,r:4,s:6}",
        "O[p,k] += I[p+r+s,c]*W[k,c,r,s] {k:8,c:8,p:24,r:4,s:3}",
    };
    tally sums = {0}, first = {0};
    for (size_t i = 0; i < sizeof chip / sizeof *chip; i++)
        for (size_t k = 0; k < sizeof text / sizeof *text; k++)
            hold_for_moves(chip[i], text[k], *state, &sums, &first);
    report(*state, "real sizes", &sums, &real_floors, 36);
    expect_first(*state, "real sizes", &first, 428939.4509218);
}

/* The same for sparse tensors on machines that know zeros. */
static void hold_for_sparse_sizes(void **state) {
    static const char *const chip[] = {"accel-b-sparse", "eyeriss-v2", "scnn", "extensor",
                                       "sparse-tensor-core"};
#define CONV "Outputs[N,K,P,Q] += Weights[K,C,R,S]*Inputs[N,C,P+R,Q+S] {N:2,K:32,C:16,P:14,Q:14,R:3,S:3} "
#define PRODUCT "Outputs[M,N] += Weights[M,K]*Inputs[K,N] {M:64,N:32,K:96} "
    static const char *const text[] = {CONV "{Weights:0.5}", CONV "{Weights:hypergeometric:0.02}",
                                       CONV "{Weights:0.1,Inputs:hypergeometric:0.3}",
                                       PRODUCT "{Weights:hypergeometric:0.05}",
                                       PRODUCT "{Weights:hypergeometric:0.2,Inputs:0.01}"};
    const settings *all = *state, some = {all->count / 4, all->seed};
    tally sums = {0}, first = {0};
    for (size_t i = 0; i < sizeof chip / sizeof *chip; i++)
        for (size_t k = 0; k < sizeof text / sizeof *text; k++)
            hold_for_moves(chip[i], text[k], &some, &sums, &first);
    report(all, "sparse, real sizes", &sums, &sparse_real_floors, 20);
    expect_first(all, "sparse, real sizes", &first, 114761.5307741);
}

/* Good mappings of fixed cases, where bounds have to be close to end a proof. */
static void hold_for_good_mappings(void **state) {
    static const struct {
        const char *chip, *text;
        floors least;
    } cases[] = {
        {"eyeriss",
         "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:1,k:64,c:64,p:56,q:56,r:3,s:3}",
         {{0.873, 0.873, 0.873, 0.873, 0.873, 0.873, 0.873, 0.873},
          {0.155, 0.79, 0.79, 0.79, 0.79, 0.79, 0.79, 0.79}}},
        {"edge-unified",
         "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:1,k:64,c:64,p:56,q:56,r:3,s:3}",
         {{0.943, 0.962, 0.977, 0.977, 0.997, 0.999, 0.997, 0.999},
          {0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999}}},
        {"accel-b",
         "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:16,c:16,p:14,q:14,r:3,s:3}",
         {{0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999},
          {0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999}}},
        {"simba",
         "O[m,n] += A[m,k]*B[k,n] {m:64,n:96,k:128}",
         {{0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999},
          {0.820, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999}}},
        {"edge-unified",
         "O[m,n] += A[m,k]*B[k,n] {m:256,n:96,k:512}",
         {{0.794, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999},
          {0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999, 0.999}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_small_map m;
        tally sums = {0};
        bench b;
        sx_run_options options;
        sx_run *run;
        sx_found found;
        sx_mapping mapping;
        sx_small_map_open(&m, cases[i].text, cases[i].chip, NULL, NULL);
        sx_run_options_init(&options);
        sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, "sunstone:plus=on"));
        assert_true(sx_run_best(run, 0, &found));
        sx_map_space_mapping(m.space, found.point, &mapping);
        start(&b, m.map, &sums);
        b.name = cases[i].text;
        try_mapping(&b, &mapping, true);
        report(*state, cases[i].chip, &sums, &cases[i].least, 1);
        finish(&b);
        sx_run_free(run);
        sx_small_map_close(&m);
    }
}

/* A mapping whose compute units read a window from the outermost memory, each word for some of them together. */
static void hold_below_bypass(void **state) {
    static const floors least = {{0.84, 0.87, 0.87, 0.87, 0.87, 0.87, 0.9, 0.9}, {0}};
    static const char *const text = "O[c,p,q] += I[c,2*p+r,2*q+s]*W[c,r,s] {c:8,p:24,q:24,r:3,s:3}";
    static const uint32_t spatial[] = {1, 4, 4, 3, 3}, temporal[] = {8, 6, 6, 1, 1};
    static const uint8_t order[] = {0, 1, 3, 2, 4};
    sx_small_map m;
    sx_mapping mapping;
    tally sums = {0};
    bench b;
    sx_small_map_open(&m, text, "glb128", NULL, NULL);
    sx_mapping_init(&mapping, m.map->problem, m.map->arch);
    for (int d = 0; d < 5; d++) {
        mapping.level[1].spatial[d] = spatial[d];
        mapping.level[2].temporal[d] = temporal[d];
    }
    memcpy(mapping.level[1].spatial_order, order, sizeof order);
    mapping.level[1].split = 3;
    mapping.level[0].keep = 0;
    mapping.level[1].keep = 4;
    mapping.level[2].keep = 7;
    start(&b, m.map, &sums);
    b.name = text;
    try_mapping(&b, &mapping, true);
    report(*state, "below bypass", &sums, &least, 1);
    finish(&b);
    sx_small_map_close(&m);
}

int main(int argc, char **argv) {
    settings set = {DEFAULT_COUNT, DEFAULT_SEED};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(hold_for_every_mapping, &set),
        cmocka_unit_test_prestate(hold_for_links, &set),
        cmocka_unit_test_prestate(hold_for_hops, &set),
        cmocka_unit_test_prestate(hold_for_the_largest, &set),
        cmocka_unit_test_prestate(hold_for_sparse_tensors, &set),
        cmocka_unit_test_prestate(hold_for_real_sizes, &set),
        cmocka_unit_test_prestate(hold_for_sparse_sizes, &set),
        cmocka_unit_test_prestate(hold_for_good_mappings, &set),
        cmocka_unit_test_prestate(hold_below_bypass, &set),
    };
    if (argc > 3) cmocka_set_test_filter(argv[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
