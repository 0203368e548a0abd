/* Bounds of partly decided mappings that leave remainders, against the cost of every such mapping of small
 * spaces, each being a completion of all its own beginnings: test_bounds_ragged [count [seed]]. Prints how
 * close the bounds come. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"

#include "bound/prefix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1500, DEFAULT_SEED = 1, FIRST = 16 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A space that is gone through. */
typedef struct bench {
    const sx_small_space *small;
    sx_imperfect_bound bounds;
    sx_prefix_bound prefix;
    sx_model_workspace *evaluator;
    uint64_t number, n;
    double energy, cycles; /* sums of bound / cost */
    double nearly;         /* the same of the energy with all levels but the outermost decided */
    double all;            /* sum of bound / cost of all bounds */
} bench;

/* Fails where a bound is above a cost; adds how close it is. */
static void hold(bench *b, const char *what, int level, const sx_score *bound, const sx_score *cost) {
    const double slack = 1 + 1e-9;
    b->all +=
        (cost->energy_pj > 0 ? bound->energy_pj / cost->energy_pj : 1) + 3 * bound->cycles / cost->cycles;
    if (bound->energy_pj <= cost->energy_pj * slack && bound->cycles <= cost->cycles * slack &&
        bound->utilization * slack >= cost->utilization)
        return;
    char *text = sx_small_space_text(b->small);
    print_error("case %llu, %s, level %d: bound %.17g pJ, %.17g cycles; cost %.17g, %.17g\n%s\n",
                (unsigned long long)b->number, what, level, bound->energy_pj, bound->cycles, cost->energy_pj,
                cost->cycles, text);
    free(text);
    fail();
}

/* Whether all factors divide. */
static bool is_exact(const sx_mapping *mapping, const sx_problem *problem) {
    bool exact = true;
    for (int d = 0; d < mapping->n_dims; d++)
        exact &= sx_mapping_extent(mapping, mapping->n_levels - 1, d) == problem->size[d];
    return exact;
}

/* The dimension of the innermost loop of a mapping from a level on, up to level `end`; -1: none. */
static int first_loop(const bench *b, const sx_mapping *mapping, int level, int end) {
    for (int s = level; s < end; s++) {
        int first = -1;
        for (int d = 0; d < mapping->n_dims; d++)
            if (sx_decided_loops(&b->prefix.decided, s, d) &&
                (first < 0 || b->prefix.decided.place[s][d] < b->prefix.decided.place[s][first]))
                first = d;
        if (first >= 0) return first;
    }
    return -1;
}

/* Values of bounds. */
static double energy_of(const void *rule, const sx_score *score) {
    (void)rule;
    return score->energy_pj;
}

static double product_of(const void *rule, const sx_score *score) {
    (void)rule;
    return score->energy_pj * score->cycles;
}

/* Compares the least value of a bound that is joined with the tiles of all levels outside with a cost; where the first loop
 * is not known (-2), that of a level whose extents are open. */
static void hold_value(bench *b, const sx_prefix_query *query, int first,
                       double value(const void *rule, const sx_score *score), const sx_score *cost) {
    const double known = value(NULL, cost);
    const sx_prefix_goal goal = {value, NULL, known * (1 + 1e-9), known};
    uint64_t steps = 0;
    sx_prefix_least least = first == -2 ? sx_prefix_bound_open(&b->prefix, query, &goal, &steps)
                                        : sx_prefix_bound_joined(&b->prefix, query, first, &goal, &steps);
    const sx_score bound = {.energy_pj = least.value / known * cost->energy_pj, .utilization = 1};
    if (known > 0 && least.value > -INFINITY)
        hold(b, first == -2 ? "joined, open" : "joined", query->last, &bound, cost);
}

/* Compares the bounds that are joined with the tiles of all levels outside with a cost. */
static void hold_joined(bench *b, const sx_prefix_query *query, int first, const sx_score *cost) {
    hold_value(b, query, first, energy_of, cost);
    hold_value(b, query, first, product_of, cost);
    if (first == -2 || b->n % 16) return;
    uint64_t steps = 0;
    const sx_prefix_goal goal = {energy_of, NULL, INFINITY, -INFINITY};
    sx_prefix_least least = sx_prefix_bound_joined(&b->prefix, query, first, &goal, &steps);
    const sx_score bound = {.energy_pj = least.energy, .cycles = least.cycles, .utilization = 1};
    hold(b, "joined, each for itself", query->last, &bound, cost);
}

