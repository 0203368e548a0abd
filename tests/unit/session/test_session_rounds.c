/* A limit of time on a network: a proof within half of it takes what it takes without, what proven layers leave goes to those
 * that are open, and the rounds by counts alone. */
#include "base/clock.h"
#include "session/session.h"
#include "support/driven_clock.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const double SECONDS = 0.8;

static void parse(const char *einsum, const char *name, sx_layer *out) {
    *out = (sx_layer){.count = 1};
    snprintf(out->name, sizeof out->name, "%s", name);
    sx_expect_ok(sx_einsum_parse(einsum, &out->problem));
}

static void spends_what_is_left(void **state) {
    (void)state;
    static sx_layer layers[2];
    static sx_arch arch;
    sx_session_options options;
    sx_session_result result;
    parse("O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:16,k:720,c:720,p:120,q:120,r:7,s:7}", "open",
          &layers[0]);
    parse("O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", "proven", &layers[1]);
    sx_network network = {.name = "two", .layer = layers, .n_layers = 2};
    sx_expect_ok(sx_catalog_arch("simba", &arch));
    sx_session_options_init(&options);
    options.run.seconds = SECONDS;
    sx_clock_drive(1e-5);
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    sx_clock_drive(0);
    assert_true(result.complete && result.found);
    assert_true(result.layer[1].summary.optimal);
    assert_false(result.layer[0].summary.optimal);
    assert_true(result.layer[0].summary.seconds > 0.7 * SECONDS);
    for (size_t i = 1; i < result.layer[0].n_trace; i++) {
        const sx_trace_point *at = &result.layer[0].trace[i];
        assert_true(at->value < at[-1].value && at->evaluations >= at[-1].evaluations);
    }
    assert_true(result.layer[0].trace[result.layer[0].n_trace - 1].value == result.layer[0].best.value);
    sx_session_result_fini(&result);
}

/* Half of the time is for all layers alike, half by their compulsory minimum and how often they run. */
static void weighs_layers_by_cost(void **state) {
    (void)state;
    static sx_layer layers[3];
    static sx_layer_result results[3];
    static sx_arch arch;
    size_t first[] = {0, 1, 0};
    sx_session_options options;
    sx_session_result out = {.layer = results, .n_layers = 3};
    parse("O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}", "small", &layers[0]);
    parse("O[m,n] += A[m,k]*B[k,n] {m:512,n:512,k:512}", "large", &layers[1]);
    layers[2] = layers[0];
    sx_network network = {.name = "three", .layer = layers, .n_layers = 3};
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_session_options_init(&options);
    sx_session session = {
        .network = &network, .arch = &arch, .options = &options, .out = &out, .first = first};
    sx_expect_ok(sx_session_weigh(&session));
    assert_null(session.weight);
    options.run.seconds = SECONDS;
    sx_expect_ok(sx_session_weigh(&session));
    assert_true(session.weight[0] > 0.5 && session.weight[0] < 0.51);
    assert_true(session.weight[1] > 1.49 && session.weight[1] < 1.5);
    double before = session.weight[0];
    free(session.weight);
    free(session.paused);
    layers[2].count = 99;
    sx_expect_ok(sx_session_weigh(&session));
    assert_true(session.weight[0] - 0.5 > 40 * (before - 0.5));
    free(session.weight);
    free(session.paused);
}

/* Counts the searches of layers, begun or gone on with. */
static void count_search(void *user, size_t index) {
    unsigned *n = user;
    (void)index;
    ++*n;
}

/* Searches a network of layers that are proven after very different times. */
static sx_session_result search_uneven(const char *mapper, double seconds, unsigned *searches) {
    static const char *const einsum[] = {
        "O[m,n] += A[m,k]*B[k,n] {m:16,n:16,k:16}",
        "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:1,k:64,c:64,p:16,q:16,r:3,s:3}",
        "O[m,n] += A[m,k]*B[k,n] {m:320,n:64,k:320}",
        "O[m,n] += A[m,k]*B[k,n] {m:48,n:64,k:16}",
        "O[m,n] += A[m,k]*B[k,n] {m:64,n:1,k:64}",
        "O[m,n] += A[m,k]*B[k,n] {m:1280,n:256,k:640}",
    };
    enum { N = sizeof einsum / sizeof *einsum };
    static sx_layer layers[N];
    static sx_arch arch;
    sx_session_options options;
    sx_session_result result;
    for (size_t i = 0; i < N; i++) parse(einsum[i], "layer", &layers[i]);
    const sx_network network = {.name = "uneven", .layer = layers, .n_layers = N};
    sx_expect_ok(sx_catalog_arch("accel-a", &arch));
    sx_session_options_init(&options);
    options.mapper = mapper;
    options.run.seconds = seconds;
    options.layer_begins = count_search;
    options.user = searches;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.complete && result.found);
    return result;
}

typedef struct effort {
    double evaluations, seconds;
    unsigned searches;
} effort;

