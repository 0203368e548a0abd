/* Two mappers on eight cases, seed by seed, on one thread: values over the best that either found, first with the same number of
 * evaluations, then with the same CPU time (the second mapper gets as many more evaluations as it is faster).
 *
 *   study-two-mappers [FIRST [SECOND [SEEDS [EVALUATIONS [SEED [CASE]]]]]]     gamma:core=0 gamma:core=1 50 30000 1 where not told
 *
 * SEED is the first seed; CASE the only case, counted from 0, where one is told. */
#include "../bench.h"

#include "sextant/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SEEDS = 1000 };

static const char *const cases[][2] = {
    {"resnet-conv4", "accel-a"}, {"resnet-conv4", "accel-b"},  {"resnet-conv4", "eyeriss"},
    {"resnet-conv4", "simba"},   {"mttkrp-0", "accel-a"},      {"bert-large-kqv", "accel-a"},
    {"depthwise", "eyeriss"},    {"bert-large-attn", "simba"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* What a mapper found with each seed, and how long it took. */
typedef struct series {
    double value[MOST_SEEDS], seconds;
} series;

/* Searches with all seeds. */
static void search(const sx_space *space, const char *mapper, uint64_t from, int seeds, uint64_t evaluations,
                   series *out) {
    out->seconds = 0;
    for (int seed = 0; seed < seeds; seed++) {
        sx_run_options options;
        sx_run *run;
        sx_found found = {.value = INFINITY};
        sx_run_options_init(&options);
        options.evaluations = evaluations;
        options.threads = 1;
        options.seed = from + (uint64_t)seed;
        double began = bench_now(1);
        bench_need(sx_run_new(space, NULL, &options, &run));
        bench_need(sx_run_search(run, mapper));
        out->seconds += bench_now(1) - began;
        out->value[seed] = sx_run_best(run, 0, &found) ? found.value : INFINITY;
        sx_run_free(run);
    }
}

/* Prints means over the best, and with how many seeds the second is better and worse. */
static void compare(const series *a, const series *b, int seeds) {
    double best = INFINITY, mean[2] = {0, 0};
    int better = 0, worse = 0;
    for (int i = 0; i < seeds; i++) best = fmin(best, fmin(a->value[i], b->value[i]));
    for (int i = 0; i < seeds; i++) {
        mean[0] += a->value[i] / best / seeds;
        mean[1] += b->value[i] / best / seeds;
        better += b->value[i] < a->value[i];
        worse += b->value[i] > a->value[i];
    }
    printf(" %8.4f %8.4f %4d:%-4d", mean[0], mean[1], better, worse);
}

int main(int argc, char **argv) {
    static series first, second;
    const char *mapper[2] = {argc > 1 ? argv[1] : "gamma:core=0", argc > 2 ? argv[2] : "gamma:core=1"};
    int seeds = argc > 3 ? atoi(argv[3]) : 50;
    uint64_t evaluations = argc > 4 ? strtoull(argv[4], NULL, 10) : 30000;
    uint64_t from = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
    int only = argc > 6 ? atoi(argv[6]) : -1;
    if (seeds < 1 || seeds > MOST_SEEDS) return 2;
    printf("%s and %s, %d seeds, %llu evaluations\n\n%-16s %-9s %21s %28s %24s\n", mapper[0], mapper[1],
           seeds, (unsigned long long)evaluations, "problem", "arch", "M evaluations/s",
           "same evaluations, better", "same CPU time, better");
    for (int c = 0; c < N_CASES; c++) {
        if (only >= 0 && c != only) continue;
        sx_problem problem;
        sx_arch arch;
        sx_model *model;
        sx_space *space;
        bench_need(sx_catalog_problem(cases[c][0], &problem));
        bench_need(sx_catalog_arch(cases[c][1], &arch));
        bench_need(sx_model_new(&problem, &arch, NULL, &model));
        bench_need(sx_map_space_new(model, NULL, NULL, &space));
        search(space, mapper[0], from, seeds, evaluations, &first);
        search(space, mapper[1], from, seeds, evaluations, &second);
        double ratio = first.seconds / second.seconds, million = (double)evaluations * seeds / 1e6;
        printf("%-16s %-9s %6.2f %6.2f %6.2fx", cases[c][0], cases[c][1], million / first.seconds,
               million / second.seconds, ratio);
        compare(&first, &second, seeds);
        search(space, mapper[1], from, seeds, (uint64_t)((double)evaluations * ratio), &second);
        compare(&first, &second, seeds);
        printf("\n");
        fflush(stdout);
        sx_space_free(space);
        sx_model_free(model);
    }
    return 0;
}
