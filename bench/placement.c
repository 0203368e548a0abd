/* How many placements per second are evaluated on one core: whole ones, and changes of one tensor. And how long the policy
 * network takes, forward and backward, and an update of the learner. And how long offsets of MiniMalloc's challenging
 * instances take. */
#include "bench.h"
#include "placement/addresses/buffers.h"
#include "placement/learner.h"

#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 256, MOVES = 4096, ROUNDS = 5 };

static const char *const graphs[] = {"resnet50", "resnet101", "bert"};

/* Whole placements per second: validity and latency. */
static double whole(const sx_placement_space *space, const uint8_t *points, uint64_t *sum) {
    double best = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double before = bench_now(1);
        for (int k = 0; k < 16; k++)
            for (size_t i = 0; i < POINTS; i++) {
                const uint8_t *point = points + i * space->space.point_size;
                *sum += sx_place_fits(space, point, NULL, NULL, NULL) + sx_place_latency(space, point);
            }
        double rate = 16.0 * POINTS / (bench_now(1) - before);
        if (rate > best) best = rate;
    }
    return best;
}

/* Changes of one tensor per second: validity and latency after each. */
static double changes(const sx_placement_space *space, sx_rng *rng, uint64_t *sum) {
    static size_t tensor[MOVES], memory[MOVES];
    sx_place_state state;
    double best = 0;
    bench_need(sx_place_state_init(space, &state));
    sx_place_state_set(&state, space->compiled);
    for (int i = 0; i < MOVES; i++) {
        tensor[i] = (size_t)space->space.gene[sx_rng_below(rng, space->space.n_genes)].which;
        memory[i] = (size_t)sx_rng_below(rng, space->chip.n_memories);
    }
    for (int r = 0; r < ROUNDS; r++) {
        double before = bench_now(1);
        for (int k = 0; k < 32; k++)
            for (int i = 0; i < MOVES; i++) {
                sx_place_state_move(&state, tensor[i], (memory[i] + (size_t)k) % space->chip.n_memories);
                *sum += sx_place_state_fits(&state) + state.latency;
            }
        double rate = 32.0 * MOVES / (bench_now(1) - before);
        if (rate > best) best = rate;
    }
    sx_place_state_fini(&state);
    return best;
}

/* Milliseconds of the policy network with the values of EGRL, and of an update with a batch of 24. */
static void networks(const sx_placement_space *space, const uint8_t *points, double *forward, double *both,
                     double *update) {
    const sx_learner_options options = {24, 1e-3f, 1e-3f, 0.05f, 0.2f, 0.5f, 0};
    sx_rng rng = sx_rng_stream(0, "bench.networks", 0);
    sx_actor actor;
    sx_learner *learner;
    const uint8_t *batch[24];
    float reward[24] = {0};
    uint64_t steps[2] = {0};
    bench_need(sx_actor_init(space, 32, 4, &actor));
    bench_need(sx_learner_new(&options, &actor, &learner));
    size_t n = actor.net->n_parameters, logits = space->n_tensors * space->chip.n_memories;
    float *numbers = calloc(sx_learner_size(learner) + n + logits, sizeof *numbers);
    if (!numbers) exit(1);
    float *gradient = numbers + sx_learner_size(learner), *by = gradient + n;
    sx_learner_bind(learner, numbers, steps);
    sx_actor_draw(&actor, 1, 1, numbers);
    sx_learner_draw(learner, 1);
    for (size_t i = 0; i < 24; i++) batch[i] = points + i * space->space.point_size;
    for (size_t i = 0; i < logits; i++) by[i] = (float)sx_rng_double(&rng);
    *forward = *both = *update = 1e9;
    for (int r = 0; r < 50; r++) {
        double t0 = bench_now(1);
        if (!sx_actor_run(&actor, numbers)) exit(1);
        double t1 = bench_now(1);
        sx_actor_backward(&actor, by, 0.05, gradient);
        double t2 = bench_now(1);
        if (!sx_learner_update(learner, &rng, batch, reward)) exit(1);
        double t3 = bench_now(1);
        if (t1 - t0 < *forward) *forward = t1 - t0;
        if (t2 - t0 < *both) *both = t2 - t0;
        if (t3 - t2 < *update) *update = t3 - t2;
    }
    free(numbers);
    sx_learner_free(learner);
    sx_actor_fini(&actor);
}

/* Prints how long offsets of an instance take: the least of several times. */
static void allocate(char name) {
    const sx_allocate_options options = {.capacity = 1048576};
    sx_allocation found;
    sx_buffers list;
    double best = 1e9;
    char path[1024];
    snprintf(path, sizeof path, SX_BENCH_DATA "/../tests/golden/minimalloc/%c.csv", name);
    bench_need(sx_buffers_read(path, &list));
    for (int r = 0; r < ROUNDS; r++) {
        double before = bench_now(1);
        bench_need(sx_allocate(list.buffer, list.n, &options, &found));
        double time = bench_now(1) - before;
        if (time < best) best = time;
    }
    printf("%-10c %6zu %14llu %14.4f%s\n", name, list.n, (unsigned long long)found.nodes, best,
           found.found ? "" : " not found");
    sx_buffers_fini(&list);
}

int main(void) {
    uint64_t sum = 0;
    printf("%-10s %6s %14s %14s %12s %12s %12s\n", "graph", "nodes", "whole/s", "changes/s", "forward ms",
           "+backward", "update ms");
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
        sx_rng rng = sx_rng_stream(0, "bench.placement", g);
        sx_place_graph graph;
        sx_chip chip;
        sx_space *space;
        bench_need(sx_catalog_chip("nnpi", &chip));
        bench_need(sx_catalog_place_graph(graphs[g], 1, 0, &graph));
        bench_need(sx_placement_space_new(&graph, &chip, &space));
        uint8_t *points = calloc(POINTS, space->point_size);
        if (!points) return 1;
        for (size_t i = 0; i < POINTS; i++)
            (void)sx_space_draw_legal(space, &rng, points + i * space->point_size, NULL);
        const sx_placement_space *in = sx_placement_space_of(space);
        double forward, both, update;
        networks(in, points, &forward, &both, &update);
        printf("%-10s %6zu %14.0f %14.0f %12.2f %12.2f %12.2f\n", graphs[g], graph.n_nodes,
               whole(in, points, &sum), changes(in, &rng, &sum), 1e3 * forward, 1e3 * both, 1e3 * update);
        free(points);
        sx_space_free(space);
        sx_place_graph_fini(&graph);
    }
    printf("\n%-10s %6s %14s %14s\n", "instance", "buffers", "nodes", "seconds");
    for (char name = 'A'; name <= 'F'; name++) allocate(name);
    return sum == 0;
}
