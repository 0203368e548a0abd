/* The account of what Sunstone's techniques leave, as in the thesis' section 6.5: the same lists that the
 * search walks through, counted. Where there are many, evenly spaced ones stand for all, so that the numbers
 * are estimates; the same ones every time. */
#include "support/sunstone_count.h"

#include "base/status.h"
#include "mappers/sunstone/partial.h"
#include "space/cardinal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLE_ROOTS = 64, SAMPLE_TILES = 16 };

/* Numbers of one stage and those after it. */
typedef struct tally {
    double unrollings, tiles, partial, complete, mappings;
    bool sampled, failed;
} tally;

/* Which of n things stands for part `i` of `samples`. */
static size_t sample_at(size_t i, size_t n, size_t samples) {
    return n <= samples ? i : i * n / samples + n / samples / 2;
}

static void count_stage(const sx_sunstone *plan, int number, const sx_sunstone_partial *from, tally *out);

/* Adds what follows from a tile (which `at` holds) to a tally. */
static void count_tile(const sx_sunstone *plan, int number, const sx_sunstone_partial *at, double weight,
                       tally *out) {
    size_t n = 0;
    if (!sx_sunstone_orders_of(plan->orders, sx_sunstone_loops(plan, at->left), &n)) out->failed = true;
    if (number == plan->n_stages - 1) {
        out->complete += weight * (double)n;
        out->mappings += weight * (double)n;
        return;
    }
    tally inner = {0};
    count_stage(plan, number + 1, at, &inner);
    out->partial += weight * ((double)n + inner.partial);
    out->complete += weight * inner.complete;
    out->mappings += weight * (double)n * inner.mappings;
    out->sampled |= inner.sampled;
    out->failed |= inner.failed;
}

/* Adds what follows from an unrolling (which `at` holds). */
static void count_tiles(const sx_sunstone *plan, int number, const sx_sunstone_partial *at, double weight,
                        tally *out) {
    sx_vector tiles = {.size = sizeof(sx_sunstone_tile)};
    sx_sunstone_partial next = {.point = malloc(plan->space->space.point_size)};
    sx_sunstone_list_tiles(plan, &plan->stage[number], at, plan->on.tiles, NULL, &tiles);
    size_t n = tiles.n < SAMPLE_TILES ? tiles.n : SAMPLE_TILES;
    out->tiles += weight * (double)tiles.n;
    out->sampled |= n < tiles.n;
    out->failed |= tiles.failed || !next.point;
    for (size_t i = 0; i < n && next.point; i++) {
        sx_sunstone_copy(plan, at, &next);
        sx_sunstone_add_tile(plan, &plan->stage[number],
                             sx_vector_at(&tiles, sample_at(i, tiles.n, SAMPLE_TILES)), &next);
        count_tile(plan, number, &next, weight * (double)tiles.n / (double)n, out);
    }
    sx_vector_clear(&tiles);
    free(next.point);
}

/* Counts what a stage adds to a partial mapping. */
static void count_stage(const sx_sunstone *plan, int number, const sx_sunstone_partial *from, tally *out) {
    const sx_sunstone_stage *stage = &plan->stage[number];
    sx_vector roots = {.size = sx_sunstone_parts_size(stage)};
    sx_sunstone_partial at = {.point = malloc(plan->space->space.point_size)};
    sx_sunstone_list_unrollings(plan, stage, from->left, &roots);
    size_t n = roots.n < SAMPLE_ROOTS ? roots.n : SAMPLE_ROOTS;
    *out = (tally){.unrollings = (double)roots.n, .sampled = n < roots.n};
    out->failed = roots.failed || !at.point;
    for (size_t i = 0; i < n && at.point; i++) {
        sx_sunstone_copy(plan, from, &at);
        sx_sunstone_put_unrolling(plan, stage, sx_vector_at(&roots, sample_at(i, roots.n, SAMPLE_ROOTS)),
                                  &at);
        count_tiles(plan, number, &at, (double)roots.n / (double)n, out);
    }
    sx_vector_clear(&roots);
    free(at.point);
}

/* Searches with the techniques that are on; returns the evaluations. */
static sx_status count_evaluations(const sx_space *space, const sx_sunstone_switches *on,
                                   uint64_t *evaluated) {
    static const char *const word[] = {"off", "on"};
    static const sx_registry none;
    char text[200];
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    snprintf(text, sizeof text, "order=%s,unrolling=%s,tiles=%s,limit=%.0f", word[on->order],
             word[on->unrolling], word[on->tiles], on->limit);
    SX_TRY(sx_run_new(space, NULL, &options, &run));
    sx_status status = sx_run_search_own(run, &none, "sunstone", &sx_navigator_sunstone, text);
    *evaluated = sx_run_result(run).evaluations;
    sx_run_free(run);
    return status;
}

/* A count, exact where nothing was estimated. */
static sx_cardinal number_of(double count, bool sampled) {
    return !sampled && count < 0x1p53 ? sx_cardinal_of((sx_u128)count) : sx_cardinal_about(count);
}

sx_status sx_sunstone_count(const sx_space *space, const sx_sunstone_switches *on,
                            sx_sunstone_counters *out) {
    const sx_map_space *map = sx_map_space_of(space);
    if (!map) return sx_error_new(SX_ERR_USAGE, "Sunstone counts map spaces only");
    sx_sunstone plan;
    sx_objective objective;
    sx_sunstone_counters counters = {.evaluated = 0};
    SX_TRY(sx_objective_parse("edp", &objective));
    SX_TRY(sx_sunstone_init(map, &objective, on, &plan));
    tally all;
    size_t orders = 0;
    sx_sunstone_partial start = sx_sunstone_start(&plan);
    count_stage(&plan, 0, &start, &all);
    if (!sx_sunstone_orders_of(plan.orders, sx_sunstone_loops(&plan, map->problem->size), &orders))
        all.failed = true;
    sx_sunstone_fini(&plan);
    if (all.failed) return sx_error_memory();
    if (on->alphabeta) SX_TRY(count_evaluations(space, on, &counters.evaluated));
    counters.orders = number_of((double)orders, false);
    counters.unrollings = number_of(all.unrollings, false);
    counters.tiles = number_of(all.tiles, all.sampled);
    counters.partial = number_of(all.partial, all.sampled);
    counters.complete = number_of(all.complete, all.sampled);
    counters.mappings = number_of(all.mappings, all.sampled);
    *out = counters;
    return SX_OK;
}
