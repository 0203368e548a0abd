/* How many scores per second the core gives, on one core, beside the model without it, in turn on the same mappings:
 *
 *   drawn     legal points of the map space, each drawn anew
 *   moves     walks of small steps, as a search takes them: one gene nudged at a time
 *   kept      factors and orders of the drawn points under choices of kept tensors
 *
 *   bench-core                       a table, with the share of drawn points that the core does not cover
 *   bench-core cases                 numbers and names of the cases
 *   bench-core CASE MODE [library]   scores once, for instruction counts by callgrind --toggle-collect="measured*";
 *                                      prints how many scores */
#include "scores.h"

static const char *const cases[][2] = {
    {"resnet-conv4", "accel-a"}, {"resnet-conv4", "accel-b"}, {"resnet-conv4", "eyeriss"},
    {"mttkrp-0", "accel-a"},     {"resnet-conv4", "simba"},   {"resnet-conv4", "edge-unified"},
    {"depthwise", "eyeriss"},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* Makes ready for a case. */
static void prepare_case(setup *s, int number) {
    sx_problem problem;
    sx_arch arch;
    bench_need(sx_catalog_problem(cases[number][0], &problem));
    bench_need(sx_catalog_arch(cases[number][1], &arch));
    prepare(s, &problem, &arch);
}

/* The share of drawn points that the core does not cover. */
static double not_covered(setup *s) {
    sx_score score;
    int n = 0;
    for (int i = 0; i < POINTS; i++)
        n += sx_core_scorer_score(s->core->core, &s->drawn[i], NULL, 0, &score) < 0;
    return (double)n / POINTS;
}

static void print_table(void) {
    double sum = 0;
    printf("Millions of scores per second on one core: the core, and the model without it\n\n");
    printf("%-14s %-13s %8s", "problem", "arch", "library");
    for (int mode = 0; mode < N_MODES; mode++) printf(" %8s %7s", modes[mode], "ratio");
    printf(" %11s\n", "not covered");
    for (int c = 0; c < N_CASES; c++) {
        setup s;
        prepare_case(&s, c);
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
        prepare_case(&s, c);
        printf("%ld\n", measured(&s, mode, argc > 3, 1, &sum));
        finish(&s);
    }
    return 0;
}
