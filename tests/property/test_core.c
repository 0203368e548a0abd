/* The core against whole costs, to the last bit: drawn mappings of the catalog's spaces, of convolutions with strides on arrays
 * with links, and of small spaces of all kinds, with and without constraints; and compact points that are drawn, crossed, mutated
 * and repaired, or drawn among all legal ones and changed by steps: test_core [count [seed]]. */
#include "base/hash.h"
#include "core/engines.h"
#include "core/moves.h"
#include "mapspace/map_core.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_limits.h"
#include "support/random_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 16, STEPS = 24, FAMILY = 4, DEFAULT_SEED = 1, FIRST = 24 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* What was compared; and a hash of all compact points of the first spaces. */
typedef struct tally {
    uint64_t legal, uncovered, compact, repaired, stepped, spaces, points;
} tally;

/* A space and what scores its mappings. */
typedef struct bench {
    const sx_space *space;
    const sx_map_space *map;
    sx_core_model model;
    const sx_core_engine *engine[2]; /* for the space's numbers of levels and tensors, and for any */
    struct sx_core_work *work[2];
    sx_model_workspace *evaluator;
    tally *t;
} bench;

/* Compares a score with the whole cost of a mapping. */
static void expect_score(const bench *b, const sx_mapping *mapping, const sx_core_score *score) {
    static sx_cost cost;
    assert_int_equal(sx_evaluate(b->evaluator, mapping, &cost).reason, SX_LEGAL);
    sx_score whole = sx_cost_score(&cost),
             found = {score->energy, score->cycles, score->utilization, score->accesses, score->cycles};
    if (memcmp(&whole, &found, sizeof whole) != 0)
        print_error("%s on %s: energy %.17g and %.17g, cycles %.17g and %.17g\n", b->map->problem->name,
                    b->map->arch->name, whole.energy_pj, found.energy_pj, whole.cycles, found.cycles);
    assert_memory_equal(&whole, &found, sizeof whole);
}

/* The cells of all dimensions of a mapping. */
static void find_cells(const sx_map_space *space, const sx_mapping *mapping,
                       sx_core_cell (*out)[SX_CORE_LEVELS]) {
    for (int d = 0; d < space->problem->n_dims; d++) {
        double extent = 1;
        for (int s = 0; s < space->arch->n_levels; s++) {
            double temporal = mapping->level[s].temporal[d], spatial = mapping->level[s].spatial[d];
            out[d][s] = (sx_core_cell){extent * spatial * temporal, extent * spatial, temporal, spatial};
            extent = out[d][s].extent;
        }
    }
}

/* Scores a nest: SX_CORE_LEGAL, _ILLEGAL or _NOT_COVERED. */
static int score_nest(const bench *b, int engine, const sx_core_nest *nest,
                      const sx_core_cell (*cell)[SX_CORE_LEVELS], sx_core_score *score) {
    const sx_core_engine *e = b->engine[engine];
    struct sx_core_work *work = b->work[engine];
    double energy;
    if (!(e->open(&b->model, work, nest, cell, true) > 0) || !e->keeps(&b->model, work))
        return SX_CORE_ILLEGAL;
    for (int v = 0; v < b->map->problem->n_tensors; v++) {
        uint32_t kept = 0;
        for (int s = 0; s < b->map->arch->n_levels; s++) kept |= (uint32_t)(nest->keep[s] >> v & 1) << s;
        if (!e->charge(&b->model, work, v, kept, &energy)) return SX_CORE_NOT_COVERED;
    }
    e->sum(&b->model, work, score);
    return SX_CORE_LEGAL;
}

/* Scores a mapping by both engines. */
static void compare_mapping(const bench *b, const sx_mapping *mapping) {
    sx_core_nest nest;
    sx_core_cell cell[SX_CORE_DIMS][SX_CORE_LEVELS];
    assert_true(sx_map_core_nest(b->map, mapping, &nest));
    find_cells(b->map, mapping, cell);
    bool legal = sx_space_legal(b->space, mapping, NULL, 0);
    for (int i = 0; i < 2; i++) {
        sx_core_score score;
        int verdict = score_nest(b, i, &nest, (const sx_core_cell(*)[SX_CORE_LEVELS])cell, &score);
        assert_int_equal(verdict == SX_CORE_ILLEGAL, !legal);
        b->t->uncovered += verdict == SX_CORE_NOT_COVERED;
        if (verdict != SX_CORE_LEGAL) continue;
        expect_score(b, mapping, &score);
        b->t->legal++;
    }
}

