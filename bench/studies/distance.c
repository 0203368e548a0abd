/* How far mappers are from the proven optimum: EDP over it after a given number of evaluations, geometric mean of the
 * seeds.
 *
 *   study-distance [SECONDS [EVALUATIONS [SEEDS [WORD ...]]]]
 *
 * SECONDS (60) of CPU time is what a proof may take, EVALUATIONS (5000) what the mappers that do not end by
 * themselves get, SEEDS (5) how often those that draw lots are asked; groups are those that have some WORD in
 * their name, as in "papers on accel-a". Where the proof does not end in time, the distance is from the best
 * that is known. Where Sunstone evaluates a single mapping, none of those that it would make is legal, and
 * that one was drawn; it is left out of its mean. At the end: how much room Mind Mappings' own figures
 * leave. */
#include "support/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *set, *arch;
} groups[] = {
    {"papers", "mind-mappings"}, {"papers", "accel-a"}, {"papers", "accel-b"}, {"resnet18", "eyeriss"}};
enum { N_GROUPS = sizeof groups / sizeof *groups };

static const struct {
    const char *name, *mapper;
    bool by_itself; /* comes to its own end, and draws no lots */
} methods[] = {
    {"random", "random", false},
    {"anneal", "anneal", false},
    {"genetic", "genetic", false},
    {"pruned", "pruned:victory=0,timeout=0", false},
    {"gamma", "gamma", false},
    {"sunstone", "sunstone", true},
    {"sunstone:plus=on", "sunstone:plus=on", true},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* Mind Mappings' own method after 5,000 evaluations, over the minimum, read off its figure; the order is that
 * of the set "mind-mappings". */
static const double published[] = {4.48, 4.70, 5.70, 5.31, 4.62, 4.75, 6.81, 8.04};

typedef struct options {
    double seconds;
    uint64_t evaluations, seeds;
} options;

/* What mappers made of a case. */
typedef struct row {
    sx_study_answer best;
    double edp[N_METHODS]; /* geometric means; 0: nothing found */
    uint64_t evaluations[N_METHODS];
} row;

/* Asks a mapper as often as there are seeds; what it finds that is better becomes the best known. */
static void ask(const sx_study_group *group, size_t item, int method, const options *o, row *out) {
    uint64_t times = methods[method].by_itself ? 1 : o->seeds;
    double sum = 0;
    for (uint64_t seed = 0; seed < times; seed++) {
        sx_study_search search = {.mapper = methods[method].mapper, .seed = seed};
        if (!methods[method].by_itself) search.evaluations = o->evaluations;
        sx_study_answer answer = sx_study_run(group, item, &search);
        if (!answer.found) return;
        sum += log(answer.edp);
        out->best.edp = fmin(out->best.edp, answer.edp);
        out->evaluations[method] = answer.evaluations;
    }
    out->edp[method] = exp(sum / (double)times);
}

/* Prints a case's row: the optimum over the minimum, the mappers over the optimum. */
static void print_row(const char *name, const row *r, double *sum, size_t *n) {
    double gap = sx_study_gap(&r->best);
    printf("| %s | %s", name, sx_study_number(r->best.edp / r->best.minimum).text);
    if (gap > 0) printf(" (gap %s)", sx_study_percent(gap).text);
    for (int m = 0; m < N_METHODS; m++) {
        double distance = r->edp[m] / r->best.edp;
        bool drawn = methods[m].by_itself && r->evaluations[m] == 1;
        if (distance > 0 && !drawn) {
            sum[m] += log(distance);
            n[m]++;
        }
        printf(" | %s", sx_study_number(distance).text);
        if (methods[m].by_itself && distance > 0) printf(" | %llu", (unsigned long long)r->evaluations[m]);
    }
    printf(" |\n");
    fflush(stdout);
}

static void study(const char *set, const char *arch, const options *o) {
    sx_study_group group;
    double sum[N_METHODS] = {0};
    size_t n[N_METHODS] = {0}, refused = 0;
    sx_study_open(set, arch, &group);
    printf("**%s on %s**\n\n| problem | optimum / minimum", set, arch);
    for (int m = 0; m < N_METHODS; m++)
        printf(" | %s%s", methods[m].name, methods[m].by_itself ? " | evaluations" : "");
    printf(" |\n|---|---");
    for (int m = 0; m < N_METHODS; m++) printf(methods[m].by_itself ? "|---|---" : "|---");
    printf("|\n");
    for (size_t i = 0; i < group.n; i++) {
        row r = {.best =
                     sx_study_run(&group, i, &(sx_study_search){.mapper = "optimal", .seconds = o->seconds})};
        sx_study_search all = {.mapper = "exhaustive", .evaluations = o->evaluations};
        for (int m = 0; m < N_METHODS; m++) ask(&group, i, m, o, &r);
        refused += !sx_study_run(&group, i, &all).found;
        print_row(group.item[i].name, &r, sum, n);
    }
    printf("| geometric mean | ");
    for (int m = 0; m < N_METHODS; m++)
        printf("| %s %s", sx_study_number(n[m] ? exp(sum[m] / (double)n[m]) : 0).text,
               methods[m].by_itself ? "| " : "");
    printf("|\n\n`exhaustive` refuses %zu of these %zu spaces as too large.\n\n", refused, group.n);
    sx_study_close(&group);
}

/* Prints an answer over the minimum, with its gap where it is not proven. */
static void print_answer(const sx_study_answer *answer) {
    double gap = sx_study_gap(answer);
    printf(" | %s", sx_study_number(answer->found ? answer->edp / answer->minimum : 0).text);
    if (gap > 0) printf(" (gap %s)", sx_study_percent(gap).text);
}

/* Where Mind Mappings' answers stand between the minimum and the optimum of its space, which keeps every
 * tensor at every level, and of the whole space. */
static void room(double seconds) {
    sx_study_group group;
    sx_study_open("mind-mappings", "mind-mappings", &group);
    printf("**Mind Mappings' machine: EDP over the algorithmic minimum**\n\n"
           "| problem | the paper's answer | optimum, all kept | optimum | answer / optimum, all kept | "
           "answer / "
           "optimum |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < group.n; i++) {
        sx_study_search search = {.mapper = "optimal", .seconds = seconds};
        sx_study_answer free_keep = sx_study_run(&group, i, &search);
        search.keep_all = true;
        sx_study_answer all_kept = sx_study_run(&group, i, &search);
        printf("| %s | %.2f", group.item[i].name, published[i]);
        print_answer(&all_kept);
        print_answer(&free_keep);
        printf(" | %s | %s |\n", sx_study_number(published[i] * all_kept.minimum / all_kept.edp).text,
               sx_study_number(published[i] * free_keep.minimum / free_keep.edp).text);
        fflush(stdout);
    }
    sx_study_close(&group);
}

int main(int argc, char **argv) {
    options o = {.seconds = argc > 1 ? strtod(argv[1], NULL) : 60,
                 .evaluations = argc > 2 ? strtoull(argv[2], NULL, 10) : 5000,
                 .seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : 5};
    printf("EDP over the proven optimum after %llu evaluations, geometric mean of %llu seeds.\n\n",
           (unsigned long long)o.evaluations, (unsigned long long)o.seeds);
    for (int g = 0; g < N_GROUPS; g++)
        if (sx_study_wanted(groups[g].set, groups[g].arch, argc - 4, argv + 4))
            study(groups[g].set, groups[g].arch, &o);
    if (sx_study_wanted("room", "mind-mappings", argc - 4, argv + 4)) room(o.seconds);
    return 0;
}
