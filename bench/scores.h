/* Scores of mappings in three ways, by the core and without it: what bench-core and bench-growth measure.
 *
 *   drawn     legal points of the map space, each drawn anew
 *   moves     walks of small steps, as a search takes them: one gene nudged at a time
 *   kept      factors and orders of the drawn points under choices of kept tensors */
#ifndef SX_BENCH_SCORES_H
#define SX_BENCH_SCORES_H

#include "bench.h"
#include "mapspace/map_space.h"
#include "model/core_score.h"
#include "sextant/all.h"
#include "sextant/rng.h"

#include <string.h>

enum { POINTS = 2048, BLOCK = 256, CHOICES = 32, ROUNDS = 5 };

static const char *const modes[] = {"drawn", "moves", "kept"};
enum { DRAWN, MOVES, KEPT, N_MODES };

typedef struct setup {
    sx_model *model;
    sx_space *space;
    sx_model_workspace *core, *library; /* the second without the core */
    sx_mapping *drawn, *moves;
} setup;

/* Draws legal points, and walks through as many more. */
static void draw(setup *s) {
    sx_rng rng = sx_rng_stream(1, "moves", 0);
    size_t size = sx_space_point_size(s->space);
    char *point = malloc(2 * size), *next = point + size;
    for (uint64_t i = 0; i < POINTS; i++) {
        if (!sx_space_sample(s->space, 1, i, point)) exit(3);
        sx_map_space_mapping(s->space, point, &s->drawn[i]);
    }
    for (int i = 0; i < POINTS;) {
        memcpy(next, point, size);
        s->space->type->nudge(s->space, &rng, (size_t)sx_rng_below(&rng, s->space->n_genes), next);
        if (memcmp(next, point, size) == 0 || s->space->type->check(s->space, next) != 0) continue;
        memcpy(point, next, size);
        sx_map_space_mapping(s->space, point, &s->moves[i++]);
    }
    free(point);
}

/* Makes the model of a problem on an architecture, its space, and points of it. */
static void prepare(setup *s, const sx_problem *problem, const sx_arch *arch) {
    bench_need(sx_model_new(problem, arch, NULL, &s->model));
    bench_need(sx_map_space_new(s->model, NULL, NULL, &s->space));
    bench_need(sx_model_workspace_new(s->model, &s->core));
    bench_need(sx_model_workspace_new(s->model, &s->library));
    sx_core_scorer_free(s->library->core);
    s->library->core = NULL;
    s->drawn = malloc(POINTS * sizeof *s->drawn);
    s->moves = malloc(POINTS * sizeof *s->moves);
    if (!s->drawn || !s->moves) exit(3);
    draw(s);
}

static void finish(setup *s) {
    free(s->drawn);
    free(s->moves);
    sx_model_workspace_free(s->core);
    sx_model_workspace_free(s->library);
    sx_space_free(s->space);
    sx_model_free(s->model);
}

/* Scores mappings one by one. */
static double score(sx_model_workspace *evaluator, const sx_mapping *mapping, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sx_score score = {0};
        sx_evaluate_score(evaluator, &mapping[i], &score);
        sum += score.energy_pj;
    }
    return sum;
}

/* Scores a mapping under choices of what its levels keep less than it does: the same mapping opened once, or one by one. Returns
 * their number. */
static long score_choices(setup *s, const sx_mapping *mapping, bool library, double *sum) {
    const sx_map_space *space = sx_map_space_of(s->space);
    sx_core_scorer *core = s->core->core;
    library |= !core || !sx_core_scorer_open(core, mapping);
    for (unsigned i = 0; i < CHOICES; i++) {
        sx_mapping m = *mapping;
        uint64_t levels = 0;
        sx_score score = {0};
        for (int l = 0; l < m.n_levels; l++) {
            unsigned drop = i * 0x9e3779b1u >> (5 + 3 * l) & space->free_keep[l];
            m.level[l].keep &= (uint8_t)~drop;
            levels |= sx_kept_at(l, m.level[l].keep);
        }
        if (library)
            sx_evaluate_score(s->library, &m, &score);
        else
            sx_core_scorer_keep(core, levels, NULL, 0, &score);
        *sum += score.energy_pj;
    }
    return CHOICES;
}

/* Scores everything of a mode once or more often; returns how many scores that were. */
__attribute__((noinline)) static long measured(setup *s, int mode, bool library, int times, double *sum) {
    sx_model_workspace *evaluator = library ? s->library : s->core;
    long n = 0;
    for (int first = 0; first < POINTS && mode != KEPT; first += BLOCK)
        for (int i = 0; i < times; i++, n += BLOCK)
            *sum += score(evaluator, (mode == DRAWN ? s->drawn : s->moves) + first, BLOCK);
    for (int k = 0; k < times && mode == KEPT; k++)
        for (int i = 0; i < BLOCK; i++) n += score_choices(s, &s->drawn[i], library, sum);
    return n;
}

/* Scores per second; rounds of both kinds take turns. */
static void compare(setup *s, int mode, double rate[2], double *sum) {
    int times[2] = {1, 1};
    rate[0] = rate[1] = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int library = 0; library < 2; library++) {
            double seconds;
            for (;; times[library] *= 2) {
                double start = bench_now(1);
                long n = measured(s, mode, library, times[library], sum);
                seconds = bench_now(1) - start;
                if (seconds < 0.03) continue;
                if ((double)n / seconds > rate[library]) rate[library] = (double)n / seconds;
                break;
            }
        }
}

#endif
