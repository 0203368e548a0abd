/* How many mappings per second the model evaluates, on one core: random legal mappings of catalog problems on
 * catalog architectures, drawn by giving every prime factor of every dimension to a random loop, rather
 * further out. Mappings are evaluated in blocks that fit a cache, each block several times, so that the model
 * is measured and not the memory.
 *
 * Sparse cases hold weights and inputs as coordinates and payloads, skip every tensor's accesses on the zeros of the
 * others at every level, and gate computes; weights are a tenth non-zeros, inputs half. The same mappings are also
 * evaluated dense, in turn, so that the two can be compared.
 *
 * Cases with the law of the tile pipeline (docs/latency.md) have it whole or without its caches; the same mappings without it
 * are the mode `dense`.
 *
 * Remainders: two dimensions, or all, get random factors that need not divide. Each mapping is scored once by the fast path
 * and once by the walk, and timed; the two must agree.
 *
 *   bench-evaluate                    a table of all cases
 *   bench-evaluate remainders         the table of remainders alone
 *   bench-evaluate cases              their numbers and names
 *   bench-evaluate CASE MODE COUNT    evaluates COUNT mappings (a multiple of 4096) and prints nothing: for
 * instruction counts by callgrind --toggle-collect="measured*"; the mode `dense` is `score` by the dense model
 */
#include "bench.h"
#include "model/model.h"
#include "sextant/all.h"
#include "sextant/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAPPINGS = 4096, REMAINDERS = 1000, BLOCK = 256, ROUNDS = 5 };

/* Dimensions that get factors which leave remainders. */
enum { NONE, TWO, ALL };

/* The law of the tile pipeline. */
enum { NO_LAW, PLAIN, CACHES };

