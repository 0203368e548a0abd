/* How long a proven optimum takes: the problems that papers on mappers measure with, on the machines they
 * measure on, one thread.
 *
 *   study-optimal [SECONDS [WORD ...]]
 *
 * SECONDS (60) is the limit of each case, in CPU time; groups are those that have some WORD in their name, as
 * in "papers on accel-a". What is not proven within the limit has a gap: by how much the answer can be above
 * the optimum at most. */
#include "support/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *set, *arch;
} groups[] = {
    {"papers", "mind-mappings"},
    {"papers", "accel-a"},
    {"papers", "accel-b"},
    {"resnet18", "eyeriss"},
    {"resnet18", "edge-unified"},
    {"inception-v3", "eyeriss"},
    {"inception-v3", "edge-unified"},
    {"resnet18-update", "eyeriss"},
    {"resnet18-update", "edge-unified"},
    {"inception-v3-update", "eyeriss"},
    {"inception-v3-update", "edge-unified"},
    {"tensors", "eyeriss"},
    {"tensors", "edge-unified"},
    {"gemm", "glb128"},
    {"conv", "eyeriss"},
    {"conv", "glb128"},
};
enum { N_GROUPS = sizeof groups / sizeof *groups, MOST_CASES = 1024 };

/* CPU seconds that an exact mapper took for a case of "gemm" or "conv": first and second call, where there
 * was one. */
static const struct {
    const char *name, *machine;
    double least, most;
    bool unfinished;
} theirs[] = {
    {"64^3", "as glb128", 15.1, 28.0, false},           {"256^3", "as glb128", 48.2, 48.2, false},
    {"1024^3", "as glb128", 32.3, 51.9, false},         {"56x56x64x64 3x3", "NVDLA-like", 37.0, 37.0, false},
    {"14x14x32x32 3x3", "NVDLA-like", 7.1, 7.1, false}, {"14x14x32x32 3x3", "Eyeriss-like", 527, 527, true},
};
enum { N_THEIRS = sizeof theirs / sizeof *theirs };

/* What became of some cases. */
typedef struct tally {
    size_t n, proven, late;
    double gap, seconds[MOST_CASES];
} tally;

/* The cases to hold against theirs. */
typedef struct ours {
    size_t n;
    struct {
        char name[SX_NAME_SIZE];
        const char *arch;
        double seconds;
        bool proven;
    } item[16];
} ours;

static void add(tally *t, const sx_study_answer *answer, double limit) {
    if (t->n == MOST_CASES) return;
    t->seconds[t->n++] = answer->seconds;
    t->proven += answer->optimal;
    t->late += answer->seconds > limit || !answer->optimal;
    t->gap = fmax(t->gap, sx_study_gap(answer));
}

/* A row of the summary. */
static void print_tally(const char *set, const char *arch, tally *t) {
    double median = sx_study_median(t->seconds, t->n);
    printf("| %s | %s | %zu | %zu | %s | %s | %zu | %s |\n", set, arch, t->n, t->proven,
           sx_study_number(median).text, sx_study_number(t->n ? t->seconds[t->n - 1] : 0).text, t->late,
           sx_study_percent(t->gap).text);
}

/* Remembers a case of a size that the other mapper was measured with. */
static void remember(ours *o, const char *name, const char *arch, const sx_study_answer *answer) {
    for (int t = 0; t < N_THEIRS; t++)
        if (strcmp(theirs[t].name, name) == 0 && o->n < sizeof o->item / sizeof *o->item) {
            snprintf(o->item[o->n].name, SX_NAME_SIZE, "%s", name);
            o->item[o->n].arch = arch;
            o->item[o->n].seconds = answer->seconds;
            o->item[o->n++].proven = answer->optimal;
            return;
        }
}

/* Searches a case; what is over at once is done again, since clocks of CPU time may tick slowly, and its time
 * is the average. */