/* Compares the bounds of all factors of the last decided level that make as many blocks as those of a mapping with its cost. */
static void try_alike(bench *b, const sx_prefix_query *query, int first, const sx_score *cost) {
    sx_prefix_bound was = b->prefix;
    const double all = b->all;
    sx_prefix_query ranged = *query;
    sx_score bound;
    for (int d = 0; d < b->bounds.model->n_dims; d++) {
        const uint64_t base = was.decided.base[query->last][d],
                       factor = was.decided.reach[query->last + 1][d] / base;
        const uint64_t alike = sx_decided_alike(&was.decided, query->last, d, factor);
        if (alike == factor || (b->n >> d) % 4 == 0) continue;
        b->prefix.decided.reach[query->last + 1][d] = base * alike;
        ranged.ranged |= 1u << d;
    }
    if (!sx_prefix_bound_score(&b->prefix, &ranged, first, &bound)) fail_msg("a first loop is refused");
    hold(b, "factors that are alike", query->last, &bound, cost);
    hold_joined(b, &ranged, query->order ? first : -2, cost);
    b->prefix = was;
    b->all = all;
}

/* Compares the bounds of a mapping whose levels up to `last` are decided with its cost: with the orders of all of them;
 * with the innermost loop of the last one alone; both with all factors that are alike; and with some of its extents open. */
static void try_prefix(bench *b, const sx_mapping *mapping, int last, const sx_score *cost) {
    int n = mapping->n_levels, first = first_loop(b, mapping, last + 1, n);
    sx_prefix_query query = {.last = last, .order = true};
    sx_score bound;
    if (!sx_prefix_bound_score(&b->prefix, &query, first, &bound)) fail_msg("a first loop is refused");
    hold(b, "prefix", last, &bound, cost);
    if (last + 1 == n) assert_false(sx_prefix_bound_score(&b->prefix, &query, 0, &bound));
    hold_joined(b, &query, first, cost);
    try_alike(b, &query, first, cost);
    if (last == n - 2) b->nearly += cost->energy_pj > 0 ? bound.energy_pj / cost->energy_pj : 1;
    query = (sx_prefix_query){.last = last, .inner = first_loop(b, mapping, last, last + 1)};
    if (!sx_prefix_bound_score(&b->prefix, &query, first, &bound)) fail_msg("a first loop is refused");
    hold(b, "innermost loop", last, &bound, cost);
    hold_joined(b, &query, -2, cost);
    try_alike(b, &query, first, cost);
    sx_prefix_bound open = b->prefix;
    for (int d = 0; d < mapping->n_dims; d++) {
        if ((b->n + (uint64_t)d) % 3 == 0) continue;
        uint64_t base = open.decided.base[last][d];
        open.decided.reach[last + 1][d] += base * ((b->n >> d) % 3);
        query.loose |= 1u << d;
    }
    if (!sx_prefix_bound_score(&open, &query, first, &bound)) fail_msg("a first loop is refused");
    hold(b, "open extents", last, &bound, cost);
}

/* Compares the bounds of a mapping of which no level is decided with its cost. */
static void try_nothing(bench *b, const sx_mapping *mapping, const sx_score *cost) {
    const sx_prefix_query nothing = {.last = -1, .order = true};
    const int first = first_loop(b, mapping, 0, mapping->n_levels);
    sx_score bound;
    if (!sx_prefix_bound_score(&b->prefix, &nothing, first, &bound)) fail_msg("a first loop is refused");
    hold(b, "nothing decided", -1, &bound, cost);
    hold_joined(b, &nothing, first, cost);
}

/* Takes over all loops of a mapping. */
static void decide(bench *b, const sx_mapping *mapping) {
    sx_prefix_bound_begin(&b->prefix);
    for (int s = 0; s < mapping->n_levels; s++)
        for (int i = 0; i < mapping->n_dims; i++) {
            int d = mapping->level[s].temporal_order[i];
            sx_decided_set(&b->prefix.decided, s, d, mapping->level[s].temporal[d]);
            b->prefix.decided.place[s][d] = (uint8_t)i;
        }
}

