/* How many scores per second frames give, on one core, beside the model without them, in turn on the same mappings:
 *
 *   drawn     legal points of the map space, each drawn anew
 *   moves     walks of small steps, as a search takes them: one gene nudged at a time
 *   swept     factors and orders of the drawn points under all legal choices of kept tensors
 *
 *   bench-frames                       a table, with the share of drawn points that frames do not cover
 *   bench-frames cases                 numbers and names of the cases
 *   bench-frames CASE MODE [library]   scores once, for instruction counts by callgrind --toggle-collect="measured*";
 *                                      prints how many scores */
#include "bench.h"
#include "model/frame/frame.h"
#include "sextant/rng.h"
#include "sextant/sextant.h"
#include "space/map_space.h"

#include <string.h>

enum { POINTS = 2048, BLOCK = 256, SWEEPS = 64, ROOM = 1 << 14, ROUNDS = 5 };

static const char *const cases[][2] = {
    {"resnet-conv4", "accel-a"}, {"resnet-conv4", "accel-b"}, {"resnet-conv4", "eyeriss"},
    {"mttkrp-0", "accel-a"},     {"resnet-conv4", "simba"},   {"resnet-conv4", "edge-unified"},
    {"depthwise", "eyeriss"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

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

static void prepare(setup *s, int number) {
    sx_problem problem;
    sx_arch arch;
    bench_need(sx_catalog_problem(cases[number][0], &problem));
    bench_need(sx_catalog_arch(cases[number][1], &arch));
    bench_need(sx_model_new(&problem, &arch, NULL, &s->model));
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

/* Sweeps a mapping, then, where asked for, scores the same choices one by one. */
static long sweep(setup *s, const sx_mapping *mapping, bool library, double *sum) {
    const sx_map_space *space = sx_map_space_of(s->space);
    long n = sx_frame_sweep(s->frames->frame, mapping, space->fixed_keep, space->free_keep, s->swept, ROOM);
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

/* The share of drawn points that frames do not cover. */
static double not_covered(setup *s) {
    sx_score score;
    sx_verdict verdict;
    int n = 0;
    for (int i = 0; i < POINTS; i++)
        n += !sx_frame_score(s->frames->frame, &s->drawn[i], NULL, 0, &score, &verdict);
    return (double)n / POINTS;
}

static void print_table(void) {
    double sum = 0;
    printf("Millions of scores per second on one core: frames, and the model without them\n\n");
    printf("%-14s %-13s %8s", "problem", "arch", "library");
    for (int mode = 0; mode < N_MODES; mode++) printf(" %8s %7s", modes[mode], "ratio");
    printf(" %11s\n", "not covered");
    for (int c = 0; c < N_CASES; c++) {
        setup s;
        prepare(&s, c);
        printf("%-14s %-13s", cases[c][0], cases[c][1]);
        for (int mode = 0; mode < N_MODES; mode++) {
            double rate[2];
            compare(&s, mode, rate, &sum);
            if (mode == DRAWN) printf(" %8.2f", rate[1] / 1e6);
            printf(" %8.2f %6.1fx", rate[0] / 1e6, rate[0] / rate[1]);
        }
        printf(" %10.2f%%\n", 100 * not_covered(&s));
        finish(&s);
    }
    if (sum < 0) printf("\n");
}

int main(int argc, char **argv) {
    if (argc == 2)
        for (int c = 0; c < N_CASES; c++) printf("%d %s on %s\n", c, cases[c][0], cases[c][1]);
    if (argc == 1) print_table();
    if (argc > 2) {
        setup s;
        int c = atoi(argv[1]), mode = 0;
        double sum = 0;
        while (mode < N_MODES && strcmp(modes[mode], argv[2]) != 0) mode++;
        if (c < 0 || c >= N_CASES || mode == N_MODES) return 2;
        prepare(&s, c);
        printf("%ld\n", measured(&s, mode, argc > 3, 1, &sum));
        finish(&s);
    }
    return 0;
}
