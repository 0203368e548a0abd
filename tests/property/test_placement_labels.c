/* The best placement within limits of outputs and rooms of weights, by labels, against all placements of small graphs:
 * test_placement_labels [count [seed]]. */
#include "placement/labels.h"
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
    uint64_t count, seed;
} settings;

enum { MOST_POINTS = 20000, MOST_NODES = 6, LABELS = 1 << 20 };

/* What is compared: limits of outputs, rooms of weights. */
typedef struct bounds {
    uint64_t most[SX_MAX_MEMORIES], room[SX_MAX_MEMORIES];
} bounds;

/* Whether outputs and weights of a placement are within bounds. */
static bool within(const sx_placement_space *space, const bounds *b, const uint8_t *point) {
    for (size_t m = 1; m < space->chip.n_memories; m++) {
        uint64_t weights = 0;
        for (size_t t = 0; t < space->n_tensors; t += 2) weights += point[t] == m ? space->size[t] : 0;
        if (weights > b->room[m]) return false;
        for (size_t s = 0; s < space->graph.n_nodes; s++) {
            uint64_t outputs = 0;
            for (size_t t = 1; t < space->n_tensors; t += 2)
                if (point[t] == m && t / 2 <= s && s <= space->graph.node[t / 2].last)
                    outputs += space->size[t];
            if (outputs > b->most[m]) return false;
        }
    }
    return true;
}

/* The least latency of all placements within bounds. */
static uint64_t least_within(const sx_space *space, uint64_t points, const bounds *b) {
    const sx_placement_space *in = sx_placement_space_of(space);
    uint64_t least = UINT64_MAX;
    uint8_t *point = calloc(space->point_size, 1);
    assert_non_null(point);
    for (uint64_t i = 0; i < points; i++) {
        assert_true(space->type->at(space, i, point));
        uint64_t latency = within(in, b, point) ? sx_place_latency(in, point) : UINT64_MAX;
        if (latency < least) least = latency;
    }
    free(point);
    return least;
}

static bool never(const void *user) {
    (void)user;
    return false;
}

/* Compares what labels find below a cutoff, with some multipliers. */
static void compare(sx_rng *rng, sx_place_relax *relax, const bounds *b, double cutoff, uint64_t least) {
    const sx_placement_space *space = relax->space;
    uint16_t *allowed = calloc(space->n_tensors, sizeof *allowed);
    uint8_t *placement = calloc(space->space.point_size, 1);
    double lambda[SX_MAX_MEMORIES] = {0};
    sx_labels_result result;
    assert_true(allowed && placement);
    for (size_t t = 0; t < space->n_tensors; t++)
        allowed[t] = (uint16_t)(space->size[t] ? (1u << space->chip.n_memories) - 1 : 1);
    for (size_t m = 1; m < space->chip.n_memories && isfinite(cutoff); m++)
        lambda[m] = sx_rng_double(rng) * 2 * (double)least / (double)(space->total + 1);
    sx_labels_options options = {.allowed = allowed,
                                 .lambda = lambda,
                                 .room = b->room,
                                 .cutoff = cutoff,
                                 .most = LABELS,
                                 .stop = never};
    sx_place_relax_limit(relax, b->most);
    sx_expect_ok(sx_place_labels(relax, &options, placement, &result));
    assert_int_equal(result.end, SX_LABELS_FOUND);
    assert_true(result.latency == least);
    assert_true(within(space, b, placement) && sx_place_latency(space, placement) == least);
    free(allowed);
    free(placement);
}

/* Draws bounds of a space. */
static bounds draw_bounds(sx_rng *rng, const sx_placement_space *space) {
    bounds b = {{0}, {0}};
    for (size_t m = 1; m < space->chip.n_memories; m++) {
        b.most[m] = sx_rng_below(rng, space->chip.memory[m].capacity + 1);
        b.room[m] = sx_rng_below(rng, space->chip.memory[m].capacity + 1);
    }
    return b;
}

static void labels_find_the_least_of_all(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; compared < set->count && i < 4 * set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "placement.labels", i);
        sx_place_graph graph;
        sx_chip chip;
        sx_space *space;
        sx_random_placement(&rng, MOST_NODES, &graph, &chip);
        chip.prefetch = 0;
        sx_expect_ok(sx_placement_space_new(&graph, &chip, &space));
        const sx_placement_space *in = sx_placement_space_of(space);
        double points = pow((double)chip.n_memories, (double)space->n_genes);
        sx_place_relax relax;
        sx_expect_ok(sx_place_relax_init(in, &relax));
        if (points <= MOST_POINTS && relax.complete && chip.n_memories > 1) {
            bounds b = draw_bounds(&rng, in);
            uint64_t least = least_within(space, (uint64_t)points, &b);
            compare(&rng, &relax, &b, INFINITY, least);
            compare(&rng, &relax, &b, (double)least, least);
            compared++;
        }
        sx_place_relax_fini(&relax);
        sx_space_free(space);
        sx_place_graph_fini(&graph);
    }
    sx_expect_compared("placements of labels", compared, set->count);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(labels_find_the_least_of_all, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