/* Compares all bounds of a mapping's beginnings with its cost. */
static void try_mapping(bench *b, const sx_mapping *mapping) {
    const sx_map_space *map = b->small->map;
    uint8_t keep[SX_MAX_LEVELS] = {0};
    sx_outline outline;
    sx_score cost, bound;
    if (is_exact(mapping, map->problem)) return;
    if (sx_evaluate_score(b->evaluator, mapping, &cost).reason != SX_LEGAL) return;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < mapping->n_levels; s++) {
        memcpy(outline.spatial[s], mapping->level[s].spatial, sizeof outline.spatial[s]);
        keep[s] = mapping->level[s].keep;
    }
    bound = sx_imperfect_bound_all(&b->bounds);
    hold(b, "all", -1, &bound, &cost);
    sx_imperfect_bound_spatial(&b->bounds, &outline);
    bound = sx_imperfect_bound_any(&b->bounds);
    hold(b, "array", -1, &bound, &cost);
    sx_imperfect_bound_keep(&b->bounds, keep);
    bound = sx_imperfect_bound_score(&b->bounds, 0);
    hold(b, "kept", -1, &bound, &cost);
    decide(b, mapping);
    try_nothing(b, mapping, &cost);
    for (int s = 0; s < mapping->n_levels; s++) try_prefix(b, mapping, s, &cost);
    b->n++;
    b->energy += cost.energy_pj > 0 ? bound.energy_pj / cost.energy_pj : 1;
    b->cycles += bound.cycles / cost.cycles;
}

/* Whether tiles are kept from visit to visit. */
static bool reuses_tiles(const sx_map_space *map) {
    unsigned renewed = 0;
    for (int s = 0; s < map->arch->n_levels; s++) renewed |= map->constraints.level[s].no_temporal_reuse;
    return renewed == 0;
}

/* Goes through mappings of a space that leave remainders. */
typedef void walk_space(bench *b, uint64_t seed);

/* Tries every mapping of a space. */
static void try_all(bench *b, uint64_t seed) {
    void *point = malloc(sx_space_point_size(b->small->space));
    sx_cardinal index = {.exact = true};
    (void)seed;
    for (; sx_space_at(b->small->space, &index, point); index.low++) {
        sx_mapping mapping;
        sx_map_space_mapping(b->small->space, point, &mapping);
        try_mapping(b, &mapping);
    }
    free(point);
}

/* Tries some random mappings of a space. */
static void try_drawn(bench *b, uint64_t seed) {
    enum { DRAWN = 200 };
    sx_rng rng = sx_rng_stream(seed, "bounds.ragged.drawn", b->number);
    void *point = malloc(sx_space_point_size(b->small->space));
    uint64_t rejected = 0;
    for (int i = 0; i < DRAWN && sx_space_draw_legal(b->small->space, &rng, point, &rejected); i++) {
        sx_mapping mapping;
        sx_map_space_mapping(b->small->space, point, &mapping);
        try_mapping(b, &mapping);
    }
    free(point);
}

/* Compares mappings of a space that leave remainders with their bounds, and adds up how close they come. */
static void try_space(sx_small_space *small, uint64_t number, walk_space *walk, uint64_t seed, bench *sum) {
    if (small->options.remainders) {
        bench b = {.small = small, .number = number};
        const sx_map_space *map = small->map;
        sx_imperfect_tiles *tiles;
        uint8_t may[SX_MAX_LEVELS] = {0};
        for (int s = 0; s < small->model->n_levels; s++) may[s] = map->free_keep[s] | map->banked[s];
        sx_expect_ok(sx_imperfect_tiles_new(small->model, map->fixed_keep, may, 0, NULL, &tiles));
        sx_imperfect_bound_init(&b.bounds, tiles);
        b.bounds.reuses = reuses_tiles(map);
        sx_prefix_bound_init(&b.prefix, &b.bounds, reuses_tiles(map));
        sx_expect_ok(sx_model_workspace_new(small->model, &b.evaluator));
        walk(&b, seed);
        sum->n += b.n;
        sum->energy += b.energy;
        sum->cycles += b.cycles;
        sum->nearly += b.nearly;
        sum->all += number < FIRST ? b.all : 0;
        sx_imperfect_tiles_free(tiles);
        sx_model_workspace_free(b.evaluator);
    }
    sx_small_space_fini(small);
}

/* Draws spaces, of at most a given number of constructions, and tries mappings of them. */
static bench walk_spaces(const settings *set, const char *what, const char *stream, uint64_t most,
                         void draw(sx_rng *rng, uint64_t most, sx_small_space *out), walk_space *walk,
                         double recorded) {
    bench sum = {.n = 0};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, stream, i);
        sx_small_space small;
        draw(&rng, most, &small);
        try_space(&small, i, walk, set->seed, &sum);
    }
    print_message(
        "%s, %llu mappings: %.3f of the energy, %.3f of the cycles; but for the outermost level %.4f\n", what,
        (unsigned long long)sum.n, sum.energy / (double)sum.n, sum.cycles / (double)sum.n,
        sum.nearly / (double)sum.n);
    sx_expect_compared("mappings that leave remainders", sum.n, set->count);
    if (set->seed == DEFAULT_SEED && set->count >= FIRST) sx_expect_recorded(what, sum.all, recorded);
    return sum;
}

