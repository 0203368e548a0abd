/* How many systolic arrays per second the model costs, on one core: random legal tiles of designs of matrix
 * products and convolutions on an Alveo U250.
 *
 *   measure   latency, resources and words off the chip, of records that are ready (what exact searches do)
 *   cost      the same and energy, of tiles whose rules are checked (what a run does with a point)
 *
 * For reference, as given by others and not measured here: the released tuner of Odyssey (DAC 2023), in
 * Python, costs 1,500 to 4,900 points a second, and a plain C prototype of its model 48 million. */
#include "bench.h"
#include "sextant/all.h"
#include "systolic/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 1024, BLOCK = 256, ROUNDS = 5 };

static const double PYTHON = 4900, PROTOTYPE = 48e6; /* points per second, as given */

static const struct {
    const char *name;
    uint32_t size[6]; /* i, j, k or i, o, r, c, p, q */
    const char *design;
} cases[] = {
    {"MM 1024^3", {1024, 1024, 1024}, "3_2"},
    {"MM 1024^3", {1024, 1024, 1024}, "3_0"},
    {"MM 1024^3", {1024, 1024, 1024}, "0_2"},
    {"MM 1024^3", {1024, 1024, 1024}, "5_1"},
    {"CONV 128x128 28x28 3x3", {128, 128, 28, 28, 3, 3}, "4_1"},
    {"CONV 128x128 28x28 3x3", {128, 128, 28, 28, 3, 3}, "6_1"},
    {"CONV 128x128 28x28 3x3", {128, 128, 28, 28, 3, 3}, "7_2"},
    {"CONV 128x128 28x28 3x3", {128, 128, 28, 28, 3, 3}, "0_0"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

enum { MEASURE, COST, N_MODES };

/* A design with its points and their records. */
typedef struct setup {
    sx_space *space;
    const sx_systolic_space *inside;
    sx_systolic_point *point;
    sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS];
} setup;

static void prepare(setup *s, int c) {
    const uint32_t *size = cases[c].size;
    sx_systolic_kernel kernel;
    sx_device device;
    size_t design;
    if (size[3])
        bench_need(sx_systolic_convolution(size[0], size[1], size[2], size[3], size[4], size[5], &kernel));
    else
        bench_need(sx_systolic_matrix(size[0], size[1], size[2], &kernel));
    bench_need(sx_catalog_device("u250", &device));
    bench_need(sx_systolic_design_find(&kernel, cases[c].design, &design));
    const sx_systolic_options options = {.designs = &design, .n_designs = 1};
    bench_need(sx_systolic_space_new(&kernel, 1, &device, &options, &s->space));
    s->inside = sx_systolic_space_of(s->space);
    s->point = malloc(POINTS * sizeof *s->point);
    s->tile = malloc(POINTS * sizeof *s->tile);
    if (!s->point || !s->tile) exit(3);
    for (uint64_t i = 0; i < POINTS; i++) {
        if (!sx_space_sample(s->space, 1, i, &s->point[i])) exit(3);
        const sx_systolic_point *p = &s->point[i];
        for (int d = 0; d < kernel.n_loops; d++)
            s->tile[i][d] =
                sx_systolic_tile_of(&s->inside->plan[p->design], &kernel.loop[d], d, p->t1[d], p->t2[d]);
    }
}

static void finish(setup *s) {
    free(s->point);
    free(s->tile);
    sx_space_free(s->space);
}

/* Costs some points; returns a number that keeps the work from being optimised away. */
static double cost_block(const setup *s, int mode, size_t first) {
    const sx_systolic_plan *plan = &s->inside->plan[s->point[first].design];
    double sum = 0;
    for (size_t i = first; i < first + BLOCK; i++) {
        sx_systolic_cost cost;
        if (mode == COST)
            sx_systolic_evaluate(s->space, &s->point[i], -1, &cost);
        else
            sx_systolic_measure(plan, s->inside->factors, s->tile[i], s->point[i].t2[plan->simd], &cost);
        sum += cost.latency;
    }
    return sum;
}

/* Costs all points `turns` times, in blocks that fit a cache. */
static double measured(const setup *s, int mode, long turns) {
    double sum = 0;
    for (size_t first = 0; first < POINTS; first += BLOCK)
        for (long turn = 0; turn < turns; turn++) sum += cost_block(s, mode, first);
    return sum;
}

/* The best of several rounds: other load on the machine only ever slows down. */
static double per_second(const setup *s, int mode) {
    double best = 0, sum = 0;
    long turns = 1;
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now(1);
        sum += measured(s, mode, turns);
        double seconds = bench_now(1) - start;
        if (seconds < 0.1) {
            turns *= 4;
            round--;
            continue;
        }
        double rate = (double)turns * POINTS / seconds;
        if (rate > best) best = rate;
    }
    return sum > 0 ? best : 0;
}

int main(void) {
    printf("Points per second on one core, %d random legal ones each\n\n", POINTS);
    printf("%-23s %-6s %12s %12s   %s\n", "kernel", "design", "measure", "cost",
           "measure / prototype (48e6), cost / Python (4900): as given, not measured");
    for (int c = 0; c < N_CASES; c++) {
        setup s;
        prepare(&s, c);
        double measure = per_second(&s, MEASURE), cost = per_second(&s, COST);
        printf("%-23s %-6s %12.0f %12.0f   %.2f x, %.0f x\n", cases[c].name, cases[c].design, measure, cost,
               measure / PROTOTYPE, cost / PYTHON);
        finish(&s);
    }
    return 0;
}
