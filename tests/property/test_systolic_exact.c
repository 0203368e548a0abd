/* Searches of systolic arrays against brute force over every combination of tiles of small spaces:
 * exhaustive, exact and divisors find the best there is, padding what the paper's algorithm finds, step by
 * step: test_systolic_exact [count [seed]]. */
#include "sextant/run.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_systolic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 50000 /* points of a space */, MAX_TILE = 40 };

typedef struct settings {
    uint64_t count, seed;
} settings;

static const char *const objectives[] = {"delay", "edp", "energy", "last-level", "utilization", "e^2*d"};
enum { N_OBJECTIVES = sizeof objectives / sizeof *objectives };

/* A space, and what it is made of. */
typedef struct trial {
    uint64_t number;
    sx_systolic_kernel kernel[2];
    size_t n_kernels, design;
    sx_device device;
    sx_systolic_options options;
    const char *objective_name;
    sx_objective objective;
    sx_space *space;
} trial;

/* What brute force finds. */
typedef struct least {
    double any, divisors; /* values: of all points, and of those whose tiles divide */
    uint64_t points;      /* whose lanes may be */
} least;

/* Fails with a description of the space. */
static void complain(const trial *t, const char *what, double found, double expected) {
    print_error("case %llu: %s: %.17g, but it is %.17g\n", (unsigned long long)t->number, what, found,
                expected);
    print_error("%s %s%s, %s, tiles %d, dsp at least %g, device dsp %g bram %g share %g\n", t->objective_name,
                t->options.corrected ? "corrected" : "published", t->options.thin ? " thin" : "",
                t->options.designs ? "one design" : "all designs", (int)t->options.tiles,
                t->options.least_dsp, t->device.dsp, t->device.bram18k, t->device.share);
    for (size_t k = 0; k < t->n_kernels; k++) {
        print_error("  %s:", t->kernel[k].name);
        for (int d = 0; d < t->kernel[k].n_loops; d++)
            print_error(" %s %u", t->kernel[k].loop[d].name, t->kernel[k].loop[d].size);
        print_error("\n");
    }
    fail();
}

/* How many constructions a space has. */
static double n_points(const sx_space *space) {
    sx_size size = {.component = true};
    for (size_t i = 0; size.component && sx_space_size(space, i, &size); i++) continue;
    return (double)size.count.low;
}

/* Kernels of a trial: one, or two that are joined. */
static void draw_kernels(sx_rng *rng, uint32_t most, trial *t) {
    do {
        t->n_kernels = sx_rng_below(rng, 4) ? 1 : 2;
        for (size_t k = 0; k < t->n_kernels; k++) {
            sx_random_kernel(rng, most, &t->kernel[k]);
            t->kernel[k].count = 1 + sx_rng_below(rng, 3);
        }
        sx_status status = t->n_kernels > 1 ? sx_systolic_join(t->kernel, t->n_kernels) : SX_OK;
        if (status) t->n_kernels = 0;
        sx_status_free(status);
    } while (t->n_kernels == 0);
}

