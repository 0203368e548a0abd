/* Searches with few questions to an evaluator of one's own, on chips that are made up: the model's optimum, asked once,
 * and methods with as many questions.
 *
 *   bench-measured [QUESTIONS [SEEDS [ARCH PROBLEM]]]       the table
 *   bench-measured --chip NAME ARCH PROBLEM                  the evaluator itself: questions in, answers out
 *
 * Values are what the chip takes without noise for what a method found, over the model's optimum (geometric mean of
 * the seeds). */
#include "bench.h"
#include "mapspace/map_space.h"
#include "sextant/all.h"
#include "sextant/outside_evaluator.h"

#include <math.h>
#include <string.h>

/* What chips do that the model does not know: each takes a cost and returns pJ * cycles. */
typedef double chip_law(const sx_cost *cost, const sx_mapping *mapping);

/* Units that idle burn power: the energy grows with them. */
static double idle(const sx_cost *c, const sx_mapping *m) {
    (void)m;
    return c->energy_pj * (double)c->cycles / (c->utilization * c->utilization);
}

/* Tiles of an inner memory whose size is a multiple of its 16 banks meet in one bank. */
static double banks(const sx_cost *c, const sx_mapping *m) {
    double slow = 1;
    for (int l = 0; l + 1 < m->n_levels; l++)
        for (int v = 0; v < c->n_tensors; v++)
            if (c->level[l].tensor[v].tile >= 16 && c->level[l].tensor[v].tile % 16 == 0) slow *= 1.3;
    return c->energy_pj * (double)c->cycles * slow;
}

/* The outermost memory takes 16 cycles for a word, and ten times the energy. */
static double slow_memory(const sx_cost *c, const sx_mapping *m) {
    const sx_cost_level *outer = &c->level[m->n_levels - 1];
    double words = 0;
    for (int v = 0; v < c->n_tensors; v++)
        words += (double)(outer->tensor[v].reads + outer->tensor[v].fills + outer->tensor[v].updates);
    return (c->energy_pj + 9 * outer->energy_pj) * fmax((double)c->cycles, words * 16);
}

/* Every tile of the level above the innermost takes 500 cycles to start. */
static double start_up(const sx_cost *c, const sx_mapping *m) {
    double tiles = 1;
    for (int l = 1; l < m->n_levels; l++)
        for (int d = 0; d < m->n_dims; d++) tiles *= m->level[l].temporal[d];
    return c->energy_pj * ((double)c->cycles + 500 * tiles);
}

/* Cycles of the tile pipeline, on `gemmini` as fitted to measurements of its RTL (docs/calibrate.md). */
static double pipeline(const sx_cost *c, const sx_mapping *m) {
    (void)m;
    return c->latency;
}

static const struct {
    const char *name;
    chip_law *law;
    double noise;
} chips[] = {{"idle", idle, 0},         {"banks", banks, 0},   {"slow-memory", slow_memory, 0},
             {"start-up", start_up, 0}, {"noise", idle, 0.05}, {"pipeline", pipeline, 0}};
enum { N_CHIPS = sizeof chips / sizeof *chips };

#define METHOD "auto:effort=2,gamma=4000" /* a short search of the model: less than a second */

static const char *const methods[] = {"gamma", "bayes", METHOD};
enum { N_METHODS = sizeof methods / sizeof *methods };

typedef struct ground {
    sx_arch arch;
    sx_problem problem;
    sx_model *model;
    sx_evaluator *evaluator;
    sx_cost cost;
} ground;

static ground *ground_new(const char *arch, const char *problem) {
    sx_model_options options = {.latency_tile = true};
    ground *g = calloc(1, sizeof *g);
    if (!g) exit(1);
    bench_need(sx_catalog_arch(arch, &g->arch));
    bench_need(sx_catalog_problem(problem, &g->problem));
    bench_need(sx_model_new(&g->problem, &g->arch, &options, &g->model));
    bench_need(sx_evaluator_new(g->model, &g->evaluator));
    return g;
}

static void ground_free(ground *g) {
    sx_evaluator_free(g->evaluator);
    sx_model_free(g->model);
    free(g);
}

static double measure(ground *g, size_t chip, const sx_mapping *mapping) {
    if (sx_evaluate(g->evaluator, mapping, &g->cost).reason != SX_LEGAL) exit(1);
    return chips[chip].law(&g->cost, mapping);
}

