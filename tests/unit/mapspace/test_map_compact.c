/* Compact points of map spaces: draws have the distribution of the space's own, steps reach what they should, and parts are taken
 * over as genes of mappings are. */
#include "base/hash.h"
#include "core/steps.h"
#include "mapspace/map_core.h"
#include "mapspace/map_parts.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BINS = 256, DRAWS = 12000, STEPS = 4000 };

static const char product[] = "O[m,n] += A[m,k]*B[k,n] {m:12,n:4,k:2}";

static const char grid[] = "arch:\n"
                           "  name: grid\n"
                           "  arithmetic: {name: MAC, instances: 4, meshX: 2, word-bits: 16, energy: 1.0}\n"
                           "  storage:\n"
                           "  - {name: L1, instances: 4, meshX: 2, entries: 8, vector-access-energy: 1.5}\n"
                           "  - {name: L2, instances: 1, entries: 40, vector-access-energy: 8}\n"
                           "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

/* A space with its compact points. */
typedef struct setup {
    sx_small_map m;
    const sx_map_space *map;
    sx_core_space core;
    sx_core_splits *splits;
    const sx_core_engine *engine;
    struct sx_core_work *work;
} setup;

static void prepare(setup *s) {
    sx_small_map_open(&s->m, product, grid, NULL, NULL);
    s->map = sx_map_space_of(s->m.space);
    assert_null(sx_map_core_space(s->map, &s->core));
    sx_expect_ok(sx_map_core_splits(s->map, &s->core, &s->splits));
    assert_non_null(s->splits);
    s->engine = sx_core_engine_of(&s->core.model);
    s->work = calloc(1, s->engine->work_size);
    assert_non_null(s->work);
    s->engine->begin(&s->core, s->work);
}

static void finish(setup *s) {
    free(s->work);
    free(s->splits);
    sx_small_map_close(&s->m);
}

/* The bin of a point: by the split of its first dimension and its axes. */
static size_t bin_of(const setup *s, const sx_mapping *point) {
    uint32_t split[2 * SX_CORE_LEVELS] = {0};
    for (int l = 0; l < s->map->arch->n_levels; l++) {
        split[2 * l] = point->level[l].temporal[0];
        split[2 * l + 1] = point->level[l].spatial[0];
    }
    return sx_hash_bytes(split, sizeof split, point->level[0].split + 16u * point->level[1].split) % BINS;
}

