/* Bounds of partly decided mappings against the cost of every mapping of small spaces, each being a
 * completion of all its own beginnings; and against random mappings of larger ones: test_bounds [count
 * [seed]]. Prints how close the bounds come. */
#include "support/expect.h"
#include "support/random_space.h"

#include "model/bound.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1500, KINDS = 4 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* Sums of bound / cost. */
typedef struct tally {
    uint64_t n;
    double energy[KINDS], cycles[KINDS];
} tally;

typedef struct bench {
    const sx_small_space *small;
    sx_bound *bound;
    sx_rest *rest, *other;
    sx_evaluator *evaluator;
    bool begun;
    tally *tally;
    uint64_t number;
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

/* Fails where a bound is above a cost. */
static void hold(const bench *b, const char *what, int level, sx_score bound, const sx_score *cost,
                 int kind) {
    const double slack = 1 + 1e-9;
    double ratio_e = cost->energy_pj > 0 ? bound.energy_pj / cost->energy_pj : 1;
    b->tally->energy[kind] += ratio_e;
    b->tally->cycles[kind] += bound.cycles / cost->cycles;
    if (bound.energy_pj <= cost->energy_pj * slack && bound.cycles <= cost->cycles * slack) return;
    char *text = sx_small_space_text(b->small);
    print_error("case %llu, %s, level %d: bound %.17g pJ, %.17g cycles; cost %.17g, %.17g\n%s\n",
                (unsigned long long)b->number, what, level, bound.energy_pj, bound.cycles, cost->energy_pj,
                cost->cycles, text);
    free(text);
    fail();
}

/* Holds the bound of a mapping's spatial factors against its cost. */
static void hold_array(const bench *b, const sx_outline *outline, const sx_score *cost) {
    const sx_map_space *map = b->small->map;
    sx_outline bare = *outline;
    uint8_t may[SX_MAX_LEVELS];
    for (int s = 0; s < map->arch->n_levels; s++) {
        bare.keep[s] = map->fixed_keep[s];
        may[s] = map->free_keep[s] | map->banked[s];
    }
    hold(b, "array", -1, sx_rest_array(b->other, &bare, may), cost, 3);
}

/* Holds all bounds of a mapping's beginnings against its cost. */
static void try_mapping(bench *b, const sx_mapping *mapping) {
    sx_score cost;
    if (sx_evaluate_score(b->evaluator, mapping, &cost).reason != SX_LEGAL) return;
    sx_outline outline = outline_of(mapping);
    if (!b->begun || memcmp(&outline, &b->rest->outline, sizeof outline) != 0) {
        sx_rest_begin(b->rest, &outline);
        sx_rest_tabulate(b->rest);
        b->begun = true;
    }
    b->tally->n++;
    hold_array(b, &outline, &cost);
    hold(b, "outline", -1, sx_rest_flat(b->rest), &cost, 0);
    sx_stem stem, next;
    int n_levels = mapping->n_levels;
    for (int tables = 0; tables < 2; tables++) {
        b->rest->tables = tables != 0;
        sx_stem_begin(b->rest, &stem);
        for (int s = 0; s < n_levels; s++) {
            uint32_t extent[SX_MAX_DIMS] = {0};
            for (int d = 0; d < mapping->n_dims; d++) extent[d] = (uint32_t)sx_mapping_extent(mapping, s, d);
            uint32_t point = sx_lattice_point(&b->bound->lattice, extent);
            sx_score tried = sx_stem_try(b->rest, &stem, s, extent, point);
            hold(b, tables ? "tile with tables" : "tile", s, tried, &cost, tables && s == 0 ? 1 : 3);
            sx_stem_grow(b->rest, &stem, s, extent, point, mapping->level[s].temporal_order, &next);
            stem = next;
            hold(b, tables ? "stem with tables" : "stem", s, sx_stem_bound(b->rest, &stem, s), &cost,
                 tables && s == n_levels - 1 ? 2 : 3);
        }
    }
}

static void start(bench *b, const sx_small_space *small, tally *sums, uint64_t number) {
    *b = (bench){.small = small, .tally = sums, .number = number};
    sx_expect_ok(sx_bound_new(small->model, 1 << 16, &b->bound));
    sx_expect_ok(sx_rest_new(b->bound, &b->rest));
    sx_expect_ok(sx_rest_new(b->bound, &b->other));
    sx_expect_ok(sx_evaluator_new(small->model, &b->evaluator));
}

static void finish(bench *b) {
    sx_evaluator_free(b->evaluator);
    sx_rest_free(b->rest);
    sx_rest_free(b->other);
    sx_bound_free(b->bound);
}

static void report(const char *what, const tally *t) {
    static const char *const kinds[] = {"outline alone", "innermost tile, tables", "complete mapping"};
    for (int i = 0; i < 3; i++)
        print_message("%s, %s: %.3f of the energy, %.3f of the cycles\n", what, kinds[i],
                      t->energy[i] / (double)t->n, t->cycles[i] / (double)t->n);
}

static void hold_for_every_mapping(void **state) {
    const settings *set = *state;
    tally plain = {0}, windows = {0};
    for (uint64_t i = 0, n = 0; n < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "bounds", i);
        sx_small_space small;
        sx_random_space(&rng, MOST, &small);
        if (!small.options.remainders) {
            bench b;
            bool crowd = false;
            start(&b, &small, &plain, i);
            for (int v = 0; v < small.model->n_tensors; v++) crowd |= b.bound->crowd[v] != 0;
            if (crowd) b.tally = &windows;
            void *point = malloc(sx_space_point_size(small.space));
            sx_cardinal index = {.exact = true};
            for (; sx_space_at(small.space, &index, point); index.low++) {
                sx_mapping mapping;
                sx_map_space_mapping(small.space, point, &mapping);
                try_mapping(&b, &mapping);
            }
            free(point);
            finish(&b);
            n++;
        }
        sx_small_space_fini(&small);
    }
    report("plain", &plain);
    report("windows", &windows);
}

int main(int argc, char **argv) {
    settings set = {2000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(hold_for_every_mapping, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
