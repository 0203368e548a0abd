/* The exhaustive mapper against brute force over every construction of small spaces: test_exhaustive [count
 * [seed]]. */
#include "base/hash.h"
#include "mapspace/map_core.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"

#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 6000 };

typedef struct settings {
    uint64_t count, seed;
} settings;

static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d"};

/* The best value of all constructions; INFINITY where none is legal. */
static double brute_force(const sx_small_space *small, const sx_objective *objective) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_scorer *scorer;
    double best = INFINITY;
    sx_expect_ok(sx_scorer_new(small->space, NULL, objective, &scorer));
    for (uint64_t i = 0; i < small->n; i++) {
        sx_cardinal index = {.low = i, .exact = true};
        sx_outcome outcome;
        assert_true(sx_space_at(small->space, &index, point));
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
        assert_int_equal(outcome.reason, 0);
        best = fmin(best, outcome.value);
    }
    sx_cardinal past = {.low = small->n, .exact = true};
    assert_false(sx_space_at(small->space, &past, point));
    sx_scorer_free(scorer);
    free(point);
    return best;
}

/* What a search found. */
typedef struct answer {
    double value;
    uint64_t evaluations, valid, rejected, hash; /* hash: of the best point */
} answer;

/* The best value that the mapper finds, which it must have proven. With a cache it walks mappings, without one compact points
 * where they cover the space. */
static answer search(const sx_small_space *small, const sx_objective *objective, unsigned threads,
                     size_t cache) {
    sx_run_options options;
    sx_run *run;
    sx_found found = {.value = INFINITY};
    sx_run_options_init(&options);
    options.objective = *objective;
    options.threads = threads;
    options.cache = cache;
    sx_expect_ok(sx_run_new(small->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "exhaustive"));
    sx_run_summary summary = sx_run_result(run);
    if (sx_run_best(run, 0, &found)) {
        assert_true(summary.optimal);
        assert_true(summary.lower_bound == found.value);
        assert_true(sx_space_legal(small->space, found.point, NULL, 0));
    } else {
        assert_false(summary.optimal);
    }
    assert_int_equal(summary.stop, SX_STOP_DONE);
    assert_true(summary.evaluations <= small->n);
    answer out = {found.value, summary.evaluations, summary.valid, summary.rejected, 0};
    if (found.value < INFINITY) out.hash = sx_hash_bytes(found.point, sx_space_point_size(small->space), 0);
    sx_run_free(run);
    return out;
}

/* Fails where another best value was found than there is. */
static void expect_best(const sx_small_space *small, uint64_t number, double found, double best) {
    if (found == best) return;
    char *text = sx_small_space_text(small);
    print_error("case %llu: found %.17g, but there is %.17g\n%s\n", (unsigned long long)number, found, best,
                text);
    free(text);
    fail();
}

static void finds_the_best_of_all(void **state) {
    const settings *set = *state;
    uint64_t legal = 0, compact = 0;
    static sx_core_space core;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "exhaustive", i);
        sx_small_space small;
        sx_random_space(&rng, MOST, &small);
        sx_objective objective;
        sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(&rng, 4)], &objective));
        double best = brute_force(&small, &objective);
        unsigned threads = sx_rng_below(&rng, 8) ? 1 : 3;
        legal += best < INFINITY;
        answer found = search(&small, &objective, threads, 0);
        expect_best(&small, i, found.value, best);
        if (!sx_map_core_space(sx_map_space_of(small.space), &core)) {
            answer by_mappings = search(&small, &objective, threads, 2);
            assert_memory_equal(&found, &by_mappings, sizeof found);
            compact++;
        }
        sx_small_space_fini(&small);
    }
    sx_expect_compared("spaces with legal mappings", legal, set->count / 2);
    sx_expect_compared("spaces of compact points", compact, set->count / 100);
}

static void large_spaces_are_refused(void **state) {
    (void)state;
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_space *space;
    sx_run *run;
    sx_run_options options;
    sx_expect_ok(sx_catalog_problem("resnet-conv4", &problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    sx_run_options_init(&options);
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_error(sx_run_search(run, "exhaustive"),
                    "e18 distinct mappings are more than the limit of 1e+08");
    sx_run_free(run);
    sx_space_free(space);
    sx_model_free(model);
}

int main(int argc, char **argv) {
    settings set = {1000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(finds_the_best_of_all, &set),
        cmocka_unit_test(large_spaces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
