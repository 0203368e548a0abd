/* The mapper `optimal` against brute force over every construction of small spaces: the best, several best,
 * fronts, several criteria, gaps, early ends, threads, with factors that divide and with others: test_optimal
 * [count [seed [sparse spaces [first [spaces with remainders]]]]]. The sparse spaces and those with remainders from number
 * `first` on: parts for several processes. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/expect_witness.h"
#include "support/optima.h"

#include "mappers/optimal/proof.h"
#include "mappers/optimal/witness.h"
#include "model/model.h"
#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 2000 };

typedef struct settings {
    uint64_t count, seed, sparse, first, remainders;
} settings;

static const double SLACK = 4e-12;

/* How it is asked; the last ones may give less than the best. */
static const char *const mappers[] = {
    "optimal", "optimal:sunstone=0,gamma=0", "optimal:sunstone=0,gamma=0,descents=0",
    "optimal:sunstone=0,gamma=0,tables=off", "optimal:sunstone=0,gamma=0,descents=1,moves=5"};
enum { N_MAPPERS = sizeof mappers / sizeof *mappers };

static const char *const objectives[] = {"edp",
                                         "energy",
                                         "delay",
                                         "ed2p",
                                         "e^2*d",
                                         "utilization",
                                         "last-level",
                                         "delay,energy",
                                         "energy,delay",
                                         "utilization,edp",
                                         "last-level,energy",
                                         "edp,delay,energy"};
enum { N_OBJECTIVES = sizeof objectives / sizeof *objectives };

/* Small spaces have few values that are nearly equal: large tolerances make more of them. */
static const double tolerances[] = {0.001, 0.05, 0.3};

/* Every legal mapping of a space that is told apart. */
typedef struct crowd {
    const sx_small_space *small;
    uint64_t number;
    size_t n, size;
    unsigned char *point; /* sorted */
    sx_score *score;
} crowd;

/* Fails with a description of the space. */
static void complain(const crowd *c, const char *what, double found, double expected) {
    char *text = sx_small_space_text(c->small);
    print_error("case %llu: %s: found %.17g, but there is %.17g\n%s\n", (unsigned long long)c->number, what,
                found, expected, text);
    free(text);
    fail();
}

static void expect_near(const crowd *c, const char *what, double found, double expected) {
    if (found == expected || fabs(found - expected) <= fabs(expected) * SLACK) return;
    complain(c, what, found, expected);
}

/* Whether a point is there already; otherwise where it belongs. */
static bool find(const crowd *c, const void *point, size_t *at) {
    size_t low = 0, high = c->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(c->point + middle * c->size, point, c->size);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return false;
}

/* The score of a legal point. */
static sx_score score_of(sx_scorer *scorer, const void *point) {
    sx_outcome outcome;
    sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
    assert_int_equal(outcome.reason, 0);
    return sx_metrics_score(&outcome.metrics);
}

/* Visits at every construction. */
static void gather(const sx_small_space *small, uint64_t number, crowd *c) {
    const sx_space *space = small->space;
    size_t size = sx_space_point_size(space), at = 0;
    sx_map_choices *choices;
    void *point = malloc(size);
    sx_scorer *scorer;
    const sx_objective edp = {.n_criteria = 1, .criterion = {{SX_PRODUCT, 1, 1}}};
    *c = (crowd){.small = small, .number = number, .size = size};
    c->point = malloc((small->n + 1) * size);
    c->score = malloc((small->n + 1) * sizeof *c->score);
    sx_expect_ok(sx_map_choices_new(small->map, &choices));
    sx_expect_ok(sx_scorer_new(space, NULL, &edp, &scorer));
    for (uint64_t i = 0; i < small->n; i++) {
        sx_cardinal index = {.low = i, .exact = true};
        sx_status failure = SX_OK;
        assert_true(sx_space_at(space, &index, point));
        if (!sx_space_legal(space, point, NULL, 0)) continue;
        sx_score score = score_of(scorer, point);
        assert_true(sx_point_canonical(small->map, choices, point, &failure));
        if (find(c, point, &at)) continue;
        sx_score normal = score_of(scorer, point);
        if (memcmp(&score, &normal, sizeof score) != 0)
            complain(c, "cost of what stands for it", normal.energy_pj, score.energy_pj);
        memmove(c->point + (at + 1) * size, c->point + at * size, (c->n - at) * size);
        memmove(c->score + at + 1, c->score + at, (c->n - at) * sizeof score);
        memcpy(c->point + at * size, point, size);
        c->score[at] = score;
        c->n++;
    }
    sx_scorer_free(scorer);
    sx_map_choices_free(choices);
    free(point);
}