/* Draws a space of not too many points. */
static void draw_trial(sx_rng *rng, uint64_t number, trial *t) {
    uint32_t most = 2 + (uint32_t)sx_rng_below(rng, 11);
    *t = (trial){.number = number};
    sx_random_device(rng, &t->device);
    t->device.dsp = 8 + (double)sx_rng_below(rng, sx_rng_below(rng, 2) ? 40 : 400);
    t->device.bram18k = 8 + (double)sx_rng_below(rng, sx_rng_below(rng, 2) ? 60 : 400);
    if (sx_rng_below(rng, 4)) t->device.element[0].add_latency = 1 + (uint32_t)sx_rng_below(rng, 4);
    t->options = (sx_systolic_options){.corrected = sx_rng_below(rng, 2),
                                       .thin = sx_rng_below(rng, 2),
                                       .tiles = (sx_systolic_tiles)sx_rng_below(rng, 3),
                                       .pad_to = sx_rng_below(rng, 3) ? 0 : (uint32_t)sx_rng_below(rng, 12),
                                       .least_dsp = sx_rng_below(rng, 4) ? 0 : sx_rng_double(rng) / 2};
    t->objective_name = sx_rng_below(rng, 2) ? "delay" : objectives[sx_rng_below(rng, N_OBJECTIVES)];
    sx_expect_ok(sx_objective_parse(t->objective_name, &t->objective));
    for (;; most -= most > 1) {
        bool one = sx_rng_below(rng, 4) > 0;
        draw_kernels(rng, most, t);
        t->design = sx_rng_below(rng, sx_systolic_n_designs(&t->kernel[0]));
        t->options.designs = one ? &t->design : NULL;
        t->options.n_designs = one;
        sx_expect_ok(sx_systolic_space_new(t->kernel, t->n_kernels, &t->device, &t->options, &t->space));
        if (n_points(t->space) <= MOST) return;
        sx_space_free(t->space);
    }
}

/* Whether a first-level tile divides the loop of a kernel. */
static bool divides(const trial *t, int loop, uint32_t t1) {
    for (size_t k = 0; k < t->n_kernels; k++)
        if (t->kernel[k].loop[loop].size % t1 == 0) return true;
    return false;
}

/* Whether a first-level tile is of the space. */
static bool is_tile(const trial *t, int loop, uint32_t t1) {
    bool lanes = loop == t->kernel[0].simd;
    if (t->options.tiles == SX_TILES_DIVISORS || (t->options.tiles == SX_TILES_PADDED && lanes))
        return divides(t, loop, t1);
    if (!lanes && t1 <= t->options.pad_to) return true;
    for (size_t k = 0; k < t->n_kernels; k++) {
        uint32_t n = t->kernel[k].loop[loop].size;
        if (t1 <= n) return true;
        for (uint32_t x = 1; x < n; x++)
            if ((n + x - 1) / x * x == t1) return true;
    }
    return false;
}

/* The value of a point; INFINITY where it is not legal. */
static double value_of(const trial *t, const sx_systolic_point *point) {
    sx_systolic_cost cost;
    if (sx_systolic_evaluate(t->space, point, -1, &cost) != SX_SYSTOLIC_FINE) return INFINITY;
    double macs = 0;
    for (size_t k = 0; k < t->n_kernels; k++) macs += t->kernel[k].macs * (double)t->kernel[k].count;
    double lanes = sx_device_usable_dsp(&t->device);
    const sx_score score = {.energy_pj = cost.energy,
                            .cycles = cost.latency,
                            .utilization = macs * t->device.element[0].dsp_per_mac / (cost.latency * lanes),
                            .last_level_accesses = cost.offchip_words};
    return sx_objective_value(&t->objective, &score);
}

/* Whether a given number of lanes may be. */
static bool may_be_lanes(const trial *t, uint32_t n) {
    return (n & (n - 1)) == 0 && n * t->device.element[0].bits <= 256;
}

/* Tries all tiles of the loops from one on. */
static void try_tiles(const trial *t, int loop, bool dividing, sx_systolic_point *point, least *out) {
    if (loop == t->kernel[0].n_loops) {
        double value = value_of(t, point);
        out->any = fmin(out->any, value);
        if (dividing) out->divisors = fmin(out->divisors, value);
        out->points += may_be_lanes(t, point->t2[t->kernel[0].simd]);
        return;
    }
    for (uint32_t t1 = 1; t1 <= MAX_TILE; t1++) {
        if (!is_tile(t, loop, t1)) continue;
        for (uint32_t t2 = 1; t2 <= t1; t2++) {
            if (t1 % t2) continue;
            point->t1[loop] = t1;
            point->t2[loop] = t2;
            try_tiles(t, loop + 1, dividing && divides(t, loop, t1), point, out);
        }
    }
}

