/* The comparison of search methods in Odyssey (DAC 2023): the matrix product 1024^3 on the U250, its space.
 *
 *   study-systolic-methods [EVALUATIONS [SEEDS [DESIGN...]]]
 *
 * Every method searches each of the 18 designs, or those named, with as many EVALUATIONS (10,000) and SEEDS
 * (10); what it finds is a share of the throughput of the proven optimum. Then, unless designs are named: how
 * methods converge on the design with the best optimum, what the objectives of the mathematical program are
 * worth as seeds, and the programs' own solutions. Methods that learn are slow, so that they have a tenth of
 * the evaluations. "pruned" draws arrays that use a quarter of the DSP blocks or more. What is illegal costs
 * random, pruned, anneal and genetic no evaluation, but it has to be looked at; the hybrid pays for it, as in
 * the paper. */
#include "sextant/navigator.h"
#include "support/search.h"
#include "systolic/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PUBLISHED                                                                                            \
    "hybrid:population=200,snap=published,first=copies,elites=again,twins=keep,idle=search,nudge=0,crowd=1," \
    "restart=0"

typedef struct method {
    const char *title, *navigator;
    double least_dsp;
    double times; /* as many evaluations */
} method;

static const method methods[] = {
    {"random", "random", 0, 1},
    {"pruned", "random", 0.25, 1},
    {"anneal", "anneal", 0, 1},
    {"genetic", "genetic", 0, 1},
    {"hybrid, as published", PUBLISHED ",alpha=0.8,loops=all", 0, 1},
    {"hybrid, as the text says", PUBLISHED ",alpha=0.4,loops=one", 0, 1},
    {"hybrid", "hybrid", 0, 1},
    {"ensemble", "ensemble", 0, 1},
    {"hybrid, ten times as many", "hybrid", 0, 10},
    {"hybrid, a tenth as many", "hybrid", 0, 0.1},
    {"bayes, a tenth as many", "bayes", 0, 0.1},
    {"ddpg, a tenth as many", "ddpg", 0, 0.1},
};

static const method seeds[] = {
    {"as published, no program", PUBLISHED ",alpha=0.8,loops=all,seed=none", 0, 1},
    {"as published, objective 1", PUBLISHED ",alpha=0.8,loops=all,seed=1", 0, 1},
    {"as published, objective 2", PUBLISHED ",alpha=0.8,loops=all,seed=2", 0, 1},
    {"as published, objective 3", PUBLISHED ",alpha=0.8,loops=all,seed=3", 0, 1},
    {"hybrid, no program", "hybrid:seed=none", 0, 1},
    {"hybrid, objective 1", "hybrid:seed=1", 0, 1},
    {"hybrid, objective 2", "hybrid:seed=2", 0, 1},
    {"hybrid, objective 3", "hybrid:seed=3", 0, 1},
};

enum { N_METHODS = sizeof methods / sizeof *methods, N_SEEDS = sizeof seeds / sizeof *seeds };
enum { MOST_DESIGNS = 128, CONVERGENCE_SEEDS = 10 };

static const uint64_t stops[] = {1000, 3000, 10000, 30000};
enum { N_STOPS = sizeof stops / sizeof *stops };

/* The space of a design. */
static sx_space *open_design(const sx_systolic_kernel *kernel, size_t design, double least_dsp) {
    sx_systolic_options options = {.designs = &design, .n_designs = 1, .least_dsp = least_dsp};
    sx_device device;
    sx_space *space;
    sx_study_need(sx_catalog_device("u250", &device));
    sx_study_need(sx_systolic_space_new(kernel, 1, &device, &options, &space));
    return space;
}

/* What a search found: the least latency, INFINITY where it found nothing, and where. */
typedef struct answer {
    double latency, looked; /* looked: points, legal or not, for each evaluation */
    sx_systolic_point point;
} answer;

static answer search(const sx_space *space, const char *navigator, uint64_t evaluations, uint64_t seed) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    answer a = {.latency = INFINITY};
    sx_run_options_init(&options);
    options.evaluations = evaluations;
    options.seed = seed;
    sx_study_need(sx_objective_parse("delay", &options.objective));
    sx_study_need(sx_run_new(space, NULL, &options, &run));
    sx_study_need(sx_run_search(run, navigator));
    if (sx_run_best(run, 0, &found)) {
        a.latency = found.value;
        a.point = *(const sx_systolic_point *)found.point;
    }
    sx_run_summary summary = sx_run_result(run);
    a.looked = 1 + (double)summary.rejected / (double)summary.evaluations;
    sx_run_free(run);
    return a;
}

/* The mean share of the optimum's throughput that a method reaches; *looked grows by its points for each
 * evaluation. */