/* Scores a compact point that is legal, and goes to the space's point and back. */
static void compare_compact(const bench *b, const sx_core_space *core, const sx_core_engine *engine,
                            sx_core_rng *rng, const sx_compact_level *compact) {
    union {
        sx_mapping mapping;
        char bytes[sizeof(sx_mapping)];
    } point, again;
    sx_compact_level back[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_core_score score;
    sx_mapping mapping;
    assert_true(sx_map_compact_holds(core, compact));
    sx_map_expand(b->map, core, compact, &point);
    assert_true(b->space->type->holds(b->space, &point));
    assert_int_equal(b->space->type->check(b->space, &point), 0);
    sx_map_space_mapping(b->space, &point, &mapping);
    sx_map_compact(b->map, core, &point, rng, back);
    sx_map_expand(b->map, core, back, &again);
    assert_memory_equal(&point, &again, b->space->point_size);
    if (engine->finish(core, b->work[0], compact, &score)) {
        expect_score(b, &mapping, &score);
        b->t->compact++;
    } else {
        b->t->uncovered++;
    }
}

/* Whether constraints fix or limit factors or orders: only a repair brings points within these. */
static bool is_constrained(const sx_core_space *core) {
    return core->limited || core->ruled;
}

/* Adds a compact point of one of the first spaces to the hash, and whether what led to it succeeded. */
static void add_point(const bench *b, const sx_core_space *core, const sx_compact_level *point, bool done) {
    if (b->t->spaces <= FIRST && !is_constrained(core))
        b->t->points = sx_hash_bytes(point, sx_compact_size(core), b->t->points + done);
}

/* Draws among all legal points, and steps from what was drawn. */
static void step_compact(const bench *b, const sx_core_space *core, sx_core_rng *rng) {
    sx_compact_level point[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    const sx_core_engine *engine = b->engine[0];
    sx_core_splits *splits;
    sx_expect_ok(sx_map_core_splits(b->map, core, &splits));
    for (int i = 0; i < STEPS && splits; i++) {
        bool legal = i % 6 == 0 ? engine->draw_uniform(core, splits, b->work[0], rng, point)
                                : engine->step(core, splits, b->work[0], rng, i % 2 == 0, point);
        if (i == 0 && !legal) break;
        assert_true(sx_map_compact_holds(core, point));
        add_point(b, core, point, legal);
        if (!legal) continue;
        compare_compact(b, core, engine, rng, point);
        b->t->stepped++;
    }
    free(splits);
}

/* Steps of a search, which goes back from every third and reads only what differs from the point before, against another
 * memory and the engine for any numbers, which read points whole. */
static void compare_steps(const bench *b, const sx_core_space *core, sx_core_rng *rng) {
    sx_compact_level now[SX_CORE_LEVELS + SX_CORE_WORDS / 2], next[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_core_splits *splits;
    sx_expect_ok(sx_map_core_splits(b->map, core, &splits));
    b->engine[1]->begin(core, b->work[1]);
    for (int i = 0; i < STEPS && splits; i++) {
        sx_core_score score, whole;
        if (i % 8 == 0 && !b->engine[0]->draw_uniform(core, splits, b->work[0], rng, now)) break;
        memcpy(next, now, sx_compact_size(core));
        bool legal = b->engine[0]->step(core, splits, b->work[0], rng, i % 2 == 0, next);
        assert_int_equal(legal, b->engine[1]->check(core, b->work[1], next));
        if (legal && b->engine[0]->finish(core, b->work[0], next, &score)) {
            assert_true(b->engine[1]->finish(core, b->work[1], next, &whole));
            assert_memory_equal(&score, &whole, sizeof score);
        }
        if (i % 8 == 5) b->engine[0]->repair(core, b->work[0], rng, next);
        if (i % 3) memcpy(now, next, sx_compact_size(core));
    }
    free(splits);
}

/* Walks of compact points: a few at a time, which take over from one another. */
static void walk_compact(const bench *b, uint64_t seed) {
    const sx_core_chances chances = {16384, 16384, 16384, 16384, 60000, 40000};
    static sx_compact_level family[FAMILY][SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_core_space *core = malloc(sizeof *core);
    const sx_core_engine *engine = b->engine[0];
    sx_core_rng rng = {seed};
    assert_non_null(core);
    if (!sx_map_core_space(b->map, core)) {
        b->t->spaces += !is_constrained(core);
        engine->begin(core, b->work[0]);
        for (int i = 0; i < FAMILY; i++) engine->draw(core, &rng, family[i]);
        for (int i = 0; i < STEPS; i++) {
            sx_compact_level *point = family[i % FAMILY];
            if (i % 11 == 0) engine->natural(core, &rng, point);
            engine->take(core, i % 4, (int)sx_core_below(&rng, core->model.n_dims),
                         family[sx_core_below(&rng, FAMILY)], point);
            engine->mutate(core, &rng, &chances, point);
            assert_true(is_constrained(core) || sx_map_compact_holds(core, point));
            add_point(b, core, point, true);
            bool legal = engine->check(core, b->work[0], point);
            char mapping[sizeof(sx_mapping)];
            sx_map_expand(b->map, core, point, mapping);
            if (!is_constrained(core)) assert_int_equal(legal, b->space->type->check(b->space, mapping) == 0);
            bool repaired = engine->repair(core, b->work[0], &rng, point);
            add_point(b, core, point, repaired);
            if (!repaired) continue;
            compare_compact(b, core, engine, &rng, point);
            b->t->repaired += !legal;
        }
        if (!is_constrained(core)) step_compact(b, core, &rng);
        if (!is_constrained(core)) compare_steps(b, core, &rng);
    }
    free(core);
}

/* Compares some points of a space. */
static void compare_space(const sx_space *space, const sx_model *model, uint64_t seed, tally *t) {
    bench b = {.space = space, .map = sx_map_space_of(space), .t = t};
    if (sx_map_core_model(b.map, &b.model)) return;
    b.engine[0] = sx_core_engine_of(&b.model);
    b.engine[1] = &sx_core_engine_generic;
    for (int i = 0; i < 2; i++) {
        b.work[i] = calloc(1, b.engine[i]->work_size);
        assert_non_null(b.work[i]);
    }
    sx_expect_ok(sx_model_workspace_new(model, &b.evaluator));
    static sx_mapping mapping[DRAWS];
    sx_status status = sx_map_space_draw(space, seed, 0, DRAWS, sizeof *mapping, mapping);
    for (int i = 0; i < DRAWS && !status; i++) compare_mapping(&b, &mapping[i]);
    sx_status_free(status);
    walk_compact(&b, seed);
    sx_model_workspace_free(b.evaluator);
    free(b.work[0]);
    free(b.work[1]);
}

/* A pair of the catalog, its options and constraints by a number. */
static void compare_pair(const char *problem, const char *arch, uint64_t number, uint64_t seed, tally *t) {
    sx_problem pr;
    sx_arch ar;
    sx_model *model;
    sx_space *space;
    sx_constraints limits;
    sx_rng rng = sx_rng_stream(seed, "core.pair", number);
    sx_model_options options;
    sx_map_space_options how = {.keep_all = number % 5 == 0, .no_banks = true};
    sx_model_options_init(&options);
    options.no_link_transfers = number % 3 == 0;
    options.no_first_read_elision = number % 4 == 0;
    sx_expect_ok(sx_catalog_problem(problem, &pr));
    sx_expect_ok(sx_catalog_arch(arch, &ar));
    sx_expect_ok(sx_model_new(&pr, &ar, &options, &model));
    sx_random_limits(&rng, &pr, &ar, &limits);
    sx_status status = sx_map_space_new(model, number % 2 ? &limits : NULL, &how, &space);
    if (!status) {
        compare_space(space, model, seed + number, t);
        sx_space_free(space);
    }
    sx_status_free(status);
    sx_model_free(model);
}

/* Searches rest on draws, steps and repairs: another hash is another answer for the same seed, to be changed on purpose. */
static void expect_points(const settings *set, const char *what, const tally *t, double recorded) {
    if (set->seed == DEFAULT_SEED && t->spaces >= FIRST)
        sx_expect_recorded(what, (double)(t->points >> 12), recorded);
}

/* The catalog's problems on its architectures. */
static void catalog(void **state) {
    const settings *set = *state;
    tally t = {0};
    const char *problem, *arch;
    uint64_t number = 0;
    while (t.legal + t.compact < set->count)
        for (size_t p = 0; t.legal + t.compact < set->count && (problem = sx_catalog_problem_name(p, NULL));
             p++)
            for (size_t a = 0; (arch = sx_catalog_arch_name(a, NULL)); a++)
                compare_pair(problem, arch, number++, set->seed, &t);
    print_message("%llu not covered, %llu compact, %llu repaired\n", (unsigned long long)t.uncovered,
                  (unsigned long long)t.compact, (unsigned long long)t.repaired);
    sx_expect_compared("scores of the catalog", t.legal, set->count / 8);
    sx_expect_compared("compact points of the catalog", t.compact, set->count / 8);
    sx_expect_compared("draws and steps of the catalog", t.stepped, set->count / 16);
    expect_points(set, "points of the catalog", &t, 3999784975397712.0);
    assert_true(t.uncovered * 1000 <= t.legal + t.compact);
}

/* Spaces that are drawn: of convolutions with strides and links, and of all kinds. */
static void drawn(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; t.legal + t.compact < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "core", i);
        sx_small_space small;
        if (i % 2)
            sx_random_link_space(&rng, &small);
        else
            sx_random_space_of(&rng, (sx_space_kind)(i / 2 % SX_N_KINDS), 100000, &small);
        compare_space(small.space, small.model, set->seed + i, &t);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("scores of drawn spaces", t.legal, set->count / 8);
    sx_expect_compared("compact points of drawn spaces", t.compact, set->count / 8);
    expect_points(set, "points of drawn spaces", &t, 3931566896342520.0);
    assert_true(t.uncovered * 1000 <= t.legal + t.compact);
}

/* A score takes little: ten times the cases that others are asked for. */
int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? 10 * strtoull(argv[1], NULL, 10) : 8000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_SEED};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(catalog, &set),
        cmocka_unit_test_prestate(drawn, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
