/* Searches with few questions to an evaluator of one's own, on chips that are made up and on one that was measured: the model's
 * optimum, asked once, and methods with as many questions.
 *
 *   bench-measured [QUESTIONS [SEEDS [ARCH PROBLEM [JOBS [CHIP]]]]]  the table, or the row of a chip; JOBS searches at once
 *   bench-measured --chip NAME ARCH PROBLEM                   the evaluator itself: questions in, answers out
 *
 * The space is that of `sextant map --no-remainders`, of `gemmini` with `--latency tile`: tiles divide, and the constraints of the
 * catalog's machine hold.
 *
 * Where there is noise, what would be the best is asked about up to REPEATS times, and six of ten questions are for new mappings.
 *
 * Values are what the chip takes without noise for what a method found, over the model's optimum: geometric mean of the
 * seeds, least and greatest. */
#include "calibrate/measured.h"
#include "bench.h"
#include "mappers/measured/measured.h"
#include "mapspace/map_space.h"
#include "registry/registry.h"
#include "sextant/all.h"
#include "sextant/estimate.h"
#include "sextant/outside_evaluator.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct ground {
    sx_arch arch;
    sx_problem problem;
    sx_constraints constraints; /* of the catalog's machine */
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_cost cost;
    sx_measurements table; /* of the chip `rtl` */
    double
        *ratio; /* by row: the logarithm of measured over the pipeline's cycles; NaN: not of this machine */
} ground;

/* What chips do that the model does not know: each takes the cost of a mapping, and returns what is minimised. */
typedef double chip_law(const ground *g, const sx_cost *cost, const sx_mapping *mapping);

/* Units that idle burn power: the energy grows with them. */
static double idle(const ground *g, const sx_cost *c, const sx_mapping *m) {
    (void)g, (void)m;
    return c->energy_pj * (double)c->cycles / (c->utilization * c->utilization);
}

/* Tiles of an inner memory whose size is a multiple of its 16 banks meet in one bank. */
static double banks(const ground *g, const sx_cost *c, const sx_mapping *m) {
    double slow = 1;
    (void)g;
    for (int l = 0; l + 1 < m->n_levels; l++)
        for (int v = 0; v < c->n_tensors; v++)
            if (c->level[l].tensor[v].tile >= 16 && c->level[l].tensor[v].tile % 16 == 0) slow *= 1.3;
    return c->energy_pj * (double)c->cycles * slow;
}

/* The outermost memory takes 16 cycles for a word, and ten times the energy. */
static double slow_memory(const ground *g, const sx_cost *c, const sx_mapping *m) {
    const sx_cost_level *outer = &c->level[m->n_levels - 1];
    double words = 0;
    (void)g;
    for (int v = 0; v < c->n_tensors; v++)
        words += (double)(outer->tensor[v].reads + outer->tensor[v].fills + outer->tensor[v].updates);
    return (c->energy_pj + 9 * outer->energy_pj) * fmax((double)c->cycles, words * 16);
}

/* Every tile of the level above the innermost takes 500 cycles to start. */
static double start_up(const ground *g, const sx_cost *c, const sx_mapping *m) {
    double tiles = 1;
    (void)g;
    for (int l = 1; l < m->n_levels; l++)
        for (int d = 0; d < m->n_dims; d++) tiles *= m->level[l].temporal[d];
    return c->energy_pj * ((double)c->cycles + 500 * tiles);
}

/* Cycles of the tile pipeline, on `gemmini` as fitted to measurements of its RTL (docs/calibrate.md). */
static double pipeline(const ground *g, const sx_cost *c, const sx_mapping *m) {
    (void)g, (void)m;
    return c->latency;
}

/* How far two mappings of convolutions are apart: over levels and dimensions, the squares of the differences of their factors'
 * logarithms. */
static double distance_of(const sx_problem *pa, const sx_mapping *a, const sx_problem *pb,
                          const sx_mapping *b) {
    double sum = 0;
    for (int d = 0; d < pa->n_dims; d++) {
        int e = sx_problem_dim(pb, pa->dim_name[d]);
        for (int l = 0; l < a->n_levels; l++) {
            double t = log2(a->level[l].temporal[d]) - (e < 0 ? 0 : log2(b->level[l].temporal[e]));
            double s = log2(a->level[l].spatial[d]) - (e < 0 ? 0 : log2(b->level[l].spatial[e]));
            sum += t * t + s * s;
        }
    }
    return sum;
}

/* The measured table as a chip: a mapping of the table takes the cycles that were measured; any other those of the pipeline times
 * the rows' ratios of measured to pipeline, a geometric mean with weights that fall with the fourth power of the distance. */