static double reach(const sx_systolic_kernel *kernel, size_t design, const method *m, uint64_t evaluations,
                    uint64_t n_seeds, double optimum, double *looked) {
    sx_space *space = open_design(kernel, design, m->least_dsp);
    double sum = 0;
    for (uint64_t seed = 0; seed < n_seeds; seed++) {
        answer a = search(space, m->navigator, (uint64_t)((double)evaluations * m->times), seed);
        sum += optimum / a.latency;
        *looked += a.looked / (double)n_seeds;
    }
    sx_space_free(space);
    return sum / (double)n_seeds;
}

static void print_heads(const char *first, const char *second) {
    printf("| %s | %s |", first, second);
    for (int m = 0; m < N_METHODS; m++) printf(" %s |", methods[m].title);
    printf("\n|---|---|");
    for (int m = 0; m < N_METHODS; m++) printf("---|");
    putchar('\n');
}

/* The shares of some designs, a row each, and what each method comes to. Fills in the optima. */
static void compare(const sx_systolic_kernel *kernel, uint64_t evaluations, uint64_t n_seeds,
                    const size_t *which, size_t n, double *optimum) {
    double mean[N_METHODS] = {0}, looked[N_METHODS] = {0}, worst[N_METHODS];
    size_t first[N_METHODS] = {0};
    for (int m = 0; m < N_METHODS; m++) worst[m] = INFINITY;
    printf("**%llu evaluations per design, mean of %llu seeds, %% of the optimum**\n\n",
           (unsigned long long)evaluations, (unsigned long long)n_seeds);
    print_heads("design", "optimum, cycles");
    for (size_t i = 0; i < n; i++) {
        sx_systolic_design design;
        size_t d = which[i];
        char name[16];
        double share[N_METHODS], most = 0;
        sx_space *space = open_design(kernel, d, 0);
        optimum[d] = search(space, "exact", 0, 0).latency;
        sx_space_free(space);
        sx_systolic_design_at(kernel, d, &design);
        sx_systolic_design_name(&design, name, sizeof name);
        printf("| %s | %.0f |", name, optimum[d]);
        for (int m = 0; m < N_METHODS; m++) {
            share[m] = reach(kernel, d, &methods[m], evaluations, n_seeds, optimum[d], &looked[m]);
            mean[m] += share[m] / (double)n;
            worst[m] = fmin(worst[m], share[m]);
            if (methods[m].times == 1) most = fmax(most, share[m]);
            printf(" %.1f |", 100 * share[m]);
            fflush(stdout);
        }
        for (int m = 0; m < N_METHODS; m++) first[m] += share[m] > most - 1e-9;
        putchar('\n');
    }
    printf("| mean | |");
    for (int m = 0; m < N_METHODS; m++) printf(" %.1f |", 100 * mean[m]);
    printf("\n| worst | |");
    for (int m = 0; m < N_METHODS; m++) printf(" %.1f |", 100 * worst[m]);
    printf("\n| best with as many evaluations | |");
    for (int m = 0; m < N_METHODS; m++)
        if (methods[m].times == 1)
            printf(" %zu of %zu |", first[m], n);
        else
            printf(" |");
    printf("\n| points per evaluation | |");
    for (int m = 0; m < N_METHODS; m++) printf(" %.1f |", looked[m] / (double)n);
    printf("\n\n");
}

/* The shares of some methods on a design after more and more evaluations, a row each. */
static void converge(const sx_systolic_kernel *kernel, size_t design, double optimum, const method *of,
                     int n) {
    printf("| |");
    for (int s = 0; s < N_STOPS; s++) printf(" %llu |", (unsigned long long)stops[s]);
    printf("\n|---|");
    for (int s = 0; s < N_STOPS; s++) printf("---|");
    putchar('\n');
    for (int m = 0; m < n; m++) {
        if (of[m].times != 1) continue;
        printf("| %s |", of[m].title);
        for (int s = 0; s < N_STOPS; s++) {
            double looked = 0,
                   share = reach(kernel, design, &of[m], stops[s], CONVERGENCE_SEEDS, optimum, &looked);
            printf(" %.1f |", 100 * share);
            fflush(stdout);
        }
        putchar('\n');
    }
    putchar('\n');
}

/* A row of the programs' solutions, beside those of the one that moves the fewest words. */
static void print_solution(const sx_space *space, const char *title, const sx_systolic_point *point,
                           double optimum, const sx_systolic_cost *least) {
    sx_systolic_cost cost = {0};
    sx_systolic_fault fault = sx_systolic_evaluate(space, point, -1, &cost);
    printf("| %s | ", title);
    for (int d = 0; d < 3; d++) printf("%u, ", point->t1[d]);
    for (int d = 0; d < 3; d++) printf("%u%s", point->t2[d], d < 2 ? ", " : " | ");
    if (sx_systolic_has_cost(fault))
        printf("%.2f | %.2f | %.2f |", cost.latency / optimum, cost.offchip_words / least->offchip_words,
               cost.dsp / least->dsp);
    else
        printf("| | |");
    printf(" %s |\n", fault ? space->type->reason(space, fault) : "fits");
}