/* Tries all points of a space. */
static least brute_force(const trial *t) {
    least out = {INFINITY, INFINITY, 0};
    size_t n = sx_systolic_n_designs(&t->kernel[0]);
    for (size_t i = 0; i < n; i++) {
        sx_systolic_point point = {.design = (uint32_t)i};
        if (!t->options.designs || i == t->design) try_tiles(t, 0, true, &point, &out);
    }
    return out;
}

/* Searches a space; *value becomes that of the best, INFINITY where there is none. */
static sx_run_summary search(const trial *t, const char *navigator, unsigned threads, double *value) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.objective = t->objective;
    options.threads = threads;
    sx_expect_ok(sx_run_new(t->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    *value = sx_run_best(run, 0, &found) ? found.value : INFINITY;
    sx_run_summary summary = sx_run_result(run);
    sx_run_free(run);
    return summary;
}

/* A complete search finds the best, and says so. */
static void expect_best(const trial *t, const char *navigator, unsigned threads, double best) {
    double value;
    sx_run_summary summary = search(t, navigator, threads, &value);
    if (value != best) complain(t, navigator, value, best);
    if (isfinite(best) && !summary.optimal) complain(t, "not proven", summary.lower_bound, best);
    if (summary.lower_bound > fmax(best, 0)) complain(t, "bound", summary.lower_bound, best);
}

static void brute_force_finds_nothing_better(void **state) {
    const settings *set = *state;
    uint64_t legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "systolic.exact", i);
        trial t;
        double value;
        draw_trial(&rng, i, &t);
        least best = brute_force(&t);
        legal += best.any < INFINITY;
        if ((double)best.points != n_points(t.space))
            complain(&t, "points", n_points(t.space), (double)best.points);
        expect_best(&t, "exhaustive", 1 + i % 2, best.any);
        expect_best(&t, "exact", 1 + i % 2, best.any);
        sx_run_summary summary = search(&t, "divisors", 1 + i % 2, &value);
        if (value != best.divisors) complain(&t, "divisors", value, best.divisors);
        bool provable = t.options.tiles == SX_TILES_DIVISORS && isfinite(best.any);
        if (summary.optimal != provable) complain(&t, "divisors proven", summary.optimal, provable);
        sx_space_free(t.space);
    }
    sx_expect_compared("spaces with legal designs", legal, set->count / 2);
}

/* The paper's algorithm, step by step. */
typedef struct paper {
    const trial *t;
    bool text, deaf;
    double share, best;
    uint64_t points;
    uint32_t design;
    int order[SX_MAX_SYSTOLIC_LOOPS], n;
    bool updated[SX_MAX_SYSTOLIC_LOOPS];
    uint32_t counter[SX_MAX_SYSTOLIC_LOOPS];
    uint32_t t1[SX_MAX_SYSTOLIC_LOOPS][MAX_TILE];
    size_t n_t1[SX_MAX_SYSTOLIC_LOOPS];
} paper;

/* Tries all new tiles of the levels from one on. */
static void try_new(paper *p, int level, sx_systolic_point *point) {
    if (level == p->n) {
        double value = value_of(p->t, point);
        p->points++;
        if (!(value < p->best)) return;
        p->best = value;
        for (int i = 0; i < p->n && !p->deaf; i++) p->updated[i] = true;
        return;
    }
    for (size_t i = 0; i < p->n_t1[level]; i++)
        for (uint32_t t2 = 1; t2 <= p->t1[level][i]; t2++) {
            if (p->t1[level][i] % t2) continue;
            point->t1[p->order[level]] = p->t1[level][i];
            point->t2[p->order[level]] = t2;
            try_new(p, level + 1, point);
        }
}

/* Whether a size is a padded one of a loop of n steps. */
static bool is_padded(uint32_t n, uint32_t size, bool pads) {
    if (size == n) return true;
    for (uint32_t x = 1; x < n && pads; x++)
        if ((n + x - 1) / x * x == size) return true;
    return false;
}

