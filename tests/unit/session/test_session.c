#include "support/expect.h"
#include "support/small_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What the callbacks saw. */
typedef struct seen {
    size_t begun[SX_SMALL_LAYERS], n_begun;
    size_t ended[SX_SMALL_LAYERS], n_ended;
    sx_cancel stop;
    size_t stop_after; /* layers that end */
    unsigned progressed;
} seen;

static void begins(void *user, size_t layer) {
    seen *s = user;
    assert_true(s->n_begun < SX_SMALL_LAYERS);
    s->begun[s->n_begun++] = layer;
}

static void ends(void *user, size_t layer, const sx_layer_result *result) {
    seen *s = user;
    assert_true(result->found);
    s->ended[s->n_ended++] = layer;
    if (s->n_ended == s->stop_after) sx_cancel_set(&s->stop);
}

static void watch(sx_small *small, seen *s) {
    *s = (seen){.stop = {0}};
    small->options.layer_begins = begins;
    small->options.layer_ends = ends;
    small->options.user = s;
}

/* Fails unless every answer is legal and costs what it says. */
static void assert_true_costs(const sx_small *small, const sx_session_result *result) {
    for (size_t i = 0; i < result->n_layers; i++) {
        const sx_layer_result *layer = &result->layer[i];
        sx_model *model;
        sx_model_workspace *evaluator;
        sx_score score;
        sx_expect_ok(sx_model_new(&small->network.layer[i].problem, &small->arch, NULL, &model));
        sx_expect_ok(sx_model_workspace_new(model, &evaluator));
        assert_true(layer->found);
        assert_int_equal(sx_evaluate_score(evaluator, &layer->best.mapping, &score).reason, SX_LEGAL);
        assert_memory_equal(&score, &layer->best.score, sizeof score);
        assert_true(layer->best.value == score.energy_pj * score.cycles);
        assert_true(layer->minimum > 0);
        sx_model_workspace_free(evaluator);
        sx_model_free(model);
    }
}

static void maps_every_layer_once(void **state) {
    (void)state;
    static const size_t order[SX_SMALL_DISTINCT] = {0, 1, 3, 4, 5};
    static sx_small small;
    seen s;
    sx_session_result result;
    sx_small_init(&small, "random", 300, SX_WARM_SIMILARITY);
    watch(&small, &s);
    sx_small_run(&small, &result);
    assert_int_equal(s.n_begun, SX_SMALL_DISTINCT);
    assert_memory_equal(s.begun, order, sizeof order);
    assert_int_equal(s.n_ended, SX_SMALL_DISTINCT);
    assert_memory_equal(s.ended, order, sizeof order);
    assert_true(result.complete && result.found && !result.resumed);
    assert_int_equal(result.n_layers, SX_SMALL_LAYERS);
    double energy = 0, cycles = 0, busy = 0;
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        const sx_layer_result *layer = &result.layer[i];
        assert_int_equal(layer->same_as, i == 2 ? 0 : i);
        assert_int_equal(layer->summary.evaluations, 300);
        assert_true(layer->summary.repeatable);
        energy += (double)small.network.layer[i].count * layer->best.score.energy_pj;
        cycles += (double)small.network.layer[i].count * layer->best.score.cycles;
        busy += (double)sx_problem_computes(&small.network.layer[i].problem) *
                (double)small.network.layer[i].count / 1024;
    }
    assert_true(result.total.energy_pj == energy && result.total.cycles == cycles);
    assert_true(fabs(result.total.utilization - busy / cycles) < 1e-9);
    assert_true_costs(&small, &result);
    sx_session_result_fini(&result);
    assert_null(result.layer);
    sx_session_result_fini(&result);
    sx_small_fini(&small);
}

