/* How many points per second a search goes through, and what the run adds to the model's time. Points are
 * legal mappings of a catalog problem, drawn once; a navigator of this program's own replays them through the
 * run, in batches and in tasks, beside a bare loop over the model. Then navigators search on their own, on
 * one thread and on two: their rates hold drawing, and stop early at points that are worse than the best.
 *
 *   bench-search [EVALUATIONS]    a table; 200000 evaluations where not told */
#include "bench.h"
#include "run/navigator.h"
#include "sextant/all.h"
#include "sextant/navigator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { POINTS = 4096, PER_TASK = 64, ROUNDS = 5 };

static const char *const archs[] = {"accel-a", "accel-b"};
static const char problem_name[] = "resnet-conv4";

/* A space and points of it. */
typedef struct setup {
    sx_model *model;
    sx_space *space;
    unsigned char *points;
    sx_outcome *outcomes;
} setup;

static setup *replayed; /* a search has no argument of its own */

static sx_status replay_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const setup *s = input;
    (void)output;
    for (size_t i = task * PER_TASK; i < (task + 1) * PER_TASK; i++)
        sx_worker_evaluate(worker, s->points + i * s->space->point_size, false);
    return SX_OK;
}

static sx_status replay_tasks(sx_run *run) {
    sx_run_state(run, 0, NULL);
    while (sx_run_continue(run)) sx_run_tasks(run, POINTS / PER_TASK, replay_task, replayed, NULL, 0);
    return SX_OK;
}

static sx_status replay_batches(sx_run *run) {
    const setup *s = replayed;
    sx_run_state(run, 0, NULL);
    while (sx_run_continue(run)) sx_run_evaluate(run, s->points, POINTS, s->outcomes);
    return SX_OK;
}

static void prepare(setup *s, const char *arch_name) {
    sx_problem problem;
    sx_arch arch;
    bench_need(sx_catalog_problem(problem_name, &problem));
    bench_need(sx_catalog_arch(arch_name, &arch));
    bench_need(sx_model_new(&problem, &arch, NULL, &s->model));
    bench_need(sx_map_space_new(s->model, NULL, NULL, &s->space));
    s->points = calloc(POINTS, s->space->point_size);
    s->outcomes = calloc(POINTS, sizeof *s->outcomes);
    if (!s->points || !s->outcomes) exit(3);
    for (uint64_t i = 0; i < POINTS; i++)
        if (!sx_space_sample(s->space, 1, i, s->points + i * s->space->point_size)) exit(3);
}

static void finish(setup *s) {
    free(s->points);
    free(s->outcomes);
    sx_space_free(s->space);
    sx_model_free(s->model);
}

/* Seconds for n evaluations in a loop around the model. */
static double bare(const setup *s, uint64_t n) {
    const sx_objective edp = {.n_criteria = 1, .criterion = {{SX_PRODUCT, 1, 1}}};
    sx_scorer *scorer;
    double best = INFINITY;
    bench_need(sx_scorer_new(s->space, NULL, &edp, &scorer));
    double began = bench_now(1);
    for (uint64_t i = 0; i < n; i++) {
        sx_outcome outcome;
        const void *point = s->points + i % POINTS * s->space->point_size;
        bench_need(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
        best = fmin(best, outcome.value);
    }
    double seconds = bench_now(1) - began;
    sx_scorer_free(scorer);
    return best > 0 ? seconds : 0;
}

/* Seconds for n evaluations by a search, and how many there were. */
static double search(const setup *s, const sx_navigator *own, const char *navigator, unsigned threads,
                     uint64_t *n) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = *n;
    options.threads = threads;
    bench_need(sx_run_new(s->space, NULL, &options, &run));
    double began = bench_now(threads);
    bench_need(own ? sx_run_search_by(run, "replay", own, NULL) : sx_run_search(run, navigator));
    double seconds = bench_now(threads) - began;
    *n = sx_run_result(run).evaluations;
    sx_run_free(run);
    return seconds;
}

/* The best rate of several rounds, in evaluations per second. */
static double rate(const setup *s, const sx_navigator *own, const char *navigator, unsigned threads,
                   uint64_t evaluations) {
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t n = evaluations;
        double seconds = own || navigator ? search(s, own, navigator, threads, &n) : bare(s, n);
        best = fmax(best, (double)n / seconds);
    }
    return best;
}

static const sx_navigator by_tasks = {.search = replay_tasks}, by_batches = {.search = replay_batches};
static const struct {
    const char *name;
    const sx_navigator *own; /* NULL: one of the registry */
} rows[] = {
    {"replay in tasks", &by_tasks},
    {"replay in batches", &by_batches},
    {"random", NULL},
    {"pruned:victory=0,timeout=0", NULL},
};

int main(int argc, char **argv) {
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    printf("Evaluations per second, %s, best of %d rounds of %llu\n\n", problem_name, ROUNDS,
           (unsigned long long)n);
    printf("%-8s %-27s %10s %10s %7s   %s\n", "arch", "search", "1 thread", "2 threads", "ratio",
           "added to the model");
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
        setup s;
        prepare(&s, archs[a]);
        replayed = &s;
        double model = rate(&s, NULL, NULL, 1, n);
        printf("%-8s %-27s %10.0f %10s %7s   -\n", archs[a], "the model alone", model, "-", "-");
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            const sx_navigator *entry = rows[r].own;
            double one = rate(&s, entry, rows[r].name, 1, n), two = rate(&s, entry, rows[r].name, 2, n);
            printf("%-8s %-27s %10.0f %10.0f %6.2fx   %+.0f ns, %+.1f%%\n", archs[a], rows[r].name, one, two,
                   two / one, 1e9 / one - 1e9 / model, 100 * (model / one - 1));
        }
        finish(&s);
    }
    return 0;
}
