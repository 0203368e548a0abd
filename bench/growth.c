/* What a score costs as the work grows, on one core: microseconds by the model without the core, and how many times as
 * fast the core is (scores.h), with more levels, dimensions or tensors than 3 levels, 6 dimensions and 3 tensors. Then
 * searches on more and more threads, by the wall.
 *
 *   bench-growth [THREADS]    up to a given number of threads; as many as there are processors where not told */
#include "scores.h"

#include <unistd.h>

enum { LEVELS = 3, DIMS = 6, TENSORS = 3, TEXT = 4096 };

/* An architecture: 16 units, each with registers, and levels of growing size up to a DRAM. */
static void make_arch(int n_levels, sx_arch *out) {
    char text[TEXT];
    int at = snprintf(text, sizeof text,
                      "arch:\n  name: grown\n"
                      "  arithmetic: {name: MAC, instances: 16, word-bits: 16, energy: 1.0}\n  storage:\n"
                      "  - {name: L0, instances: 16, entries: 64, vector-access-energy: 1}\n");
    for (int s = 1; s < n_levels - 1; s++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "  - {name: L%d, instances: 1, entries: %d, vector-access-energy: %d}\n", s,
                       1024 << 2 * s, 2 + 2 * s);
    snprintf(text + at, sizeof text - (size_t)at,
             "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 200}\n");
    sx_input *input;
    bench_need(sx_input_new(&input));
    bench_need(sx_input_add_text(input, "arch", text, strlen(text)));
    bench_need(sx_input_arch(input, out));
    sx_input_free(input);
}

/* Appends a tensor: its name, and the dimensions of all but those that leave `without` over when divided by `by`. */
static int add_tensor(char *text, int at, char name, int n_dims, int by, int without) {
    at += snprintf(text + at, (size_t)(TEXT - at), "%c[", name);
    for (int d = 0, n = 0; d < n_dims; d++)
        if (by == 1 || d % by != without)
            at += snprintf(text + at, (size_t)(TEXT - at), "%s%c", n++ ? "," : "", 'a' + d);
    return at + snprintf(text + at, (size_t)(TEXT - at), "]");
}

/* A contraction: dimensions of 8 iterations, each of which does without one tensor. */
static void make_problem(int n_dims, int n_tensors, sx_problem *out) {
    char text[TEXT];
    int at = add_tensor(text, 0, 'O', n_dims, n_tensors, n_tensors - 1);
    for (int v = 0; v + 1 < n_tensors; v++) {
        at += snprintf(text + at, (size_t)(TEXT - at), v ? "*" : " += ");
        at = add_tensor(text, at, (char)('P' + v), n_dims, n_tensors > 2 ? n_tensors : 1, v);
    }
    at += snprintf(text + at, (size_t)(TEXT - at), " {");
    for (int d = 0; d < n_dims; d++)
        at += snprintf(text + at, (size_t)(TEXT - at), "%s%c:8", d ? "," : "", 'a' + d);
    snprintf(text + at, (size_t)(TEXT - at), "}");
    bench_need(sx_einsum_parse(text, out));
}

/* A line of the table. */
static void print_line(const char *what, int n, int n_levels, int n_dims, int n_tensors) {
    sx_problem problem;
    sx_arch arch;
    setup s;
    double sum = 0;
    make_arch(n_levels, &arch);
    make_problem(n_dims, n_tensors, &problem);
    prepare(&s, &problem, &arch);
    printf("%-11s %2d", what, n);
    for (int mode = 0; mode < N_MODES; mode++) {
        double rate[2];
        compare(&s, mode, rate, &sum);
        if (mode == DRAWN) printf(" %10.2f", 1e6 / rate[1]);
        printf(" %8.2fx", rate[0] / rate[1]);
    }
    printf("\n");
    finish(&s);
}

/* Evaluations per second of a search. */
static double search(const setup *s, const char *navigator, unsigned threads) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = 100000;
    options.threads = threads;
    bench_need(sx_run_new(s->space, NULL, &options, &run));
    double began = bench_now(2);
    bench_need(sx_run_search(run, navigator));
    double rate = (double)sx_run_result(run).evaluations / (bench_now(2) - began);
    sx_run_free(run);
    return rate;
}

static void print_threads(unsigned most) {
    static const char *const navigators[] = {"random", "pruned:victory=0,timeout=0", "gamma"};
    sx_problem problem;
    sx_arch arch;
    setup s;
    make_arch(LEVELS, &arch);
    make_problem(DIMS, TENSORS, &problem);
    prepare(&s, &problem, &arch);
    printf("\nEvaluations per second by the wall, and how many times those of one thread\n\n%-27s", "search");
    for (unsigned n = 1; n <= most; n *= 2) printf(" %9u threads", n);
    for (size_t i = 0; i < sizeof navigators / sizeof *navigators; i++) {
        double one = 0;
        printf("\n%-27s", navigators[i]);
        for (unsigned n = 1; n <= most; n *= 2) {
            double rate = search(&s, navigators[i], n);
            if (n == 1) one = rate;
            printf(" %10.0f %5.2fx", rate, rate / one);
        }
    }
    printf("\n");
    finish(&s);
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : sysconf(_SC_NPROCESSORS_ONLN);
    printf("Microseconds of a score without the core, and times as fast with it\n\n");
    printf("%-14s %10s %9s %9s %9s\n", "", "library us", modes[0], modes[1], modes[2]);
    for (int i = 2; i <= 8; i++) print_line("levels", i, i, DIMS, TENSORS);
    for (int i = 3; i <= 9; i++) print_line("dimensions", i, LEVELS, i, TENSORS);
    for (int i = 2; i <= 5; i++) print_line("tensors", i, LEVELS, DIMS, i);
    print_threads(n < 1 ? 1 : n > 64 ? 64 : (unsigned)n);
    return 0;
}
