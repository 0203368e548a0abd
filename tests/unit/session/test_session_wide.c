/* Layers that are searched in two parts: tiles that divide, then remainders. */
#include "session/session.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { LAYERS = 3, SMALL = LAYERS, BESIDE = SMALL + 1, ALL, CLOSE = ALL };

/* Layers on machines of the catalog, and a small one. */
static const struct {
    const char *arch, *problem;
} layers[] = {{"simba", "O[m,n] += A[m,k]*B[k,n] {m:13,n:24,k:30}"},
              {"accel-b", "O[m,n] += A[m,k]*B[k,n] {m:27,n:16,k:32}"},
              {"eyeriss", "O[k,p] += I[c,p+r]*W[k,c,r] {k:12,c:6,p:14,r:3}"},
              {"edge-unified", "O[m] += A[m,k]*B[k] {m:7,k:17}"},
              {"glb128", "O[m,n] += A[m,k]*B[k,n] {m:4096,n:64,k:1000}"},
              {"simba", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:512,n:512,k:512}"},
              {"accel-a", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:512,n:512,k:512}"},
              {"accel-b", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:512,n:512,k:512}"}};

/* Searches a layer, with options that are set but for the objective. */
static void search_with(size_t number, sx_session_options *options, sx_session_result *out) {
    static sx_layer layer;
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    layer = (sx_layer){.count = 1};
    sx_expect_ok(sx_einsum_parse(layers[number].problem, &layer.problem));
    sx_expect_ok(sx_catalog_arch(layers[number].arch, &arch));
    sx_expect_ok(sx_session_run(&network, &arch, options, out));
    assert_true(out->layer[0].found);
}

/* Searches a layer by a mapper with a given number of evaluations, 0: any number. */
static void search_layer(size_t number, const char *mapper, uint64_t evaluations, bool remainders,
                         sx_session_result *out) {
    sx_session_options options;
    sx_session_options_init(&options);
    options.mapper = mapper;
    options.run.evaluations = evaluations;
    options.space.remainders = remainders;
    search_with(number, &options, out);
}

/* The same by `auto` with a seed, with remainders beside tiles that divide. */
static void search_beside(size_t number, uint64_t evaluations, double seconds, bool widen,
                          sx_session_result *out) {
    sx_session_options options;
    sx_session_options_init(&options);
    options.run.evaluations = evaluations;
    options.run.seconds = seconds;
    options.widen = widen;
    search_with(number, &options, out);
}

/* With remainders and twice the budget no answer is worse than without them. Proofs are of the whole space. */
static void asking_for_remainders_is_never_worse(void **state) {
    (void)state;
    static const char *const mapper[] = {"auto:effort=2", "optimal:effort=2"};
    static const uint64_t evaluations[] = {60, 1000, 0};
    unsigned better = 0, bounded = 0;
    for (size_t i = 0; i < 2 * LAYERS; i += SX_SANITIZED ? 3 : 1)
        for (size_t k = 0; k < 3; k++) {
            sx_session_result without, with;
            search_layer(i / 2, mapper[i % 2], evaluations[k], false, &without);
            search_layer(i / 2, mapper[i % 2], 2 * evaluations[k], true, &with);
            const sx_layer_result *a = &without.layer[0], *b = &with.layer[0];
            assert_true(b->best.value <= a->best.value);
            assert_true(!evaluations[k] || b->summary.evaluations <= 2 * evaluations[k]);
            assert_true(b->summary.lower_bound <= b->best.value * (1 + 1e-12));
            assert_false(b->widened || b->remainders);
            better += b->best.value < a->best.value * (1 - 1e-9);
            bounded += b->summary.lower_bound > 0;
            sx_session_result_fini(&without);
            sx_session_result_fini(&with);
        }
    assert_true(better >= (SX_SANITIZED ? 1 : 5) && bounded >= (SX_SANITIZED ? 3 : 10));
}

/* Where nothing is left the optimum of the whole space is proven. */
static void both_parts_are_proven(void **state) {
    (void)state;
    static const char *const mapper[] = {"auto", "optimal", "exhaustive"};
    double optimum = 0;
    for (size_t i = 0; i < (SX_SANITIZED ? 2 : 3); i++) {
        sx_session_result result;
        search_layer(SMALL, mapper[i], 0, true, &result);
        assert_true(result.layer[0].summary.optimal);
        if (i == 0) optimum = result.layer[0].best.value;
        assert_true(result.layer[0].best.value == optimum);
        sx_session_result_fini(&result);
    }
}

/* Remainders beside tiles that divide are never worse, with any budget; bounds hold for the space that is named. */
static void remainders_beside_are_never_worse(void **state) {
    (void)state;
    static const uint64_t evaluations[] = {1000, 5000, 0};
    unsigned better = 0, equal = 0, unreached = 0;
    for (size_t i = 0; i < ALL; i++)
        for (size_t k = 0; k < 3; k++) {
            sx_session_result without, with;
            search_beside(i, evaluations[k], 0, false, &without);
            search_beside(i, evaluations[k], 0, true, &with);
            const sx_layer_result *a = &without.layer[0], *b = &with.layer[0];
            bool halved = a->share < 0.75 && i != 2; /* the one with a window */
            assert_true(b->best.value <= a->best.value || (halved && evaluations[k]));
            assert_true(!evaluations[k] || b->summary.evaluations <= evaluations[k]);
            assert_true(b->any_bound <= b->best.value * (1 + 1e-12));
            assert_false(a->widened || a->any_bound > 0);
            assert_true(b->remainders || b->summary.optimal == a->summary.optimal || halved);
            if (b->remainders && evaluations[k] == 0) {
                assert_true(b->dividing.value == a->best.value && b->dividing.optimal == a->summary.optimal);
                assert_true(b->summary.lower_bound == b->any_bound);
            }
            better += b->best.value < a->best.value * (1 - 1e-9);
            equal += b->widened && !b->remainders && b->any_bound > 0;
            unreached += !b->widened;
            sx_session_result_fini(&without);
            sx_session_result_fini(&with);
        }
    assert_true(better >= 4 && equal >= 1 && unreached >= 1);
}

/* A long limit of time is not used up by remainders that nobody asked for. */
static void remainders_beside_end_by_themselves(void **state) {
    (void)state;
    sx_session_result result;
    search_beside(BESIDE, 0, 100, true, &result);
    assert_true(result.layer[0].remainders && result.layer[0].summary.seconds < 50);
    sx_session_result_fini(&result);
}

/* What is said of tiles with remainders is close on machines with several arrays, too, though the search is brief; less so
 * where the spatial mappings are too many to be listed but for those that take few cycles. */
static void bounds_beside_are_close(void **state) {
    static const double least[] = {0.95, 0.95, 0.7};
    (void)state;
    for (size_t i = CLOSE; i < CLOSE + 3; i++) {
        sx_session_result result;
        search_beside(i, 0, 0, true, &result);
        const sx_layer_result *a = &result.layer[0];
        assert_true(a->summary.optimal && a->widened && a->any_bound > least[i - CLOSE] * a->best.value);
        sx_session_result_fini(&result);
    }
}

/* Lists and fronts hold mappings with remainders beside those without, in order, none worse than without them. */
static void lists_hold_remainders(void **state) {
    (void)state;
    sx_session_result result[2];
    for (int widen = 0; widen < 2; widen++) {
        sx_session_options options;
        sx_session_options_init(&options);
        options.mapper = "auto:effort=1,gamma=2000";
        options.run.k_best = 5;
        options.run.pareto = true;
        options.widen = widen;
        search_with(SMALL, &options, &result[widen]);
    }
    const sx_layer_result *a = &result[0].layer[0], *b = &result[1].layer[0];
    assert_true(a->n_best == 5 && b->n_best == 5 && b->remainders && !b->summary.optimal);
    for (size_t i = 0; i < 5; i++) assert_true(b->other[i].value <= a->other[i].value);
    for (size_t i = 1; i < 5; i++) assert_true(b->other[i].value >= b->other[i - 1].value);
    assert_true(b->other[0].value == b->best.value && b->best.value < a->best.value);
    for (size_t i = 0; i < a->n_front; i++) {
        bool covered = false;
        for (size_t k = 0; k < b->n_front; k++)
            covered |= b->front[k].score.energy_pj <= a->front[i].score.energy_pj &&
                       b->front[k].score.cycles <= a->front[i].score.cycles;
        assert_true(covered);
    }
    for (size_t k = 1; k < b->n_front; k++)
        assert_true(b->front[k].score.energy_pj > b->front[k - 1].score.energy_pj &&
                    b->front[k].score.cycles < b->front[k - 1].score.cycles);
    for (int widen = 0; widen < 2; widen++) sx_session_result_fini(&result[widen]);
}

/* Searches one of many small layers by several criteria; `whole`: all mappings at once; `front`: for their front, too. */
static void search_criteria(const char *objective, double tolerance, unsigned m, unsigned k, bool whole,
                            bool front, sx_session_result *out) {
    static sx_layer layer;
    static sx_arch arch;
    char einsum[64];
    const sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_options options;
    sx_session_options_init(&options);
    sx_expect_ok(sx_objective_parse(objective, &options.run.objective));
    options.run.objective.tolerance = tolerance;
    options.mapper = whole ? "optimal:gamma=200" : "auto:gamma=200";
    options.space.remainders = whole;
    options.run.pareto = front;
    options.widen = !whole;
    snprintf(einsum, sizeof einsum, "O[m] += A[m,k]*B[k] {m:%u,k:%u}", m, k);
    layer = (sx_layer){.count = 1};
    sx_expect_ok(sx_einsum_parse(einsum, &layer.problem));
    sx_expect_ok(sx_catalog_arch("edge-unified", &arch));
    sx_expect_ok(sx_session_run(&network, &arch, &options, out));
    assert_true(out->layer[0].found);
}

/* Whether the second of two criteria is the same, and the first within its tolerance of the least value. */
static bool is_equal(const sx_answer *a, const sx_answer *b, double least, const sx_objective *objective) {
    const sx_criterion *last = &objective->criterion[1];
    return sx_criterion_value(last, &a->score) == sx_criterion_value(last, &b->score) &&
           a->value * (1 - objective->tolerance) <= least * (1 + 1e-9);
}

/* What is proven of two criteria with remainders or without is what a search of all mappings at once proves, however large
 * the differences are that the second one decides. */
static void criteria_have_remainders(void **state) {
    (void)state;
    static const char *const objective[] = {"energy,delay", "delay,energy", "edp,delay"};
    static const double tolerance[] = {0.001, 0.05, 0.3};
    unsigned proven = 0, leaving = 0;
    for (unsigned i = 0; i < (SX_SANITIZED ? 9 : 27); i++) {
        const unsigned m = 9 + i % 5, k = 23 + i % 7;
        sx_session_result beside, whole;
        sx_objective criteria;
        search_criteria(objective[i % 3], tolerance[i / 3 % 3], m, k, false, false, &beside);
        search_criteria(objective[i % 3], tolerance[i / 3 % 3], m, k, true, false, &whole);
        sx_expect_ok(sx_objective_parse(objective[i % 3], &criteria));
        criteria.tolerance = tolerance[i / 3 % 3];
        const sx_layer_result *a = &beside.layer[0], *b = &whole.layer[0];
        assert_true(a->widened);
        if (a->any_optimal && b->summary.optimal) {
            const double least = fmax(a->any_bound, b->summary.lower_bound);
            assert_true(is_equal(&a->best, &b->best, least, &criteria));
            proven++;
            leaving += a->remainders;
        }
        sx_session_result_fini(&beside);
        sx_session_result_fini(&whole);
    }
    assert_true(proven >= (SX_SANITIZED ? 5 : 20) && leaving >= (SX_SANITIZED ? 2 : 8));
}

/* A front of several criteria has mappings of less energy than the answer: no bound is above theirs. */
static void bounds_hold_for_fronts_of_criteria(void **state) {
    (void)state;
    unsigned changed = 0;
    for (unsigned i = 0; i < (SX_SANITIZED ? 6 : 18); i++) {
        sx_session_result result;
        search_criteria("energy,delay", 0.3, 9 + i % 5, 23 + i % 7, false, true, &result);
        const sx_layer_result *a = &result.layer[0];
        assert_true(a->n_front > 0);
        assert_true(a->summary.lower_bound <= a->front[0].score.energy_pj * (1 + 1e-12));
        changed += a->any_bound > 0 && !a->any_optimal && a->front[0].score.energy_pj < a->best.value;
        sx_session_result_fini(&result);
    }
    sx_expect_compared("fronts with less energy than the answer", changed, SX_SANITIZED ? 1 : 3);
}

/* Mappings that leave remainders and cost the same as one that divides do not take its place in a proven front. */
static void equal_answers_leave_a_front_proven(void **state) {
    (void)state;
    static sx_layer layer = {.count = 1};
    static sx_arch arch;
    const sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_options options;
    sx_session_result result;
    sx_session_options_init(&options);
    options.run.pareto = options.widen = true;
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:16,n:8,k:12}", &layer.problem));
    sx_expect_ok(sx_catalog_arch("edge-unified", &arch));
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    const sx_layer_result *a = &result.layer[0];
    assert_true(a->widened && a->summary.optimal && a->n_front == 3);
    for (size_t i = 0; i < a->n_front; i++)
        assert_true(sx_mapping_perfect(&a->front[i].mapping, &layer.problem));
    sx_session_result_fini(&result);
}

