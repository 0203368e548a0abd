/* The three claims of the introduction of Odyssey (DAC 2023), and its kernels, under its own model.
 *
 *   study-systolic-claims
 *
 * All optima are proven. Claims, for the matrix product 1024^3 on the U250: tiles that divide lose 39 %; the
 * fastest array moves 3.5 times the words of the one that moves the fewest, and is 1.9 times as fast; a model
 * of the latency without prologue and epilogue picks an array that is 9 % slower. Kernels: K0 to K7 of its
 * table, as identified from the shapes that its counts of designs fit, all designs of each, with CPU seconds.
 */
#include "sextant/navigator.h"
#include "support/search.h"
#include "systolic/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a search found. */
typedef struct answer {
    sx_systolic_point point;
    sx_systolic_cost cost;
    bool found, optimal;
    double points;
} answer;

/* Searches a kernel by a method; `design` may be NULL for all. Of two criteria the second decides between
 * what differs by no more than `tolerance` in the first. */
static answer search(const sx_systolic_kernel *kernel, const char *design, sx_systolic_tiles tiles,
                     const char *method, const char *objective, double tolerance) {
    sx_device device;
    sx_run_options run_options;
    sx_systolic_options options = {.tiles = tiles};
    sx_space *space;
    sx_run *run;
    sx_found found;
    size_t number;
    answer a = {.found = false};
    sx_study_need(sx_catalog_device("u250", &device));
    if (design) {
        sx_study_need(sx_systolic_design_find(kernel, design, &number));
        options.designs = &number;
        options.n_designs = 1;
    }
    sx_study_need(sx_systolic_space_new(kernel, 1, &device, &options, &space));
    sx_run_options_init(&run_options);
    sx_study_need(sx_objective_parse(objective, &run_options.objective));
    run_options.objective.tolerance = tolerance;
    sx_study_need(sx_run_new(space, NULL, &run_options, &run));
    sx_study_need(sx_run_search(run, method));
    sx_run_summary summary = sx_run_result(run);
    a.optimal = summary.optimal;
    a.points = (double)summary.evaluations + (double)summary.rejected;
    a.found = sx_run_best(run, 0, &found);
    if (a.found) {
        memcpy(&a.point, found.point, sizeof a.point);
        sx_systolic_evaluate(space, &a.point, -1, &a.cost);
    }
    sx_run_free(run);
    sx_space_free(space);
    return a;
}

/* The designs that a model without prologue and epilogue takes for the best of a design: the least steady
 * time, and the fastest and the slowest of those that have it. */
typedef struct steady {
    double least, fastest, slowest;
} steady;

/* A pair of tiles with its record. */
typedef struct listed {
    sx_pair_of_tiles pair;
    sx_systolic_tile tile;
} listed;

/* All pairs of tiles of a loop; the caller frees them. */
static listed *list_pairs(const sx_systolic_space *space, const sx_systolic_plan *plan, int loop, size_t *n) {
    const sx_systolic_tile_set *set = &space->tiles[loop];
    *n = (size_t)set->before[set->n];
    listed *all = malloc(*n * sizeof *all);
    if (!all) abort();
    for (size_t i = 0; i < *n; i++) {
        all[i].pair = sx_systolic_tile_pair(set, i);
        all[i].tile =
            sx_systolic_tile_of(plan, &space->kernel[0].loop[loop], loop, all[i].pair.t1, all[i].pair.t2);
    }
    return all;
}

/* Looks at one design. */
static void look(const sx_systolic_space *space, const sx_systolic_plan *plan, const sx_systolic_tile tile[3],
                 double lanes, steady *s) {
    sx_systolic_cost cost;
    if (sx_systolic_rules(plan, tile, lanes)) return;
    sx_systolic_measure(plan, &space->factors[0], tile, lanes, &cost);
    if (cost.dsp > space->limits.dsp || cost.bram18k > space->limits.bram || cost.steady > s->least) return;
    if (cost.steady < s->least) *s = (steady){cost.steady, INFINITY, 0};
    s->fastest = fmin(s->fastest, cost.latency);
    s->slowest = fmax(s->slowest, cost.latency);
}

/* The same for all tiles of the matrix product in design 3_2, but those that compute for longer than the
 * best. */
static steady without_ends(const sx_systolic_kernel *kernel) {
    sx_device device;
    sx_space *base;
    size_t number, n[3];
    listed *pairs[3];
    sx_study_need(sx_catalog_device("u250", &device));
    sx_study_need(sx_systolic_design_find(kernel, "3_2", &number));
    sx_study_need(sx_systolic_space_new(kernel, 1, &device, NULL, &base));
    const sx_systolic_space *space = sx_systolic_space_of(base);
    const sx_systolic_plan *plan = &space->plan[number];
    for (int d = 0; d < 3; d++) pairs[d] = list_pairs(space, plan, d, &n[d]);
    double most = space->limits.dsp / space->limits.dsp_per_mac;
    steady s = {INFINITY, INFINITY, 0};
    sx_systolic_tile tile[3];
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < n[1]; j++) {
            tile[0] = pairs[0][i].tile;
            tile[1] = pairs[1][j].tile;
            double pes = tile[0].pes * tile[1].pes, work = tile[0].all * tile[1].all * kernel->loop[2].size;
            if (tile[0].pes < 2 || tile[1].pes < 2 || pes > most) continue;
            if (work / fmin(8, most / pes) > s.least) continue;
            for (size_t k = 0; k < n[2]; k++) {
                tile[2] = pairs[2][k].tile;
                look(space, plan, tile, pairs[2][k].pair.t2, &s);
            }
        }
    for (int d = 0; d < 3; d++) free(pairs[d]);
    sx_space_free(base);
    return s;
}

