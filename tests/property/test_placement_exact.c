/* The proven best placement, by branch and bound and by an integer program, against all placements of small graphs:
 * test_placement_exact [count [seed [integer programs]]]. */
#include "mip/mip.h"
#include "placement/place.h"
#include "sextant/run.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_placement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed, programs;
} settings;

/* Weights that are read ahead weaken the bounds: these spaces are smaller. */
enum { MOST_POINTS = 20000, MOST_POINTS_AHEAD = 1000, MOST_NODES = 6, PROGRAMS = 20, ROUNDINGS = 100 };

/* Compares what a search finds and proves, without a tolerance. */
static void compare_by(const sx_space *space, uint64_t least, const char *method) {
    sx_found found;
    sx_run *run = sx_fastest_placement(space, method, &found);
    assert_true(sx_run_result(run).optimal);
    assert_true(sx_place_latency(sx_placement_space_of(space), found.point) == least);
    sx_run_free(run);
}

/* Compares what branch and bound proves, with ranges of peaks from the beginning, from the second node on and never,
 * and its first bound. */
static void compare(const sx_space *space, uint64_t least) {
    sx_found found;
    compare_by(space, least, "place_exact:tolerance=0,ranges=0");
    compare_by(space, least, "place_exact:tolerance=0,ranges=1");
    compare_by(space, least, "place_exact:tolerance=0,ranges=1000000");
    sx_run *run = sx_fastest_placement(space, "place_exact:nodes=1", &found);
    assert_true(sx_run_result(run).lower_bound <= (double)least / SX_FEMTO);
    sx_run_free(run);
}

/* Compares what the integer program finds and proves, up to the solver's tolerances and roundings; whether it was proven,
 * which it is not where CBC aborts. */
static bool compare_program(const sx_space *space, uint64_t least) {
    sx_found found;
    sx_run *run = sx_fastest_placement(space, "place_mip:tolerance=0", &found);
    const bool proven = sx_run_result(run).optimal;
    assert_true(sx_run_result(run).lower_bound * SX_FEMTO <= (double)least + ROUNDINGS);
    uint64_t latency = sx_place_latency(sx_placement_space_of(space), found.point);
    assert_true(latency >= least && (double)latency <= (double)least * (1 + 1e-6) + ROUNDINGS);
    sx_run_free(run);
    return proven;
}

static void proven_optima_are_the_least_of_all(void **state) {
    const settings *set = *state;
    uint64_t compared = 0, tight = 0, proven = 0, programs = 0, ahead = 0;
    for (uint64_t i = 0; compared < set->count && i < 4 * set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "placement.exact", i);
        sx_place_graph graph;
        sx_chip chip;
        sx_space *space;
        sx_random_placement(&rng, MOST_NODES, &graph, &chip);
        sx_expect_ok(sx_placement_space_new(&graph, &chip, &space));
        double points = pow((double)chip.n_memories, (double)space->n_genes);
        bool reads_ahead = sx_placement_space_of(space)->reads_ahead;
        if (points <= (reads_ahead ? MOST_POINTS_AHEAD : MOST_POINTS)) {
            uint64_t least = sx_least_latency(space, (uint64_t)points, true);
            compare(space, least);
            ahead += reads_ahead;
            if (sx_mip_available() && programs < set->programs && chip.prefetch == 0) {
                proven += compare_program(space, least);
                programs++;
            }
            compared++;
            uint8_t *fastest = calloc(space->point_size, 1);
            assert_non_null(fastest);
            for (size_t g = 0; g < space->n_genes; g++)
                fastest[space->gene[g].which] = (uint8_t)(chip.n_memories - 1);
            tight += space->type->check(space, fastest) != 0;
            free(fastest);
        }
        sx_space_free(space);
        sx_place_graph_fini(&graph);
    }
    sx_expect_compared("optima", compared, set->count);
    sx_expect_compared("optima where weights are read ahead", ahead, set->count / 8);
    if (sx_mip_available()) sx_expect_compared("optima by integer programs", proven, set->programs * 9 / 10);
    if (!sx_mip_available()) print_message("integer programs are not compared: this build has no CBC\n");
    sx_expect_compared("where not all fits the fastest memory", tight, set->count / 3);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
                    .programs = argc > 3 ? strtoull(argv[3], NULL, 10) : PROGRAMS};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(proven_optima_are_the_least_of_all, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