static void disperse(crowd *c) {
    free(c->point);
    free(c->score);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What is asked of a search. */
typedef struct question {
    const char *mapper;
    sx_run_options options;
} question;

static sx_run *search(const crowd *c, const question *q) {
    sx_run *run;
    sx_expect_ok(sx_run_new(c->small->space, NULL, &q->options, &run));
    sx_expect_ok(sx_run_search(run, q->mapper));
    return run;
}

/* Compares the best, or all criteria, with brute force. */
static void expect_best(const crowd *c, const question *q, const sx_run *run) {
    const sx_objective *o = &q->options.objective;
    sx_run_summary summary = sx_run_result(run);
    double least[SX_MAX_CRITERIA];
    sx_found found;
    assert_int_equal(summary.stop, SX_STOP_DONE);
    if (!sx_run_best(run, 0, &found)) {
        assert_int_equal(c->n, 0);
        assert_false(summary.optimal);
        return;
    }
    assert_true(sx_space_legal(c->small->space, found.point, NULL, 0));
    sx_find_optima(c->score, c->n, o, least);
    if (!summary.optimal && (o->n_criteria == 1 || q->options.k_best <= 1)) complain(c, "no proof", 0, 1);
    if (o->n_criteria == 1 && least[0] > 0 && summary.lower_bound != found.value)
        complain(c, "lower bound", summary.lower_bound, found.value);
    if (summary.lower_bound > fmax(least[0], 0) * (1 + SLACK))
        complain(c, "lower bound above the optimum", summary.lower_bound, least[0]);
    if (o->n_criteria > 1 && q->options.k_best > 1) return;
    int last = o->n_criteria - 1;
    const sx_score score = sx_metrics_score(&found.metrics);
    expect_near(c, q->mapper, sx_criterion_value(&o->criterion[last], &score), least[last]);
    for (int k = 0; k < last; k++) {
        double value = sx_criterion_value(&o->criterion[k], &score);
        if (fabs(value - least[k]) > (o->tolerance + 1e-9) * fmax(fabs(value), fabs(least[k])))
            complain(c, "an earlier criterion", value, least[k]);
    }
}

/* Compares the list of the best with brute force. */
static void expect_list(const crowd *c, const question *q, const sx_run *run) {
    const sx_objective *o = &q->options.objective;
    if (o->n_criteria > 1) return;
    double *value = malloc((c->n + 1) * sizeof *value);
    sx_found found;
    size_t k = q->options.k_best, n = 0;
    for (size_t i = 0; i < c->n; i++) value[i] = sx_objective_value(o, &c->score[i]);
    qsort(value, c->n, sizeof *value, compare_doubles);
    for (; sx_run_best(run, n, &found); n++) {
        size_t at;
        if (n >= c->n) complain(c, "more than there are", (double)n, (double)c->n);
        if (k > 1 && !find(c, found.point, &at)) complain(c, "a mapping that is none", found.value, 0);
        expect_near(c, "one of the best", found.value, value[n]);
    }
    if (n != (c->n < k ? c->n : k)) complain(c, "number of best", (double)n, (double)c->n);
    free(value);
}

/* Whether a mapping is on the front: none has less of one and no more of the other. */
static bool on_front(const crowd *c, size_t i) {
    for (size_t j = 0; j < c->n; j++) {
        const sx_score *a = &c->score[i], *b = &c->score[j];
        if (b->energy_pj <= a->energy_pj && b->cycles <= a->cycles &&
            (b->energy_pj < a->energy_pj || b->cycles < a->cycles))
            return false;
    }
    return true;
}

/* Compares the front with brute force: each has the other's members, to within rounding. */
static void expect_front(const crowd *c, const sx_run *run) {
    sx_found found;
    for (size_t i = 0; i < c->n; i++) {
        bool there = false;
        if (!on_front(c, i)) continue;
        for (size_t k = 0; sx_run_front(run, k, &found); k++)
            there |= found.metrics.value[0] <= c->score[i].energy_pj * (1 + SLACK) &&
                     found.metrics.value[1] <= c->score[i].cycles * (1 + SLACK);
        if (!there) complain(c, "missing on the front", 0, c->score[i].energy_pj);
    }
    for (size_t k = 0; sx_run_front(run, k, &found); k++)
        for (size_t i = 0; i < c->n; i++)
            if (c->score[i].energy_pj < found.metrics.value[0] * (1 - SLACK) &&
                c->score[i].cycles < found.metrics.value[1] * (1 - SLACK))
                complain(c, "wrongly on the front", found.metrics.value[0], c->score[i].energy_pj);
}

/* Fails where two searches differ. */
static void expect_equal(const crowd *c, const sx_run *a, const sx_run *b) {
    sx_run_summary x = sx_run_result(a), y = sx_run_result(b);
    sx_found f, g;
    bool same = x.evaluations == y.evaluations && x.rejected == y.rejected &&
                x.lower_bound == y.lower_bound && x.optimal == y.optimal;
    for (size_t i = 0; same && sx_run_best(a, i, &f); i++)
        same =
            sx_run_best(b, i, &g) && memcmp(f.point, g.point, c->size) == 0 && f.evaluation == g.evaluation;
    for (size_t i = 0; same && sx_run_front(a, i, &f); i++)
        same = sx_run_front(b, i, &g) && memcmp(f.point, g.point, c->size) == 0;
    if (!same) complain(c, "other threads, other results", (double)x.evaluations, (double)y.evaluations);
}

/* Draws a question about everything. */
static question ask(sx_rng *rng) {
    question q = {.mapper = mappers[sx_rng_below(rng, N_MAPPERS)]};
    sx_run_options_init(&q.options);
    q.options.seed = sx_rng_below(rng, 1000);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, N_OBJECTIVES)], &q.options.objective));
    q.options.objective.tolerance = tolerances[sx_rng_below(rng, 3)];
    q.options.k_best = sx_rng_below(rng, 3) ? 1 : (unsigned)sx_rng_range(rng, 2, 40);
    q.options.pareto = sx_rng_below(rng, 3) == 0;
    return q;
}

