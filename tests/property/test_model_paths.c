/* The short ways through the model against the long one, on problems of real size: test_model_paths [count
 * [seed]]. */
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/expect.h"
#include "support/random_legal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 16 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* One pair of a problem and an architecture, with mappings and what they cost in full. */
typedef struct trial {
    const char *problem, *arch;
    sx_model *model;
    sx_model_workspace *evaluator;
    size_t n;
    sx_mapping mapping[BATCH];
    sx_score full[BATCH];
    char why[512];
} trial;

static bool same(const sx_score *a, const sx_score *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static bool say(trial *t, const char *what, size_t i, const sx_score *found) {
    snprintf(t->why, sizeof t->why, "%s, mapping %zu: energy %.17g and %.17g, cycles %.17g and %.17g", what,
             i, t->full[i].energy_pj, found->energy_pj, t->full[i].cycles, found->cycles);
    return false;
}

/* The whole cost of every mapping, and the totals alone. */
static bool scores_agree(trial *t) {
    static sx_cost cost;
    for (size_t i = 0; i < t->n; i++) {
        sx_score score = {0};
        sx_verdict verdict = sx_evaluate(t->evaluator, &t->mapping[i], &cost);
        sx_verdict again = sx_evaluate_score(t->evaluator, &t->mapping[i], &score);
        if (sx_verdicts_differ(&verdict, &again, t->why, sizeof t->why)) return false;
        if (verdict.reason != SX_LEGAL) {
            t->full[i] = (sx_score){INFINITY, INFINITY, 0, INFINITY, INFINITY};
            continue;
        }
        t->full[i] = sx_cost_score(&cost);
        if (!same(&score, &t->full[i])) return say(t, "sx_evaluate_score", i, &score);
    }
    return true;
}

static bool batch_agrees(trial *t) {
    sx_score score[BATCH];
    sx_verdict verdict[BATCH];
    sx_evaluate_batch(t->evaluator, t->mapping, t->n, score, verdict);
    for (size_t i = 0; i < t->n; i++)
        if (!same(&score[i], &t->full[i])) return say(t, "sx_evaluate_batch", i, &score[i]);
    return true;
}

/* A bound is exceeded exactly where the objective is above it. */
static bool bounds_agree(trial *t, sx_rng *rng) {
    static const char *const names[] = {"edp", "energy", "delay", "e^2*d"};
    for (size_t i = 0; i < t->n; i++) {
        sx_objective objective;
        sx_score score = {0};
        if (isinf(t->full[i].energy_pj)) continue;
        sx_expect_ok(sx_objective_parse(names[sx_rng_below(rng, 4)], &objective));
        double value = sx_objective_value(&objective, &t->full[i]);
        const double bounds[] = {
            value,        nextafter(value, 0), nextafter(value, INFINITY), value * (0.5 + sx_rng_double(rng)),
            value * 1e-3, value * 1e3};
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
            sx_verdict found =
                sx_evaluate_within(t->evaluator, &t->mapping[i], &objective, bounds[k], &score);
            bool beyond = value > bounds[k];
            if (found.reason != (beyond ? SX_BOUND_EXCEEDED : SX_LEGAL)) {
                snprintf(t->why, sizeof t->why, "mapping %zu: value %.17g, bound %.17g: %s", i, value,
                         bounds[k], sx_reason_name(found.reason));
                return false;
            }
            if (!beyond && !same(&score, &t->full[i])) return say(t, "sx_evaluate_within", i, &score);
        }
    }
    return true;
}

/* Draws mappings for one pair and compares. */
static void run_trial(const settings *set, uint64_t index, unsigned flags, const char *name, trial *t) {
    sx_rng rng = sx_rng_stream(set->seed, name, index);
    t->n = 0;
    for (int i = 0; i < BATCH; i++) t->n += sx_random_legal(&rng, t->model, flags, &t->mapping[t->n]);
    if (scores_agree(t) && batch_agrees(t) && bounds_agree(t, &rng)) return;
    print_error("%s on %s, %s, seed %llu, trial %llu: %s\n", t->problem, t->arch, name,
                (unsigned long long)set->seed, (unsigned long long)index, t->why);
    fail();
}

/* Goes through all pairs of a list of problems and the catalog's architectures until there were enough
 * mappings. */
static void run_pairs(const settings *set, const char *(*problem)(size_t), unsigned flags, const char *name,
                      uint64_t count) {
    trial *t = malloc(sizeof *t);
    assert_non_null(t);
    uint64_t done = 0, index = 0, compared = 0;
    while (done < count)
        for (size_t p = 0; done < count && (t->problem = problem(p)); p++)
            for (size_t a = 0; done < count && (t->arch = sx_catalog_arch_name(a, NULL)); a++) {
                sx_catalog_model(t->problem, t->arch, &t->model, &t->evaluator);
                run_trial(set, index++, flags, name, t);
                done += t->n ? t->n : 1;
                compared += t->n;
                sx_model_workspace_free(t->evaluator);
                sx_model_free(t->model);
            }
    sx_expect_compared(name, compared, count / 2);
    free(t);
}

static const char *of_catalog(size_t index) {
    return sx_catalog_problem_name(index, NULL);
}

/* Problems small enough for the long way to be walked with remainders. */
static const char *small(size_t index) {
    static const char *const problems[] = {
        "Outputs[m,n] += Weights[m,k] * Inputs[k,n] {m:60,n:35,k:47}",
        "A[i,j] += B[i,k,l] * C[k,j] * D[l,j] {i:13,j:20,k:17,l:12}",
        "Outputs[k,q,p] += Weights[c,k,r,s] * Inputs[c,r+p,s+q] {r:3,s:3,p:13,q:7,c:10,k:12}",
        "Outputs[k,p] += Weights[c,k,r] * Inputs[c,2*p+3*r] {r:5,p:27,c:9,k:14}",
        "Outputs[k,p,q] += Weights[k,c] * Inputs[c,2*p,3*q] {k:12,c:10,p:13,q:7}",
        "A[i,j] += B[4*i,k] * C[k,2*j] {i:23,j:20,k:17}",
    };
    return index < sizeof problems / sizeof *problems ? problems[index] : NULL;
}

static void divisors(void **state) {
    const settings *set = *state;
    run_pairs(set, of_catalog, 0, "divisors", set->count);
}

static void directives(void **state) {
    const settings *set = *state;
    run_pairs(set, of_catalog, SX_LEGAL_DIRECTIVES, "directives", set->count);
}

static void remainders(void **state) {
    const settings *set = *state;
    run_pairs(set, small, SX_LEGAL_REMAINDERS, "remainders", set->count / 20);
    run_pairs(set, small, SX_LEGAL_REMAINDERS | SX_LEGAL_DIRECTIVES, "remainders, directives",
              set->count / 20);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(divisors, &set),
        cmocka_unit_test_prestate(directives, &set),
        cmocka_unit_test_prestate(remainders, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