static void repeats_itself_on_any_threads(void **state) {
    (void)state;
    static const char *const mappers[] = {"random", "anneal", "gamma"};
    for (size_t i = 0; i < 3; i++) {
        static sx_small small;
        sx_session_result a, b;
        sx_small_init(&small, mappers[i], 2000, SX_WARM_SIMILARITY);
        small.options.run.k_best = 3;
        small.options.run.pareto = true;
        sx_small_run(&small, &a);
        small.options.run.threads = 3;
        small.options.run.cache = 1024;
        sx_small_run(&small, &b);
        sx_same_session(&a, &b);
        assert_int_equal(a.layer[1].n_best, 3);
        assert_memory_equal(&a.layer[1].other[0], &a.layer[1].best, sizeof a.layer[1].best);
        assert_true(a.layer[1].n_front >= 1);
        assert_true_costs(&small, &a);
        sx_session_result_fini(&a);
        sx_session_result_fini(&b);
        sx_small_fini(&small);
    }
}

/* Without a warm start, a layer's result is the same in the network and alone. */
static void layers_stand_alone(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result all, one;
    sx_small_init(&small, "random", 500, SX_WARM_OFF);
    sx_small_run(&small, &all);
    sx_network alone = {.name = "alone", .n_layers = 1, .layer = &small.network.layer[3]};
    sx_expect_ok(sx_session_run(&alone, &small.arch, &small.options, &one));
    all.layer[3].same_as = 0;
    sx_same_layer(&all.layer[3], &one.layer[0]);
    all.layer[3].same_as = 3;
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) assert_int_equal(all.layer[i].warm_from, -1);
    sx_session_result_fini(&all);
    sx_session_result_fini(&one);
    sx_small_fini(&small);
}

/* Which layer each began from: similarity prefers one difference to two, and the later one on ties. */
static void begins_from_the_right_layer(void **state) {
    (void)state;
    static const int previous[] = {-1, 0, -1, 0, 3, -1}, similarity[] = {-1, 0, -1, 1, 0, -1};
    for (int warm = SX_WARM_PREVIOUS; warm <= SX_WARM_SIMILARITY; warm++) {
        static sx_small small;
        sx_session_result result;
        sx_small_init(&small, "random", 500, (sx_warm)warm);
        sx_small_run(&small, &result);
        for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
            const sx_layer_result *layer = &result.layer[i];
            const int from = (warm == SX_WARM_PREVIOUS ? previous : similarity)[i];
            assert_int_equal(layer->warm_from, from);
            assert_string_equal(layer->warm_name, from < 0 ? "" : small.network.layer[from].problem.name);
            if (from < 0) {
                assert_true(layer->warm_value == 0);
                continue;
            }
            assert_true(layer->trace[0].value == layer->warm_value);
            assert_int_equal(layer->trace[0].evaluations, 1);
            assert_true(layer->best.value <= layer->warm_value);
        }
        sx_session_result_fini(&result);
        sx_small_fini(&small);
    }
}

/* A warm start is better than the first draws, and better than the best of a few. */
static void warm_starts_begin_better(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result cold, warm;
    double first = 0, best = 0;
    int n = 0;
    sx_small_init(&small, "random", 1000, SX_WARM_OFF);
    sx_small_run(&small, &cold);
    small.options.warm = SX_WARM_SIMILARITY;
    sx_small_run(&small, &warm);
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        if (warm.layer[i].warm_from < 0) continue;
        first += log(cold.layer[i].trace[0].value / warm.layer[i].warm_value);
        best += log(cold.layer[i].best.value / warm.layer[i].best.value);
        n++;
    }
    assert_int_equal(n, 3);
    assert_true(exp(first / n) > 2);
    assert_true(exp(best / n) >= 1);
    sx_session_result_fini(&cold);
    sx_session_result_fini(&warm);
    sx_small_fini(&small);
}

static void stops_after_a_layer(void **state) {
    (void)state;
    static sx_small small;
    seen s;
    sx_session_result all, part;
    sx_small_init(&small, "random", 300, SX_WARM_SIMILARITY);
    sx_small_run(&small, &all);
    watch(&small, &s);
    s.stop_after = 2;
    small.options.run.cancel = &s.stop;
    sx_small_run(&small, &part);
    assert_int_equal(s.n_begun, 2);
    assert_false(part.complete);
    assert_true(part.found);
    for (size_t i = 0; i < 3; i++) sx_same_layer(&part.layer[i], &all.layer[i]);
    for (size_t i = 3; i < SX_SMALL_LAYERS; i++) {
        const sx_run_summary *s_i = &part.layer[i].summary;
        assert_true(part.layer[i].found);
        assert_int_equal(s_i->stop, SX_STOP_SIGNAL);
        assert_false(s_i->optimal);
        assert_true(s_i->lower_bound > 0 && s_i->lower_bound <= part.layer[i].best.value);
    }
    sx_session_result_fini(&part);
    s.stop_after = SX_SMALL_DISTINCT;
    sx_cancel_clear(&s.stop);
    s.n_begun = s.n_ended = 0;
    sx_small_run(&small, &part);
    sx_same_session(&part, &all);
    sx_session_result_fini(&part);
    sx_session_result_fini(&all);
    sx_small_fini(&small);
}