/* Searches to the end, now and then on several threads too. */
static void try_to_the_end(const crowd *c, sx_rng *rng) {
    question q = ask(rng);
    sx_run *run = search(c, &q);
    expect_best(c, &q, run);
    expect_list(c, &q, run);
    if (q.options.pareto) expect_front(c, run);
    if (sx_rng_below(rng, 4) == 0) {
        q.options.threads = 3;
        sx_run *again = search(c, &q);
        expect_equal(c, run, again);
        sx_run_free(again);
    }
    sx_run_free(run);
}

/* Searches with a gap: its promise is kept. */
static void try_gap(const crowd *c, sx_rng *rng) {
    static const char *const gapped[] = {"optimal:gap=0.01", "optimal:gap=0.1,sunstone=0,gamma=0",
                                         "optimal:gap=0.5,sunstone=0,gamma=0"};
    static const double gap[] = {0.01, 0.1, 0.5};
    question q = ask(rng);
    double least[SX_MAX_CRITERIA];
    sx_found found;
    size_t which = sx_rng_below(rng, 3);
    q.mapper = gapped[which];
    q.options.k_best = 1;
    q.options.objective.n_criteria = 1;
    sx_run *run = search(c, &q);
    sx_run_summary summary = sx_run_result(run);
    if (sx_run_best(run, 0, &found)) {
        sx_find_optima(c->score, c->n, &q.options.objective, least);
        assert_false(summary.optimal);
        if (found.value - least[0] > gap[which] * fabs(least[0]) + fabs(least[0]) * SLACK)
            complain(c, "beyond the gap", found.value, least[0]);
        if (summary.lower_bound > fmax(least[0], 0) * (1 + SLACK))
            complain(c, "bound of a gap", summary.lower_bound, least[0]);
        if (least[0] > 0 && summary.lower_bound > 0 &&
            found.value > summary.lower_bound * (1 + gap[which]) * (1 + 1e-9))
            complain(c, "gap that is stated", found.value, summary.lower_bound);
    }
    sx_run_free(run);
}