static void print_claims(void) {
    sx_systolic_kernel kernel;
    sx_study_need(sx_systolic_matrix(1024, 1024, 1024, &kernel));
    answer best = search(&kernel, NULL, SX_TILES_PADDED, "exact", "delay", 0);
    answer divisors = search(&kernel, NULL, SX_TILES_DIVISORS, "exact", "delay", 0);
    answer same = search(&kernel, "3_2", SX_TILES_DIVISORS, "exact", "delay", 0);
    answer frugal = search(&kernel, "3_2", SX_TILES_PADDED, "exact", "last-level,delay", 0);
    answer near = search(&kernel, "3_2", SX_TILES_PADDED, "exact", "last-level,delay", 0.001);
    answer any = search(&kernel, NULL, SX_TILES_PADDED, "exact", "last-level,delay", 0);
    steady s = without_ends(&kernel);
    printf("| claim, 1024^3 | paper | here |\n|---|---|---|\n");
    printf(
        "| throughput lost by tiles that divide, design 3_2 | 39 %% | %.1f %% (%.0f against %.2f cycles) |\n",
        100 * (1 - best.cost.latency / same.cost.latency), same.cost.latency, best.cost.latency);
    printf("| the same, any design | | %.1f %% (%.0f cycles) |\n",
           100 * (1 - best.cost.latency / divisors.cost.latency), divisors.cost.latency);
    printf("| words of the fastest over the fewest, design 3_2 | 3.5 | %.2f (%.0f against %.0f) |\n",
           best.cost.offchip_words / frugal.cost.offchip_words, best.cost.offchip_words,
           frugal.cost.offchip_words);
    printf("| how much faster it is | 1.9 | %.2f (the one with the fewest words takes %.2f cycles) |\n",
           frugal.cost.latency / best.cost.latency, frugal.cost.latency);
    printf("| the same against the fastest within 0.1 %% of the fewest words | | %.2f (%.0f words, %.2f "
           "cycles) |\n",
           near.cost.latency / best.cost.latency, near.cost.offchip_words, near.cost.latency);
    printf("| the fewest words, any design | | %.0f, %.2f cycles |\n", any.cost.offchip_words,
           any.cost.latency);
    printf("| slower by a model without prologue and epilogue, design 3_2 | 9 %% | %.1f %% to %.1f %%: all "
           "with %.0f "
           "steady cycles are the same to it |\n",
           100 * (s.fastest / best.cost.latency - 1), 100 * (s.slowest / best.cost.latency - 1), s.least);
}

static const struct {
    const char *name;
    uint32_t size[6]; /* i, j, k; or i, o, r, c, p, q */
} kernels[] = {
    {"M", {1024, 1024, 1024}},        {"K0", {128, 256, 512}},         {"K1", {1024, 64, 512}},
    {"K2", {1024, 256, 256}},         {"K3", {1024, 1024, 512}},       {"K4", {1024, 256, 14, 14, 1, 1}},
    {"K5", {128, 128, 28, 28, 3, 3}}, {"K6", {96, 576, 14, 14, 1, 1}}, {"K7", {64, 128, 112, 112, 3, 3}},
};

/* CPU seconds of the process. */
static double cpu(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The best of all designs of a kernel, each proven for itself, and the CPU seconds of all. */
static answer best_of_all(const sx_systolic_kernel *kernel, sx_systolic_tiles tiles, const char *method,
                          double *seconds) {
    answer best = {.found = false};
    double began = cpu(), points = 0;
    for (size_t i = 0; i < sx_systolic_n_designs(kernel); i++) {
        sx_systolic_design design;
        char name[16];
        sx_systolic_design_at(kernel, i, &design);
        sx_systolic_design_name(&design, name, sizeof name);
        answer a = search(kernel, name, tiles, method, "delay", 0);
        points += a.points;
        if (a.found && (!best.found || a.cost.latency < best.cost.latency)) best = a;
    }
    best.points = points;
    *seconds = cpu() - began;
    return best;
}

static void print_kernels(void) {
    printf("\n| kernel | best, proven | CPU s | points looked at | any tile of every loop | CPU s | divisors "
           "| padding | "
           "points of padding | CPU s |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const uint32_t *n = kernels[i].size;
        sx_systolic_kernel kernel;
        double seconds[4];
        sx_study_need(n[3] ? sx_systolic_convolution(n[0], n[1], n[2], n[3], n[4], n[5], &kernel)
                           : sx_systolic_matrix(n[0], n[1], n[2], &kernel));
        answer padded = best_of_all(&kernel, SX_TILES_PADDED, "exact", &seconds[0]);
        answer full = best_of_all(&kernel, SX_TILES_FULL, "exact", &seconds[1]);
        answer divisors = best_of_all(&kernel, SX_TILES_PADDED, "divisors", &seconds[2]);
        answer padding = best_of_all(&kernel, SX_TILES_PADDED, "padding", &seconds[3]);
        printf("| %s, %s | %.2f | %.3f | %.0f | %.2f | %.3f | %.2f | %.2f | %.0f | %.2f |\n", kernels[i].name,
               kernel.name, padded.cost.latency, seconds[0], padded.points, full.cost.latency, seconds[1],
               divisors.cost.latency, padding.cost.latency, padding.points, seconds[3]);
        fflush(stdout);
    }
}

int main(void) {
    print_claims();
    print_kernels();
    return 0;
}
