/* One mapping for several densities, against models of each density: the score of every construction of small
 * spaces, and the answers and bounds of `optimal`: test_densities [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"

#include "model/model.h"
#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A small space whose model is of a range. */
typedef struct ranged {
    sx_small_space small;
    sx_objective objective;
    sx_density_range range;
    sx_model *model;
    sx_space *space;
    sx_model *at[SX_MAX_DENSITIES];
    sx_model_workspace *evaluator[SX_MAX_DENSITIES];
} ranged;

/* Draws a range of one of the inputs, or of two. */
static void draw_range(sx_rng *rng, const sx_problem *problem, sx_density_range *out) {
    static const double share[] = {1, 0.8, 0.5, 0.2, 0.1, 0.05};
    *out = (sx_density_range){.n = (uint8_t)sx_rng_range(rng, 1, 4)};
    size_t at = sx_rng_below(rng, 3);
    for (int v = 0; v < problem->n_tensors && out->n_tensors < 2; v++) {
        if (problem->tensor[v].output || sx_rng_below(rng, 3) == 0) continue;
        struct sx_range_tensor *t = &out->tensor[out->n_tensors++];
        strcpy(t->name, problem->tensor[v].name);
        t->model = (uint8_t)(1 + sx_rng_below(rng, 2));
        for (int i = 0; i < out->n; i++) t->share[i] = share[(at + (size_t)i) % 6 > at ? at + (size_t)i : at];
    }
    for (int i = 0; i < out->n; i++) out->weight[i] = 0.25 * (double)sx_rng_range(rng, 1, 8);
}

static void make(sx_rng *rng, ranged *r) {
    static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d", "ed2p"};
    sx_random_sparse_space(rng, 300, &r->small);
    sx_narrow_port(rng, &r->small.c.arch);
    draw_range(rng, &r->small.c.problem, &r->range);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 5)], &r->objective));
    sx_expect_ok(sx_density_range_aim(&r->range, &r->objective));
    sx_model_options options = r->small.c.options;
    options.densities = r->range;
    sx_expect_ok(sx_model_new(&r->small.c.problem, &r->small.c.arch, &options, &r->model));
    sx_expect_ok(sx_map_space_new(r->model, &r->small.limits, &r->small.options, &r->space));
    for (int i = 0; i < r->range.n; i++) {
        sx_problem problem = r->small.c.problem;
        sx_expect_ok(sx_density_range_apply(&r->range, i, &problem));
        sx_expect_ok(sx_model_new(&problem, &r->small.c.arch, &r->small.c.options, &r->at[i]));
        sx_expect_ok(sx_model_workspace_new(r->at[i], &r->evaluator[i]));
    }
}

static void unmake(ranged *r) {
    for (int i = 0; i < r->range.n; i++) {
        sx_model_workspace_free(r->evaluator[i]);
        sx_model_free(r->at[i]);
    }
    sx_space_free(r->space);
    sx_model_free(r->model);
    sx_small_space_fini(&r->small);
}

/* The weighted sum of the objective over all densities; INFINITY where one of them is illegal. */
static double value_of(ranged *r, const sx_mapping *mapping) {
    double sum = 0;
    for (int i = 0; i < r->range.n; i++) {
        sx_score score;
        if (sx_evaluate_score(r->evaluator[i], mapping, &score).reason != SX_LEGAL) return INFINITY;
        sum += r->range.weight[i] * sx_objective_value(&r->objective, &score);
    }
    return sum;
}

/* Compares the score of every construction with the sum; returns the least. */
static double try_all(ranged *r) {
    size_t size = sx_space_point_size(r->space);
    void *point = malloc(size);
    sx_model_workspace *evaluator;
    double least = INFINITY;
    sx_expect_ok(sx_model_workspace_new(r->model, &evaluator));
    for (uint64_t i = 0;; i++) {
        sx_cardinal index = {.low = i, .exact = true};
        if (!sx_space_at(r->space, &index, point)) break;
        sx_mapping mapping;
        sx_map_space_mapping(r->space, point, &mapping);
        bool legal = sx_space_legal(r->space, point, NULL, 0);
        double value = value_of(r, &mapping);
        sx_score score;
        sx_verdict verdict = sx_evaluate_score(evaluator, &mapping, &score);
        assert_int_equal(verdict.reason == SX_LEGAL, value < INFINITY);
        if (value < INFINITY) {
            double found = sx_objective_value(&r->objective, &score);
            if (!(fabs(found - value) <= 1e-12 * value)) print_error("%.17g is not %.17g\n", found, value);
            assert_true(fabs(found - value) <= 1e-12 * value);
            if (legal && i % 16 == 0 && !r->small.options.remainders)
                sx_expect_outline_bounds(r->model, &mapping, &r->objective, value);
        }
        if (legal) least = fmin(least, value);
    }
    sx_model_workspace_free(evaluator);
    free(point);
    return least;
}

/* `optimal` finds the least, and its bounds hold when it ends early. */
static void try_optimal(ranged *r, double least, uint64_t evaluations) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.objective = r->objective;
    options.evaluations = evaluations;
    sx_expect_ok(sx_run_new(r->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "optimal:sunstone=0,gamma=0"));
    sx_run_summary summary = sx_run_result(run);
    if (least < INFINITY && summary.lower_bound > least * (1 + 4e-12)) {
        char *text = sx_small_space_text(&r->small);
        print_error("a bound of %.17g, but there is %.17g\n%s\n", summary.lower_bound, least, text);
        free(text);
        fail();
    }
    if (evaluations == 0) {
        assert_int_equal(sx_run_best(run, 0, &found), least < INFINITY);
        if (least < INFINITY) assert_true(summary.optimal && fabs(found.value - least) <= 4e-12 * least);
    }
    sx_run_free(run);
}

/* Energies and cycles have no bounds of their own, so that no front is proven. */
static void expect_no_front(const ranged *r) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.objective = r->objective;
    options.pareto = true;
    sx_expect_ok(sx_run_new(r->space, NULL, &options, &run));
    sx_status status = sx_run_search(run, "optimal:sunstone=0,gamma=0");
    assert_true(status && status->code == SX_ERR_LIMIT && !sx_run_result(run).optimal);
    sx_status_free(status);
    sx_run_free(run);
}

static void sums_over_densities_are_searched(void **state) {
    const settings *set = *state;
    uint64_t legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "densities", i);
        ranged r = {0};
        make(&rng, &r);
        double least = try_all(&r);
        try_optimal(&r, least, 0);
        try_optimal(&r, least, 1 + sx_rng_below(&rng, 30));
        if (i < 4) expect_no_front(&r);
        legal += least < INFINITY;
        unmake(&r);
    }
    sx_expect_compared("spaces with legal mappings", legal, set->count / 4);
}

int main(int argc, char **argv) {
    settings set = {40, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 50 + 1;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(sums_over_densities_are_searched, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
