/* An objective of a whole network: mappings chosen on the layers' fronts, against all choices, and the bound of them. */
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Searches the small network by a mapper under an objective. */
static void search_network(const char *mapper, uint64_t evaluations, const char *objective, bool pareto,
                           bool widen, sx_session_result *out) {
    sx_small small;
    sx_small_init(&small, mapper, evaluations, SX_WARM_OFF);
    sx_expect_ok(sx_objective_parse(objective, &small.options.run.objective));
    small.options.run.pareto = pareto;
    small.options.widen = widen;
    sx_small_run(&small, out);
    sx_small_fini(&small);
}

/* The counts of the small network's layers. */
static double count_of(size_t layer) {
    sx_small small;
    sx_small_init(&small, "optimal", 1, SX_WARM_OFF);
    const double count = (double)small.network.layer[layer].count;
    sx_small_fini(&small);
    return count;
}

/* The least product of all choices of points of the fronts, from a layer on, beside sums that are chosen. */
static double enumerate_choices(const sx_session_result *fronts, const double *count, size_t layer,
                                sx_score sum, const sx_criterion *criterion) {
    double least = INFINITY;
    while (layer < fronts->n_layers && fronts->layer[layer].same_as != layer) layer++;
    if (layer == fronts->n_layers) return sx_criterion_value(criterion, &sum);
    const sx_layer_result *result = &fronts->layer[layer];
    for (size_t k = 0; k < result->n_front; k++) {
        const sx_score more = {.energy_pj = sum.energy_pj + count[layer] * result->front[k].score.energy_pj,
                               .cycles = sum.cycles + count[layer] * result->front[k].score.cycles};
        least = fmin(least, enumerate_choices(fronts, count, layer + 1, more, criterion));
    }
    return least;
}

static double enumerate_all(const sx_session_result *fronts, const sx_criterion *criterion) {
    double count[SX_SMALL_LAYERS] = {0};
    for (size_t i = 0; i < fronts->n_layers; i++) count[fronts->layer[i].same_as] += count_of(i);
    return enumerate_choices(fronts, count, 0, (sx_score){0}, criterion);
}

static const char *const layer_objective[] = {"ed2p", "edp"};

/* The choice is the least of all on proven fronts, proven itself, and less than what the layers' own optima come to. */
static void choices_are_proven(void **state) {
    (void)state;
    unsigned gained = 0;
    for (size_t i = 0; i < (SX_SANITIZED ? 1 : 2); i++) {
        sx_session_result fronts, chosen;
        sx_objective objective;
        char name[32];
        snprintf(name, sizeof name, "network-%s", layer_objective[i]);
        search_network("optimal", 0, layer_objective[i], true, false, &fronts);
        search_network("optimal", 0, name, false, false, &chosen);
        sx_expect_ok(sx_objective_parse(layer_objective[i], &objective));
        const double least = enumerate_all(&fronts, &objective.criterion[0]),
                     own = sx_criterion_value(&objective.criterion[0], &fronts.total);
        for (size_t k = 0; k < fronts.n_layers; k++) {
            assert_true(fronts.layer[k].summary.optimal && chosen.layer[k].summary.optimal);
            assert_true(chosen.layer[k].n_front == 0 && fronts.layer[k].n_front > 0);
        }
        assert_true(fabs(chosen.network_value / least - 1) < 1e-12);
        assert_true(fabs(sx_criterion_value(&objective.criterion[0], &chosen.total) / least - 1) < 1e-12);
        assert_true(chosen.network_bound == chosen.network_value && !chosen.any_tiles);
        assert_true(fronts.network_value == 0 && least <= own * (1 + 1e-12));
        gained += least < own * (1 - 1e-6);
        sx_session_result_fini(&fronts);
        sx_session_result_fini(&chosen);
    }
    assert_true(gained > 0);
}

/* Searches that prove less have bounds below the optimum, whatever they found; so have those with remainders. */
static void bounds_hold(void **state) {
    (void)state;
    static const uint64_t evaluations[] = {100, 1000};
    static const char *const mapper[] = {"auto", "optimal", "random"};
    unsigned bounded = 0, open = 0;
    for (size_t i = 0; i < (SX_SANITIZED ? 1 : 2); i++) {
        sx_session_result all, some;
        char name[32];
        snprintf(name, sizeof name, "network-%s", layer_objective[i]);
        search_network("optimal", 0, name, true, false, &all);
        assert_true(all.network_bound == all.network_value);
        for (size_t k = 0; k < 6; k++) {
            search_network(mapper[k % 3], evaluations[k / 3], name, true, k % 3 == 0, &some);
            assert_true(some.network_bound <= some.network_value);
            assert_true(some.network_bound <= all.network_value * (1 + 1e-12));
            assert_true(some.network_value >= all.network_value * (1 - 1e-12) || k % 3 == 0);
            bounded += some.network_bound > 0.1 * all.network_value;
            open += some.network_bound < some.network_value;
            sx_session_result_fini(&some);
        }
        sx_session_result_fini(&all);
    }
    assert_true(bounded >= 3 && open >= 3);
}

/* A run takes the objective of a layer alone. */
static void runs_refuse_it(void **state) {
    (void)state;
    sx_objective objective;
    char text[64];
    sx_expect_ok(sx_objective_parse("network-e^2*d", &objective));
    sx_objective_text(&objective, text, sizeof text);
    assert_true(objective.network);
    assert_string_equal(text, "network-e^2*d^1");
    sx_status status = sx_objective_parse("network-latency", &objective);
    assert_string_equal(status->message, "'network-latency' is no objective of a network");
    sx_status_free(status);
    status = sx_objective_parse("network-edp,energy", &objective);
    assert_non_null(status);
    sx_status_free(status);
    sx_small small;
    sx_run *run;
    sx_small_init(&small, "random", 10, SX_WARM_OFF);
    sx_expect_ok(sx_objective_parse("network-edp", &small.options.run.objective));
    status = sx_run_new(NULL, NULL, &small.options.run, &run);
    assert_string_equal(status->message, "the objective is one of a whole network");
    sx_status_free(status);
    sx_small_fini(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_proven),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(runs_refuse_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
