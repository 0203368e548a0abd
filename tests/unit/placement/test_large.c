/* Graphs of more than 8,192 nodes, on a chip that reads weights ahead: what tensors save is not found by waiting for them. */
#include "placement/place.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 9000, OFTEN = 100 };

/* A chain of nodes with weights of 16 KiB; the last ones read theirs ten times, as their outputs are large. */
static void make_chain(sx_place_graph *graph) {
    *graph = (sx_place_graph){.n_nodes = NODES, .n_edges = NODES - 1};
    graph->node = calloc(NODES, sizeof *graph->node);
    graph->input = calloc(NODES, sizeof *graph->input);
    graph->user = calloc(NODES, sizeof *graph->user);
    assert_true(graph->node && graph->input && graph->user);
    for (size_t i = 0; i < NODES; i++) {
        bool first = i == 0, last = i + 1 == NODES;
        graph->node[i] = (sx_place_node){.op = SX_CLASS_MATMUL,
                                         .ops = 2000000,
                                         .weight_bytes = 16384,
                                         .weight_read = 16384,
                                         .activation_bytes = i >= NODES - OFTEN ? 327680 : 64,
                                         .first_input = first ? 0 : i - 1,
                                         .n_inputs = !first,
                                         .first_user = i,
                                         .n_users = !last,
                                         .last = last ? i : i + 1};
        if (!first) graph->input[i - 1] = i - 1;
        if (!last) graph->user[i] = i + 1;
    }
}

/* By density the weights that are read often are in fast memories, and the placement is faster than the compiler's. */
static void weights_read_often_are_fast(void **state) {
    sx_chip chip;
    sx_place_graph graph;
    sx_space *base;
    (void)state;
    sx_expect_ok(sx_catalog_chip("nnpi", &chip));
    make_chain(&graph);
    sx_expect_ok(sx_placement_space_new(&graph, &chip, &base));
    const sx_placement_space *space = sx_placement_space_of(base);
    uint8_t *placement = calloc(base->point_size, 1);
    assert_non_null(placement);
    sx_expect_ok(sx_place_density(space, placement));
    for (size_t i = NODES - OFTEN; i < NODES; i++) assert_true(placement[2 * i] > 0);
    assert_true(sx_place_latency(space, placement) < sx_place_latency(space, space->compiled));
    free(placement);
    sx_space_free(base);
    sx_place_graph_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights_read_often_are_fast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