static sx_study_answer prove(const sx_study_group *group, size_t item, double limit) {
    enum { MOST_TIMES = 200 };
    const double enough = 0.2;
    sx_study_search search = {.mapper = "optimal", .seconds = limit};
    sx_study_answer answer = sx_study_run(group, item, &search);
    double seconds = answer.seconds;
    int times = 1;
    if (!answer.optimal && seconds < 0.9 * limit)
        fprintf(stderr, "%s: ended by the clock, after %.1f s of CPU time\n", group->item[item].name,
                seconds);
    for (; seconds < enough && times < MOST_TIMES; times++)
        seconds += sx_study_run(group, item, &search).seconds;
    answer.seconds = seconds / times;
    return answer;
}

/* Searches a group's cases, a row each. */
static void study(const char *set, const char *arch, double limit, tally *mine, tally *all, ours *o) {
    sx_study_group group;
    sx_study_open(set, arch, &group);
    printf("**%s on %s**\n\n| case | EDP / minimum | CPU seconds | gap |\n|---|---|---|---|\n", set, arch);
    for (size_t i = 0; i < group.n; i++) {
        sx_study_answer answer = prove(&group, i, limit);
        add(mine, &answer, limit);
        add(all, &answer, limit);
        remember(o, group.item[i].name, arch, &answer);
        printf("| %s | %s | %s | %s |\n", group.item[i].name,
               sx_study_number(answer.found ? answer.edp / answer.minimum : 0).text,
               sx_study_number(answer.seconds).text, sx_study_percent(sx_study_gap(&answer)).text);
        fflush(stdout);
    }
    putchar('\n');
    sx_study_close(&group);
}

/* A row of the comparison with the other mapper: its measurement t, our case i. */
static void print_compared(int t, const ours *o, size_t i) {
    bool range = theirs[t].most > theirs[t].least;
    double seconds = o->item[i].seconds;
    const char *more = theirs[t].unfinished ? "more than " : "";
    printf("| %s | %s | %s%g", theirs[t].name, theirs[t].machine, more, theirs[t].least);
    if (range) printf(" to %g", theirs[t].most);
    printf(" | %s | %s%s | %s%.0f", o->item[i].arch, o->item[i].proven ? "" : "more than ",
           sx_study_number(seconds).text, more, theirs[t].least / seconds);
    if (range) printf(" to %.0f", theirs[t].most / seconds);
    printf(" |\n");
}

/* The comparison with another exact mapper, a row for each machine it was measured on and each of ours. */
static void compare(const ours *o) {
    printf("AccelForge's Turbo-Charged Mapper (commit 1c1929c2), measured on two cores of the same kind. Its "
           "space "
           "and cost differ in\ndetails, so times are compared, not EDP.\n\n"
           "| case | its machine | its CPU seconds | machine here | CPU seconds | times faster |\n"
           "|---|---|---|---|---|---|\n");
    for (int t = 0; t < N_THEIRS; t++)
        for (size_t i = 0; i < o->n; i++)
            if (strcmp(o->item[i].name, theirs[t].name) == 0) print_compared(t, o, i);
    putchar('\n');
}

int main(int argc, char **argv) {
    double limit = argc > 1 ? strtod(argv[1], NULL) : 60;
    static tally mine[N_GROUPS], all;
    ours o = {0};
    for (int g = 0; g < N_GROUPS; g++) {
        if (!sx_study_wanted(groups[g].set, groups[g].arch, argc - 2, argv + 2)) continue;
        study(groups[g].set, groups[g].arch, limit, &mine[g], &all, &o);
    }
    if (o.n) compare(&o);
    printf("| set | machine | cases | proven | median, CPU s | longest | over %g s | worst gap |\n"
           "|---|---|---|---|---|---|---|---|\n",
           limit);
    for (int g = 0; g < N_GROUPS; g++)
        if (mine[g].n) print_tally(groups[g].set, groups[g].arch, &mine[g]);
    print_tally("all", "", &all);
    return 0;
}