static size_t find_chip(const char *name) {
    for (size_t i = 0; i < N_CHIPS; i++)
        if (strcmp(chips[i].name, name) == 0) return i;
    fprintf(stderr, "no chip '%s'\n", name);
    exit(2);
}

/* Answers questions until there are none. */
static int answer(size_t chip, const char *arch, const char *problem) {
    ground *g = ground_new(arch, problem);
    char *line = NULL;
    size_t size = 0;
    sx_rng rng = sx_rng_stream(1, "bench.measured", chip);
    for (ssize_t n; (n = getline(&line, &size, stdin)) > 0;) {
        sx_mapping mapping;
        sx_input *input;
        const char *at = strstr(line, "\"mapping\"");
        char text[65536];
        if (!at || (size_t)snprintf(text, sizeof text, "{%s", at) >= sizeof text) return 1;
        bench_need(sx_input_new(&input));
        bench_need(sx_input_add_text(input, "question", text, strlen(text)));
        bench_need(sx_input_mapping(input, &g->problem, &g->arch, &mapping));
        sx_input_free(input);
        double value = measure(g, chip, &mapping), other = sx_rng_double(&rng) + sx_rng_double(&rng) +
                                                           sx_rng_double(&rng) + sx_rng_double(&rng) - 2;
        printf("{\"objective\": %.17g}\n", value * exp(chips[chip].noise * other * sqrt(3)));
        fflush(stdout);
    }
    free(line);
    ground_free(g);
    return 0;
}

/* What the chip takes for what a method finds with so many questions. */
static double search(ground *g, size_t chip, const char *names, const char *method, uint64_t questions,
                     uint64_t seed, const char *program) {
    char command[512];
    sx_map_space_options space_options;
    sx_outside_evaluator_options options;
    sx_outside_evaluator *outside;
    sx_run_options run_options;
    sx_point_model *model;
    sx_space *space;
    sx_run *run;
    sx_found found;
    sx_mapping mapping;
    snprintf(command, sizeof command, "exec %s --chip %s %s", program, chips[chip].name, names);
    sx_map_space_options_init(&space_options);
    sx_outside_evaluator_options_init(&options);
    options.command = command;
    bench_need(sx_outside_evaluator_new(&options, &outside));
    bench_need(sx_map_space_new(g->model, NULL, &space_options, &space));
    bench_need(sx_outside_evaluator_map_model(outside, space, &model));
    sx_run_options_init(&run_options);
    sx_outside_evaluator_objective(&run_options.objective);
    run_options.evaluations = questions;
    run_options.seed = seed;
    run_options.cache = 1 << 12;
    bench_need(sx_run_new(space, model, &run_options, &run));
    bench_need(sx_run_search(run, method));
    if (!sx_run_best(run, 0, &found)) exit(1);
    sx_map_space_mapping(space, found.point, &mapping);
    double value = measure(g, chip, &mapping);
    sx_run_free(run);
    sx_outside_evaluator_model_free(model);
    sx_outside_evaluator_free(outside);
    sx_space_free(space);
    return value;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "--chip") == 0) return answer(find_chip(argv[2]), argv[3], argv[4]);
    uint64_t questions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 5;
    const char *arch = argc > 4 ? argv[3] : "eyeriss", *problem = argc > 4 ? argv[4] : "resnet-conv4";
    char names[256];
    snprintf(names, sizeof names, "%s %s", arch, problem);
    ground *g = ground_new(arch, problem);
    printf("%s, %llu questions, %llu seeds: over the model's optimum\n%-12s %12s", names,
           (unsigned long long)questions, (unsigned long long)seeds, "chip", "optimum");
    for (size_t m = 0; m < N_METHODS; m++) printf(" %8.8s", methods[m]);
    printf("\n");
    for (size_t chip = 0; chip < N_CHIPS; chip++) {
        double optimum = search(g, chip, names, METHOD, 1, 1, argv[0]);
        printf("%-12s %12.4g", chips[chip].name, optimum);
        for (size_t m = 0; m < N_METHODS; m++) {
            double sum = 0;
            for (uint64_t seed = 1; seed <= seeds; seed++)
                sum += log(search(g, chip, names, methods[m], questions, seed, argv[0]) / optimum);
            printf(" %8.3f", exp(sum / (double)seeds));
            fflush(stdout);
        }
        printf("\n");
    }
    ground_free(g);
    return 0;
}