/* What a search of that network takes whose layers must all be proven. */
static effort prove_uneven(const char *mapper, double seconds) {
    effort sum = {0};
    const double began = sx_clock_seconds();
    sx_session_result result = search_uneven(mapper, seconds, &sum.searches);
    sum.seconds = sx_clock_seconds() - began;
    for (size_t i = 0; i < result.n_layers; i++) {
        assert_true(result.layer[i].summary.optimal);
        sum.evaluations += (double)result.layer[i].summary.evaluations;
    }
    sx_session_result_fini(&result);
    return sum;
}

/* By a clock that every reading moves on, so that times are counts. */
static void limit_does_not_slow_a_proof(void **state) {
    static const char *const mapper[] = {"optimal", "auto"};
    (void)state;
    for (size_t i = SX_SANITIZED; i < sizeof mapper / sizeof *mapper; i++) {
        const effort without = prove_uneven(mapper[i], 0);
        sx_clock_drive(1e-3);
        const effort far = prove_uneven(mapper[i], 1e6), near = prove_uneven(mapper[i], 2.2 * far.seconds);
        sx_clock_drive(0);
        assert_true(far.searches == without.searches && near.searches > far.searches);
        assert_true(far.evaluations < 1.1 * without.evaluations);
        assert_true(near.evaluations < 1.1 * without.evaluations);
        assert_true(near.seconds < 1.02 * far.seconds);
    }
}

/* A session of three layers that were searched: what sx_session_choose_round goes by. */
typedef struct searched {
    sx_layer layer[3];
    sx_layer_result result[3];
    size_t first[3];
    sx_paused paused[3];
    sx_network network;
    sx_session_options options;
    sx_session_result out;
    sx_session session;
} searched;

/* Makes it: a limit of 100 s, layers with a value, a lower bound and the seconds that each took. */
static searched *searched_new(const double value[3], const double bound[3], const double seconds[3]) {
    searched *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < 3; i++) {
        s->first[i] = i;
        s->layer[i].count = 1;
        s->result[i].found = true;
        s->result[i].best.value = value[i];
        s->result[i].summary = (sx_run_summary){.lower_bound = bound[i],
                                                .optimal = value[i] == bound[i],
                                                .seconds = seconds[i],
                                                .stop = SX_STOP_TIME};
    }
    s->network = (sx_network){.layer = s->layer, .n_layers = 3};
    s->out = (sx_session_result){.layer = s->result, .n_layers = 3};
    sx_session_options_init(&s->options);
    s->options.run.seconds = 100;
    s->session =
        (sx_session){.network = &s->network, .options = &s->options, .out = &s->out, .first = s->first};
    return s;
}

/* The time that is over is made longer for a layer that costs more than all others, by a tenth, and for no other. */
static void late_round_is_for_the_costliest(void **state) {
    (void)state;
    const bool closed[3] = {false}, all_closed[3] = {true, true, true};
    const double value[3] = {1, 1e7, 1}, bound[3] = {1, 1, 0.5}, over[3] = {10, 30, 60};
    sx_round r;
    searched *s = searched_new(value, bound, over);
    assert_true(sx_session_choose_round(&s->session, closed, &r));
    assert_true(r.index == 1 && r.seconds == 5 && !r.calm);
    assert_false(sx_session_choose_round(&s->session, all_closed, &r));
    s->result[1].summary.seconds = 39;
    assert_true(sx_session_choose_round(&s->session, closed, &r));
    s->result[1].summary.seconds = 40;
    assert_false(sx_session_choose_round(&s->session, closed, &r));
    s->result[1].summary.seconds = 30;
    s->result[1].best.value = 2;
    assert_false(sx_session_choose_round(&s->session, closed, &r));
    s->result[2].found = false;
    assert_true(sx_session_choose_round(&s->session, closed, &r) && r.index == 2);
    free(s);
}

/* In the first half of the time only searches that were paused go on, and without the other half; then all that is open. */
static void rounds_go_to_paused_searches_first(void **state) {
    (void)state;
    const bool closed[3] = {false};
    const double value[3] = {4, 9, 4}, bound[3] = {3, 1, 3}, seconds[3] = {1, 1, 1};
    char held[1];
    sx_round r;
    searched *s = searched_new(value, bound, seconds);
    assert_true(sx_session_choose_round(&s->session, closed, &r));
    assert_true(r.index == 1 && r.seconds > 77.59 && r.seconds < 77.61 && !r.calm);
    s->session.paused = s->paused;
    s->paused[0].state = s->paused[2].state = held;
    assert_true(sx_session_choose_round(&s->session, closed, &r));
    assert_true(r.index == 0 && r.seconds == 23.5 && r.calm);
    s->result[0].summary.seconds = 20;
    assert_true(sx_session_choose_round(&s->session, closed, &r));
    assert_true(r.index == 0 && r.seconds == 28 && r.calm);
    s->result[0].summary.seconds = 48;
    assert_true(sx_session_choose_round(&s->session, closed, &r));
    assert_true(r.index == 1 && r.seconds == 40 && !r.calm);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spends_what_is_left), cmocka_unit_test(weighs_layers_by_cost),
        cmocka_unit_test(limit_does_not_slow_a_proof), cmocka_unit_test(late_round_is_for_the_costliest),
        cmocka_unit_test(rounds_go_to_paused_searches_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
