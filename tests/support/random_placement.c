#include "support/random_placement.h"

#include "placement/place.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Bytes of a tensor: often none, often one of a few sizes. */
static uint64_t draw_bytes(sx_rng *rng) {
    static const uint64_t sizes[] = {0, 0, 64, 100, 1000, 4096};
    uint64_t kind = sx_rng_below(rng, 8);
    return kind < 6 ? sizes[kind] : sx_rng_below(rng, 5000);
}

static void draw_node(sx_rng *rng, size_t i, sx_place_graph *g) {
    sx_place_node *node = &g->node[i];
    snprintf(node->name, sizeof node->name, "n%zu", i);
    node->op = (sx_op_class)sx_rng_below(rng, SX_N_OP_CLASSES);
    node->ops = sx_rng_below(rng, 100000);
    node->weight_bytes = draw_bytes(rng);
    node->weight_read = sx_rng_below(rng, 5) ? node->weight_bytes : node->weight_bytes / 2;
    node->activation_bytes = draw_bytes(rng);
    node->first_input = g->n_edges;
    for (size_t k = 0, n = (size_t)sx_rng_below(rng, 4); k < n && i > 0; k++) {
        size_t back = 1 + (size_t)sx_rng_below(rng, sx_rng_below(rng, 3) ? (i < 3 ? i : 3) : i),
               from = i - back;
        bool known = false;
        for (size_t e = node->first_input; e < g->n_edges; e++) known |= g->input[e] == from;
        if (!known) g->input[g->n_edges++] = from;
    }
    node->n_inputs = g->n_edges - node->first_input;
}

/* Lists who reads what. */
static void list_users(sx_place_graph *g) {
    size_t at = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        g->node[i].last = i;
        g->node[i].first_user = at;
        for (size_t k = i + 1; k < g->n_nodes; k++)
            for (size_t e = 0; e < g->node[k].n_inputs; e++)
                if (g->input[g->node[k].first_input + e] == i) {
                    g->user[at++] = k;
                    g->node[i].last = k;
                }
        g->node[i].n_users = at - g->node[i].first_user;
    }
}

void sx_random_placement(sx_rng *rng, size_t most, sx_place_graph *graph, sx_chip *chip) {
    sx_place_graph g = {.name = "random", .n_nodes = 1 + (size_t)sx_rng_below(rng, most)};
    uint64_t total = 1;
    g.node = calloc(g.n_nodes, sizeof *g.node);
    g.input = calloc(4 * g.n_nodes, sizeof *g.input);
    g.user = calloc(4 * g.n_nodes, sizeof *g.user);
    assert_true(g.node && g.input && g.user);
    for (size_t i = 0; i < g.n_nodes; i++) {
        draw_node(rng, i, &g);
        total += g.node[i].weight_bytes + g.node[i].activation_bytes;
    }
    list_users(&g);
    *chip = (sx_chip){.name = "random", .overhead = sx_rng_double(rng) * 1e-7, .op_energy = 1};
    chip->n_memories = 1 + (size_t)sx_rng_below(rng, 4);
    if (sx_rng_below(rng, 8) == 0) chip->n_memories = 5 + (size_t)sx_rng_below(rng, 3);
    chip->shared_ports = sx_rng_below(rng, 3) == 0;
    if (sx_rng_below(rng, 2)) chip->output_buffer = 1 + sx_rng_below(rng, 3000);
    if (sx_rng_below(rng, 2)) chip->prefetch = 1 + sx_rng_below(rng, 8000);
    double bandwidth = 1e9;
    for (size_t m = 0; m < chip->n_memories; m++) {
        snprintf(chip->memory[m].name, sizeof chip->memory[m].name, "m%zu", m);
        chip->memory[m].capacity = m == 0 ? total : 1 + sx_rng_below(rng, total);
        chip->memory[m].bandwidth = bandwidth;
        chip->memory[m].energy = 1 + (double)sx_rng_below(rng, 100);
        bandwidth *= 1 + (double)sx_rng_below(rng, 10);
    }
    for (size_t i = 0; i < SX_N_OP_CLASSES; i++) chip->rate[i] = 1e9 * (1 + (double)sx_rng_below(rng, 1000));
    *graph = g;
}

uint64_t sx_least_latency(const sx_space *space, uint64_t points, bool by_bytes) {
    const sx_placement_space *in = sx_placement_space_of(space);
    uint64_t least = UINT64_MAX;
    uint8_t *point = calloc(space->point_size, 1);
    assert_non_null(point);
    for (uint64_t i = 0; i < points; i++) {
        assert_true(space->type->at(space, i, point));
        bool valid = by_bytes ? sx_place_fits(in, point, NULL, NULL, NULL) : sx_place_valid(in, point);
        uint64_t latency = valid ? sx_place_latency(in, point) : UINT64_MAX;
        if (latency < least) least = latency;
    }
    free(point);
    return least;
}

sx_run *sx_fastest_placement(const sx_space *space, const char *navigator, sx_found *found) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse("delay", &options.objective));
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    assert_true(sx_run_best(run, 0, found));
    return run;
}
