/* Placements that must have addresses against all placements of small graphs: test_addresses [count [seed]]. */
#include "placement/addresses/addresses.h"
#include "sextant/run.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_placement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

enum { MOST_POINTS = 2000, MOST_NODES = 5 };

/* Fails where tensors that live together overlap, an offset is not aligned, or a memory is too small. */
static void expect_addresses(const sx_placement_space *in, const uint8_t *placement, uint64_t align) {
    sx_addresses found;
    sx_expect_ok(sx_addresses_find(in, placement, align, NULL, &found));
    for (size_t m = 0; m < in->chip.n_memories; m++) assert_true(sx_addresses_fit(in, &found, m));
    for (size_t a = 0; a < in->n_tensors; a++) {
        if (!in->size[a]) continue;
        assert_true(found.offset[a] % align == 0);
        assert_true(found.offset[a] + in->size[a] <= in->chip.memory[placement[a]].capacity);
        for (size_t b = 0; b < a; b++) {
            if (!in->size[b] || placement[a] != placement[b]) continue;
            if (sx_place_first(in, a) > sx_place_last(in, b) || sx_place_first(in, b) > sx_place_last(in, a))
                continue;
            assert_true(found.offset[a] >= found.offset[b] + in->size[b] ||
                        found.offset[b] >= found.offset[a] + in->size[a]);
        }
    }
    sx_addresses_fini(&found);
}

/* Compares what the search finds and proves, without a tolerance. */
static void compare(const sx_space *space, uint64_t least, uint64_t align) {
    const sx_placement_space *in = sx_placement_space_of(space);
    sx_found found;
    sx_run *run = sx_fastest_placement(space, "place_exact:tolerance=0", &found);
    assert_true(sx_place_latency(in, found.point) == least);
    assert_true(*in->undecided == 0 && sx_run_result(run).optimal);
    expect_addresses(in, found.point, align);
    sx_run_free(run);
}

static void optima_with_addresses_are_the_least_of_all(void **state) {
    const settings *set = *state;
    uint64_t compared = 0, slower = 0;
    for (uint64_t i = 0; compared < set->count && i < 10 * set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "addresses", i);
        uint64_t align = (uint64_t)1 << sx_rng_below(&rng, 9);
        sx_place_graph graph;
        sx_chip chip;
        sx_space *space;
        sx_random_placement(&rng, MOST_NODES, &graph, &chip);
        sx_expect_ok(sx_placement_space_new(&graph, &chip, &space));
        sx_expect_ok(sx_addresses_require(space, align));
        double points = pow((double)chip.n_memories, (double)space->n_genes);
        uint64_t least =
            points <= MOST_POINTS ? sx_least_latency(space, (uint64_t)points, false) : UINT64_MAX;
        if (least != UINT64_MAX) {
            compare(space, least, align);
            slower += least > sx_least_latency(space, (uint64_t)points, true);
            compared++;
        }
        sx_space_free(space);
        sx_place_graph_fini(&graph);
    }
    sx_expect_compared("optima", compared, set->count);
    sx_expect_compared("slower than without addresses", slower, set->count / 100);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 500,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(optima_with_addresses_are_the_least_of_all, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