/* Ends a search early: bounds stay below the optimum, and nothing is claimed. */
static void try_early_end(const crowd *c, sx_rng *rng) {
    question q = ask(rng);
    double least[SX_MAX_CRITERIA];
    sx_found found;
    q.options.evaluations = 1 + sx_rng_below(rng, 60);
    sx_run *run = search(c, &q);
    sx_run_summary summary = sx_run_result(run);
    sx_find_optima(c->score, c->n, &q.options.objective, least);
    if (summary.evaluations > q.options.evaluations) complain(c, "budget", (double)summary.evaluations, 0);
    if (c->n > 0 && summary.lower_bound > fmax(least[0], 0) * (1 + SLACK))
        complain(c, "bound of an early end", summary.lower_bound, least[0]);
    if (summary.optimal) {
        assert_true(sx_run_best(run, 0, &found));
        int last = q.options.objective.n_criteria - 1;
        const sx_score score = sx_metrics_score(&found.metrics);
        expect_near(c, "claim of an early end",
                    sx_criterion_value(&q.options.objective.criterion[last], &score), least[last]);
    }
    sx_run_free(run);
}

/* Searches where not all ways to spread loops that leave remainders can be listed: bounds hold for these too.
 */
static void try_unlisted(const crowd *c, sx_rng *rng) {
    char mapper[64];
    double least[SX_MAX_CRITERIA];
    question q = ask(rng);
    sx_run *run;
    snprintf(mapper, sizeof mapper, "optimal:arrays=%d", (int)sx_rng_range(rng, 1, 12));
    sx_expect_ok(sx_run_new(c->small->space, NULL, &q.options, &run));
    sx_status status = sx_run_search(run, mapper);
    if (status) assert_int_equal(status->code, SX_ERR_LIMIT);
    sx_status_free(status);
    sx_run_summary summary = sx_run_result(run);
    sx_find_optima(c->score, c->n, &q.options.objective, least);
    if (c->n > 0 && summary.lower_bound > fmax(least[0], 0) * (1 + SLACK))
        complain(c, "bound of what is not listed", summary.lower_bound, least[0]);
    if (summary.optimal) expect_best(c, &q, run);
    sx_run_free(run);
}

/* The mapper `exhaustive` finds the same, also where orders decide what is legal. */
static void try_exhaustive(const crowd *c, sx_rng *rng) {
    question q = ask(rng);
    q.mapper = "exhaustive";
    q.options.objective.n_criteria = 1;
    q.options.k_best = 1;
    q.options.pareto = false;
    sx_run *run = search(c, &q);
    expect_best(c, &q, run);
    sx_run_free(run);
}

/* Compares searches of one space with brute force, and what they pass over with what stands for it; returns whether it
 * has legal mappings. */
static bool compare_space(sx_small_space *small, uint64_t number, sx_rng *rng, sx_witness_tally *tally) {
    crowd c;
    sx_expect_witnesses(small, number, 0, rng, tally);
    gather(small, number, &c);
    bool legal = c.n > 0;
    for (int k = 0; k < 3; k++) try_to_the_end(&c, rng);
    try_gap(&c, rng);
    try_early_end(&c, rng);
    if (small->model->sparse) try_exhaustive(&c, rng);
    if (small->options.remainders) try_unlisted(&c, rng);
    disperse(&c);
    sx_small_space_fini(small);
    return legal;
}