/* Runs over the padded sizes of a level and those within. */
static void run_level(paper *p, int level) {
    const trial *t = p->t;
    int loop = p->order[level];
    uint32_t n = t->kernel[0].loop[loop].size;
    bool seen[MAX_TILE + 1] = {false}, lanes = loop == t->kernel[0].simd;
    if (t->n_kernels > 1 && t->kernel[1].loop[loop].size > n) n = t->kernel[1].loop[loop].size;
    bool pads = t->options.tiles == SX_TILES_FULL || (t->options.tiles == SX_TILES_PADDED && !lanes);
    double threshold = ceil(p->share * sqrt(n));
    for (uint32_t size = n; size < 2 * n || size == n; size++) {
        if (!is_padded(n, size, pads)) continue;
        p->n_t1[level] = 0;
        for (uint32_t t1 = 1; t1 <= size; t1++) {
            if (size % t1 || seen[t1]) continue;
            seen[t1] = true;
            p->t1[level][p->n_t1[level]++] = t1;
        }
        p->updated[level] = false;
        sx_systolic_point point = {.design = p->design};
        if (level + 1 < p->n)
            run_level(p, level + 1);
        else
            try_new(p, 0, &point);
        p->counter[level] = p->updated[level] ? 0 : p->counter[level] + 1;
        if (p->text ? p->counter[level] <= threshold : p->counter[level] < threshold) continue;
        p->counter[level] = 0;
        return;
    }
}

/* Runs the algorithm for every design; the best of all is p->best. */
static void run_paper(paper *p) {
    const sx_systolic_kernel *kernel = &p->t->kernel[0];
    double best = INFINITY;
    if (kernel->sliding) p->order[p->n++] = kernel->simd;
    for (int d = 0; d < kernel->n_loops; d++)
        if (!kernel->sliding || d != kernel->simd) p->order[p->n++] = d;
    for (size_t i = 0; i < sx_systolic_n_designs(kernel); i++) {
        if (p->t->options.designs && i != p->t->design) continue;
        p->design = (uint32_t)i;
        p->best = INFINITY;
        memset(p->counter, 0, sizeof p->counter);
        run_level(p, 0);
        best = fmin(best, p->best);
    }
    p->best = best;
}

static void padding_is_the_algorithm_of_the_paper(void **state) {
    const settings *set = *state;
    uint64_t found = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "systolic.padding", i);
        trial t;
        char navigator[100];
        double value;
        draw_trial(&rng, i, &t);
        double share = sx_rng_below(&rng, 2) ? 0.5 : (double)sx_rng_below(&rng, 21) / 10;
        paper p = {.t = &t, .share = share, .text = sx_rng_below(&rng, 2)};
        p.deaf = !p.text && !t.kernel[0].sliding;
        run_paper(&p);
        snprintf(navigator, sizeof navigator, "padding:share=%.17g,stop=%s", share,
                 p.text ? "text" : "published");
        sx_run_summary summary = search(&t, navigator, 1 + i % 2, &value);
        if (value != p.best) complain(&t, navigator, value, p.best);
        found += isfinite(p.best) ? 1 : 0;
        if (summary.evaluations + summary.rejected != p.points)
            complain(&t, "points of padding", (double)(summary.evaluations + summary.rejected),
                     (double)p.points);
        if (summary.optimal) complain(&t, "padding proves nothing", 1, 0);
        sx_space_free(t.space);
    }
    sx_expect_compared("answers of padding", found, set->count / 4);
}

/* A case is a whole space: a tenth of the cases that others are asked for is enough. */
int main(int argc, char **argv) {
    settings set = {1000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 10 + 1;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(brute_force_finds_nothing_better, &set),
        cmocka_unit_test_prestate(padding_is_the_algorithm_of_the_paper, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