/* Merges two answers of given energies and cycles to "energy,delay" within a tenth; returns the energy of the answer taken.
 * `leaves`: the second leaves remainders. */
static double merge_answers(const double before[2], bool optimal, const double after[2], bool after_optimal,
                            bool leaves, bool *remainders) {
    sx_small small;
    sx_session_result out = {.n_layers = 1};
    sx_layer_result result = {.found = true}, wide = {.found = true};
    sx_small_init(&small, "auto", 100, SX_WARM_OFF);
    sx_expect_ok(sx_objective_parse("energy,delay", &small.options.run.objective));
    small.options.run.objective.tolerance = 0.1;
    small.options.widen = true;
    sx_session session = {.network = &small.network,
                          .arch = &small.arch,
                          .options = &small.options,
                          .mapper = (char *)"auto",
                          .out = &out};
    out.layer = &result;
    result.best.score = (sx_score){.energy_pj = before[0], .cycles = before[1]};
    result.best.value = before[0];
    result.summary.optimal = optimal;
    wide.best.score = (sx_score){.energy_pj = after[0], .cycles = after[1]};
    wide.best.value = after[0];
    wide.summary.optimal = after_optimal;
    const sx_problem *problem = &small.network.layer[0].problem;
    sx_mapping *mapping = &wide.best.mapping;
    mapping->n_levels = 1;
    mapping->n_dims = problem->n_dims;
    for (int d = 0; d < problem->n_dims; d++) {
        mapping->level[0].spatial[d] = 1;
        mapping->level[0].temporal[d] = problem->size[d] + leaves;
    }
    sx_expect_ok(sx_session_merge(&session, &wide, &result));
    *remainders = result.remainders;
    const double energy = result.best.score.energy_pj;
    sx_layer_result_fini(&result);
    sx_layer_result_fini(&wide);
    sx_small_fini(&small);
    return energy;
}