/* A table of solutions to objectives 1 to 3 and of what a search found, words and DSP blocks beside those of
 * objective 2. */
static void print_solutions(const sx_space *space, const sx_systolic_point point[4], double optimum) {
    static const char *const titles[] = {"objective 1: -lanes", "objective 2: words",
                                         "objective 3: words - lanes", "hybrid"};
    sx_systolic_cost least = {0};
    (void)sx_systolic_evaluate(space, &point[SX_PROGRAM_WORDS - 1], -1, &least);
    printf("| | tiles | latency | words | DSP blocks | in the accurate model |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < 4; i++) print_solution(space, titles[i], &point[i], optimum, &least);
    putchar('\n');
}

/* The programs' own solutions, and what the search finds. */
static void solve(const sx_systolic_kernel *kernel, size_t design, double optimum, uint64_t evaluations) {
    sx_space *space = open_design(kernel, design, 0);
    const sx_systolic_space *own = sx_systolic_space_of(space);
    sx_systolic_point point[4] = {{0}};
    sx_program program;
    sx_program_init(kernel, &own->plan[design], &program);
    for (int o = SX_PROGRAM_LANES; o <= SX_PROGRAM_BOTH; o++) {
        sx_program_tiles tiles;
        if (sx_program_solve(&program, (sx_program_objective)o, &tiles))
            sx_program_round(own, (uint32_t)design, &tiles, &point[o - 1]);
    }
    point[3] = search(space, "hybrid", evaluations, 0).point;
    print_solutions(space, point, optimum);
    sx_space_free(space);
}

/* The paper's solutions, on its design, under this model. */
static void recount(const sx_systolic_kernel *kernel) {
    size_t design;
    sx_study_need(sx_systolic_design_find(kernel, "3_2", &design));
    uint32_t d = (uint32_t)design;
    const sx_systolic_point point[4] = {
        {.design = d, .t1 = {520, 520, 320}, .t2 = {26, 26, 4}},
        {.design = d, .t1 = {1024, 1024, 320}, .t2 = {128, 128, 4}},
        {.design = d, .t1 = {1024, 1024, 320}, .t2 = {64, 64, 4}},
        {.design = d, .t1 = {129, 130, 64}, .t2 = {3, 13, 4}},
    };
    sx_space *space = open_design(kernel, design, 0);
    sx_systolic_cost theirs = {0};
    (void)sx_systolic_evaluate(space, &point[3], -1, &theirs);
    print_solutions(space, point, theirs.latency);
    sx_space_free(space);
}

int main(int argc, char **argv) {
    uint64_t evaluations = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    uint64_t n_seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    static double optimum[MOST_DESIGNS];
    static size_t which[MOST_DESIGNS];
    sx_systolic_kernel kernel;
    sx_systolic_design design;
    char name[16];
    size_t best = 0;
    if (!evaluations || !n_seeds)
        return fprintf(stderr, "usage: study-systolic-methods [N [SEEDS [DESIGN...]]]\n"), 2;
    sx_study_need(sx_systolic_matrix(1024, 1024, 1024, &kernel));
    size_t n = sx_systolic_n_designs(&kernel);
    for (size_t i = 0; i < n; i++) which[i] = i;
    if (argc > 3) n = 0;
    for (int i = 3; i < argc && n < MOST_DESIGNS; i++)
        sx_study_need(sx_systolic_design_find(&kernel, argv[i], &which[n++]));
    compare(&kernel, evaluations, n_seeds, which, n, optimum);
    if (argc > 3) return 0;
    for (size_t d = 1; d < n; d++)
        if (optimum[d] < optimum[best]) best = d;
    sx_systolic_design_at(&kernel, best, &design);
    sx_systolic_design_name(&design, name, sizeof name);
    printf("**After a given number of evaluations on %s, mean of %d seeds, %% of the optimum**\n\n", name,
           CONVERGENCE_SEEDS);
    converge(&kernel, best, optimum[best], methods, N_METHODS);
    printf("**The same by the objective of the program**\n\n");
    converge(&kernel, best, optimum[best], seeds, N_SEEDS);
    printf("**The programs' own solutions on %s: latency over the optimum's, words and DSP blocks over "
           "objective 2's**\n\n",
           name);
    solve(&kernel, best, optimum[best], evaluations);
    printf("**The paper's solutions, latency over that of its own search**\n\n");
    recount(&kernel);
    return 0;
}