static double rtl(const ground *g, const sx_cost *c, const sx_mapping *m) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < g->table.n; i++) {
        const sx_measured *row = &g->table.row[i];
        if (isnan(g->ratio[i])) continue;
        double far = distance_of(&g->problem, m, &row->problem, &row->mapping),
               weight = 1 / (far * far + 1e-12);
        sum += weight * g->ratio[i];
        weights += weight;
    }
    return c->latency * exp(weights > 0 ? sum / weights : 0);
}

static const struct {
    const char *name;
    chip_law *law;
    double noise;
    bool gemmini; /* on that machine alone */
} chips[] = {{"idle", idle, 0, false},
             {"banks", banks, 0, false},
             {"slow-memory", slow_memory, 0, false},
             {"start-up", start_up, 0, false},
             {"noise", idle, 0.05, false},
             {"pipeline", pipeline, 0, true},
             {"rtl", rtl, 0, true}};
enum { N_CHIPS = sizeof chips / sizeof *chips };

enum { REPEATS = 5 };

#define PROPOSES "auto:effort=2,gamma=4000" /* a short search of the model: less than a second */

/* Methods, and whether the model's best are their start points, as `sextant map` has it for `bayes`. */
static const struct {
    const char *title, *method;
    bool from_model;
} methods[] = {{"gamma", "gamma", false},
               {"bayes alone", "bayes", false},
               {"bayes", "bayes", true},
               {"auto", PROPOSES, false}};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* Reads the measured table, and what each row takes over what the pipeline says. */
static void read_table(ground *g) {
    bench_need(sx_measurements_read(SX_BENCH_DATA "/../tests/golden/gemmini/measured.csv", &g->arch, NULL,
                                    NULL, &g->table));
    g->ratio = calloc(g->table.n, sizeof *g->ratio);
    if (!g->ratio) exit(1);
    for (size_t i = 0; i < g->table.n; i++) {
        const sx_measured *row = &g->table.row[i];
        sx_model_options options = {.latency_tile = true};
        sx_model *model;
        sx_model_workspace *evaluator;
        bench_need(sx_model_new(&row->problem, &g->arch, &options, &model));
        bench_need(sx_model_workspace_new(model, &evaluator));
        bool legal = sx_evaluate(evaluator, &row->mapping, &g->cost).reason == SX_LEGAL;
        g->ratio[i] = legal && row->cycles > 0 ? log(row->cycles / g->cost.latency) : NAN;
        sx_model_workspace_free(evaluator);
        sx_model_free(model);
    }
}

/* Reads the constraints that the catalog has for a machine. */
static void read_constraints(const char *arch, ground *g) {
    sx_input *input;
    bench_need(sx_input_new(&input));
    bench_need(sx_input_add_arch(input, arch));
    bench_need(sx_input_constraints(input, &g->problem, &g->arch, &g->constraints));
    sx_input_free(input);
}

static ground *ground_new(const char *arch, const char *problem) {
    sx_model_options options = {.latency_tile = true};
    ground *g = calloc(1, sizeof *g);
    if (!g) exit(1);
    bench_need(sx_catalog_arch(arch, &g->arch));
    bench_need(sx_catalog_problem(problem, &g->problem));
    read_constraints(arch, g);
    bench_need(sx_model_new(&g->problem, &g->arch, &options, &g->model));
    bench_need(sx_model_workspace_new(g->model, &g->evaluator));
    if (strcmp(arch, "gemmini") == 0) read_table(g);
    return g;
}

static void ground_free(ground *g) {
    sx_model_workspace_free(g->evaluator);
    sx_model_free(g->model);
    sx_measurements_free(&g->table);
    free(g->ratio);
    free(g);
}