/* Of layers that were not reached, the one that costs most is searched by the mapper itself. */
static void stopped_at_once_improves_the_largest_layer(void **state) {
    (void)state;
    static sx_small small;
    sx_cancel stop = {0};
    sx_session_result all, part;
    size_t n_improved = 0;
    sx_small_init(&small, "optimal", 0, SX_WARM_SIMILARITY);
    sx_small_run(&small, &all);
    small.clock = 2e-5;
    small.options.run.threads = 1;
    sx_cancel_set(&stop);
    small.options.run.cancel = &stop;
    sx_small_run(&small, &part);
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        assert_true(part.layer[i].found);
        assert_int_equal(part.layer[i].summary.stop, SX_STOP_SIGNAL);
        assert_true(part.layer[i].best.value >= all.layer[i].best.value);
        n_improved +=
            part.layer[i].summary.lower_bound > part.layer[i].minimum; /* a search, not Sunstone alone */
    }
    assert_true(n_improved > 0 && n_improved < SX_SMALL_LAYERS);
    sx_session_result_fini(&part);
    sx_session_result_fini(&all);
    sx_small_fini(&small);
}

/* Stops a layer, once there is something to show. */
static void stop_at_progress(void *user, const sx_progress *progress) {
    seen *s = user;
    assert_true(progress->evaluations > 0);
    s->progressed++;
    sx_cancel_set(&s->stop);
}

static void stops_within_a_layer(void **state) {
    (void)state;
    static sx_small small;
    seen s;
    sx_session_result part;
    sx_small_init(&small, "random", 0, SX_WARM_SIMILARITY);
    small.clock = 1e-4;
    watch(&small, &s);
    small.options.run.cancel = &s.stop;
    small.options.run.progress = stop_at_progress;
    small.options.run.user = &s;
    sx_small_run(&small, &part);
    assert_true(s.progressed >= 1);
    assert_int_equal(s.n_begun, 1);
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        assert_true(part.layer[i].found);
        assert_int_equal(part.layer[i].summary.stop, SX_STOP_SIGNAL);
    }
    assert_false(part.layer[0].summary.repeatable);
    assert_false(part.complete);
    sx_session_result_fini(&part);
    sx_small_fini(&small);
}

/* A backing store smaller than the tensors it must hold leaves no mapping. */
static void says_why_nothing_is_found(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result result;
    sx_small_init(&small, "random", 100, SX_WARM_SIMILARITY);
    small.arch.level[2].entries = 600;
    sx_small_run(&small, &result);
    assert_true(result.complete);
    assert_false(result.found);
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        assert_false(result.layer[i].found);
        assert_non_null(result.layer[i].diagnosis);
    }
    assert_non_null(strstr(result.layer[0].diagnosis, "DRAM"));
    sx_session_result_fini(&result);
    sx_small_fini(&small);
}

/* Allows no loop over C but at the outermost level, and refuses problems without C. */
static sx_status outermost_c(void *user, const sx_problem *problem, const sx_arch *arch,
                             sx_constraints *out) {
    const char *refuse = user;
    int c = sx_problem_dim(problem, "C");
    sx_constraints_init(out, problem, arch);
    if (refuse && strcmp(problem->name, refuse) == 0) {
        sx_input *input = NULL;
        sx_status error = sx_input_new(&input);
        if (!error) error = sx_input_add_text(input, "limits.yaml", "a: [", 4);
        sx_input_free(input);
        return error;
    }
    if (c < 0) return SX_OK;
    for (int i = 0; i < arch->n_levels; i++) {
        out->level[i].spatial.max[c] = 1;
        if (i + 1 < arch->n_levels) out->level[i].temporal.max[c] = 1;
    }
    return SX_OK;
}

