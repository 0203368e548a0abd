/* Exhaustive search: what it has proven when it completes. */
#include "mapspace/map_space.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* L1 holds two words, less than one of each tensor. */
static const char tight[] = "arch:\n"
                            "  name: tight\n"
                            "  arithmetic: {name: MAC, instances: 4, word-bits: 16, energy: 1.0}\n"
                            "  storage:\n"
                            "  - {name: L1, instances: 4, entries: 2, vector-access-energy: 1.5}\n"
                            "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

/* Searches by the space's own model, with at most a given number of evaluations; 0: any number. */
static sx_run_summary search_exhaustively(const sx_map_space_options *space_options, const char *objective,
                                          uint64_t evaluations) {
    sx_small_map m;
    sx_run_options options;
    sx_run *run;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:4,n:3,k:2}", tight, NULL, space_options);
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(objective, &options.objective));
    options.evaluations = evaluations;
    sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "exhaustive"));
    sx_run_summary summary = sx_run_result(run);
    sx_run_free(run);
    sx_small_map_close(&m);
    return summary;
}

/* A space without a legal mapping is proven to have none, whatever the criteria, with remainders or without. */
static void nothing_legal_is_proven(void **state) {
    (void)state;
    static const char *const objectives[] = {"edp", "energy,delay"};
    for (int i = 0; i < 4; i++) {
        const sx_map_space_options options = {.keep_all = true, .remainders = i / 2 > 0};
        sx_run_summary summary = search_exhaustively(&options, objectives[i % 2], 0);
        assert_true(summary.none && !summary.optimal && summary.lower_bound == 0);
        assert_int_equal(summary.valid, 0);
        assert_int_equal(summary.stop, SX_STOP_DONE);
    }
}

/* An optimum is proven for one criterion by a search that completes, and its value bounds all. */
static void optima_are_proven(void **state) {
    (void)state;
    sx_run_summary whole = search_exhaustively(NULL, "edp", 0), part = search_exhaustively(NULL, "edp", 3);
    assert_true(whole.optimal && !whole.none && whole.lower_bound > 0);
    assert_true(!part.optimal && !part.none && part.lower_bound == 0);
    sx_run_summary several = search_exhaustively(NULL, "energy,delay", 0);
    assert_true(several.valid > 0 && !several.optimal && !several.none);
}

/* A chip of two arrays, one within the other, with links and two memories that need not keep what they may. */
static const char meshes[] =
    "arch:\n"
    "  name: meshes\n"
    "  arithmetic: {name: MAC, instances: 16, meshX: 8, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: L1, instances: 8, meshX: 4, entries: 6, vector-access-energy: 1.5}\n"
    "  - {name: L2, instances: 1, entries: 24, vector-access-energy: 8}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 100}\n";

enum limited {
    FREE,
    FACTORS,   /* a factor and the place of a loop are fixed, and another factor is limited */
    OUTERMOST, /* the outermost level does not keep a tensor, so that others must */
    LIMITED
};

static void constrain(const sx_map_space *map, enum limited limited, sx_constraints *limits) {
    sx_constraints_init(limits, map->problem, map->arch);
    if (limited == OUTERMOST) {
        limits->level[2].must_bypass = 1 << 1;
        return;
    }
    limits->level[0].temporal.min[0] = limits->level[0].temporal.max[0] = 2;
    limits->level[2].temporal.max[1] = 2;
    limits->level[1].temporal.n_inner = 1;
    limits->level[1].temporal.inner[0] = 1;
}

/* Searches the space of a problem, by mappings where scores are remembered and by compact points otherwise. */
static sx_run_summary search_walk(const char *einsum, enum limited limited, const char *objective,
                                  bool remember, unsigned char *best, size_t size) {
    sx_small_map m;
    sx_constraints limits;
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_small_map_open(&m, einsum, meshes, NULL, NULL);
    if (limited != FREE) {
        constrain(m.map, limited, &limits);
        sx_small_map_close(&m);
        sx_small_map_open(&m, einsum, meshes, &limits, NULL);
    }
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(objective, &options.objective));
    options.k_best = 3;
    options.cache = remember ? 2 : 0;
    sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "exhaustive"));
    sx_run_summary summary = sx_run_result(run);
    for (size_t i = 0; i < 3; i++) {
        assert_true(sx_run_best(run, i, &found));
        assert_true(sx_space_point_size(m.space) <= size);
        memcpy(best + i * size, found.point, sx_space_point_size(m.space));
    }
    sx_run_free(run);
    sx_small_map_close(&m);
    return summary;
}

/* Walks by mappings and by compact points count the same mappings, and find the same best in the same order. */
static void walks_agree(void **state) {
    (void)state;
    static const char *const problem[] = {"O[m,n] += A[m,k]*B[k,n] {m:4,n:3,k:2}",
                                          "O[p,k] += I[p+r]*W[k,r] {p:4,k:2,r:2}",
                                          "D[i,j] += A[i,k]*B[k,j]*C[j] {i:4,j:2,k:2}"};
    static unsigned char best[2][3][4096];
    for (int i = 0; i < 6 * LIMITED; i++) {
        const char *objective = i / 3 % 2 ? "energy" : "edp";
        sx_run_summary summary[2];
        memset(best, 0, sizeof best);
        for (int k = 0; k < 2; k++)
            summary[k] = search_walk(problem[i % 3], (enum limited)(i / 6), objective, k, best[k][0],
                                     sizeof best[k][0]);
        assert_true(summary[0].evaluations > 1000);
        assert_int_equal(summary[0].evaluations, summary[1].evaluations);
        assert_int_equal(summary[0].valid, summary[1].valid);
        assert_int_equal(summary[0].rejected, summary[1].rejected);
        assert_memory_equal(best[0], best[1], sizeof best[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_legal_is_proven),
        cmocka_unit_test(optima_are_proven),
        cmocka_unit_test(walks_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