static void brute_force_finds_nothing_else(void **state) {
    const settings *set = *state;
    sx_witness_tally tally = {0};
    uint64_t legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "optimal", i);
        sx_small_space small;
        if (i % 2)
            sx_random_space(&rng, MOST, &small);
        else
            sx_random_space_of(&rng, (sx_space_kind)(i / 2 % SX_N_KINDS), MOST, &small);
        legal += compare_space(&small, i, &rng, &tally);
    }
    sx_expect_compared("spaces with legal mappings", legal, set->count / 2);
    for (int kind = 0; kind < SX_N_KINDS; kind++)
        sx_expect_compared(sx_space_kind_name((sx_space_kind)kind), tally.spaces[kind],
                           set->count / 2 / SX_N_KINDS);
}

/* The same where zeros count: bounds are scaled, orders decide ranks, formats change what fits. */
static void nor_with_sparse_tensors(void **state) {
    const settings *set = *state;
    sx_witness_tally tally = {0};
    uint64_t legal = 0, count = set->sparse;
    for (uint64_t i = 0; i < count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "optimal.sparse", set->first + i);
        if (i > 0 && i % 100 == 0)
            print_message("%llu of %llu sparse spaces\n", (unsigned long long)i, (unsigned long long)count);
        sx_small_space small;
        sx_random_sparse_space(&rng, MOST / 4, &small);
        legal += compare_space(&small, set->first + i, &rng, &tally);
    }
    sx_expect_compared("sparse spaces with legal mappings", legal, count / 3);
}

/* Draws a space with remainders: of tensors without windows, whose bounds are nearly the cost, so that little is left to
 * evaluate; with windows that units share; and of any kind. */
static void draw_with_remainders(sx_rng *rng, uint64_t number, sx_small_space *out) {
    if (number % 4 == 2)
        sx_random_shared_window(rng, MOST, out);
    else if (number % 4 == 3)
        sx_random_space_of(rng, SX_KIND_REMAINDERS, MOST, out);
    else
        sx_random_plain_space(rng, 10 * MOST, out);
}

/* The same where factors leave remainders. */
static void nor_with_remainders(void **state) {
    const settings *set = *state;
    sx_witness_tally tally = {0};
    uint64_t legal = 0;
    for (uint64_t i = set->first; i < set->first + set->remainders; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "optimal.remainders", i);
        sx_small_space small;
        draw_with_remainders(&rng, i, &small);
        assert_true(small.options.remainders);
        legal += compare_space(&small, i, &rng, &tally);
    }
    sx_expect_compared("spaces with remainders that have legal mappings", legal, set->remainders / 2);
}

/* Blocks of memory of which a level fetches less where a factor is the larger of two that make as many tiles. */
static void nor_with_larger_factors(void **state) {
    sx_witness_tally tally = {0};
    sx_small_space small;
    sx_rng rng = sx_rng_stream(2, "optimal.remainders", 1452);
    (void)state;
    draw_with_remainders(&rng, 1452, &small);
    assert_true(compare_space(&small, 1452, &rng, &tally));
}

/* A case is many searches: a fiftieth of the cases that others are asked for is enough. */
int main(int argc, char **argv) {
    settings set = {100, 1, 0, 0, 0};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 50 + 1;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    if (argc > 4) set.first = strtoull(argv[4], NULL, 10);
    set.remainders = argc > 5 ? strtoull(argv[5], NULL, 10) : set.count / 4;
    set.sparse = argc > 3 ? strtoull(argv[3], NULL, 10) : set.count / 3 + 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(brute_force_finds_nothing_else, &set),
        cmocka_unit_test_prestate(nor_with_sparse_tensors, &set),
        cmocka_unit_test_prestate(nor_with_remainders, &set),
        cmocka_unit_test(nor_with_larger_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