/* Draws small spaces and tries all of their mappings. */
static bench try_spaces(const settings *set, const char *what, const char *stream,
                        void draw(sx_rng *rng, uint64_t most, sx_small_space *out), double recorded) {
    return walk_spaces(set, what, stream, MOST, draw, try_all, recorded);
}

static void hold_for_every_mapping(void **state) {
    bench sum = try_spaces(*state, "dense", "bounds.ragged", sx_random_space, 52586.04812639426);
    assert_true(sum.energy >= 0.55 * (double)sum.n && sum.cycles >= 0.65 * (double)sum.n);
}

/* Windows that flow into several instances of the level whose tiles are tried in order: a flow that the order counted twice. */
static void hold_for_windows_of_several(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(12, "bounds.ragged", 512);
    sx_small_space small;
    bench sum = {.n = 0};
    sx_random_space(&rng, MOST, &small);
    try_space(&small, 512, try_all, 12, &sum);
    assert_true(sum.n > 0);
}

/* Units that share words of a window along diagonals, at one level or at two. */
static void hold_for_shared_windows(void **state) {
    const settings *all = *state, some = {all->count / 4 + 1, all->seed};
    (void)try_spaces(&some, "shared windows", "bounds.ragged.shared", sx_random_shared_window,
                     323222.367366499);
}

/* Tensors whose ranks are single dimensions: with one level open bounds are nearly the cost. */
static void hold_for_plain_tensors(void **state) {
    const settings *all = *state, some = {all->count / 5 + 1, all->seed};
    bench sum = try_spaces(&some, "plain", "bounds.ragged.plain", sx_random_plain_space, 220845.3845182973);
    assert_true(sum.nearly >= 0.97 * (double)sum.n && sum.cycles >= 0.85 * (double)sum.n);
}

/* The same for random mappings of larger spaces. */
static void hold_for_drawn_mappings(void **state) {
    const settings *all = *state, some = {all->count / 5 + 1, all->seed};
    bench sum = walk_spaces(&some, "drawn", "bounds.ragged.larger", 0, sx_random_plain_space, try_drawn,
                            176850.4553737272);
    assert_true(sum.nearly >= 0.97 * (double)sum.n);
}

/* As many tensors, dimensions and levels as there may be. */
static void hold_for_the_largest(void **state) {
    (void)state;
    bench sum = {.n = 0};
    sx_small_space small;
    for (int i = 0; sx_largest_space(i, true, &small); i++)
        try_space(&small, (uint64_t)i, try_drawn, DEFAULT_SEED, &sum);
    sx_expect_recorded("largest", sum.all, 64081.90366576542);
}

/* Draws a convolution on a machine of one array, or of several levels of single tensors. */
static void draw_convolution(sx_rng *rng, uint64_t most, sx_small_space *out) {
    static const char *const arch[] = {"eyeriss", "glb128", "accel-b"};
    const sx_map_space_options options = {.remainders = true};
    char text[160];
    unsigned size[4];
    (void)most;
    for (int d = 0; d < 4; d++) size[d] = (unsigned)sx_rng_range(rng, 2, d < 3 ? 20 : 4);
    snprintf(text, sizeof text, "O[k,p] += W[k,c,r]*I[c,%s+r] {k:%u,c:%u,p:%u,r:%u}",
             sx_rng_below(rng, 2) ? "2*p" : "p", size[0], size[1], size[2], size[3]);
    sx_catalog_space(text, arch[sx_rng_below(rng, 3)], &options, out);
}

/* Windows joined with the tiles of all levels. */
static void hold_for_convolutions(void **state) {
    const settings *all = *state, some = {all->count / 15 + 1, all->seed};
    (void)walk_spaces(&some, "convolutions", "bounds.ragged.windows", 0, draw_convolution, try_drawn,
                      220492.1145751162);
}

/* Draws a product on a machine with levels of single tensors, or several arrays. */
static void draw_arrays(sx_rng *rng, uint64_t most, sx_small_space *out) {
    static const char *const arch[] = {"eyeriss", "simba", "accel-b"};
    const sx_map_space_options options = {.remainders = true};
    char text[128];
    unsigned size[3];
    (void)most;
    for (int d = 0; d < 3; d++) size[d] = (unsigned)sx_rng_range(rng, 2, 100);
    snprintf(text, sizeof text, "O[m,n] += A[m,k]*B[k,n] {m:%u,n:%u,k:%u}", size[0], size[1], size[2]);
    sx_catalog_space(text, arch[sx_rng_below(rng, 3)], &options, out);
}

