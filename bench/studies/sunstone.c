/* Sunstone (thesis 2022) against Timeloop's random-pruned search, as in its chapter 6: EDP and evaluations
 * over the different layers of ResNet-18 and Inception v3 on its two edge chips, and what its techniques
 * leave of the space (Figure 6.11).
 *
 *   study-sunstone [SECONDS [SEEDS [WORD ...]]]
 *
 * SECONDS (60) of CPU time is what a proof of a layer's optimum may take, SEEDS (5) how often the random
 * search is asked; groups are those that have some WORD in their name, as in "resnet18 on eyeriss" or
 * "ablation on eyeriss". Where the proof does not end in time, the best known stands for the optimum. */
#include "support/search.h"
#include "support/sunstone_count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *set, *arch;
} groups[] = {{"resnet18", "eyeriss"},
              {"resnet18", "edge-unified"},
              {"inception-v3", "eyeriss"},
              {"inception-v3", "edge-unified"}};
enum { N_GROUPS = sizeof groups / sizeof *groups, MOST_CASES = 128 };

/* The settings of the thesis, Table 6.4. */
static const struct {
    const char *name, *mapper;
    bool random;
} methods[] = {
    {"sunstone", "sunstone", false},
    {"sunstone:plus=on", "sunstone:plus=on", false},
    {"pruned, fast", "pruned:timeout=20000,victory=25", true},
    {"pruned, slow", "pruned:timeout=80000,victory=1500", true},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* What a method made of a group's layers. */
typedef struct tally {
    double edp[MOST_CASES], evaluations[MOST_CASES]; /* geometric means of seeds */
    double seconds;                                  /* of all layers, mean of seeds */
} tally;

static void ask(const sx_study_group *group, size_t item, int method, bool keep_all, uint64_t seeds,
                double *best, tally *t) {
    uint64_t times = methods[method].random ? seeds : 1;
    for (uint64_t seed = 0; seed < times; seed++) {
        sx_study_search search = {.mapper = methods[method].mapper, .seed = seed, .keep_all = keep_all};
        sx_study_answer answer = sx_study_run(group, item, &search);
        t->edp[item] += log(answer.found ? answer.edp : INFINITY) / (double)times;
        t->evaluations[item] += log((double)answer.evaluations) / (double)times;
        t->seconds += answer.seconds / (double)times;
        if (answer.found) *best = fmin(*best, answer.edp);
    }
    t->edp[item] = exp(t->edp[item]);
    t->evaluations[item] = exp(t->evaluations[item]);
}

/* A method's row. */
static void print_tally(const sx_study_group *group, bool keep_all, int method, const double *best,
                        tally *t) {
    double sum = 0, worst = 0, most = 0;
    for (size_t i = 0; i < group->n; i++) {
        sum += log(t->edp[i] / best[i]);
        worst = fmax(worst, t->edp[i] / best[i]);
        most = fmax(most, t->evaluations[i]);
    }
    printf("| %s | %s | %s | %s | %.3f | %.2f | %.0f | %.0f | %s |\n", group->set, group->arch.name,
           keep_all ? "all kept" : "whole", methods[method].name, exp(sum / (double)group->n), worst,
           sx_study_median(t->evaluations, group->n), most, sx_study_number(t->seconds).text);
}

/* All methods on a group, in the whole space or in that where every level keeps all tensors, as the thesis'
 * do. */
static void study(const char *set, const char *arch, bool keep_all, double seconds, uint64_t seeds) {
    sx_study_group group;
    tally t[N_METHODS] = {0};
    double best[MOST_CASES], proof = 0;
    size_t proven = 0;
    sx_study_open(set, arch, &group);
    for (size_t i = 0; i < group.n; i++) {
        sx_study_search search = {.mapper = "optimal", .seconds = seconds, .keep_all = keep_all};
        sx_study_answer answer = sx_study_run(&group, i, &search);
        best[i] = answer.found ? answer.edp : INFINITY;
        proven += answer.optimal;
        proof += answer.seconds;
        for (int m = 0; m < N_METHODS; m++) ask(&group, i, m, keep_all, seeds, &best[i], &t[m]);
    }
    for (int m = 0; m < N_METHODS; m++) print_tally(&group, keep_all, m, best, &t[m]);
    printf("| %s | %s | %s | optimal: %zu of %zu proven | 1 | 1 | | | %s |\n", set, arch,
           keep_all ? "all kept" : "whole", proven, group.n, sx_study_number(proof).text);
    fflush(stdout);
    sx_study_close(&group);
}

/* How many mappings the techniques that are on leave; and with alpha-beta, how many of them are evaluated. */
static double count(const sx_study_group *group, size_t item, sx_sunstone_switches on, uint64_t *evaluated) {
    sx_model *model;
    sx_space *space;
    sx_sunstone_counters counters;
    sx_study_need(sx_model_new(&group->item[item].problem, &group->arch, NULL, &model));
    sx_study_need(sx_map_space_new(model, NULL, NULL, &space));
    on.limit = 1e7;
    sx_study_need(sx_sunstone_count(space, &on, &counters));
    if (evaluated) *evaluated = counters.evaluated;
    sx_space_free(space);
    sx_model_free(model);
    return pow(10, counters.mappings.log10);
}

/* Figure 6.11: what each technique leaves, and what all of them together cost. */
static void ablation(double seconds) {
    static const char less[] = "sunstone:unrolling=off,tiles=off,limit=10000000";
    sx_study_group group;
    sx_study_open("ablation", "eyeriss", &group);
    printf("\n| layer | mappings | orders pruned | + unrollings | + tiles | + alpha-beta: evaluated | pruned "
           "by | EDP / "
           "without the last two |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < group.n; i++) {
        uint64_t evaluated;
        double none = count(&group, i, (sx_sunstone_switches){0}, NULL);
        double order = count(&group, i, (sx_sunstone_switches){.order = true}, NULL);
        double spread = count(&group, i, (sx_sunstone_switches){.order = true, .unrolling = true}, NULL);
        double tiles =
            count(&group, i,
                  (sx_sunstone_switches){.order = true, .unrolling = true, .tiles = true, .alphabeta = true},
                  &evaluated);
        sx_study_answer with = sx_study_run(&group, i, &(sx_study_search){.mapper = "sunstone"});
        sx_study_answer without =
            sx_study_run(&group, i, &(sx_study_search){.mapper = less, .seconds = seconds});
        printf("| %s | %.1e | %.1e | %.1e | %.1e | %llu | %.0e | ", group.item[i].name, none, order, spread,
               tiles, (unsigned long long)evaluated, none / tiles);
        if (without.found) printf("%.3f", with.edp / without.edp);
        printf(" |\n");
        fflush(stdout);
    }
    sx_study_close(&group);
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 60;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 5;
    for (int g = 0, rows = 0; g < N_GROUPS; g++) {
        if (!sx_study_wanted(groups[g].set, groups[g].arch, argc - 3, argv + 3)) continue;
        if (!rows++)
            printf("| layers | machine | space | mapper | EDP / optimum | worst | evaluations, median | most "
                   "| CPU seconds |\n"
                   "|---|---|---|---|---|---|---|---|---|\n");
        for (int keep_all = 1; keep_all >= 0; keep_all--)
            study(groups[g].set, groups[g].arch, keep_all, seconds, seeds);
    }
    if (sx_study_wanted("ablation", "eyeriss", argc - 3, argv + 3)) ablation(seconds);
    return 0;
}
