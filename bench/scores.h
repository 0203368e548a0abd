/* Scores of mappings in three ways, with frames and without: what bench-frames and bench-growth measure.
 *
 *   drawn     legal points of the map space, each drawn anew
 *   moves     walks of small steps, as a search takes them: one gene nudged at a time
 *   swept     factors and orders of the drawn points under all legal choices of kept tensors */
#ifndef SX_BENCH_SCORES_H
#define SX_BENCH_SCORES_H

#include "bench.h"
#include "mapspace/map_space.h"
#include "model/frame/frame.h"
#include "sextant/all.h"
#include "sextant/rng.h"

#include <string.h>

enum { POINTS = 2048, BLOCK = 256, SWEEPS = 64, ROOM = 1 << 14, ROUNDS = 5 };

static const char *const modes[] = {"drawn", "moves", "swept"};
enum { DRAWN, MOVES, SWEPT, N_MODES };

typedef struct setup {
    sx_model *model;
    sx_space *space;
    sx_evaluator *frames, *library; /* the second without a frame */
    sx_mapping *drawn, *moves;
    sx_swept *swept;
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
    bench_need(sx_evaluator_new(s->model, &s->frames));
    bench_need(sx_evaluator_new(s->model, &s->library));
    sx_frame_free(s->library->frame);
    s->library->frame = NULL;
    s->drawn = malloc(POINTS * sizeof *s->drawn);
    s->moves = malloc(POINTS * sizeof *s->moves);
    s->swept = malloc(ROOM * sizeof *s->swept);
    if (!s->drawn || !s->moves || !s->swept) exit(3);
    draw(s);
}

static void finish(setup *s) {
    free(s->drawn);
    free(s->moves);
    free(s->swept);
    sx_evaluator_free(s->frames);
    sx_evaluator_free(s->library);
    sx_space_free(s->space);
    sx_model_free(s->model);
}

/* Scores mappings one by one. */
static double score(sx_evaluator *evaluator, const sx_mapping *mapping, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sx_score score = {0};
        sx_evaluate_score(evaluator, &mapping[i], &score);
        sum += score.energy_pj;
    }
    return sum;
}

/* Sweeps a mapping, then, where asked for, scores the same choices one by one. Of many levels, the outer ones keep what
 * they do. */
static long sweep(setup *s, const sx_mapping *mapping, bool library, double *sum) {
    const sx_map_space *space = sx_map_space_of(s->space);
    uint8_t must[SX_MAX_LEVELS], may[SX_MAX_LEVELS];
    int choices = 1;
    for (int l = 0; l < mapping->n_levels; l++) {
        int more = choices << __builtin_popcount(space->free_keep[l]);
        bool free = more <= ROOM;
        must[l] = free ? space->fixed_keep[l] : mapping->level[l].keep;
        may[l] = free ? space->free_keep[l] : 0;
        choices = free ? more : choices;
    }
    long n = sx_frame_sweep(s->frames->frame, mapping, must, may, s->swept, ROOM);
    if (n > ROOM) n = ROOM;
    sx_mapping m = *mapping;
    for (long i = 0; i < n; i++) {
        sx_score score = s->swept[i].score;
        for (int l = 0; l < m.n_levels && library; l++) m.level[l].keep = s->swept[i].keep[l];
        if (library) sx_evaluate_score(s->library, &m, &score);
        *sum += score.energy_pj;
    }
    return n > 0 ? n : 0;
}

/* Scores everything of a mode once or more often; returns how many scores that were. */
__attribute__((noinline)) static long measured(setup *s, int mode, bool library, int times, double *sum) {
    sx_evaluator *evaluator = library ? s->library : s->frames;
    long n = 0;
    for (int first = 0; first < POINTS && mode != SWEPT; first += BLOCK)
        for (int i = 0; i < times; i++, n += BLOCK)
            *sum += score(evaluator, (mode == DRAWN ? s->drawn : s->moves) + first, BLOCK);
    for (int k = 0; k < times && mode == SWEPT; k++)
        for (int i = 0; i < SWEEPS; i++) n += sweep(s, &s->drawn[i], library, sum);
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