static const struct {
    const char *problem, *arch;
    int ragged;              /* dimensions with remainders */
    double rival;            /* Timeloop's legal evaluations per CPU second, where measured */
    sx_density_model sparse; /* SX_DENSITY_NONE: dense */
    int law;
} cases[] = {
    {"resnet-conv4", "accel-a", NONE, 490, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "accel-b", NONE, 270, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "eyeriss", NONE, 0, SX_DENSITY_NONE, NO_LAW},
    {"mttkrp-0", "accel-a", NONE, 0, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "accel-a", TWO, 0, SX_DENSITY_NONE, NO_LAW},
    {"mttkrp-0", "accel-a", TWO, 0, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "accel-a", ALL, 0, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "accel-b", ALL, 0, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "eyeriss", ALL, 0, SX_DENSITY_NONE, NO_LAW},
    {"resnet-conv4", "accel-b", NONE, 11, SX_DENSITY_FIXED_STRUCTURED, NO_LAW},
    {"resnet-conv4", "accel-b", NONE, 0.05, SX_DENSITY_HYPERGEOMETRIC, NO_LAW},
    {"resnet-conv4", "eyeriss", NONE, 0, SX_DENSITY_HYPERGEOMETRIC, NO_LAW},
    {"mttkrp-0", "accel-a", NONE, 0, SX_DENSITY_HYPERGEOMETRIC, NO_LAW},
    {"resnet-conv4", "gemmini", NONE, 0, SX_DENSITY_NONE, PLAIN},
    {"resnet-conv4", "gemmini", NONE, 0, SX_DENSITY_NONE, CACHES},
    {"bert-large-attn", "gemmini", NONE, 0, SX_DENSITY_NONE, CACHES},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static const char *const modes[] = {"check", "score", "batch", "full"};
enum { CHECK, SCORE, BATCH, FULL, N_MODES };

/* Gives a dimension random factors that need not divide it; `few`: fewer of them, as small buffers want it. */
static void draw_ragged(sx_rng *rng, const sx_arch *arch, int d, uint32_t size, bool few,
                        sx_mapping *mapping) {
    uint32_t left = size;
    int last = arch->n_levels - 1;
    for (int s = 0; s <= last; s++) {
        sx_mapping_level *level = &mapping->level[s];
        bool fans = sx_arch_fanout_x(arch, s) * sx_arch_fanout_y(arch, s) > 1;
        level->spatial[d] = fans && sx_rng_below(rng, few ? 3 : 2) == 0
                                ? 1 + (uint32_t)sx_rng_below(rng, left < 6 ? left : 6)
                                : 1;
        left = (left + level->spatial[d] - 1) / level->spatial[d];
        bool loops = !few || sx_rng_below(rng, 3) == 0;
        level->temporal[d] = s == last ? left
                             : loops   ? 1 + (uint32_t)sx_rng_below(rng, left < 4 ? left : 4)
                                       : 1;
        left = (left + level->temporal[d] - 1) / level->temporal[d];
    }
}

/* Gives the prime factors of every dimension to random loops (two dimensions, or all, get factors that
 * leave remainders, if `ragged`), and shuffles the orders. */
static void draw(sx_rng *rng, const sx_problem *problem, const sx_arch *arch, int ragged,
                 sx_mapping *mapping) {
    sx_mapping_init(mapping, problem, arch);
    uint32_t *loops[2 * SX_MAX_LEVELS];
    int n = 0, last = arch->n_levels - 1;
    for (int s = 0; s <= last; s++) {
        sx_mapping_level *level = &mapping->level[s];
        loops[n++] = level->temporal;
        if (sx_arch_fanout_x(arch, s) * sx_arch_fanout_y(arch, s) > 1) loops[n++] = level->spatial;
        sx_rng_shuffle(rng, level->temporal_order, problem->n_dims);
        sx_rng_shuffle(rng, level->spatial_order, problem->n_dims);
        level->split = (uint8_t)(sx_arch_fanout_y(arch, s) > 1 ? sx_rng_below(rng, problem->n_dims + 1u)
                                                               : problem->n_dims);
    }
    int first = (int)sx_rng_below(rng, problem->n_dims), second = (int)sx_rng_below(rng, problem->n_dims);
    for (int d = 0; d < problem->n_dims; d++) {
        uint32_t left = problem->size[d];
        if (ragged == ALL || (ragged && (d == first || d == second))) {
            draw_ragged(rng, arch, d, left, ragged == ALL, mapping);
            continue;
        }
        mapping->level[last].temporal[d] = 1;
        for (uint32_t p = 2; left > 1; p++)
            for (; left % p == 0; left /= p) {
                uint64_t a = sx_rng_below(rng, (uint64_t)n), b = sx_rng_below(rng, (uint64_t)n);
                loops[a > b ? a : b][d] *= p; /* rather further out, where there is room */
            }
    }
}

/* The number of a name, which is added where it is new. */
static uint8_t number_of(sx_sparse *sparse, const char *name) {
    uint8_t i = 0;
    while (i < sparse->n_names && strcmp(sparse->name[i], name) != 0) i++;
    if (i == sparse->n_names) strcpy(sparse->name[sparse->n_names++], name);
    return i;
}

/* Gives a problem densities, and an architecture formats, skipping and gating. */
static void make_sparse(sx_problem *problem, sx_arch *arch, sx_density_model model) {
    sx_sparse *sparse = &arch->sparse;
    uint32_t dims = 0;
    int n = 0;
    for (int d = 0; d < problem->n_dims; d++) dims |= 1u << number_of(sparse, problem->dim_name[d]);
    for (int v = 0; v < problem->n_tensors; v++) {
        uint8_t name = number_of(sparse, problem->tensor[v].name);
        bool output = problem->tensor[v].output;
        if (!output) bench_need(sx_tensor_set_density(&problem->tensor[v], model, n++ ? 0.5 : 0.1));
        for (int s = 0; s < arch->n_levels; s++) {
            arch->level[s].metadata.width = 16;
            arch->level[s].metadata.word_bits = 4;
            arch->level[s].metadata.depth = 1 << 20;
            sx_sparse_action *action = &sparse->action[sparse->n_actions++];
            *action = (sx_sparse_action){.level = (uint8_t)s, .skips = true, .n_options = 1};
            action->option[0].target = name;
            for (int c = 0; c < problem->n_tensors; c++)
                if (c != v && !problem->tensor[c].output)
                    action->option[0].on |= 1u << number_of(sparse, problem->tensor[c].name);
            if (output) continue;
            sparse->format[sparse->n_formats++] = (sx_tensor_format){
                .level = (uint8_t)s, .tensor = name, .n_ranks = (uint8_t)(s + 1), .first = sparse->n_ranks};
            for (int r = 0; r <= s; r++)
                sparse->rank[sparse->n_ranks++] = (sx_rank_format){.kind = SX_RANK_CP,
                                                                   .n_flattened = 1,
                                                                   .flattened = {dims},
                                                                   .metadata_bits = SX_BITS_DEFAULT,
                                                                   .payload_bits = SX_BITS_DEFAULT};
        }
    }
    sparse->gates_compute = true;
}

typedef struct setup {
    sx_problem problem;
    sx_arch arch;
    sx_model *model, *dense;
    sx_model_workspace *evaluator, *dense_evaluator;
    sx_mapping *mappings;
    sx_score *scores;
    sx_verdict *verdicts;
    double legal_share;
} setup;

/* Makes the models of a case, and draws n legal mappings. */
static void prepare_case(setup *s, const char *problem, const char *arch, int ragged, sx_density_model sparse,
                         int law, int n) {
    const sx_model_options options = {.latency_tile = law != NO_LAW};
    bench_need(sx_catalog_problem(problem, &s->problem));
    bench_need(sx_catalog_arch(arch, &s->arch));
    bench_need(sx_problem_bind_to(&s->problem, &s->arch));
    bench_need(sx_model_new(&s->problem, &s->arch, NULL, &s->dense));
    bench_need(sx_model_workspace_new(s->dense, &s->dense_evaluator));
    if (sparse) make_sparse(&s->problem, &s->arch, sparse);
    if (law == PLAIN) s->arch.law[0].n_caches = 0;
    bench_need(sx_model_new(&s->problem, &s->arch, &options, &s->model));
    bench_need(sx_model_workspace_new(s->model, &s->evaluator));
    s->mappings = malloc(MAPPINGS * sizeof *s->mappings);
    s->scores = malloc(MAPPINGS * sizeof *s->scores);
    s->verdicts = malloc(MAPPINGS * sizeof *s->verdicts);
    sx_rng rng = sx_rng_stream(1, problem, 0);
    uint64_t tries = 0;
    for (int i = 0; i < n;) {
        draw(&rng, &s->problem, &s->arch, ragged, &s->mappings[i]);
        tries++;
        bool wanted = !ragged || !sx_mapping_perfect(&s->mappings[i], &s->problem);
        if (wanted && sx_check(s->model, &s->mappings[i]).reason == SX_LEGAL) i++;
    }
    s->legal_share = (double)n / (double)tries;
}

static void prepare(setup *s, int number) {
    prepare_case(s, cases[number].problem, cases[number].arch, cases[number].ragged, cases[number].sparse,
                 cases[number].law, MAPPINGS);
}

static void finish(setup *s) {
    free(s->mappings);
    free(s->scores);
    free(s->verdicts);
    sx_model_workspace_free(s->evaluator);
    sx_model_workspace_free(s->dense_evaluator);
    sx_model_free(s->model);
    sx_model_free(s->dense);
}

/* Evaluates one block of mappings; returns a sum that keeps the work from being optimised away. */
static double evaluate_block(setup *s, int mode, const sx_mapping *mappings, size_t n) {
    static sx_cost cost;
    double sum = 0;
    if (mode == BATCH) {
        sx_evaluate_batch(s->evaluator, mappings, n, s->scores, s->verdicts);
        return s->scores[n - 1].energy_pj;
    }
    for (size_t i = 0; i < n; i++) {
        sx_score score = {0};
        if (mode == CHECK) score.energy_pj = sx_check(s->model, &mappings[i]).reason;
        if (mode == SCORE) sx_evaluate_score(s->evaluator, &mappings[i], &score);
        if (mode == FULL) {
            sx_evaluate(s->evaluator, &mappings[i], &cost);
            score.energy_pj = cost.energy_pj;
        }
        sum += score.energy_pj;
    }
    return sum;
}

/* Evaluates n mappings, a multiple of all of them, block by block. */
__attribute__((noinline)) static double measured(setup *s, int mode, long n) {
    double sum = 0;
    for (size_t first = 0; first < MAPPINGS; first += BLOCK)
        for (long turn = 0; turn < n / MAPPINGS; turn++)
            sum += evaluate_block(s, mode, &s->mappings[first], BLOCK);
    return sum;
}

/* Exchanges the model for the dense one. */
static void turn_dense(setup *s) {
    sx_model *model = s->model;
    sx_model_workspace *evaluator = s->evaluator;
    s->model = s->dense;
    s->evaluator = s->dense_evaluator;
    s->dense = model;
    s->dense_evaluator = evaluator;
}

/* The best of several rounds: other load on the machine only ever slows down. */
static double per_second(setup *s, int mode, int rounds) {
    double best = 0;
    long n = MAPPINGS;
    for (int round = 0; round < rounds; round++) {
        double start = bench_now(1);
        measured(s, mode, n);
        double seconds = bench_now(1) - start;
        if (seconds < 0.1) {
            n *= 4;
            round--;
        }
        double rate = (double)n / (seconds > 0 ? seconds : 1e-9);
        if (rate > best && seconds >= 0.1) best = rate;
    }
    return best;
}

static int find(const char *name, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static void print_dense(void) {
    setup s;
    printf("Evaluations per second on one core, %d random legal mappings each\n\n", MAPPINGS);
    printf("%-14s %-8s %-6s %7s %10s %10s %10s %10s   %s\n", "problem", "arch", "tiles", "legal", "check",
           "score", "batch", "full", "score / Timeloop");
    for (int c = 0; c < N_CASES; c++) {
        if (cases[c].sparse || cases[c].law || cases[c].ragged == ALL)
            continue; /* the walk of the mode full takes milliseconds */
        prepare(&s, c);
        double rate[N_MODES];
        for (int mode = 0; mode < N_MODES; mode++) rate[mode] = per_second(&s, mode, ROUNDS);
        printf("%-14s %-8s %-6s %6.2f%% %10.0f %10.0f %10.0f %10.0f   ", cases[c].problem, cases[c].arch,
               cases[c].ragged ? "ragged" : "exact", 100 * s.legal_share, rate[CHECK], rate[SCORE],
               rate[BATCH], rate[FULL]);
        if (cases[c].rival > 0)
            printf("%.0f x\n", rate[SCORE] / cases[c].rival);
        else
            printf("-\n");
        finish(&s);
    }
}

/* Sparse evaluations beside dense ones of the same mappings, in turn. */
static void print_sparse(void) {
    setup s;
    printf("\nSparse evaluations per second (score), and dense ones of the same mappings\n\n");
    printf("%-14s %-8s %-18s %10s %10s %14s   %s\n", "problem", "arch", "densities", "sparse", "dense",
           "dense / sparse", "sparse / Timeloop");
    for (int c = 0; c < N_CASES; c++) {
        double sparse = 0, dense = 0;
        if (!cases[c].sparse) continue;
        prepare(&s, c);
        for (int round = 0; round < ROUNDS; round++) {
            double rate = per_second(&s, SCORE, 1);
            if (rate > sparse) sparse = rate;
            turn_dense(&s);
            rate = per_second(&s, SCORE, 1);
            if (rate > dense) dense = rate;
            turn_dense(&s);
        }
        printf("%-14s %-8s %-18s %10.0f %10.0f %14.2f   ", cases[c].problem, cases[c].arch,
               sx_density_model_name(cases[c].sparse), sparse, dense, dense / sparse);
        if (cases[c].rival > 0)
            printf("%.0f x\n", sparse / cases[c].rival);
        else
            printf("-\n");
        finish(&s);
    }
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean, 99th percentile and maximum of n times, in microseconds, which are sorted. */
static double print_times(double *time, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += time[i];
    qsort(time, (size_t)n, sizeof *time, compare_times);
    printf(" %9.1f %9.1f %9.1f", 1e6 * sum / n, 1e6 * time[n * 99 / 100], 1e6 * time[n - 1]);
    return sum / n;
}

/* The scores of mappings, and the time that each takes. */
static void time_scores(sx_model_workspace *evaluator, const sx_mapping *mappings, sx_score *scores,
                        double *time) {
    for (int i = 0; i < REMAINDERS; i++) {
        double start = bench_now(1);
        sx_evaluate_score(evaluator, &mappings[i], &scores[i]);
        time[i] = bench_now(1) - start;
    }
}

/* Scores mappings with remainders by the fast path and by the walk. */
static void print_remainder_case(const char *problem, const char *arch, int ragged) {
    static double fast[REMAINDERS], walk[REMAINDERS];
    static sx_score walked[REMAINDERS];
    setup s;
    sx_model_workspace *walker;
    int different = 0;
    prepare_case(&s, problem, arch, ragged, SX_DENSITY_NONE, NO_LAW, REMAINDERS);
    bench_need(sx_model_workspace_new(s.model, &walker));
    walker->walks = true;
    time_scores(s.evaluator, s.mappings, s.scores, fast);
    time_scores(walker, s.mappings, walked, walk);
    for (int i = 0; i < REMAINDERS; i++) different += memcmp(&s.scores[i], &walked[i], sizeof *walked) != 0;
    printf("%-14s %-8s %-5s", problem, arch, ragged == ALL ? "all" : "two");
    double mean = print_times(fast, REMAINDERS), old = print_times(walk, REMAINDERS);
    printf(" %10.0f %9.1f x", 1 / mean, old / mean);
    printf(different ? "   %d DIFFER\n" : "\n", different);
    sx_model_workspace_free(walker);
    finish(&s);
}

static void print_remainders(void) {
    static const char *const archs[] = {"accel-a", "accel-b", "eyeriss"};
    printf("\nRemainders under sliding windows: microseconds per score, %d random legal mappings each\n\n",
           REMAINDERS);
    printf("%-14s %-8s %-5s %9s %9s %9s %9s %9s %9s %10s %11s\n", "problem", "arch", "dims", "mean", "p99",
           "max", "walk mean", "p99", "max", "per second", "walk / fast");
    for (int ragged = TWO; ragged <= ALL; ragged++)
        for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
            print_remainder_case("resnet-conv4", archs[a], ragged);
}

int main(int argc, char **argv) {
    static const char *const ragged[] = {"", ", ragged", ", all ragged"};
    static const char *const law[] = {"", ", latency", ", caches"};
    setup s;
    if (argc == 2 && strcmp(argv[1], "cases") == 0) {
        for (int c = 0; c < N_CASES; c++)
            printf("%d %s on %s%s%s%s\n", c, cases[c].problem, cases[c].arch, ragged[cases[c].ragged],
                   law[cases[c].law],
                   cases[c].sparse == SX_DENSITY_NONE               ? ""
                   : cases[c].sparse == SX_DENSITY_FIXED_STRUCTURED ? ", fixed"
                                                                    : ", random");
        return 0;
    }
    if (argc == 4) {
        bool dense = strcmp(argv[2], "dense") == 0;
        int c = atoi(argv[1]), mode = dense ? SCORE : find(argv[2], modes, N_MODES);
        if (c < 0 || c >= N_CASES || mode < 0) return 2;
        prepare(&s, c);
        if (dense) turn_dense(&s);
        double sum = measured(&s, mode, atol(argv[3]));
        finish(&s);
        return sum < 0;
    }
    if (argc == 1) print_dense();
    if (argc == 1) print_sparse();
    print_remainders();
    return 0;
}
