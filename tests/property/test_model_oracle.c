/* The evaluator against the oracle, on random cases: test_model_oracle [count [seed]]. */
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/random_case.h"
#include "support/sampled_oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* One case on its way through the checks. */
typedef struct trial {
    sx_case c;
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_verdict verdict; /* of sx_evaluate */
    uint64_t compared;  /* costs with the oracle's */
    uint64_t sampled;   /* totals with those of a sampled execution */
    sx_cost cost;       /* where legal */
    char why[1024];
} trial;

static bool say(trial *t, const char *why) {
    snprintf(t->why, sizeof t->why, "%s", why);
    return false;
}

static bool same_score(const sx_score *a, const sx_score *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* Whether neighbours under several parents hand words on, which Timeloop counts in its own way (docs/model.md). */
static bool hands_on_apart(const sx_cost *cost) {
    for (int s = 1; s < cost->n_levels; s++)
        for (int v = 0; v < cost->n_tensors; v++)
            if (cost->network[s].tensor[v].link_transfers > 0 && cost->level[s].instances > 1) return true;
    return false;
}

/* Whether a rank of an output is a sum or has a stride: its partition is counted in Timeloop's way. */
static bool output_has_windows(const sx_problem *problem) {
    sx_problem outputs = *problem;
    outputs.n_tensors = 0;
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].output) outputs.tensor[outputs.n_tensors++] = problem->tensor[v];
    return !sx_case_plain(&outputs);
}

/* With windows the evaluator follows Timeloop's sampled analysis where all factors divide (docs/model.md, section 8): the
 * totals are those of an execution that samples likewise. */
static bool agrees_with_sampling(trial *t) {
    static sx_cost executed, sampled;
    if (output_has_windows(&t->c.problem)) return true;
    sx_count_sampled(&t->c.problem, &t->c.arch, &t->c.mapping, &t->c.options, &executed, &sampled);
    if (hands_on_apart(&sampled) || hands_on_apart(&t->cost)) return true;
    t->sampled++;
    const sx_score a = sx_cost_score(&t->cost), b = sx_cost_score(&sampled);
    if (fabs(a.energy_pj - b.energy_pj) <= 1e-12 * b.energy_pj && a.cycles == b.cycles) return true;
    snprintf(t->why, sizeof t->why, "%.17g pJ and %.17g cycles, %.17g and %.17g by sampled execution",
             a.energy_pj, a.cycles, b.energy_pj, b.cycles);
    return false;
}

static bool agrees_with_oracle(trial *t) {
    sx_cost truth;
    sx_verdict verdict;
    sx_status status = sx_simulate(&t->c.problem, &t->c.arch, &t->c.mapping, &t->c.options, (uint64_t)1 << 30,
                                   &verdict, &truth);
    if (status) {
        snprintf(t->why, sizeof t->why, "sx_simulate: %s", status->message);
        sx_status_free(status);
        return false;
    }
    if (sx_verdicts_differ(&t->verdict, &verdict, t->why, sizeof t->why)) return false;
    if (verdict.reason != SX_LEGAL) return true;
    if (truth.perfect && !sx_case_plain(&t->c.problem)) return agrees_with_sampling(t);
    if (truth.perfect && hands_on_apart(&truth)) return true;
    t->compared++;
    return !sx_costs_differ(&t->cost, &truth, 1e-12, t->why, sizeof t->why);
}

static bool check_agrees(trial *t) {
    sx_verdict verdict = sx_check(t->model, &t->c.mapping);
    return !sx_verdicts_differ(&t->verdict, &verdict, t->why, sizeof t->why);
}

static bool score_agrees(trial *t) {
    sx_score score, full = sx_cost_score(&t->cost);
    sx_verdict verdict = sx_evaluate_score(t->evaluator, &t->c.mapping, &score);
    if (sx_verdicts_differ(&t->verdict, &verdict, t->why, sizeof t->why)) return false;
    if (verdict.reason != SX_LEGAL || same_score(&score, &full)) return true;
    return say(t, "sx_evaluate_score gives other totals");
}

/* The mapping itself, its canonical form and the trivial one, together and one by one. */
static bool batch_agrees(trial *t) {
    sx_mapping mapping[3] = {t->c.mapping, t->c.mapping};
    sx_score score[3];
    sx_verdict verdict[3];
    if (t->verdict.reason != SX_BAD_SHAPE) sx_mapping_canonical(&mapping[1]);
    sx_mapping_init(&mapping[2], &t->c.problem, &t->c.arch);
    sx_evaluate_batch(t->evaluator, mapping, 3, score, verdict);
    for (int i = 0; i < 3; i++) {
        sx_score alone;
        sx_verdict found = sx_evaluate_score(t->evaluator, &mapping[i], &alone);
        if (sx_verdicts_differ(&found, &verdict[i], t->why, sizeof t->why)) return false;
        if (i == 1 && sx_verdicts_differ(&t->verdict, &found, t->why, sizeof t->why)) return false;
        if (found.reason != SX_LEGAL) {
            if (!isinf(score[i].energy_pj) || !isinf(score[i].cycles))
                return say(t, "sx_evaluate_batch scores an illegal mapping");
            continue;
        }
        if (!same_score(&alone, &score[i])) return say(t, "sx_evaluate_batch gives other totals");
        if (i == 1 && !same_score(&score[0], &score[1]))
            return say(t, "the canonical mapping has other totals");
    }
    return true;
}