static void draws_are_those_of_the_space(void **state) {
    static setup s;
    sx_mapping point;
    sx_compact_level compact[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_core_rng rng = {1};
    sx_rng own = sx_rng_stream(1, "test", 0);
    double own_bin[BINS] = {0}, bin[BINS] = {0}, distance = 0;
    (void)state;
    prepare(&s);
    for (int i = 0; i < DRAWS; i++) {
        assert_true(sx_space_draw_legal(s.m.space, &own, &point, NULL));
        own_bin[bin_of(&s, &point)]++;
        while (!s.engine->draw_uniform(&s.core, s.splits, s.work, &rng, compact)) continue;
        sx_map_expand(s.map, &s.core, compact, &point);
        assert_int_equal(s.m.space->type->check(s.m.space, &point), 0);
        bin[bin_of(&s, &point)]++;
    }
    for (int i = 0; i < BINS; i++)
        if (bin[i] + own_bin[i] > 0)
            distance += (bin[i] - own_bin[i]) * (bin[i] - own_bin[i]) / (bin[i] + own_bin[i]);
    int used = 0;
    for (int i = 0; i < BINS; i++) used += bin[i] + own_bin[i] > 0;
    print_message("chi-square of %d bins: %.1f\n", used, distance);
    assert_true(used > 20 && distance < used + 5 * sqrt(2.0 * used));
    finish(&s);
}

/* Steps change each part of a point, small ones only a little of it. */
static void steps_change_one_part(void **state) {
    static setup s;
    sx_compact_level from[SX_CORE_LEVELS + SX_CORE_WORDS / 2], to[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_core_rng rng = {2};
    int splits = 0, orders = 0, axes = 0, keeps = 0, moved = 0, shuffled = 0;
    (void)state;
    prepare(&s);
    for (int i = 0; i < STEPS; i++) {
        size_t size = sx_compact_size(&s.core);
        while (!s.engine->draw_uniform(&s.core, s.splits, s.work, &rng, from)) continue;
        memcpy(to, from, size);
        s.engine->step(&s.core, s.splits, s.work, &rng, i % 2, to);
        assert_true(sx_map_compact_holds(&s.core, to));
        const uint64_t *before = sx_compact_words_of(&s.core, from),
                       *after = sx_compact_words_of(&s.core, to);
        int words = 0, order = 0, axis = 0, keep = 0;
        for (uint32_t k = 0; k < s.core.n_words; k++) words += before[k] != after[k];
        for (uint32_t l = 0; l < s.core.model.n_levels; l++) {
            order += from[l].order != to[l].order;
            axis += from[l].on_x != to[l].on_x;
            keep += from[l].keep != to[l].keep;
            if (i % 2 == 0) assert_true(__builtin_popcount(from[l].keep ^ to[l].keep) <= 1);
        }
        if (i % 2 == 0) assert_true(words <= 1 && (words == 0) + (order == 0) + (keep == 0) >= 1);
        assert_true(keep + (axis && !words) + (order && !words) <= 1);
        splits += words > 0;
        orders += order > 0 && !words;
        axes += axis > 0 && !words;
        keeps += keep > 0;
        moved += order > 0 && !words && i % 2 == 0;
        shuffled += order > 0 && !words && i % 2;
    }
    assert_true(splits > STEPS / 8 && orders > STEPS / 16 && axes > STEPS / 64 && keeps > STEPS / 16);
    assert_true(moved > STEPS / 64 && shuffled > STEPS / 64);
    finish(&s);
}

/* The gene of a map space that is a part of compact points. */
static size_t gene_of(const setup *s, sx_core_part part) {
    static const int axis[] = {[SX_COMPACT_TILE] = SX_AXIS_TILE,
                               [SX_COMPACT_ORDER] = SX_AXIS_ORDER,
                               [SX_COMPACT_PARALLEL] = SX_AXIS_PARALLEL,
                               [SX_COMPACT_KEEP] = SX_AXIS_KEEP};
    size_t gene = 0;
    while (s->map->gene_of[gene].axis != axis[part.axis] || s->map->gene_of[gene].which != part.which) gene++;
    assert_true(gene < s->map->space.n_genes);
    return gene;
}

static void parts_are_taken_as_genes_are(void **state) {
    static setup s;
    sx_compact_level from[SX_CORE_LEVELS + SX_CORE_WORDS / 2], to[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_mapping other, expected, found;
    sx_core_rng rng = {3};
    int changed[4] = {0};
    (void)state;
    prepare(&s);
    uint32_t n = sx_core_n_parts(&s.core);
    assert_int_equal(n, s.map->space.n_genes);
    for (int i = 0; i < STEPS; i++) {
        sx_core_part part = sx_core_part_of(&s.core, (uint32_t)i % n);
        while (!s.engine->draw_uniform(&s.core, s.splits, s.work, &rng, from)) continue;
        while (!s.engine->draw_uniform(&s.core, s.splits, s.work, &rng, to)) continue;
        sx_map_expand(s.map, &s.core, from, &other);
        sx_map_expand(s.map, &s.core, to, &expected);
        sx_map_take(&s.map->space, gene_of(&s, part), &other, &expected);
        sx_map_expand(s.map, &s.core, to, &found);
        changed[part.axis] += memcmp(&found, &expected, s.map->space.point_size) != 0;
        sx_core_take(&s.core, part, from, to);
        assert_true(sx_map_compact_holds(&s.core, to));
        sx_map_expand(s.map, &s.core, to, &found);
        assert_memory_equal(&found, &expected, s.map->space.point_size);
    }
    for (int i = 0; i < 4; i++) assert_true(changed[i] > STEPS / 400);
    finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_those_of_the_space),
        cmocka_unit_test(steps_change_one_part),
        cmocka_unit_test(parts_are_taken_as_genes_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