static void obeys_constraints(void **state) {
    (void)state;
    static sx_small small;
    static char refuse[] = "small/layer3";
    sx_session_result result;
    sx_small_init(&small, "random", 300, SX_WARM_SIMILARITY);
    small.options.constraints = outermost_c;
    sx_small_run(&small, &result);
    assert_true(result.found);
    for (size_t i = 0; i + 1 < SX_SMALL_LAYERS; i++) {
        int c = sx_problem_dim(&small.network.layer[i].problem, "C");
        assert_int_equal(result.layer[i].best.mapping.level[2].temporal[c],
                         small.network.layer[i].problem.size[c]);
    }
    assert_true_costs(&small, &result);
    sx_session_result_fini(&result);
    small.options.user = refuse;
    sx_expect_error(sx_session_run(&small.network, &small.arch, &small.options, &result),
                    "limits.yaml:2:1: layer layer3: ");
    assert_true(result.layer[0].found);
    sx_session_result_fini(&result);
    sx_small_fini(&small);
}

static void refuses(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result result;
    sx_small_init(&small, "randum", 300, SX_WARM_SIMILARITY);
    sx_expect_error(sx_session_run(&small.network, &small.arch, &small.options, &result), "random");
    sx_session_result_fini(&result);
    small.options.mapper = "random";
    const sx_network nothing = {.n_layers = 0};
    sx_expect_error(sx_session_run(&nothing, &small.arch, &small.options, &result), "no layers");
    sx_session_result_fini(&result);
    sx_small_fini(&small);
}

/* A second session begins from what the first left in the database; the same session adds nothing. */
static void learns_from_a_database(void **state) {
    (void)state;
    static sx_small small;
    char path[] = "/tmp/sextant-session-XXXXXX";
    sx_session_result first, second;
    sx_store_counts before, after;
    if (!sx_store_engine()) skip();
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    remove(path);
    sx_small_init(&small, "random", 300, SX_WARM_OFF);
    sx_expect_ok(sx_store_open(path, &small.options.store));
    sx_small_run(&small, &first);
    sx_expect_ok(sx_store_count(small.options.store, &before));
    assert_int_equal(before.problems, SX_SMALL_DISTINCT);
    assert_int_equal(before.runs, SX_SMALL_DISTINCT);
    sx_small_run(&small, &second);
    sx_same_session(&first, &second);
    sx_session_result_fini(&second);
    sx_expect_ok(sx_store_count(small.options.store, &after));
    assert_memory_equal(&before, &after, sizeof before);

    small.options.warm = SX_WARM_SIMILARITY;
    sx_small_run(&small, &second);
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        assert_int_equal(second.layer[i].warm_from, -2);
        assert_true(second.layer[i].warm_value == first.layer[i].best.value);
        assert_string_equal(second.layer[i].warm_name, small.network.layer[i == 2 ? 0 : i].problem.name);
        assert_true(second.layer[i].best.value <= first.layer[i].best.value);
    }
    sx_session_result_fini(&second);

    small.options.warm = SX_WARM_PREVIOUS;
    sx_small_run(&small, &second);
    static const int from[] = {-2, 0, -2, 0, 3, -2};
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) assert_int_equal(second.layer[i].warm_from, from[i]);
    sx_session_result_fini(&second);
    sx_session_result_fini(&first);
    sx_store_close(small.options.store);
    sx_small_fini(&small);
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_every_layer_once),
        cmocka_unit_test(repeats_itself_on_any_threads),
        cmocka_unit_test(layers_stand_alone),
        cmocka_unit_test(begins_from_the_right_layer),
        cmocka_unit_test(warm_starts_begin_better),
        cmocka_unit_test(stops_after_a_layer),
        cmocka_unit_test(stopped_at_once_improves_the_largest_layer),
        cmocka_unit_test(stops_within_a_layer),
        cmocka_unit_test(says_why_nothing_is_found),
        cmocka_unit_test(obeys_constraints),
        cmocka_unit_test(refuses),
        cmocka_unit_test(learns_from_a_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