static double measure(ground *g, size_t chip, const sx_mapping *mapping) {
    if (sx_evaluate(g->evaluator, mapping, &g->cost).reason != SX_LEGAL) exit(1);
    return chips[chip].law(g, &g->cost, mapping);
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

/* What is searched, and with how many questions. */
typedef struct job {
    ground *g;
    const char *program, *names;
    uint64_t questions, seeds;
} job;

/* What a chip takes for what a method finds with a given number of questions. */
static double search(const job *j, size_t chip, size_t method, uint64_t questions, uint64_t seed) {
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
    snprintf(command, sizeof command, "exec %s --chip %s %s", j->program, chips[chip].name, j->names);
    sx_map_space_options_init(&space_options);
    sx_outside_evaluator_options_init(&options);
    options.command = command;
    options.repeats = chips[chip].noise > 0 ? REPEATS : 1;
    bench_need(sx_outside_evaluator_new(&options, &outside));
    bench_need(sx_map_space_new(j->g->model, &j->g->constraints, &space_options, &space));
    bench_need(sx_outside_evaluator_map_model(outside, space, &model));
    sx_run_options_init(&run_options);
    sx_outside_evaluator_objective(&run_options.objective);
    run_options.evaluations = chips[chip].noise > 0 && questions > 1 ? questions * 6 / 10 : questions;
    run_options.seed = seed;
    run_options.cache = 1 << 12;
    void *starts = calloc(SX_PROPOSALS, space->point_size);
    if (!starts) exit(1);
    if (methods[method].from_model) {
        const sx_proposing how = {PROPOSES, &sx_navigators, seed, NULL};
        bench_need(sx_measured_propose(space, &how, starts, &run_options.n_starts));
        run_options.starts = starts;
    }
    bench_need(sx_run_new(space, model, &run_options, &run));
    bench_need(sx_run_search(run, methods[method].method));
    if (!sx_run_best(run, 0, &found)) exit(1);
    sx_map_space_mapping(space, found.point, &mapping);
    double value = measure(j->g, chip, &mapping);
    uint64_t asked = sx_outside_evaluator_report(outside).questions;
    if (asked > questions && questions > 1)
        fprintf(stderr, "%s, seed %llu: %llu questions\n", methods[method].title, (unsigned long long)seed,
                (unsigned long long)asked);
    sx_run_free(run);
    free(starts);
    sx_outside_evaluator_model_free(model);
    sx_outside_evaluator_free(outside);
    sx_space_free(space);
    return value;
}

/* Runs search number i: of a chip, by a method and with a seed; the last ones ask the model's optimum alone. */
static double run_search(const job *j, size_t i) {
    size_t all = N_CHIPS * N_METHODS * j->seeds;
    if (i >= all) return search(j, i - all, N_METHODS - 1, 1, 1);
    return search(j, i / (N_METHODS * j->seeds), i / j->seeds % N_METHODS, j->questions, i % j->seeds + 1);
}

/* Prints the rows of the table. */
static void print_rows(const job *j, const double *value) {
    size_t all = N_CHIPS * N_METHODS * j->seeds;
    for (size_t chip = 0; chip < N_CHIPS; chip++) {
        double optimum = value[all + chip];
        if (!(optimum > 0)) continue;
        printf("%-12s %9.4g", chips[chip].name, optimum);
        for (size_t m = 0; m < N_METHODS; m++) {
            double sum = 0, least = INFINITY, most = 0;
            for (uint64_t seed = 0; seed < j->seeds; seed++) {
                double over = value[(chip * N_METHODS + m) * j->seeds + seed] / optimum;
                sum += log(over);
                least = fmin(least, over);
                most = fmax(most, over);
            }
            printf("  %7.3f (%6.3f to %7.3f)", exp(sum / (double)j->seeds), least, most);
        }
        printf("\n");
    }
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "--chip") == 0) return answer(find_chip(argv[2]), argv[3], argv[4]);
    const char *arch = argc > 4 ? argv[3] : "eyeriss", *problem = argc > 4 ? argv[4] : "resnet-conv4";
    char names[256];
    snprintf(names, sizeof names, "%s %s", arch, problem);
    job j = {.g = ground_new(arch, problem),
             .program = argv[0],
             .names = names,
             .questions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100,
             .seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 5};
    long jobs = argc > 5 ? strtol(argv[5], NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = N_CHIPS * (N_METHODS * j.seeds + 1);
    FILE *shared = tmpfile();
    if (!shared || ftruncate(fileno(shared), (off_t)(n * sizeof(double))) != 0) exit(1);
    double *value = mmap(NULL, n * sizeof *value, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(shared), 0);
    if (value == MAP_FAILED) exit(1);
    for (long k = 0; k < jobs; k++) {
        if (fork() != 0) continue;
        for (size_t i = (size_t)k; i < n; i += (size_t)jobs) {
            size_t chip = i < n - N_CHIPS ? i / (N_METHODS * j.seeds) : i - (n - N_CHIPS);
            if (argc > 6 && strcmp(chips[chip].name, argv[6]) != 0) continue;
            if (!chips[chip].gemmini || j.g->table.n > 0) value[i] = run_search(&j, i);
        }
        _exit(0);
    }
    while (wait(NULL) > 0) continue;
    printf("%s, %llu questions, %llu seeds: over the model's optimum\n%-12s %9s", names,
           (unsigned long long)j.questions, (unsigned long long)j.seeds, "chip", "optimum");
    for (size_t m = 0; m < N_METHODS; m++) printf("  %-27s", methods[m].title);
    printf("\n");
    print_rows(&j, value);
    ground_free(j.g);
    return 0;
}