/* A cost at its bound is never given up, and one that is not given up is the true one. */
static bool bound_agrees(trial *t) {
    static const char *const names[] = {"edp", "energy", "delay", "e^2*d", "last-level", "utilization"};
    static const double slack[] = {0, 1e-9, 0.5, -1e-9, -0.1, -0.5};
    sx_score full = sx_cost_score(&t->cost);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof slack / sizeof *slack; k++) {
            sx_objective objective;
            sx_score score;
            assert_null(sx_objective_parse(names[i], &objective));
            double value = sx_objective_value(&objective, &full), bound = value + slack[k] * fabs(value);
            sx_verdict found = sx_evaluate_within(t->evaluator, &t->c.mapping, &objective, bound, &score);
            snprintf(t->why, sizeof t->why, "sx_evaluate_within, %s, bound %.17g, value %.17g: %s", names[i],
                     bound, value, sx_reason_name(found.reason));
            if (found.reason == SX_BOUND_EXCEEDED && value > bound) continue;
            if (found.reason != SX_LEGAL || !same_score(&score, &full)) return false;
        }
    return true;
}

static bool run_checks(trial *t) {
    sx_cost untouched;
    memset(&untouched, 0xa5, sizeof untouched);
    t->cost = untouched;
    t->verdict = sx_evaluate(t->evaluator, &t->c.mapping, &t->cost);
    if (!agrees_with_oracle(t) || !check_agrees(t) || !batch_agrees(t)) return false;
    if (t->verdict.reason == SX_LEGAL) return score_agrees(t) && bound_agrees(t);
    return memcmp(&untouched, &t->cost, sizeof untouched) == 0 ||
           say(t, "the cost of an illegal mapping was written");
}

/* Makes the model and the evaluator of a case and runs the checks on them. */
static bool run_trial(trial *t) {
    bool good = false;
    t->model = NULL;
    t->evaluator = NULL;
    sx_status status = sx_model_new(&t->c.problem, &t->c.arch, &t->c.options, &t->model);
    if (!status) status = sx_model_workspace_new(t->model, &t->evaluator);
    if (status)
        snprintf(t->why, sizeof t->why, "%s", status->message);
    else
        good = run_checks(t);
    sx_status_free(status);
    sx_model_workspace_free(t->evaluator);
    sx_model_free(t->model);
    return good;
}

static void run_class(const settings *set, const char *name, unsigned flags) {
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (uint64_t i = 0; i < set->count / 4; i++) {
        sx_rng rng = sx_rng_stream(set->seed, name, i);
        sx_random_case(&rng, flags, &t->c);
        if (run_trial(t)) continue;
        sx_text text = {0};
        sx_case_write(&t->c, &text);
        print_error("%s, seed %llu, case %llu: %s\n%s\n", name, (unsigned long long)set->seed,
                    (unsigned long long)i, t->why, text.data);
        sx_text_free(&text);
        free(t);
        fail();
    }
    sx_expect_compared("costs with the oracle's", t->compared, set->count / 20);
    if (!(flags & SX_CASE_PLAIN))
        sx_expect_compared("totals with those of a sampled execution", t->sampled, set->count / 200);
    free(t);
}

static void plain_divisors(void **state) {
    run_class(*state, "plain divisors", SX_CASE_PLAIN);
}

static void divisors(void **state) {
    run_class(*state, "divisors", 0);
}

static void plain_remainders(void **state) {
    run_class(*state, "plain remainders", SX_CASE_PLAIN | SX_CASE_REMAINDER);
}

static void remainders(void **state) {
    run_class(*state, "remainders", SX_CASE_REMAINDER);
}

static void plain_passing(void **state) {
    run_class(*state, "plain passing", SX_CASE_PLAIN | SX_CASE_PASSING);
}

static void passing_remainders(void **state) {
    run_class(*state, "passing remainders", SX_CASE_REMAINDER | SX_CASE_PASSING);
}

static void plain_split_axes(void **state) {
    run_class(*state, "plain split axes", SX_CASE_PLAIN | SX_CASE_SPLIT);
}

static void split_axes(void **state) {
    run_class(*state, "split axes", SX_CASE_SPLIT);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(plain_divisors, &set),
        cmocka_unit_test_prestate(divisors, &set),
        cmocka_unit_test_prestate(plain_remainders, &set),
        cmocka_unit_test_prestate(remainders, &set),
        cmocka_unit_test_prestate(plain_split_axes, &set),
        cmocka_unit_test_prestate(split_axes, &set),
        cmocka_unit_test_prestate(plain_passing, &set),
        cmocka_unit_test_prestate(passing_remainders, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