/* Within the tolerance comparing is no order. A proven answer to all mappings is taken though it compares as worse than the one
 * there is, which is too far from the least energy; and a proven one of tiles that divide stays where another such mapping
 * compares as better. */
static void proven_criteria_are_taken(void **state) {
    (void)state;
    static const double far[2] = {115, 5}, near[2] = {105, 8}, least[2] = {100, 9};
    bool remainders;
    assert_true(merge_answers(far, true, near, true, true, &remainders) == near[0] && remainders);
    assert_true(merge_answers(far, true, near, true, false, &remainders) == near[0] && !remainders);
    assert_true(merge_answers(near, true, far, false, false, &remainders) == near[0] && !remainders);
    assert_true(merge_answers(near, true, far, false, true, &remainders) == far[0] && remainders);
    assert_true(merge_answers(near, false, far, false, false, &remainders) == far[0] && !remainders);
    assert_true(merge_answers(far, false, least, false, true, &remainders) == least[0] && remainders);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proven_criteria_are_taken),
        cmocka_unit_test(criteria_have_remainders),
        cmocka_unit_test(bounds_hold_for_fronts_of_criteria),
        cmocka_unit_test(equal_answers_leave_a_front_proven),
        cmocka_unit_test(lists_hold_remainders),
        cmocka_unit_test(remainders_beside_are_never_worse),
        cmocka_unit_test(remainders_beside_end_by_themselves),
        cmocka_unit_test(bounds_beside_are_close),
        cmocka_unit_test(asking_for_remainders_is_never_worse),
        cmocka_unit_test(both_parts_are_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