/* The same on machines of the catalog. */
static void hold_for_arrays(void **state) {
    const settings *all = *state, some = {all->count / 15 + 1, all->seed};
    bench sum =
        walk_spaces(&some, "arrays", "bounds.ragged.arrays", 0, draw_arrays, try_drawn, 254315.9904355735);
    assert_true(sum.nearly >= 0.9 * (double)sum.n);
}

static void hold_for_sparse_tensors(void **state) {
    (void)try_spaces(*state, "sparse", "bounds.ragged.sparse", sx_random_sparse_space, 10404.27712327573);
}

/* What a level's tile is, by the loops outside it. */
static sx_imperfect_tile tile_of(const sx_mapping *mapping, const sx_problem *problem, int level) {
    sx_imperfect_tile tile = {.first = -1, .top = level + 2 == mapping->n_levels};
    for (int d = 0; d < mapping->n_dims; d++) {
        uint64_t extent = sx_mapping_extent(mapping, level, d);
        tile.blocks[d] = (uint32_t)((problem->size[d] + extent - 1) / extent);
    }
    for (int s = level + 1; s < mapping->n_levels; s++)
        for (int i = 0; i < mapping->n_dims && tile.first < 0; i++) {
            int d = mapping->level[s].temporal_order[i];
            if (mapping->level[s].temporal[d] > 1) tile.first = d;
        }
    return tile;
}

/* Fails where more words of a tensor are said to flow into a level than its next outer level `from` counts. */
static void hold_flow(const sx_case *c, const sx_model *model, const sx_cost *cost, int level, int from,
                      int v) {
    sx_imperfect_tile tile = tile_of(&c->mapping, &c->problem, level);
    double flow = sx_imperfect_tile_flow(model, v, &tile) * (1 - 1e-12), once = sx_model_touched(model, v);
    sx_imperfect_word word = sx_imperfect_word_of(model, v);
    const sx_cost_tensor *inner = &cost->level[level].tensor[v], *outer = &cost->level[from].tensor[v];
    bool output = model->shape[v].output;
    if ((double)(output ? outer->updates : outer->reads) >= flow &&
        (double)outer->reads >= word.reads * (flow - once * output) &&
        (double)inner->fills >= word.fills * (flow - once * output))
        return;
    sx_text text = {0};
    sx_case_write(c, &text);
    print_error("tensor %d, level %d: flow %.17g, first loop on %d\n%s\n", v, level, flow, tile.first,
                text.data);
    fail();
}

/* Compares the flows into all levels of one instance with what a mapping that leaves remainders counts; returns how
 * many. */
static uint64_t try_flows(const sx_case *c) {
    sx_model *model;
    sx_model_workspace *evaluator;
    static sx_cost cost;
    uint64_t n = 0;
    if (sx_mapping_perfect(&c->mapping, &c->problem)) return 0;
    sx_expect_ok(sx_model_new(&c->problem, &c->arch, &c->options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    if (sx_evaluate(evaluator, &c->mapping, &cost).reason == SX_LEGAL)
        for (int v = 0; v < model->n_tensors; v++)
            for (int s = model->n_levels - 1, from = -1; s >= 0 && model->level[s].instances == 1; s--) {
                if (!(c->mapping.level[s].keep >> v & 1)) continue;
                if (from >= 0) hold_flow(c, model, &cost, s, from, v);
                n += from >= 0;
                from = s;
            }
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return n;
}

static void hold_for_every_flow(void **state) {
    const settings *set = *state;
    uint64_t n = 0;
    for (uint64_t i = 0; i < 20 * set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "bounds.ragged.flow", i);
        sx_case c;
        sx_random_case(&rng, SX_CASE_REMAINDER, &c);
        n += try_flows(&c);
    }
    sx_expect_compared("flows into levels of one instance", n, set->count);
}

/* Every mapping of a case is one of many: a fifth of the cases that others are asked for is enough. */
int main(int argc, char **argv) {
    settings set = {250, DEFAULT_SEED};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 5 + 1;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(hold_for_every_mapping, &set),
        cmocka_unit_test_prestate(hold_for_windows_of_several, &set),
        cmocka_unit_test_prestate(hold_for_shared_windows, &set),
        cmocka_unit_test_prestate(hold_for_plain_tensors, &set),
        cmocka_unit_test_prestate(hold_for_drawn_mappings, &set),
        cmocka_unit_test_prestate(hold_for_the_largest, &set),
        cmocka_unit_test_prestate(hold_for_arrays, &set),
        cmocka_unit_test_prestate(hold_for_convolutions, &set),
        cmocka_unit_test_prestate(hold_for_sparse_tensors, &set),
        cmocka_unit_test_prestate(hold_for_every_flow, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
